#include "yaml/compose.h"
#include "json/keys.h"
#include "yaml/scalar.h"
#include <stdlib.h>
#include <yaml.h>

#define MAX_ANCHORS 1000 /* of one document; they are searched one by one */

/* What a finished value adds to what holds it. Aliases share nodes, so memory stays
 * small whatever they expand to; these numbers count the expansion. */
struct weight {
    size_t nodes;
    size_t bytes;  /* of texts and keys */
    size_t height; /* containers on the longest way down */
};

struct anchor {
    struct str name;
    const struct json *value; /* NULL while its container is open */
    struct weight weight;
};

struct entry {
    struct json_member member; /* first: keys.h sorts by its key */
    yaml_mark_t mark;
};

struct container {
    enum json_type type;
    yaml_mark_t mark;
    size_t first;  /* entry */
    size_t anchor; /* its index plus one; 0: none */
    struct weight weight;
    bool has_key; /* of an object: the next value belongs to `key` */
    struct str key;
    yaml_mark_t key_mark;
};

struct composer {
    struct arena *arena;
    const struct kyaml_limits *limits;
    struct str text;
    struct err *err;
    yaml_parser_t yaml;

    struct entry *entries;
    size_t entries_len, entries_cap;
    struct container *open;
    size_t open_len, open_cap;
    struct anchor *anchors;
    size_t anchors_len, anchors_cap;
    size_t nodes;       /* of this document, aliases expanded */
    size_t alias_bytes; /* what its aliases add when expanded */

    const struct json *root;
    bool empty; /* the document has no node at all */
};

/* Room for one more. */
static void *roomy(void *items, size_t len, size_t *cap, size_t size)
{
    if (len < *cap)
        return items;
    *cap = *cap ? *cap * 2 : 16;
    return mem_realloc(items, *cap * size);
}

/* --- errors --- */

static bool fail(struct composer *composer, yaml_mark_t mark, const char *what)
{
    return err_set(composer->err, ERR_INVALID, "line %zu, column %zu: %s", mark.line + 1, mark.column + 1,
                   what);
}

/* The reader of bytes reports an offset only. */
static yaml_mark_t mark_at(struct str text, size_t offset)
{
    yaml_mark_t mark = { .index = offset };
    for (size_t i = 0; i < offset && i < text.len; i++) {
        mark.column++;
        if (text.ptr[i] == '\n') {
            mark.line++;
            mark.column = 0;
        }
    }
    return mark;
}

static bool fail_yaml(struct composer *composer)
{
    const yaml_parser_t *yaml = &composer->yaml;
    const char *problem = yaml->problem ? yaml->problem : "malformed YAML";
    switch (yaml->error) {
    case YAML_MEMORY_ERROR:
        return err_set(composer->err, ERR_FATAL, "out of memory");
    case YAML_READER_ERROR:
        return fail(composer, mark_at(composer->text, yaml->problem_offset), problem);
    default:
        return fail(composer, yaml->problem_mark, problem);
    }
}

/* --- weights --- */

static bool count_nodes(struct composer *composer, size_t nodes, yaml_mark_t mark)
{
    composer->nodes += nodes;
    return composer->nodes <= composer->limits->max_nodes || fail(composer, mark, "too many values");
}

static bool check_depth(struct composer *composer, size_t height, yaml_mark_t mark)
{
    return composer->open_len + height <= composer->limits->max_depth ||
           fail(composer, mark, "nested too deeply");
}

/* Readers of the tree copy texts: a few aliases of a long one must not fill the memory. */
static bool count_alias_bytes(struct composer *composer, size_t bytes, yaml_mark_t mark)
{
    composer->alias_bytes += bytes;
    return composer->alias_bytes <= composer->limits->max_bytes ||
           fail(composer, mark, "aliases expand to too much");
}

/* --- where a finished value goes --- */

