#include "test/apiserver/requestlog.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/rfc3339.h"

#define KEPT 100000
#define BODY_KEPT (64 * 1024)

struct as_request_log {
    int fd;
    int64_t next_id;
    struct apiserver_request *ring; /* each entry's texts are one block, at method.ptr */
    size_t cap, head, count;
};

struct as_request_log *as_request_log_new(const char *path, struct err *err)
{
    int fd = -1;
    if (path) {
        fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        if (fd < 0) {
            err_errno(err, "open request log %s", path);
            return NULL;
        }
    }
    struct as_request_log *log = mem_zalloc(sizeof *log);
    log->fd = fd;
    log->next_id = 1;
    return log;
}

void as_request_log_clear(struct as_request_log *log)
{
    for (size_t i = 0; i < log->count; i++)
        free((char *)as_request_log_at(log, i)->method.ptr);
    log->head = 0;
    log->count = 0;
}

void as_request_log_free(struct as_request_log *log)
{
    if (!log)
        return;
    as_request_log_clear(log);
    free(log->ring);
    fd_close(&log->fd);
    free(log);
}

static void copy_text(char **end, struct str *text)
{
    if (text->len)
        memcpy(*end, text->ptr, text->len);
    text->ptr = *end;
    *end += text->len;
}

static void copy_texts(struct apiserver_request *entry)
{
    entry->body = str_slice(entry->body, 0, BODY_KEPT);
    size_t size = entry->method.len + entry->path.len + entry->query.len + entry->user.len +
                  entry->user_agent.len + entry->content_type.len + entry->body.len;
    char *end = mem_alloc(size + 1);
    copy_text(&end, &entry->method);
    copy_text(&end, &entry->path);
    copy_text(&end, &entry->query);
    copy_text(&end, &entry->user);
    copy_text(&end, &entry->user_agent);
    copy_text(&end, &entry->content_type);
    copy_text(&end, &entry->body);
}

static void grow(struct as_request_log *log)
{
    size_t cap = log->cap ? log->cap * 2 : 256;
    struct apiserver_request *ring = mem_zalloc(cap * sizeof *ring);
    for (size_t i = 0; i < log->count; i++)
        ring[i] = *as_request_log_at(log, i);
    free(log->ring);
    log->ring = ring;
    log->cap = cap;
    log->head = 0;
}

int64_t as_request_log_add(struct as_request_log *log, const struct apiserver_request *draft)
{
    if (log->count == KEPT) {
        free((char *)as_request_log_at(log, 0)->method.ptr);
        log->head = (log->head + 1) % log->cap;
        log->count--;
    }
    if (log->count == log->cap)
        grow(log);
    log->count++;
    struct apiserver_request *entry = as_request_log_at(log, log->count - 1);
    *entry = *draft;
    entry->id = log->next_id++;
    copy_texts(entry);
    return entry->id;
}

struct apiserver_request *as_request_log_find(struct as_request_log *log, int64_t id)
{
    if (!log->count)
        return NULL;
    int64_t first = as_request_log_at(log, 0)->id;
    if (id < first || id - first >= (int64_t)log->count)
        return NULL;
    return as_request_log_at(log, (size_t)(id - first));
}

size_t as_request_log_count(const struct as_request_log *log)
{
    return log->count;
}

struct apiserver_request *as_request_log_at(const struct as_request_log *log, size_t index)
{
    return &log->ring[(log->head + index) % log->cap];
}

static void add_text(struct strbuf *out, const char *key, struct str text)
{
    if (str_empty(text))
        return;
    strbuf_addf(out, ",\"%s\":", key);
    json_write_str(out, text);
}

void as_request_log_format(struct strbuf *out, const struct apiserver_request *entry, const char *phase)
{
    strbuf_addf(out, "{\"id\":%" PRId64 ",\"time\":\"", entry->id);
    rfc3339_format_micro(out, entry->time);
    strbuf_addc(out, '"');
    if (phase)
        strbuf_addf(out, ",\"stream\":\"%s\"", phase);
    add_text(out, "method", entry->method);
    add_text(out, "path", entry->path);
    add_text(out, "query", entry->query);
    add_text(out, "user", entry->user);
    add_text(out, "userAgent", entry->user_agent);
    add_text(out, "contentType", entry->content_type);
    strbuf_addf(out, ",\"code\":%d,\"bytes\":%" PRId64 ",\"done\":%s", entry->code, entry->bytes,
                entry->is_done ? "true" : "false");
    add_text(out, "body", entry->body);
    strbuf_addc(out, '}');
}

void as_request_log_write(struct as_request_log *log, const struct apiserver_request *entry,
                          const char *phase)
{
    if (log->fd < 0)
        return;
    CLEANUP(strbuf_done) struct strbuf line = STRBUF_INIT(SIZE_MAX);
    as_request_log_format(&line, entry, phase);
    strbuf_addc(&line, '\n');
    struct str rest = strbuf_str(&line);
    while (rest.len) {
        ssize_t n = write(log->fd, rest.ptr, rest.len);
        if (n <= 0)
            return; /* a full disk must not stop the server; the log in memory goes on */
        rest = str_slice(rest, (size_t)n, rest.len);
    }
}
