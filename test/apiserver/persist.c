#include "test/apiserver/persist.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"

#define GROWTH_MIN (64 * 1024 * 1024) /* bytes appended before a rewrite is worth it */

struct as_persist {
    struct as_store *store;
    struct arena arena; /* the two names */
    const char *path;
    const char *new_path;
    int lock;
    int fd;
    int64_t appended;
    int64_t compacted; /* size after the last rewrite */
    struct strbuf line;
};

bool as_persist_replay(struct as_store *store, struct arena *arena, struct str line, struct err *err)
{
    const struct json *record;
    struct json_limits limits = { .max_value_bytes = SIZE_MAX };
    int64_t rv = 0;
    if (!json_parse(arena, line, &limits, &record, err))
        return false;
    if (!json_i64(json_get(record, STR("rv")), &rv) || rv < 1)
        return err_set(err, ERR_INVALID, "a record without resourceVersion");
    const struct json *resource = json_get(record, STR("resource"));
    if (!resource) {
        as_store_advance(store, rv);
        return true;
    }
    struct as_bucket *bucket =
        as_store_bucket(store, json_str(json_get(record, STR("group"))), json_str(resource));
    const struct json *object = json_get(record, STR("put"));
    struct str deleted = json_str(json_get(record, STR("delete")));
    if (json_str(json_path(object, "metadata", "name", NULL)).len)
        as_bucket_restore(bucket, object, rv);
    else if (deleted.len)
        as_bucket_forget(bucket, deleted, rv);
    else
        return err_set(err, ERR_INVALID, "a record that neither puts nor deletes");
    return true;
}

static bool replay_all(struct as_persist *persist, struct str journal, struct err *err)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    size_t number = 0;
    struct str line;
    while (journal.len && str_cut(journal, '\n', &line, &journal)) {
        number++;
        arena_clear(&arena);
        if (!as_persist_replay(persist->store, &arena, line, err))
            return err_wrap(err, "%s line %zu", persist->path, number);
    }
    as_store_compact(persist->store);
    return true;
}

static void format_head(struct strbuf *out, const struct as_bucket *bucket, int64_t rv)
{
    strbuf_addf(out, "{\"rv\":%" PRId64 ",\"group\":", rv);
    json_write_str(out, bucket->group);
    strbuf_add(out, STR(",\"resource\":"));
    json_write_str(out, bucket->resource);
}

static void format_put(struct strbuf *out, const struct as_bucket *bucket, const struct as_object *object)
{
    format_head(out, bucket, object->rv);
    strbuf_add(out, STR(",\"put\":"));
    as_object_write(out, object, NULL, object->rv);
    strbuf_add(out, STR("}\n"));
}

static bool write_all(int fd, struct str text, struct err *err)
{
    while (text.len) {
        ssize_t n = write(fd, text.ptr, text.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(err, "write the journal");
        text = str_slice(text, (size_t)n, text.len);
    }
    return true;
}

static bool write_bucket(struct as_persist *persist, int fd, const struct as_bucket *bucket, struct err *err)
{
    for (struct as_omap_node *node = as_omap_seek(&bucket->objects, STR_NULL); node;
         node = as_omap_next(node)) {
        strbuf_clear(&persist->line);
        format_put(&persist->line, bucket, as_omap_object(node));
        if (!write_all(fd, strbuf_str(&persist->line), err))
            return false;
        persist->compacted += (int64_t)persist->line.len;
    }
    return true;
}

/* CRDs first: reading custom resources back needs their selectable fields. */
static bool write_buckets(struct as_persist *persist, int fd, struct err *err)
{
    for (int crds = 1; crds >= 0; crds--)
        for (struct as_bucket *bucket = as_store_first(persist->store); bucket; bucket = bucket->next)
            if (str_eq(bucket->resource, STR("customresourcedefinitions")) == crds &&
                !write_bucket(persist, fd, bucket, err))
                return false;
    return true;
}

static bool rewrite(struct as_persist *persist, struct err *err)
{
    int fd = open(persist->new_path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno(err, "create %s", persist->new_path);
    strbuf_clear(&persist->line);
    strbuf_addf(&persist->line, "{\"rv\":%" PRId64 "}\n", as_store_rv(persist->store));
    persist->compacted = (int64_t)persist->line.len;
    persist->appended = 0;
    if (!write_all(fd, strbuf_str(&persist->line), err) || !write_buckets(persist, fd, err) ||
        rename(persist->new_path, persist->path) != 0) {
        if (!err->kind)
            err_errno(err, "rename %s", persist->new_path);
        close(fd);
        return false;
    }
    fd_close(&persist->fd);
    persist->fd = fd;
    return true;
}

static void on_change(void *self, struct as_bucket *bucket, const struct as_change *change)
{
    struct as_persist *persist = self;
    struct err err = ERR_INIT;
    strbuf_clear(&persist->line);
    if (change->after) {
        format_put(&persist->line, bucket, change->after);
    } else {
        format_head(&persist->line, bucket, change->rv);
        strbuf_add(&persist->line, STR(",\"delete\":"));
        json_write_str(&persist->line, change->before->key);
        strbuf_add(&persist->line, STR("}\n"));
    }
    persist->appended += (int64_t)persist->line.len;
    bool kept = write_all(persist->fd, strbuf_str(&persist->line), &err);
    if (kept && persist->appended > max_i64(GROWTH_MIN, 4 * persist->compacted))
        kept = rewrite(persist, &err);
    if (!kept) {
        /* Going on would mean answering for what a restart forgets. */
        LOG_ERROR("the journal cannot be written", LOG_ERR(&err));
        abort();
    }
}

static bool take_lock(struct as_persist *persist, const char *dir, struct err *err)
{
    if (mkdir(dir, 0700) != 0 && errno != EEXIST)
        return err_errno(err, "create %s", dir);
    const char *path = arena_strf(&persist->arena, "%s/lock", dir).ptr;
    persist->lock = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (persist->lock < 0)
        return err_errno(err, "open %s", path);
    if (flock(persist->lock, LOCK_EX | LOCK_NB) != 0)
        return err_errno(err, "another server uses %s", dir);
    return true;
}

static bool read_back(struct as_persist *persist, struct err *err)
{
    CLEANUP(strbuf_done) struct strbuf journal = STRBUF_INIT(SIZE_MAX);
    struct err read_err = ERR_INIT;
    if (!file_read(persist->path, &journal, &read_err)) {
        if (read_err.kind == ERR_NOT_FOUND)
            return true;
        *err = read_err;
        return false;
    }
    return replay_all(persist, strbuf_str(&journal), err);
}

struct as_persist *as_persist_open(const char *dir, struct as_store *store, struct err *err)
{
    struct as_persist *persist = mem_zalloc(sizeof *persist);
    persist->store = store;
    persist->fd = -1;
    persist->lock = -1;
    persist->line = STRBUF_INIT(SIZE_MAX);
    persist->path = arena_strf(&persist->arena, "%s/objects.journal", dir).ptr;
    persist->new_path = arena_strf(&persist->arena, "%s/objects.journal.new", dir).ptr;
    if (!take_lock(persist, dir, err) || !read_back(persist, err) || !rewrite(persist, err)) {
        as_persist_free(persist);
        return NULL;
    }
    as_store_observe(store, on_change, persist);
    return persist;
}

void as_persist_free(struct as_persist *persist)
{
    if (!persist)
        return;
    fd_close(&persist->fd);
    fd_close(&persist->lock);
    strbuf_done(&persist->line);
    arena_done(&persist->arena);
    free(persist);
}