static bool put_key(struct composer *composer, struct container *object, const struct json *value,
                    yaml_mark_t mark)
{
    if (value->type != JSON_STRING)
        return fail(composer, mark, "a key must be a string (quote it)");
    if (value->text.len > 0 && memchr(value->text.ptr, 0, value->text.len))
        return fail(composer, mark, "NUL in a key");
    object->has_key = true;
    object->key = value->text;
    object->key_mark = mark;
    return true;
}

static void put_entry(struct composer *composer, struct container *holder, const struct json *value)
{
    composer->entries =
        roomy(composer->entries, composer->entries_len, &composer->entries_cap, sizeof(struct entry));
    composer->entries[composer->entries_len++] = (struct entry){
        .member = { .key = holder->key, .value = value },
        .mark = holder->key_mark,
    };
    holder->has_key = false;
}

static bool put(struct composer *composer, const struct json *value, struct weight weight, yaml_mark_t mark)
{
    if (composer->open_len == 0) {
        composer->root = value;
        return true;
    }
    struct container *holder = &composer->open[composer->open_len - 1];
    if (holder->type == JSON_OBJECT && !holder->has_key)
        return put_key(composer, holder, value, mark);
    holder->weight.nodes += weight.nodes;
    holder->weight.bytes += weight.bytes + holder->key.len;
    if (holder->weight.height < weight.height + 1)
        holder->weight.height = weight.height + 1;
    put_entry(composer, holder, value);
    return true;
}

static bool awaits_key(const struct composer *composer)
{
    if (composer->open_len == 0)
        return false;
    const struct container *holder = &composer->open[composer->open_len - 1];
    return holder->type == JSON_OBJECT && !holder->has_key;
}

/* --- anchors and aliases --- */

/* *ret is the anchor's index plus one, or 0 without a name. */
static bool add_anchor(struct composer *composer, const yaml_char_t *name, const struct json *value,
                       struct weight weight, yaml_mark_t mark, size_t *ret)
{
    *ret = 0;
    if (!name)
        return true;
    if (composer->anchors_len == MAX_ANCHORS)
        return fail(composer, mark, "too many anchors");
    composer->anchors =
        roomy(composer->anchors, composer->anchors_len, &composer->anchors_cap, sizeof(struct anchor));
    composer->anchors[composer->anchors_len++] = (struct anchor){
        .name = arena_str(composer->arena, str_c((const char *)name)),
        .value = value,
        .weight = weight,
    };
    *ret = composer->anchors_len;
    return true;
}

/* A name may be given again; the latest counts. */
static const struct anchor *find_anchor(const struct composer *composer, struct str name)
{
    for (size_t i = composer->anchors_len; i-- > 0;) {
        if (str_eq(composer->anchors[i].name, name))
            return &composer->anchors[i];
    }
    return NULL;
}

static bool on_alias(struct composer *composer, const yaml_event_t *event)
{
    const struct anchor *anchor = find_anchor(composer, str_c((const char *)event->data.alias.anchor));
    if (!anchor)
        return fail(composer, event->start_mark, "unknown alias");
    if (!anchor->value)
        return fail(composer, event->start_mark, "an alias inside what it stands for");
    return check_depth(composer, anchor->weight.height, event->start_mark) &&
           count_nodes(composer, anchor->weight.nodes, event->start_mark) &&
           count_alias_bytes(composer, anchor->weight.bytes, event->start_mark) &&
           put(composer, anchor->value, anchor->weight, event->start_mark);
}

/* --- scalars --- */

static const struct {
    const char *tag;
    enum json_type type;
} scalar_tags[] = {
    { YAML_NULL_TAG, JSON_NULL },
    { YAML_BOOL_TAG, JSON_BOOL },
    { YAML_INT_TAG, JSON_NUMBER },
    { YAML_FLOAT_TAG, JSON_NUMBER },
};

