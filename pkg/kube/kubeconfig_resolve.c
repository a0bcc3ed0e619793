/* Several kubeconfig files become one configuration: merging, picking, checking. */
#include "kube/kubeconfig_file.h"

#include "base/strbuf.h"
#include "kube/base64.h"
#include "kube/impersonate.h"
#include "kube/proxy_env.h"

struct found {
    const struct kubeconfig_entry *entry;
    struct str path; /* of the file that defines it */
};

enum entry_list { CLUSTERS, USERS, CONTEXTS };

static const struct json_items *entries_of(const struct kubeconfig_file *file, enum entry_list list)
{
    const struct json_items *const lists[] = { &file->clusters, &file->users, &file->contexts };
    return lists[list];
}

struct resolver {
    struct arena *arena;
    const struct kubeconfig_source *sources;
    size_t count;
};

static bool find(const struct resolver *resolver, enum entry_list list, struct str name, struct found *ret)
{
    for (size_t i = 0; i < resolver->count; i++) {
        const struct json_items *entries = entries_of(resolver->sources[i].file, list);
        const struct kubeconfig_entry *items = entries->items;
        for (size_t j = 0; j < entries->count; j++) {
            if (!str_eq(items[j].name, name))
                continue;
            *ret = (struct found){ .entry = &items[j], .path = resolver->sources[i].path };
            return true;
        }
    }
    return false;
}

/* "there are: a, b", for a name that is not there. */
static void list_names(const struct resolver *resolver, enum entry_list list, struct strbuf *out)
{
    bool any = false;
    for (size_t i = 0; i < resolver->count; i++) {
        const struct json_items *entries = entries_of(resolver->sources[i].file, list);
        const struct kubeconfig_entry *items = entries->items;
        for (size_t j = 0; j < entries->count; j++) {
            strbuf_add(out, any ? STR(", ") : STR("there are: "));
            strbuf_add(out, items[j].name);
            any = true;
        }
    }
    if (!any)
        strbuf_add(out, STR("there are none"));
}

static bool find_context(const struct resolver *resolver, const char *wanted, struct found *ret,
                         struct err *err)
{
    struct str name = str_c(wanted);
    struct str path = resolver->sources[0].path;
    for (size_t i = 0; i < resolver->count && str_empty(name); i++) {
        name = resolver->sources[i].file->current_context;
        path = resolver->sources[i].path;
    }
    if (!str_empty(name) && find(resolver, CONTEXTS, name, ret))
        return true;
    CLEANUP(strbuf_done) struct strbuf names = STRBUF_INIT(4096);
    list_names(resolver, CONTEXTS, &names);
    if (str_empty(name))
        return err_set(err, ERR_INVALID, STR_FMT ": current-context: not set; %s",
                       STR_ARG(resolver->sources[0].path), strbuf_cstr(&names));
    return err_set(err, ERR_INVALID, STR_FMT ": %s: no context named " STR_FMT "; %s", STR_ARG(path),
                   wanted ? "contexts" : "current-context", STR_ARG(name), strbuf_cstr(&names));
}

/* The cluster or user a context names. */
static bool follow(const struct resolver *resolver, const struct found *context, enum entry_list list,
                   struct str name, struct found *ret, struct err *err)
{
    if (!str_empty(name) && find(resolver, list, name, ret))
        return true;
    const char *field = list == CLUSTERS ? "cluster" : "user";
    if (str_empty(name))
        return err_set(err, ERR_INVALID, STR_FMT ": contexts[" STR_FMT "].context.%s: missing",
                       STR_ARG(context->path), STR_ARG(context->entry->name), field);
    CLEANUP(strbuf_done) struct strbuf names = STRBUF_INIT(4096);
    list_names(resolver, list, &names);
    return err_set(err, ERR_INVALID,
                   STR_FMT ": contexts[" STR_FMT "].context.%s: no %s named " STR_FMT "; %s",
                   STR_ARG(context->path), STR_ARG(context->entry->name), field, field, STR_ARG(name),
                   strbuf_cstr(&names));
}

/* --- clusters --------------------------------------------------------------------- */

static bool is_url_byte(char c)
{
    return c > 0x20 && c < 0x7f && !strchr("\"<>\\^`{|}", c);
}

