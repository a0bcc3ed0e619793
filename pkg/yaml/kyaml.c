#include "yaml/yaml.h"
#include "yaml/compose.h"

static struct kyaml_limits with_defaults(const struct kyaml_limits *limits)
{
    struct kyaml_limits out = limits ? *limits : (struct kyaml_limits){ 0 };
    if (out.max_bytes == 0)
        out.max_bytes = (size_t)10 * 1024 * 1024;
    if (out.max_nodes == 0)
        out.max_nodes = 1000 * 1000;
    if (out.max_depth == 0)
        out.max_depth = 200;
    return out;
}

/* --- JSON, which is most of what kubectl prints and is ten times faster to read so --- */

struct json_reader {
    struct arena *arena;
    size_t max_nodes;
    struct json_builder *builder;
    struct json_sink inner;
    struct json *roots; /* array */
    size_t nodes;       /* of this document */
    size_t keys;        /* of all documents */
};

static bool count_event(void *self, const struct json_event *event, struct err *err)
{
    struct json_reader *reader = self;
    if (event->type == JSON_EV_KEY)
        reader->keys++;
    else if (event->type != JSON_EV_OBJECT_END && event->type != JSON_EV_ARRAY_END)
        reader->nodes++;
    if (reader->nodes > reader->max_nodes)
        return err_set(err, ERR_INVALID, "too many values");
    if (!reader->inner.event(reader->inner.self, event, err))
        return false;
    const struct json *root = json_builder_root(reader->builder);
    if (root) {
        json_push(reader->arena, reader->roots, root);
        json_builder_reset(reader->builder);
        reader->nodes = 0;
    }
    return true;
}

static bool count_key(void *self, const struct json_event *event, struct err *err)
{
    (void)err;
    *(size_t *)self += event->type == JSON_EV_KEY;
    return true;
}

/* The builder drops duplicate keys, which are errors here. */
static bool has_duplicates(const struct json_reader *reader)
{
    size_t kept = 0;
    struct json_sink counter = { .event = count_key, .self = &kept };
    return !json_walk(reader->roots, counter, NULL) || kept != reader->keys;
}

/* The documents as an array, or NULL: not JSON throughout, or something is wrong with
 * it; reading it as YAML will tell, with line and column. */
static const struct json *read_json(struct arena *arena, struct str text, const struct kyaml_limits *limits)
{
    struct str trimmed = str_trim(text);
    if (!str_starts_with(trimmed, STR("{")) && !str_starts_with(trimmed, STR("[")))
        return NULL;
    struct json_reader reader = {
        .arena = arena,
        .max_nodes = limits->max_nodes,
        .builder = json_builder_new(arena),
        .roots = json_new(arena, JSON_ARRAY),
    };
    reader.inner = json_builder_sink(reader.builder);
    const struct json_limits json_limits = { .max_depth = limits->max_depth,
                                             .max_value_bytes = limits->max_bytes };
    struct json_sink sink = { .event = count_event, .self = &reader };
    struct json_parser *parser = json_parser_new(&json_limits, true, sink);
    bool ok = json_parser_feed(parser, text, NULL) && json_parser_finish(parser, NULL);
    json_parser_free(parser);
    return ok && !has_duplicates(&reader) ? reader.roots : NULL;
}

/* --- documents --- */

bool kyaml_each(struct arena *arena, struct str text, const struct kyaml_limits *limits,
                bool (*on_document)(void *self, size_t document, const struct json *root, struct err *err),
                void *self, struct err *err)
{
    struct kyaml_limits bounds = with_defaults(limits);
    if (text.len > bounds.max_bytes)
        return err_set(err, ERR_INVALID, "YAML larger than %zu bytes", bounds.max_bytes);
    /* libyaml counts a byte order mark as a column, which breaks the indentation. */
    if (str_starts_with(text, STR("\xEF\xBB\xBF")))
        text = str_slice(text, 3, text.len);
    const struct json *roots = read_json(arena, text, &bounds);
    if (!roots)
        return kyaml_compose(arena, text, &bounds, on_document, self, err);
    for (size_t i = 0; i < roots->array.count; i++) {
        if (!on_document(self, i, roots->array.items[i], err))
            return false;
    }
    return true;
}

static bool take_only(void *self, size_t document, const struct json *root, struct err *err)
{
    const struct json **only = self;
    if (document > 0)
        return err_set(err, ERR_INVALID, "more than one YAML document");
    *only = root;
    return true;
}

bool kyaml_parse(struct arena *arena, struct str text, const struct kyaml_limits *limits,
                 const struct json **ret, struct err *err)
{
    const struct json *only = NULL;
    if (!kyaml_each(arena, text, limits, take_only, &only, err))
        return false;
    if (!only)
        return err_set(err, ERR_INVALID, "the YAML document is empty");
    *ret = only;
    return true;
}
