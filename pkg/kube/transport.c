#include "kube/transport.h"

#include <stdlib.h>

#include <sys/stat.h>

#include <openssl/crypto.h>

#include "base/file.h"
#include "base/log.h"
#include "http/pem.h"

#define CHECK_MS (10 * 1000)
#define MAX_FILE_BYTES ((size_t)1 << 20)
#define SOON_S (7 * 24 * 3600)

struct transport_line {
    struct transport *transport;
    struct http_client *http;
    size_t held; /* by requests, and by the transport while it is the newest */
};

/* Text that may be a key, and the file it comes from. */
struct material {
    char *text;
    size_t len;
    const char *path; /* NULL: none */
    struct stat seen; /* when it was read last; zero: read it again */
};

struct transport {
    struct loop *loop;
    struct arena arena; /* of what never changes */
    struct http_client_options options;
    struct material ca, cert, key;
    struct transport_line *newest;
    struct loop_timer timer;
    struct err trouble; /* what is wrong with the files; told once */
    bool told_end;      /* that the certificate ends soon */
    bool borrowed_pair; /* transport_set_pair's: whoever gives it sees to the next one */
    void (*renewed)(void *self);
    void *self;
    struct metric *reloads, *cert_end;
};

static struct str material_str(const struct material *material)
{
    return (struct str){ .ptr = material->text, .len = material->len };
}

static void material_set(struct material *material, struct str text)
{
    char *copy = str_empty(text) ? NULL : str_dup_c(text);
    if (material->text)
        OPENSSL_cleanse(material->text, material->len);
    free(material->text);
    material->text = copy;
    material->len = text.len;
}

/* --- the certificate's end (AUT-9) ------------------------------------------------- */

static void watch_end(struct transport *transport)
{
    struct wall_time end;
    if (!transport->cert.text || !pem_not_after(material_str(&transport->cert), &end, NULL)) {
        metric_set(transport->cert_end, 0);
        return;
    }
    int64_t left_s = (end.us - loop_wall(transport->loop).us) / US_PER_S;
    metric_set(transport->cert_end, (double)end.us / (double)US_PER_S);
    if (left_s < SOON_S && !transport->told_end && !transport->borrowed_pair)
        LOG_WARN("the client certificate expires soon", LOG_I("seconds", left_s));
    transport->told_end = left_s < SOON_S;
}

/* --- generations ------------------------------------------------------------------ */

static struct transport_line *line_new(struct transport *transport, struct str ca, struct str cert,
                                       struct str key, struct err *err)
{
    struct http_client_options options = transport->options;
    options.ca_pem = ca;
    options.client_cert_pem = cert;
    options.client_key_pem = key;
    struct http_client *http = http_client_new(transport->loop, &options, err);
    if (!http)
        return NULL;
    struct transport_line *line = mem_zalloc(sizeof *line);
    *line = (struct transport_line){ .transport = transport, .http = http, .held = 1 };
    return line;
}

void transport_release(struct transport_line *line)
{
    if (!line || --line->held > 0)
        return;
    http_client_free(line->http);
    free(line);
}

struct transport_line *transport_hold(struct transport *transport)
{
    transport->newest->held++;
    return transport->newest;
}

bool transport_is_newest(const struct transport_line *line)
{
    return line == line->transport->newest;
}

struct http_client *transport_http(const struct transport_line *line)
{
    return line->http;
}

/* The arguments may be the present material. */
static bool renew(struct transport *transport, struct str ca, struct str cert, struct str key,
                  struct err *err)
{
    struct transport_line *line = line_new(transport, ca, cert, key, err);
    if (!line)
        return false;
    bool first = !transport->newest;
    transport_release(transport->newest);
    transport->newest = line;
    material_set(&transport->ca, ca);
    material_set(&transport->cert, cert);
    material_set(&transport->key, key);
    transport->told_end = false;
    watch_end(transport);
    if (!first && transport->renewed)
        transport->renewed(transport->self);
    return true;
}

bool transport_set_pair(struct transport *transport, struct str cert_pem, struct str key_pem, struct err *err)
{
    if (str_eq(cert_pem, material_str(&transport->cert)) && str_eq(key_pem, material_str(&transport->key)))
        return true;
    transport->borrowed_pair = true;
    return renew(transport, material_str(&transport->ca), cert_pem, key_pem, err);
}

/* --- files ------------------------------------------------------------------------ */

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* By path: a mounted Secret changes by the swap of a symlink. */
static bool changed(struct material *material)
{
    struct stat seen = { 0 };
    if (!material->path)
        return false;
    if (stat(material->path, &seen) == 0 && same_file(&seen, &material->seen))
        return false;
    material->seen = seen;
    return true;
}

/* Without a file: what is there. */
static bool read_material(const struct material *material, struct strbuf *out, struct err *err)
{
    if (!material->path) {
        strbuf_add(out, material_str(material));
        return true;
    }
    if (!file_read(material->path, out, err))
        return false;
    return !str_empty(str_trim(strbuf_str(out))) ||
           err_set(err, ERR_INVALID, "%s is empty", material->path); /* AUT-8 */
}

/* An expired certificate instead of a good one is somebody's mistake. */
static bool check_not_over(struct transport *transport, struct str cert, struct err *err)
{
    struct wall_time end;
    if (str_empty(cert) || str_eq(cert, material_str(&transport->cert)))
        return true;
    if (!pem_not_after(cert, &end, err))
        return false;
    return end.us > loop_wall(transport->loop).us ||
           err_set(err, ERR_INVALID, "the new client certificate has expired already");
}

