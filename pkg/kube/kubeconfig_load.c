/* Where the configuration comes from: files, the environment, the pod. */
#include "kube/kubeconfig_file.h"

#include <stdlib.h>

#include <openssl/crypto.h>

#include "base/file.h"
#include "kube/proxy_env.h"

#define MAX_FILE_BYTES ((size_t)10 << 20)
#define MAX_SECRET_BYTES ((size_t)1 << 20)
#define SERVICE_ACCOUNT_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

struct loader {
    struct arena *arena;
    const struct kube_config_options *options;
    struct kubeconfig_source *sources;
    size_t count;
};

static struct str env(const struct kube_config_options *options, const char *name)
{
    return str_c(options->getenv ? options->getenv(options->getenv_self, name) : getenv(name));
}

/* Keys and tokens pass through here: the buffer is wiped. */
static bool read_whole(struct arena *arena, struct str path, size_t limit, struct str *ret, struct err *err)
{
    struct strbuf text = STRBUF_INIT(limit);
    struct str terminated = arena_str(arena, path);
    bool ok = file_read(terminated.ptr, &text, err);
    if (ok)
        *ret = arena_str(arena, strbuf_str(&text));
    if (text.ptr)
        OPENSSL_cleanse(text.ptr, text.cap);
    strbuf_done(&text);
    return ok;
}

/* --- kubeconfig files ------------------------------------------------------------- */

static struct str dir_of(struct str path)
{
    for (size_t len = path.len; len > 0; len--) {
        if (path.ptr[len - 1] == '/')
            return str_slice(path, 0, len > 1 ? len - 1 : 1);
    }
    return STR(".");
}

static bool add_file(struct loader *loader, struct str path, struct err *err)
{
    struct str text;
    const struct kubeconfig_file *file;
    struct err why = ERR_INIT;
    if (!read_whole(loader->arena, path, MAX_FILE_BYTES, &text, &why))
        return err_set(err, why.kind, "kubeconfig %s", why.text);
    bool ok = kubeconfig_parse(loader->arena, text, dir_of(path), &file, &why);
    OPENSSL_cleanse((char *)(uintptr_t)text.ptr, text.len);
    if (!ok)
        return err_set(err, ERR_INVALID, "kubeconfig " STR_FMT ": %s", STR_ARG(path), why.text);
    size_t size = sizeof(*loader->sources);
    loader->sources =
        arena_grow(loader->arena, loader->sources, loader->count * size, (loader->count + 1) * size);
    loader->sources[loader->count++] =
        (struct kubeconfig_source){ .path = arena_str(loader->arena, path), .file = file };
    return true;
}

static bool is_known(const struct loader *loader, struct str path)
{
    for (size_t i = 0; i < loader->count; i++) {
        if (str_eq(loader->sources[i].path, path))
            return true;
    }
    return false;
}

/* $KUBECONFIG: files that are not there are passed over, but one must be. */
static bool add_list(struct loader *loader, struct str list, struct err *err)
{
    struct str path, rest = list;
    while (!str_empty(rest)) {
        str_cut(rest, ':', &path, &rest);
        if (str_empty(path) || is_known(loader, path))
            continue;
        struct err why = ERR_INIT;
        if (!add_file(loader, path, &why) && why.kind != ERR_NOT_FOUND)
            return err_set(err, why.kind, "%s", why.text);
    }
    return loader->count > 0 ||
           err_set(err, ERR_NOT_FOUND, "$KUBECONFIG: no such file: " STR_FMT, STR_ARG(list));
}

/* A file that a kubeconfig or the service account names. */
static bool read_named(struct loader *loader, const char *field, struct str path, struct str *ret,
                       struct err *err)
{
    if (str_empty(path) || !str_empty(*ret))
        return true;
    struct err why = ERR_INIT;
    struct str text;
    if (!read_whole(loader->arena, path, MAX_SECRET_BYTES, &text, &why))
        return err_set(err, why.kind, "%s: %s", field, why.text);
    if (str_empty(str_trim(text)))
        return err_set(err, ERR_INVALID, "%s: " STR_FMT " is empty", field, STR_ARG(path));
    *ret = text;
    return true;
}

static bool read_files(struct loader *loader, struct kube_config *config, struct err *err)
{
    struct str token = config->token;
    if (!read_named(loader, "certificate-authority", config->ca_path, &config->ca_pem, err) ||
        !read_named(loader, "client-certificate", config->client_cert_path, &config->client_cert_pem, err) ||
        !read_named(loader, "client-key", config->client_key_path, &config->client_key_pem, err) ||
        !read_named(loader, "tokenFile", config->token_path, &token, err))
        return false;
    config->token = str_trim(token);
    return true;
}

static bool resolve_files(struct loader *loader, struct kube_config *ret, struct err *err)
{
    if (!kubeconfig_resolve(loader->arena, loader->sources, loader->count, loader->options->context, ret,
                            err))
        return err_wrap(err, "kubeconfig");
    return read_files(loader, ret, err) || err_wrap(err, STR_FMT, STR_ARG(ret->source));
}

/* --- in a pod --------------------------------------------------------------------- */

static struct str service_host(const struct kube_config_options *options)
{
    return env(options, "KUBERNETES_SERVICE_HOST");
}

static struct str service_port(const struct kube_config_options *options)
{
    return env(options, "KUBERNETES_SERVICE_PORT");
}

