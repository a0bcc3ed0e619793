#include "kube/transport.h"

#include <stdlib.h>

#include <openssl/crypto.h>

struct transport_line {
    struct transport *transport;
    struct http_client *http;
    size_t held; /* by requests, and by the transport while it is the newest */
};

/* Text that may be a key. */
struct material {
    char *text;
    size_t len;
};

struct transport {
    struct loop *loop;
    struct arena arena; /* of what never changes */
    struct http_client_options options;
    struct material ca, cert, key;
    struct transport_line *newest;
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
    *material = (struct material){ .text = copy, .len = text.len };
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
    transport_release(transport->newest);
    transport->newest = line;
    material_set(&transport->ca, ca);
    material_set(&transport->cert, cert);
    material_set(&transport->key, key);
    return true;
}

bool transport_set_pair(struct transport *transport, struct str cert_pem, struct str key_pem, struct err *err)
{
    if (str_eq(cert_pem, material_str(&transport->cert)) && str_eq(key_pem, material_str(&transport->key)))
        return true;
    return renew(transport, material_str(&transport->ca), cert_pem, key_pem, err);
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
    if (renew(transport, config->ca_pem, config->client_cert_pem, config->client_key_pem, err))
        return transport;
    transport_free(transport);
    return NULL;
}

void transport_free(struct transport *transport)
{
    if (!transport)
        return;
    transport_release(transport->newest);
    material_set(&transport->ca, STR_NULL);
    material_set(&transport->cert, STR_NULL);
    material_set(&transport->key, STR_NULL);
    arena_done(&transport->arena);
    free(transport);
}