/* A tag makes the text what it says, or is refused. */
static bool tagged(struct composer *composer, const yaml_event_t *event, struct str text,
                   const struct json **ret)
{
    const char *tag = (const char *)event->data.scalar.tag;
    if (strcmp(tag, "!") == 0 || strcmp(tag, YAML_STR_TAG) == 0) {
        *ret = json_new_str(composer->arena, text);
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(scalar_tags); i++) {
        if (strcmp(tag, scalar_tags[i].tag) != 0)
            continue;
        if (kyaml_plain(composer->arena, text, ret, NULL) && (*ret)->type == scalar_tags[i].type)
            return true;
        return fail(composer, event->start_mark, "the value does not fit its tag");
    }
    return fail(composer, event->start_mark, "unsupported tag");
}

static bool make_scalar(struct composer *composer, const yaml_event_t *event, const struct json **ret)
{
    struct str text = { (const char *)event->data.scalar.value, event->data.scalar.length };
    bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (event->data.scalar.tag)
        return tagged(composer, event, text, ret);
    if (!plain) {
        *ret = json_new_str(composer->arena, text);
        return true;
    }
    if (awaits_key(composer) && str_eq(text, STR("<<")))
        return fail(composer, event->start_mark, "merge keys (<<) are not supported");
    struct err why;
    return kyaml_plain(composer->arena, text, ret, &why) || fail(composer, event->start_mark, why.text);
}

static bool on_scalar(struct composer *composer, const yaml_event_t *event)
{
    const struct json *value;
    const struct weight weight = { .nodes = 1, .bytes = event->data.scalar.length };
    size_t anchor;
    composer->empty =
        composer->open_len == 0 && event->data.scalar.length == 0 && event->data.scalar.plain_implicit;
    return make_scalar(composer, event, &value) &&
           count_nodes(composer, awaits_key(composer) ? 0 : 1, event->start_mark) &&
           add_anchor(composer, event->data.scalar.anchor, value, weight, event->start_mark, &anchor) &&
           put(composer, value, weight, event->start_mark);
}

/* --- containers --- */

static bool open_container(struct composer *composer, enum json_type type, const yaml_event_t *event,
                           const yaml_char_t *anchor, const yaml_char_t *tag, const char *known_tag)
{
    if (tag && strcmp((const char *)tag, "!") != 0 && strcmp((const char *)tag, known_tag) != 0)
        return fail(composer, event->start_mark, "unsupported tag");
    if (awaits_key(composer))
        return fail(composer, event->start_mark, "a key must be a string");
    size_t index;
    if (!check_depth(composer, 1, event->start_mark) || !count_nodes(composer, 1, event->start_mark) ||
        !add_anchor(composer, anchor, NULL, (struct weight){ 0 }, event->start_mark, &index))
        return false;
    composer->open = roomy(composer->open, composer->open_len, &composer->open_cap, sizeof(struct container));
    composer->open[composer->open_len++] = (struct container){
        .type = type,
        .mark = event->start_mark,
        .first = composer->entries_len,
        .anchor = index,
        .weight = { .nodes = 1, .height = 1 },
    };
    return true;
}

static const struct entry *find_duplicate(const struct entry *entries, size_t count)
{
    const struct str **sorted = json_keys_sorted(entries, count, sizeof *entries);
    const struct entry *found = NULL;
    for (size_t i = 1; i < count; i++) {
        const struct entry *entry = (const struct entry *)(const void *)sorted[i];
        if (str_eq(*sorted[i - 1], *sorted[i]) && (!found || entry < found))
            found = entry; /* the first in the text */
    }
    free(sorted);
    return found;
}

static bool make_object(struct composer *composer, struct json *object, const struct entry *entries,
                        size_t count)
{
    const struct entry *duplicate = find_duplicate(entries, count);
    if (duplicate) {
        struct err what = ERR_INIT;
        err_set(&what, ERR_INVALID, "duplicate key \"" STR_FMT "\"",
                STR_ARG(str_slice(duplicate->member.key, 0, 100)));
        return fail(composer, duplicate->mark, what.text);
    }
    object->object.members = arena_array(composer->arena, struct json_member, count);
    object->object.count = count;
    for (size_t i = 0; i < count; i++)
        object->object.members[i] = entries[i].member;
    return true;
}