static bool load_in_cluster(struct loader *loader, struct kube_config *ret, struct err *err)
{
    const struct kube_config_options *options = loader->options;
    struct str host = service_host(options), port = service_port(options);
    if (str_empty(host) || str_empty(port))
        return err_set(err, ERR_INVALID, "%s is not set: not in a cluster",
                       str_empty(host) ? "KUBERNETES_SERVICE_HOST" : "KUBERNETES_SERVICE_PORT");
    const char *dir = options->service_account_dir ? options->service_account_dir : SERVICE_ACCOUNT_DIR;
    bool bare_ipv6 = str_find_byte(host, ':') >= 0 && host.ptr[0] != '[';
    struct kube_config config = {
        .source = STR("in-cluster"),
        .in_cluster = true,
        .server = arena_strf(loader->arena,
                             bare_ipv6 ? "https://[" STR_FMT "]:" STR_FMT : "https://" STR_FMT ":" STR_FMT,
                             STR_ARG(host), STR_ARG(port)),
        .ca_path = arena_strf(loader->arena, "%s/ca.crt", dir),
        .token_path = arena_strf(loader->arena, "%s/token", dir),
    };
    if (!kubeconfig_check_server(config.server, &config.server, err))
        return err_wrap(err, "KUBERNETES_SERVICE_HOST and _PORT");
    struct err why = ERR_INIT;
    struct str ns = STR_NULL;
    if (!read_whole(loader->arena, arena_strf(loader->arena, "%s/namespace", dir), MAX_SECRET_BYTES, &ns,
                    &why) &&
        why.kind != ERR_NOT_FOUND)
        return err_set(err, why.kind, "namespace: %s", why.text);
    config.ns = str_empty(str_trim(ns)) ? STR("default") : str_trim(ns);
    if (!read_files(loader, &config, err))
        return false;
    *ret = config;
    return true;
}

/* --- the order -------------------------------------------------------------------- */

static bool load_home(struct loader *loader, struct kube_config *ret, struct err *err)
{
    struct str home = env(loader->options, "HOME");
    struct err why = ERR_INIT;
    if (!str_empty(home) &&
        add_file(loader, arena_strf(loader->arena, STR_FMT "/.kube/config", STR_ARG(home)), &why))
        return resolve_files(loader, ret, err);
    if (why.kind != ERR_NONE && why.kind != ERR_NOT_FOUND)
        return err_set(err, why.kind, "%s", why.text);
    return err_set(
        err, ERR_NOT_FOUND,
        "no API server configured: no kubeconfig was named, $KUBECONFIG is empty, this is not a pod "
        "(KUBERNETES_SERVICE_HOST and _PORT), and ~/.kube/config does not exist");
}

static bool load(struct arena *arena, const struct kube_config_options *options, struct kube_config *ret,
                 struct err *err)
{
    struct loader loader = { .arena = arena, .options = options };
    if (options->force_in_cluster)
        return load_in_cluster(&loader, ret, err) || err_wrap(err, "in-cluster configuration");
    if (options->kubeconfig && *options->kubeconfig)
        return add_file(&loader, str_c(options->kubeconfig), err) && resolve_files(&loader, ret, err);
    struct str list = env(options, "KUBECONFIG");
    if (!str_empty(list))
        return add_list(&loader, list, err) && resolve_files(&loader, ret, err);
    if (!str_empty(service_host(options)) && !str_empty(service_port(options)))
        return load_in_cluster(&loader, ret, err) || err_wrap(err, "in-cluster configuration");
    return load_home(&loader, ret, err);
}

/* --- the environment's proxy ------------------------------------------------------ */

/* Capitals first, as Go has it. */
static struct str either(const struct kube_config_options *options, const char *capitals, const char *small,
                         const char **ret_name)
{
    struct str value = env(options, capitals);
    *ret_name = str_empty(value) ? small : capitals;
    return str_empty(value) ? env(options, small) : value;
}

static bool add_proxy(struct arena *arena, const struct kube_config_options *options,
                      struct kube_config *config, struct err *err)
{
    const char *name, *no_name;
    bool https = str_starts_with(config->server, STR("https://"));
    struct str no_proxy = either(options, "NO_PROXY", "no_proxy", &no_name);
    struct str value = https ? either(options, "HTTPS_PROXY", "https_proxy", &name)
                             : either(options, "HTTP_PROXY", "http_proxy", &name);
    if (!str_empty(config->proxy_url) || str_empty(value) || proxy_is_bypassed(no_proxy, config->server))
        return true;
    return proxy_from_variable(arena, value, &config->proxy_url, err) || err_wrap(err, "$%s", name);
}

bool kube_config_load(struct arena *arena, const struct kube_config_options *options, struct kube_config *ret,
                      struct err *err)
{
    struct kube_config config;
    if (!load(arena, options, &config, err) || !add_proxy(arena, options, &config, err))
        return false;
    *ret = config;
    return true;
}

static void wipe(struct str *secret)
{
    if (secret->len)
        OPENSSL_cleanse((char *)(uintptr_t)secret->ptr, secret->len);
    *secret = STR_NULL;
}

void kube_config_wipe(struct kube_config *config)
{
    wipe(&config->token);
    wipe(&config->password);
    wipe(&config->client_key_pem);
}
