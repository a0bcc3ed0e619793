#include "rest.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/strbuf.h"

#define MAX_ANSWER_BYTES ((size_t)512 * 1024 * 1024)
#define DEFAULT_TIMEOUT_MS (30 * 1000)

struct rest {
    CURL *easy; /* keeps its connection */
};

struct rest *rest_new(void)
{
    struct rest *rest = mem_zalloc(sizeof *rest);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    rest->easy = curl_easy_init();
    if (!rest->easy)
        abort();
    return rest;
}

void rest_free(struct rest *rest)
{
    if (!rest)
        return;
    curl_easy_cleanup(rest->easy);
    curl_global_cleanup();
    free(rest);
}

static size_t on_body(char *bytes, size_t size, size_t count, void *self)
{
    strbuf_add(self, (struct str){ .ptr = bytes, .len = size * count });
    return size * count;
}

static void set_credentials(CURL *easy, const struct rest_credentials *credentials)
{
    if (credentials->ca_file)
        curl_easy_setopt(easy, CURLOPT_CAINFO, credentials->ca_file);
    if (credentials->cert_file)
        curl_easy_setopt(easy, CURLOPT_SSLCERT, credentials->cert_file);
    if (credentials->key_file)
        curl_easy_setopt(easy, CURLOPT_SSLKEY, credentials->key_file);
    if (credentials->token) {
        curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
        curl_easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, credentials->token);
    }
}

static struct curl_slist *set_body(CURL *easy, const struct rest_request *request)
{
    char header[128];
    if (!request->body.ptr)
        return NULL;
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->body.ptr);
    snprintf(header, sizeof header, "Content-Type: %s",
             request->content_type ? request->content_type : "application/json");
    struct curl_slist *headers = curl_slist_append(NULL, header);
    headers = curl_slist_append(headers, "Expect:");
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    return headers;
}

struct rest_answer rest_call(struct rest *rest, const struct rest_request *request, struct arena *arena)
{
    CURL *easy = rest->easy;
    CLEANUP(strbuf_done) struct strbuf body = STRBUF_INIT(MAX_ANSWER_BYTES);
    curl_easy_reset(easy);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "koord-e2e");
    curl_easy_setopt(easy, CURLOPT_URL, request->url);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS,
                     (long)(request->timeout_ms ? request->timeout_ms : DEFAULT_TIMEOUT_MS));
    if (request->credentials)
        set_credentials(easy, request->credentials);
    struct curl_slist *headers = set_body(easy, request);
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
    CURLcode failure = curl_easy_perform(easy);
    curl_slist_free_all(headers);
    long code = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &code);
    /* Whoever refuses a body may hang up before having read it all. */
    if (failure != CURLE_OK && code != 413)
        return (struct rest_answer){ .body = arena_strf(arena, "%s", curl_easy_strerror(failure)) };
    return (struct rest_answer){ .code = (int)code, .body = arena_str(arena, strbuf_str(&body)) };
}