static void make_array(struct composer *composer, struct json *array, const struct entry *entries,
                       size_t count)
{
    array->array.items = arena_array(composer->arena, const struct json *, count);
    array->array.count = count;
    for (size_t i = 0; i < count; i++)
        array->array.items[i] = entries[i].member.value;
}

static bool close_container(struct composer *composer)
{
    struct container closed = composer->open[composer->open_len - 1];
    size_t count = composer->entries_len - closed.first;
    struct json *value = json_new(composer->arena, closed.type);
    if (count > 0 && closed.type == JSON_ARRAY)
        make_array(composer, value, composer->entries + closed.first, count);
    else if (count > 0 && !make_object(composer, value, composer->entries + closed.first, count))
        return false;
    composer->entries_len = closed.first;
    composer->open_len--;
    if (closed.anchor > 0) {
        composer->anchors[closed.anchor - 1].value = value;
        composer->anchors[closed.anchor - 1].weight = closed.weight;
    }
    return put(composer, value, closed.weight, closed.mark);
}

/* --- documents --- */

static void reset(struct composer *composer)
{
    composer->entries_len = composer->open_len = composer->anchors_len = 0;
    composer->nodes = composer->alias_bytes = 0;
    composer->root = NULL;
    composer->empty = false;
}

static bool on_node(struct composer *composer, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_ALIAS_EVENT:
        return on_alias(composer, event);
    case YAML_SCALAR_EVENT:
        return on_scalar(composer, event);
    case YAML_SEQUENCE_START_EVENT:
        return open_container(composer, JSON_ARRAY, event, event->data.sequence_start.anchor,
                              event->data.sequence_start.tag, YAML_SEQ_TAG);
    case YAML_MAPPING_START_EVENT:
        return open_container(composer, JSON_OBJECT, event, event->data.mapping_start.anchor,
                              event->data.mapping_start.tag, YAML_MAP_TAG);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return close_container(composer);
    default:
        return true;
    }
}

/* One event: *ended at the stream's end, *complete when a document is. */
static bool step(struct composer *composer, bool *complete, bool *ended)
{
    yaml_event_t event;
    if (!yaml_parser_parse(&composer->yaml, &event))
        return fail_yaml(composer);
    if (event.type == YAML_DOCUMENT_START_EVENT)
        reset(composer);
    *complete = event.type == YAML_DOCUMENT_END_EVENT && composer->root && !composer->empty;
    *ended = event.type == YAML_STREAM_END_EVENT;
    bool ok = on_node(composer, &event);
    yaml_event_delete(&event);
    return ok;
}

bool kyaml_compose(struct arena *arena, struct str text, const struct kyaml_limits *limits,
                   bool (*on_document)(void *self, size_t document, const struct json *root, struct err *err),
                   void *self, struct err *err)
{
    struct composer composer = { .arena = arena, .limits = limits, .text = text, .err = err };
    if (!yaml_parser_initialize(&composer.yaml))
        return err_set(err, ERR_FATAL, "out of memory");
    yaml_parser_set_input_string(&composer.yaml, (const unsigned char *)(text.len ? text.ptr : ""), text.len);
    yaml_parser_set_encoding(&composer.yaml, YAML_UTF8_ENCODING);

    bool ok = true, complete = false, ended = false;
    for (size_t document = 0; ok && !ended;) {
        ok = step(&composer, &complete, &ended);
        if (ok && complete)
            ok = on_document(self, document++, composer.root, err);
    }
    yaml_parser_delete(&composer.yaml);
    free(composer.entries);
    free(composer.open);
    free(composer.anchors);
    return ok;
}