bool kubeconfig_check_server(struct str server, struct str *ret, struct err *err)
{
    if (str_empty(server))
        return err_set(err, ERR_INVALID, "missing");
    bool https = str_starts_with(server, STR("https://"));
    if (!https && !str_starts_with(server, STR("http://")))
        return err_set(err, ERR_INVALID, "does not start with https:// or http://");
    for (size_t i = 0; i < server.len; i++) {
        if (!is_url_byte(server.ptr[i]))
            return err_set(err, ERR_INVALID, "unusable character at byte %zu", i);
        if (strchr("@?#", server.ptr[i]))
            return err_set(err, ERR_INVALID, "user name, query or fragment in the URL");
    }
    while (str_ends_with(server, STR("/")))
        server.len--;
    size_t scheme = https ? 8 : 7;
    if (server.len <= scheme || server.ptr[scheme] == '/' || server.ptr[scheme] == ':')
        return err_set(err, ERR_INVALID, "no host");
    *ret = server;
    return true;
}

static bool check_proxy(struct str proxy, struct err *err)
{
    return str_empty(proxy) || proxy_is_usable(proxy) ||
           err_set(err, ERR_INVALID, "proxy-url: neither http, https nor socks5");
}

static bool decode_data(struct arena *arena, const char *field, struct str data, struct str *ret,
                        struct err *err)
{
    return base64_decode(arena, data, ret, err) || err_wrap(err, "%s", field);
}

static bool take_ca(struct arena *arena, const struct kubeconfig_cluster *cluster, struct kube_config *ret,
                    struct err *err)
{
    bool has_data = !str_empty(str_trim(cluster->ca_data.text));
    bool has_path = !str_empty(cluster->ca_path.text);
    if (cluster->insecure_skip_tls_verify) {
        if (has_data || has_path)
            return err_set(err, ERR_INVALID,
                           "insecure-skip-tls-verify: true together with a certificate authority");
        return true;
    }
    /* AUT-8: an authority that was meant to be there must not turn into the system's roots. */
    if (cluster->ca_data.set && !has_data)
        return err_set(err, ERR_INVALID, "certificate-authority-data: empty");
    if (!has_data) {
        if (cluster->ca_path.set && !has_path)
            return err_set(err, ERR_INVALID, "certificate-authority: empty");
        ret->ca_path = cluster->ca_path.text;
        return true;
    }
    if (!decode_data(arena, "certificate-authority-data", cluster->ca_data.text, &ret->ca_pem, err))
        return false;
    return !str_empty(str_trim(ret->ca_pem)) ||
           err_set(err, ERR_INVALID, "certificate-authority-data: empty");
}

static bool take_cluster(struct arena *arena, const struct kubeconfig_cluster *cluster,
                         struct kube_config *ret, struct err *err)
{
    static const struct kubeconfig_cluster empty;
    if (!cluster)
        cluster = &empty;
    if (!kubeconfig_check_server(cluster->server, &ret->server, err))
        return err_wrap(err, "server");
    ret->insecure_skip_tls_verify = cluster->insecure_skip_tls_verify;
    ret->tls_server_name = cluster->tls_server_name;
    ret->proxy_url = cluster->proxy_url;
    return check_proxy(cluster->proxy_url, err) && take_ca(arena, cluster, ret, err);
}

/* --- users ------------------------------------------------------------------------ */

static bool has_any(const struct json *value)
{
    return json_count(value) > 0;
}

/* Beside another credential a plugin is never run. */
static bool wants_plugin(const struct kubeconfig_user *user)
{
    bool other = !str_empty(user->token) || !str_empty(user->token_path) || !str_empty(user->username) ||
                 !str_empty(user->client_cert_data) || !str_empty(user->client_cert_path);
    return user->exec && !other;
}

static size_t count_extra(const struct json *fields)
{
    size_t count = 0;
    for (size_t i = 0; i < json_count(fields); i++)
        count += json_count(fields->object.members[i].value);
    return count;
}

/* A map of lists becomes one list of pairs. */
static bool take_extra(struct arena *arena, const struct json *fields, struct kube_config *ret,
                       struct err *err)
{
    if (!fields || json_is(fields, JSON_NULL))
        return true;
    if (!json_is(fields, JSON_OBJECT))
        return err_set(err, ERR_INVALID, "as-user-extra: not a map");
    struct kube_extra *extra = arena_array(arena, struct kube_extra, count_extra(fields));
    size_t count = 0;
    for (size_t i = 0; i < fields->object.count; i++) {
        const struct json *values = fields->object.members[i].value;
        if (!json_is(values, JSON_ARRAY))
            return err_set(err, ERR_INVALID, "as-user-extra: a value is not a list");
        for (size_t j = 0; j < values->array.count; j++) {
            if (!json_is(values->array.items[j], JSON_STRING))
                return err_set(err, ERR_INVALID, "as-user-extra: a value is not a list of strings");
            extra[count++] = (struct kube_extra){ .key = fields->object.members[i].key,
                                                  .value = json_str(values->array.items[j]) };
        }
    }
    ret->impersonate_extra = extra;
    ret->impersonate_extra_count = count;
    return true;
}

