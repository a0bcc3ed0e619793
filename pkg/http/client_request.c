#include "client_internal.h"
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>

#define DEFAULT_CONNECT_MS INT64_C(10000)
#define DEFAULT_TOTAL_MS INT64_C(30000)
#define DEFAULT_MAX_BODY ((size_t)16 << 20)
#define RECEIVE_BUFFER_BYTES 65536L
#define IDLE_CONNECTION_S 90L /* API servers drop idle connections after the same time */
#define NAME_CACHE_S 30L

/* ---- checking and copying ---- */

static bool is_token(struct str text)
{
    static const char special[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool alnum = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!alnum && !memchr(special, c, sizeof special - 1))
            return false;
    }
    return text.len > 0;
}

static bool is_header_value(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

static void add_header(struct http_call *call, const char *line)
{
    struct curl_slist *list = curl_slist_append(call->headers, line);
    if (!list)
        abort();
    call->headers = list;
}

static bool take_header(struct http_call *call, const struct http_header *header, struct err *err)
{
    if (!is_token(header->name))
        return err_set(err, ERR_INVALID, "header name is not a token");
    if (!is_header_value(header->value))
        return err_set(err, ERR_INVALID, "header " STR_FMT ": line break or control character in the value",
                       STR_ARG(header->name));
    struct strbuf line = STRBUF_INIT(1 << 20);
    strbuf_add(&line, header->name);
    /* libcurl takes "Name:" as an order to leave the header out and "Name;" as an empty one. */
    strbuf_add(&line, str_empty(header->value) ? STR(";") : STR(": "));
    strbuf_add(&line, header->value);
    bool ok = !line.overflow;
    if (ok)
        add_header(call, strbuf_cstr(&line));
    strbuf_done(&line);
    return ok || err_set(err, ERR_INVALID, "header " STR_FMT " is too long", STR_ARG(header->name));
}

static bool given(const struct http_request *request, struct str name)
{
    for (size_t i = 0; i < request->header_count; i++) {
        if (str_eq_nocase(request->headers[i].name, name))
            return true;
    }
    return false;
}

static bool take_headers(struct http_call *call, const struct http_request *request, struct err *err)
{
    for (size_t i = 0; i < request->header_count; i++) {
        if (!take_header(call, &request->headers[i], err))
            return false;
    }
    /* Without these libcurl waits a second for "100 Continue" and calls every body a form. */
    if (!given(request, STR("Expect")))
        add_header(call, "Expect:");
    if (!given(request, STR("Content-Type")))
        add_header(call, "Content-Type:");
    return true;
}

/* One part of a URL as a heap string for free(), or NULL. */
static char *url_part(CURLU *url, CURLUPart part, unsigned flags)
{
    char *text = NULL;
    if (curl_url_get(url, part, &text, flags) != CURLUE_OK)
        return NULL;
    char *result = str_dup_c(str_c(text));
    curl_free(text);
    return result;
}

static void free_string(char **text)
{
    free(*text);
}

/* NET-9: libcurl checks the certificate against the host of the URL and has no option
 * for another name. So the URL names the wanted host, CONNECT_TO leads it to the real
 * one, and the Host header says what the caller's URL said. */
static bool rewrite_for_server_name(struct http_call *call, CURLU *url, bool host_given, struct err *err)
{
    const char *wanted = call->client->tls_server_name;
    CLEANUP(free_string) char *host = url_part(url, CURLUPART_HOST, 0);
    CLEANUP(free_string) char *port = url_part(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
    CLEANUP(free_string) char *explicit_port = url_part(url, CURLUPART_PORT, 0);
    if (!host || !port || curl_url_set(url, CURLUPART_HOST, wanted, 0) != CURLUE_OK)
        return err_set(err, ERR_INVALID, "TLS server name %s does not fit into a URL", wanted);
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(4096);
    strbuf_addf(&text, "%s:%s:%s:%s", wanted, port, host, port);
    call->connect_to = curl_slist_append(NULL, strbuf_cstr(&text));
    if (host_given)
        return true;
    strbuf_clear(&text);
    strbuf_addf(&text, "Host: %s%s%s", host, explicit_port ? ":" : "", explicit_port ? explicit_port : "");
    add_header(call, strbuf_cstr(&text));
    return true;
}

static bool take_parsed_url(struct http_call *call, CURLU *url, bool host_given, struct err *err)
{
    CLEANUP(free_string) char *scheme = url_part(url, CURLUPART_SCHEME, 0);
    CLEANUP(free_string) char *user = url_part(url, CURLUPART_USER, 0);
    bool https = scheme && strcmp(scheme, "https") == 0;
    if (!https && !(scheme && strcmp(scheme, "http") == 0))
        return err_set(err, ERR_INVALID, "URL is neither http nor https");
    if (user)
        return err_set(err, ERR_INVALID, "URL carries a user name");
    if (https && call->client->tls_server_name && !rewrite_for_server_name(call, url, host_given, err))
        return false;
    call->url = url_part(url, CURLUPART_URL, 0);
    return call->url || err_set(err, ERR_INVALID, "URL cannot be written back");
}

static bool take_url(struct http_call *call, const struct http_request *request, struct err *err)
{
    if (str_find_byte(request->url, '\0') >= 0)
        return err_set(err, ERR_INVALID, "NUL in URL");
    CLEANUP(free_string) char *text = str_dup_c(request->url);
    CURLU *url = curl_url();
    CURLUcode code = curl_url_set(url, CURLUPART_URL, text, CURLU_PATH_AS_IS);
    bool ok = code == CURLUE_OK ? take_parsed_url(call, url, given(request, STR("Host")), err)
                                : err_set(err, ERR_INVALID, "URL: %s", curl_url_strerror(code));
    curl_url_cleanup(url);
    return ok;
}

static void take_limits(struct http_call *call, const struct http_request *request)
{
    struct mono_time now = loop_mono(call->client->loop);
    int64_t total_ms = request->total_timeout_ms ? request->total_timeout_ms : DEFAULT_TOTAL_MS;
    if (total_ms > 0)
        call->total_deadline = mono_add_ms(now, total_ms);
    if (request->header_timeout_ms > 0)
        call->header_deadline = mono_add_ms(now, request->header_timeout_ms);
    call->connect_timeout_ms =
        request->connect_timeout_ms > 0 ? request->connect_timeout_ms : DEFAULT_CONNECT_MS;
    call->idle_timeout_ms = request->idle_timeout_ms;
    call->max_body = request->max_body ? request->max_body : DEFAULT_MAX_BODY;
}

bool call_take_request(struct http_call *call, const struct http_request *request, struct err *err)
{
    if (!is_token(str_c(request->method)))
        return err_set(err, ERR_INVALID, "method is not a token");
    if (!take_url(call, request, err) || !take_headers(call, request, err))
        return false;
    call->method = str_dup_c(str_c(request->method));
    if (!str_empty(request->body))
        call->body = (struct str){ .ptr = str_dup_c(request->body), .len = request->body.len };
    call->fresh_connection = request->fresh_connection;
    call->may_send = request->may_send;
    call->on_header = request->on_header;
    call->on_data = request->on_data;
    call->done = request->done;
    call->self = request->self;
    take_limits(call, request);
    return true;
}

/* ---- the easy handle ---- */

/* A peer that vanishes without a word is noticed after 20 s + 3 * 10 s of silence, and
 * after 45 s when there are bytes it never acknowledged, which keepalive ignores. */
static int on_socket(void *self, curl_socket_t fd, curlsocktype purpose)
{
    (void)self, (void)purpose;
    static const struct {
        int level, option, value;
    } options[] = {
        { SOL_SOCKET, SO_KEEPALIVE, 1 },          { IPPROTO_TCP, TCP_KEEPIDLE, 20 },
        { IPPROTO_TCP, TCP_KEEPINTVL, 10 },       { IPPROTO_TCP, TCP_KEEPCNT, 3 },
        { IPPROTO_TCP, TCP_USER_TIMEOUT, 45000 },
    };
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        setsockopt(fd, options[i].level, options[i].option, &options[i].value, sizeof options[i].value);
    return CURL_SOCKOPT_OK;
}

static curl_socket_t open_socket(void *self, curlsocktype purpose, struct curl_sockaddr *address)
{
    (void)self, (void)purpose;
    /* Credential plugins are child processes; they inherit nothing. */
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static void set_blob(CURL *easy, CURLoption option, char *pem, size_t len)
{
    struct curl_blob blob = { .data = pem, .len = len, .flags = CURL_BLOB_NOCOPY };
    if (pem)
        curl_easy_setopt(easy, option, &blob);
}

static void set_tls(CURL *easy, const struct http_client *client)
{
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (client->ca_pem) {
        /* libcurl would trust the system's directory besides the blob. */
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
        curl_easy_setopt(easy, CURLOPT_CAINFO, NULL);
    }
    set_blob(easy, CURLOPT_CAINFO_BLOB, client->ca_pem, client->ca_len);
    /* A proxy's certificate is the company's or the system's, and always verified. */
    set_blob(easy, CURLOPT_PROXY_CAINFO_BLOB, client->ca_pem, client->ca_len);
    curl_easy_setopt(easy, CURLOPT_PROXY_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    set_blob(easy, CURLOPT_SSLCERT_BLOB, client->cert_pem, client->cert_len);
    set_blob(easy, CURLOPT_SSLKEY_BLOB, client->key_pem, client->key_len);
    if (client->insecure_skip_verify) {
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
}

static void set_transport(CURL *easy, const struct http_call *call)
{
    const struct http_client *client = call->client;
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)call->connect_timeout_ms);
    curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, on_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, NAME_CACHE_S);
    curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, IDLE_CONNECTION_S);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, RECEIVE_BUFFER_BYTES);
    /* Empty, not unset: unset means the environment's proxy. */
    curl_easy_setopt(easy, CURLOPT_PROXY, client->proxy_url ? client->proxy_url : "");
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700
    /* Ending a transfer must not wait for a name server that does not answer. */
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#endif
    if (call->connect_to)
        curl_easy_setopt(easy, CURLOPT_CONNECT_TO, call->connect_to);
    if (call->fresh_connection) {
        curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
        curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
    }
}

static void set_method(CURL *easy, const struct http_call *call)
{
    static const char *const with_body[] = { "POST", "PUT", "PATCH" };
    bool body = !str_empty(call->body);
    for (size_t i = 0; i < ARRAY_LEN(with_body); i++)
        body |= strcmp(call->method, with_body[i]) == 0;
    if (body) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.len);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, call->body.len ? call->body.ptr : "");
    } else if (strcmp(call->method, "HEAD") == 0) {
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    }
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, call->method);
}

CURL *call_easy(struct http_call *call)
{
    CURL *easy = curl_easy_init();
    if (!easy)
        abort();
    set_transport(easy, call);
    set_tls(easy, call->client);
    set_method(easy, call);
    curl_easy_setopt(easy, CURLOPT_URL, call->url);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, call->headers);
    /* CURLOPT_ACCEPT_ENCODING stays unset: libcurl's decoder fails at the second gzip
     * member of a watch. Who wants an encoding says so in a header and decodes. */
    if (call->client->user_agent)
        curl_easy_setopt(easy, CURLOPT_USERAGENT, call->client->user_agent);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, call->curl_text);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, call);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, call_on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, call);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, call_on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, call);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, call_on_request);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, call);
    return easy;
}