static void wipe_buf(struct strbuf *buf)
{
    if (buf->ptr)
        OPENSSL_cleanse(buf->ptr, buf->cap);
    strbuf_done(buf);
}

static bool reload(struct transport *transport, bool *renewed, struct err *err)
{
    CLEANUP(wipe_buf) struct strbuf ca = STRBUF_INIT(MAX_FILE_BYTES);
    CLEANUP(wipe_buf) struct strbuf cert = STRBUF_INIT(MAX_FILE_BYTES);
    CLEANUP(wipe_buf) struct strbuf key = STRBUF_INIT(MAX_FILE_BYTES);
    if (!read_material(&transport->ca, &ca, err) || !read_material(&transport->cert, &cert, err) ||
        !read_material(&transport->key, &key, err))
        return false;
    *renewed = !str_eq(strbuf_str(&ca), material_str(&transport->ca)) ||
               !str_eq(strbuf_str(&cert), material_str(&transport->cert)) ||
               !str_eq(strbuf_str(&key), material_str(&transport->key));
    return !*renewed || (check_not_over(transport, strbuf_str(&cert), err) &&
                         renew(transport, strbuf_str(&ca), strbuf_str(&cert), strbuf_str(&key), err));
}

/* Looked at again at the next check: the other half of a pair may be on its way. */
static void reload_failed(struct transport *transport, const struct err *err)
{
    struct material *all[] = { &transport->ca, &transport->cert, &transport->key };
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        all[i]->seen = (struct stat){ 0 };
    metric_add(transport->reloads, 1, STR("failure"));
    if (strcmp(transport->trouble.text, err->text) != 0)
        LOG_WARN("cannot take changed TLS files into use, keeping what was", LOG_ERR(err));
    transport->trouble = *err;
}

static void check_files(struct transport *transport)
{
    struct err err = ERR_INIT;
    bool renewed = false;
    bool any = changed(&transport->ca);
    any |= changed(&transport->cert);
    any |= changed(&transport->key);
    if (!any)
        return;
    if (!reload(transport, &renewed, &err)) {
        reload_failed(transport, &err);
        return;
    }
    transport->trouble = ERR_INIT;
    if (!renewed)
        return;
    metric_add(transport->reloads, 1, STR("success"));
    LOG_INFO("changed TLS files are in use");
}

static void on_timer(void *self)
{
    struct transport *transport = self;
    loop_timer_set(&transport->timer, CHECK_MS);
    check_files(transport);
    watch_end(transport);
}

/* What was read before this began may have changed meanwhile: the first check compares. */
static void watch_files(struct transport *transport, const struct kube_config *config)
{
    struct {
        struct material *material;
        struct str path;
    } files[] = {
        { &transport->ca, config->ca_path },
        { &transport->cert, config->client_cert_path },
        { &transport->key, config->client_key_path },
    };
    bool any = false;
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        if (str_empty(files[i].path) || !files[i].material->text)
            continue;
        files[i].material->path = arena_str(&transport->arena, files[i].path).ptr;
        any = true;
    }
    loop_timer_init(&transport->timer, transport->loop, on_timer, transport);
    if (any && str_starts_with(config->server, STR("https://")))
        loop_timer_set(&transport->timer, CHECK_MS);
}

/* --- the whole -------------------------------------------------------------------- */

/* Names are looked up by a SOCKS proxy, as kubectl has it: they may mean something only
 * there. */
static struct str proxy_for_curl(struct arena *arena, struct str proxy)
{
    static const struct str socks = STR_INIT("socks5://");
    if (!str_starts_with(proxy, socks))
        return arena_str(arena, proxy);
    return arena_strf(arena, "socks5h://" STR_FMT, STR_ARG(str_slice(proxy, socks.len, proxy.len)));
}

static void register_metrics(struct transport *transport, struct metric_registry *registry)
{
    if (!registry)
        return;
    transport->reloads =
        metric_counter(registry, "rest_client_transport_reload_total",
                       "Changed TLS files that were taken into use, or could not be.", "result", NULL);
    transport->cert_end =
        metric_gauge(registry, "rest_client_client_certificate_expiration_timestamp_seconds",
                     "When the client certificate expires; 0: there is none.", NULL);
}

struct transport *transport_new(struct loop *loop, const struct transport_options *options, struct err *err)
{
    const struct kube_config *config = options->config;
    struct transport *transport = mem_zalloc(sizeof *transport);
    transport->loop = loop;
    transport->options = (struct http_client_options){
        .insecure_skip_verify = config->insecure_skip_tls_verify,
        .tls_server_name = arena_str(&transport->arena, config->tls_server_name),
        .proxy_url = proxy_for_curl(&transport->arena, config->proxy_url),
        .user_agent = arena_str(&transport->arena, str_c(options->user_agent)),
    };
    transport->renewed = options->renewed;
    transport->self = options->self;
    register_metrics(transport, options->metrics);
    if (renew(transport, config->ca_pem, config->client_cert_pem, config->client_key_pem, err)) {
        watch_files(transport, config);
        return transport;
    }
    transport_free(transport);
    return NULL;
}

void transport_free(struct transport *transport)
{
    if (!transport)
        return;
    loop_timer_done(&transport->timer);
    transport_release(transport->newest);
    material_set(&transport->ca, STR_NULL);
    material_set(&transport->cert, STR_NULL);
    material_set(&transport->key, STR_NULL);
    arena_done(&transport->arena);
    free(transport);
}
