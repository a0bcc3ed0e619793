#include "support.h"

int fixture_setup(void **state)
{
    struct fixture *fixture = mem_zalloc(sizeof *fixture);
    fixture->pool = intern_new();
    *state = fixture;
    return 0;
}

int fixture_teardown(void **state)
{
    struct fixture *fixture = *state;
    bool clean = intern_count(fixture->pool) == 0;
    if (clean)
        intern_free(fixture->pool);
    arena_done(&fixture->arena);
    free(fixture);
    return clean ? 0 : -1;
}

static void copy(char to[256], struct str text)
{
    snprintf(to, 256, STR_FMT, STR_ARG(text));
}

static void on_mismatch(void *self, struct str path, struct str value, const char *message)
{
    struct fixture *fixture = self;
    fixture->reports++;
    copy(fixture->path, path);
    copy(fixture->value, value);
    copy(fixture->message, str_c(message));
}

struct json_report fixture_report(struct fixture *fixture)
{
    return (struct json_report){ .mismatch = on_mismatch, .self = fixture };
}

struct kube_object *fixture_object(struct fixture *fixture, const struct kube_kind *kind, const char *json)
{
    struct json_decode_options options = { .report = fixture_report(fixture) };
    void *decoded = arena_alloc(&fixture->arena, kind->table->size);
    if (!json_decode(&fixture->arena, str_c(json), kind->table, decoded, &options, &fixture->err))
        return NULL;
    return kind->project(decoded, fixture->pool, &options.report, &fixture->err);
}
