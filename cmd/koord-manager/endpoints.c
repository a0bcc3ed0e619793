#include "endpoints.h"

#include <stdlib.h>

#define MAX_METRICS_BYTES ((size_t)16 * 1024 * 1024)

struct endpoints {
    struct endpoints_options options;
    struct http_server *metrics;
    struct http_server *health;
};

static void reply_text(struct http_exchange *exchange, int status, struct str text)
{
    http_exchange_set_header(exchange, "X-Content-Type-Options", "nosniff");
    http_exchange_reply(exchange, status, "text/plain; charset=utf-8", text);
}

static void serve_metrics(const struct endpoints *endpoints, struct http_exchange *exchange)
{
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(MAX_METRICS_BYTES);
    enum metric_text text;
    const char *content_type = metric_negotiate(http_exchange_header(exchange, "Accept"), &text);
    metric_write(endpoints->options.registry, text, &out);
    if (out.overflow)
        reply_text(exchange, 500, STR("metrics exceed 16 MiB\n"));
    else
        http_exchange_reply(exchange, 200, content_type, strbuf_str(&out));
}

static void serve_alive(const struct endpoints *endpoints, struct http_exchange *exchange)
{
    (void)endpoints; /* whoever can answer is alive: the answer comes from the one loop */
    reply_text(exchange, 200, STR("ok"));
}

static bool wants_verbose(const struct http_exchange *exchange)
{
    struct str query = http_exchange_query(exchange);
    return str_eq(query, STR("verbose")) || str_starts_with(query, STR("verbose&")) ||
           str_starts_with(query, STR("verbose="));
}

static void serve_ready(const struct endpoints *endpoints, struct http_exchange *exchange)
{
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(64 * 1024);
    bool ready = true;
    for (size_t i = 0; i < endpoints->options.check_count; i++) {
        const struct readiness_check *check = &endpoints->options.checks[i];
        CLEANUP(strbuf_done) struct strbuf why = STRBUF_INIT(2048);
        bool fine = check->ready(check->self, &why);
        ready = ready && fine;
        strbuf_addf(&out, "[%c]%s %s%s%s\n", fine ? '+' : '-', check->name, fine ? "ok" : "not ready",
                    why.len ? ": " : "", strbuf_cstr(&why));
    }
    if (ready && !wants_verbose(exchange)) {
        reply_text(exchange, 200, STR("ok"));
        return;
    }
    strbuf_addf(&out, "readyz check %s\n", ready ? "passed" : "failed");
    reply_text(exchange, ready ? 200 : 503, strbuf_str(&out));
}

static const struct route {
    const char *path;
    bool metrics; /* which server it belongs to */
    void (*serve)(const struct endpoints *endpoints, struct http_exchange *exchange);
} routes[] = {
    { "/metrics", true, serve_metrics },
    { "/healthz", false, serve_alive },
    { "/livez", false, serve_alive },
    { "/readyz", false, serve_ready },
};

static void handle(const struct endpoints *endpoints, struct http_exchange *exchange, bool metrics,
                   bool health)
{
    struct str method = http_exchange_method(exchange);
    struct str path = http_exchange_path(exchange);
    for (size_t i = 0; i < ARRAY_LEN(routes); i++) {
        const struct route *route = &routes[i];
        if (!(route->metrics ? metrics : health) || !str_eq(path, str_c(route->path)))
            continue;
        if (str_eq(method, STR("GET")) || str_eq(method, STR("HEAD")))
            route->serve(endpoints, exchange);
        else
            reply_text(exchange, 405, STR("only GET and HEAD\n"));
        return;
    }
    reply_text(exchange, 404, STR("not found\n"));
}

static void handle_metrics(void *self, struct http_exchange *exchange)
{
    handle(self, exchange, true, false);
}

static void handle_health(void *self, struct http_exchange *exchange)
{
    handle(self, exchange, false, true);
}

static void handle_both(void *self, struct http_exchange *exchange)
{
    handle(self, exchange, true, true);
}

static bool is_off(const char *address)
{
    return !address || *address == '\0' || strcmp(address, "0") == 0;
}

static bool listen_on(struct loop *loop, struct endpoints *endpoints, const char *address,
                      void (*handler)(void *, struct http_exchange *), struct http_server **ret,
                      struct err *err)
{
    struct http_server_options server = { .address = address, .handle = handler, .self = endpoints };
    *ret = http_server_new(loop, &server, err);
    return *ret || err_wrap(err, "listen on %s", address);
}

struct endpoints *endpoints_new(struct loop *loop, const struct endpoints_options *options, struct err *err)
{
    struct endpoints *endpoints = mem_zalloc(sizeof *endpoints);
    endpoints->options = *options;
    bool metrics = !is_off(options->metrics_addr), health = !is_off(options->health_addr);
    bool shared = metrics && health && strcmp(options->metrics_addr, options->health_addr) == 0 &&
                  !str_ends_with(str_c(options->health_addr), STR(":0"));
    bool ok = true;
    if (metrics)
        ok = listen_on(loop, endpoints, options->metrics_addr, shared ? handle_both : handle_metrics,
                       &endpoints->metrics, err);
    if (ok && health && !shared)
        ok = listen_on(loop, endpoints, options->health_addr, handle_health, &endpoints->health, err);
    if (ok)
        return endpoints;
    endpoints_free(endpoints);
    return NULL;
}

void endpoints_free(struct endpoints *endpoints)
{
    if (!endpoints)
        return;
    http_server_free(endpoints->metrics);
    http_server_free(endpoints->health);
    free(endpoints);
}

int endpoints_metrics_port(const struct endpoints *endpoints)
{
    return endpoints->metrics ? http_server_port(endpoints->metrics) : 0;
}

int endpoints_health_port(const struct endpoints *endpoints)
{
    return endpoints->health ? http_server_port(endpoints->health) : endpoints_metrics_port(endpoints);
}
