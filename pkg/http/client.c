#include "client_internal.h"
#include "http/pem.h"
#include <stdlib.h>

/* PREREQFUNCTION, the only hook that sees libcurl repeat a request by itself. */
_Static_assert(LIBCURL_VERSION_NUM >= 0x075000, "libcurl 7.80 or newer is needed");

#define DEFAULT_CONNECTIONS 8

static bool has_line_break(struct str text)
{
    return str_find_byte(text, '\r') >= 0 || str_find_byte(text, '\n') >= 0 || str_find_byte(text, '\0') >= 0;
}

/* With the parser that libcurl uses later: its own error would quote the password. */
static bool proxy_check(struct str proxy, struct err *err)
{
    if (str_empty(proxy))
        return true;
    char *text = str_dup_c(proxy), *host = NULL;
    CURLU *url = curl_url();
    CURLUcode code = curl_url_set(url, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME | CURLU_GUESS_SCHEME);
    if (code == CURLUE_OK)
        code = curl_url_get(url, CURLUPART_HOST, &host, 0);
    bool ok = code == CURLUE_OK && host && *host;
    curl_free(host);
    curl_url_cleanup(url);
    explicit_bzero(text, proxy.len);
    free(text);
    return ok || err_set(err, ERR_INVALID, "proxy URL: %s", code ? curl_url_strerror(code) : "no host");
}

static bool options_check(const struct http_client_options *options, struct err *err)
{
    if (has_line_break(options->user_agent) || has_line_break(options->proxy_url) ||
        has_line_break(options->tls_server_name))
        return err_set(err, ERR_INVALID, "line break or NUL in user agent, proxy or server name");
    if (!proxy_check(options->proxy_url, err))
        return false;
    if (str_empty(options->client_cert_pem) != str_empty(options->client_key_pem))
        return err_set(err, ERR_INVALID, "client certificate and key belong together: one is missing");
    if (!str_empty(options->client_cert_pem) &&
        !pem_pair_check(options->client_cert_pem, options->client_key_pem, err))
        return err_wrap(err, "client certificate");
    if (!str_empty(options->ca_pem)) {
        STACK_OF(X509) *certs = pem_certs(options->ca_pem, err);
        if (!certs)
            return err_wrap(err, "certificate authority");
        pem_certs_free(certs);
    }
    return true;
}

static char *copy(struct str text)
{
    return str_empty(text) ? NULL : str_dup_c(text);
}

static void options_copy(struct http_client *client, const struct http_client_options *options)
{
    client->ca_pem = copy(options->ca_pem);
    client->ca_len = options->ca_pem.len;
    client->cert_pem = copy(options->client_cert_pem);
    client->cert_len = options->client_cert_pem.len;
    client->key_pem = copy(options->client_key_pem);
    client->key_len = options->client_key_pem.len;
    client->tls_server_name = copy(options->tls_server_name);
    client->proxy_url = copy(options->proxy_url);
    client->user_agent = copy(options->user_agent);
    client->insecure_skip_verify = options->insecure_skip_verify;
}

static void client_destroy(struct http_client *client)
{
    engine_done(&client->pooled);
    engine_done(&client->fresh);
    free(client->ca_pem);
    free(client->cert_pem);
    if (client->key_pem)
        explicit_bzero(client->key_pem, client->key_len);
    free(client->key_pem);
    free(client->tls_server_name);
    free(client->proxy_url);
    free(client->user_agent);
    free(client);
    curl_global_cleanup();
}

struct http_client *http_client_new(struct loop *loop, const struct http_client_options *options,
                                    struct err *err)
{
    if (!options_check(options, err))
        return NULL;
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) { /* counted by libcurl */
        err_set(err, ERR_FATAL, "libcurl cannot be initialised");
        return NULL;
    }
    struct http_client *client = mem_zalloc(sizeof *client);
    client->loop = loop;
    options_copy(client, options);
    size_t limit = options->max_connections > 0 ? (size_t)options->max_connections : DEFAULT_CONNECTIONS;
    if (engine_init(&client->pooled, client, limit, err) &&
        engine_init(&client->fresh, client, SIZE_MAX, err))
        return client;
    client_destroy(client);
    return NULL;
}

void http_client_free(struct http_client *client)
{
    if (!client)
        return;
    client->dead = true;
    if (!client->busy)
        client_destroy(client);
}

void client_enter(struct http_client *client)
{
    client->busy++;
}

void client_leave(struct http_client *client)
{
    if (client->busy > 1) {
        client->busy--;
        return;
    }
    if (!client->dead) {
        engine_reap(&client->pooled);
        engine_reap(&client->fresh);
    }
    client->busy--;
    if (client->dead) {
        client_destroy(client);
        return;
    }
    engine_start(&client->pooled);
    engine_start(&client->fresh);
}

struct http_call *http_send(struct http_client *client, const struct http_request *request, struct err *err)
{
    struct http_call *call = call_new(client, request, err);
    if (!call)
        return NULL;
    call->engine = request->fresh_connection ? &client->fresh : &client->pooled;
    TAILQ_INSERT_TAIL(&call->engine->waiting, call, link);
    call_guard_set(call);
    if (!client->busy)
        engine_start(call->engine);
    return call;
}

void http_cancel(struct http_call *call)
{
    struct engine *engine = call->engine;
    if (!call->easy || !call->client->busy) {
        engine_forget(call);
        if (!engine->client->busy)
            engine_start(engine);
        return;
    }
    call->cancelled = true;
    loop_timer_cancel(&call->guard);
    TAILQ_REMOVE(&engine->running, call, link);
    TAILQ_INSERT_TAIL(&engine->cancelled, call, link);
}