static bool take_impersonation(struct arena *arena, const struct kubeconfig_user *user,
                               struct kube_config *ret, struct err *err)
{
    struct impersonation made;
    ret->impersonate_user = user->impersonate_user;
    ret->impersonate_uid = user->impersonate_uid;
    ret->impersonate_groups = user->impersonate_groups.items;
    ret->impersonate_group_count = user->impersonate_groups.count;
    return take_extra(arena, user->impersonate_extra, ret, err) && impersonation_make(arena, ret, &made, err);
}

/* Data beats file. */
static bool take_pem(struct arena *arena, const char *field, struct str data, struct str path,
                     struct str *ret_pem, struct str *ret_path, struct err *err)
{
    if (str_empty(data)) {
        *ret_path = path;
        return true;
    }
    return decode_data(arena, field, data, ret_pem, err) &&
           (!str_empty(str_trim(*ret_pem)) || err_set(err, ERR_INVALID, "%s: empty", field));
}

static bool take_client_cert(struct arena *arena, const struct kubeconfig_user *user, struct kube_config *ret,
                             struct err *err)
{
    bool cert = !str_empty(user->client_cert_data) || !str_empty(user->client_cert_path);
    bool key = !str_empty(user->client_key_data) || !str_empty(user->client_key_path);
    if (cert && !key)
        return err_set(err, ERR_INVALID, "client-key: missing beside client-certificate");
    if (key && !cert)
        return err_set(err, ERR_INVALID, "client-certificate: missing beside client-key");
    return take_pem(arena, "client-certificate-data", user->client_cert_data, user->client_cert_path,
                    &ret->client_cert_pem, &ret->client_cert_path, err) &&
           take_pem(arena, "client-key-data", user->client_key_data, user->client_key_path,
                    &ret->client_key_pem, &ret->client_key_path, err);
}

static bool take_user(struct arena *arena, const struct kubeconfig_user *user,
                      const struct kubeconfig_cluster *cluster, struct kube_config *ret, struct err *err)
{
    if (!user)
        return true;
    bool token = !str_empty(user->token) || !str_empty(user->token_path);
    if (token && (!str_empty(user->username) || !str_empty(user->password)))
        return err_set(err, ERR_INVALID, "token and username: only one of them can be used");
    if (str_empty(user->username) && !str_empty(user->password))
        return err_set(err, ERR_INVALID, "username: missing beside password");
    ret->token = user->token;
    ret->token_path = user->token_path;
    ret->username = user->username;
    ret->password = user->password;
    if (has_any(user->auth_provider))
        return err_set(err, ERR_INVALID, "auth-provider: not supported");
    if (wants_plugin(user) && !kubeconfig_take_exec(arena, user->exec, cluster, &ret->exec, err))
        return err_wrap(err, "exec");
    return take_client_cert(arena, user, ret, err) && take_impersonation(arena, user, ret, err);
}

/* --- all of it -------------------------------------------------------------------- */

static bool wrap(struct err *err, const struct found *found, const char *list, const char *body)
{
    return err_wrap(err, STR_FMT ": %s[" STR_FMT "].%s", STR_ARG(found->path), list,
                    STR_ARG(found->entry->name), body);
}

bool kubeconfig_resolve(struct arena *arena, const struct kubeconfig_source *sources, size_t count,
                        const char *context_name, struct kube_config *ret, struct err *err)
{
    static const struct kubeconfig_context no_context;
    struct resolver resolver = { .arena = arena, .sources = sources, .count = count };
    struct found context, cluster, user;
    if (!find_context(&resolver, context_name, &context, err))
        return false;
    const struct kubeconfig_context *body = context.entry->context ? context.entry->context : &no_context;
    if (!follow(&resolver, &context, CLUSTERS, body->cluster, &cluster, err))
        return false;
    struct kube_config config = {
        .source = arena_strf(arena, "kubeconfig " STR_FMT " (context " STR_FMT ")", STR_ARG(context.path),
                             STR_ARG(context.entry->name)),
        .ns = str_empty(body->ns) ? STR("default") : body->ns,
    };
    if (!take_cluster(arena, cluster.entry->cluster, &config, err))
        return wrap(err, &cluster, "clusters", "cluster");
    if (!str_empty(body->user)) { /* without a user: anonymous */
        if (!follow(&resolver, &context, USERS, body->user, &user, err))
            return false;
        if (!take_user(arena, user.entry->user, cluster.entry->cluster, &config, err))
            return wrap(err, &user, "users", "user");
    }
    *ret = config;
    return true;
}
