#include "input.h"
#include "base/file.h"
#include "yaml/yaml.h"

/* One input being read. */
struct input {
    struct snapshot *snapshot;
    const char *source;
    struct arena documents; /* trees of the whole input */
    struct arena scratch;   /* of one object */
};

/* --- one object ------------------------------------------------------------------ */

struct reporter {
    struct snapshot *snapshot;
    struct str object;
};

static void on_mismatch(void *self, struct str path, struct str value, const char *message)
{
    struct reporter *reporter = self;
    snapshot_warn(reporter->snapshot, reporter->object, path, value, str_c(message));
}

static struct str group_of(struct str api_version)
{
    struct str group, version;
    return str_cut(api_version, '/', &group, &version) ? group : STR_NULL;
}

/* The kind we keep, or SNAPSHOT_KINDS. An apiVersion may be missing, a wrong group is
 * somebody else's kind. */
static enum snapshot_kind find_kind(struct str kind, struct str api_version)
{
    for (size_t i = 0; i < SNAPSHOT_KINDS; i++) {
        const struct kube_kind *known = snapshot_kinds[i];
        if (str_eq(kind, str_c(known->kind)) &&
            (str_empty(api_version) || str_eq(group_of(api_version), str_c(known->group))))
            return (enum snapshot_kind)i;
    }
    return SNAPSHOT_KINDS;
}

static void add_object(struct input *input, enum snapshot_kind kind, struct str place,
                       const struct json *tree)
{
    const struct kube_kind *known = snapshot_kinds[kind];
    struct arena *scratch = &input->scratch;
    struct err err = ERR_INIT;
    struct str name = json_str(json_path(tree, "metadata", "name", NULL));
    struct str ns = json_str(json_path(tree, "metadata", "namespace", NULL));
    struct reporter reporter = {
        .snapshot = input->snapshot,
        .object = str_empty(name) ? arena_strf(scratch, "%s in " STR_FMT, known->kind, STR_ARG(place))
                                  : snapshot_object_name(scratch, known->kind, ns, name),
    };
    struct json_decode_options options = { .report = { on_mismatch, &reporter } };
    void *decoded = arena_alloc(scratch, known->table->size);
    struct kube_object *object = NULL;
    if (json_decode_tree(scratch, tree, known->table, decoded, &options, &err))
        object = known->project(decoded, input->snapshot->pool, &options.report, &err);
    if (object)
        snapshot_add(input->snapshot, kind, object);
    else
        snapshot_warn(input->snapshot, reporter.object, STR_NULL, STR_NULL, str_c(err.text));
    arena_clear(scratch);
}

/* --- documents ------------------------------------------------------------------- */

static bool is_list(struct str kind, const struct json *tree)
{
    return str_ends_with(kind, STR("List")) && json_is(json_get(tree, STR("items")), JSON_ARRAY);
}

/* "PodList" says what its items are even where they do not. */
static struct str item_kind(struct str list_kind)
{
    return str_slice(list_kind, 0, list_kind.len - strlen("List"));
}

static void add_item(struct input *input, struct str list_kind, struct str place, const struct json *item)
{
    struct str kind = json_str(json_get(item, STR("kind")));
    struct str api_version = json_str(json_get(item, STR("apiVersion")));
    if (str_empty(kind))
        kind = item_kind(list_kind);
    if (!json_is(item, JSON_OBJECT) || str_empty(kind)) {
        snapshot_warn(input->snapshot, place, STR_NULL, STR_NULL, STR("not a Kubernetes object; left out"));
        return;
    }
    enum snapshot_kind known = find_kind(kind, api_version);
    if (known != SNAPSHOT_KINDS)
        add_object(input, known, place, item);
}

static bool add_document(struct input *input, size_t index, const struct json *tree, struct err *err)
{
    struct str kind = json_str(json_get(tree, STR("kind")));
    struct str api_version = json_str(json_get(tree, STR("apiVersion")));
    if (!json_is(tree, JSON_OBJECT))
        return err_set(err, ERR_INVALID, "document %zu is %s, not a Kubernetes object", index + 1,
                       json_type_name(tree->type));
    if (str_empty(kind))
        return err_set(err, ERR_INVALID, "document %zu has no kind", index + 1);
    struct str place = arena_strf(&input->documents, "%s, document %zu", input->source, index + 1);
    enum snapshot_kind known = find_kind(kind, api_version);
    if (known != SNAPSHOT_KINDS)
        add_object(input, known, place, tree);
    else if (is_list(kind, tree)) {
        const struct json *items = json_get(tree, STR("items"));
        for (size_t i = 0; i < items->array.count; i++)
            add_item(input, kind, arena_strf(&input->documents, STR_FMT ", items[%zu]", STR_ARG(place), i),
                     items->array.items[i]);
    }
    return true;
}

/* --- text ------------------------------------------------------------------------ */

/* Trees in the order of the text; nothing is added before all of it was read. */
struct documents {
    struct arena *arena;
    const struct json **items;
    size_t count;
    size_t capacity;
    struct json_builder *builder; /* JSON only */
};

static void push_document(struct documents *documents, const struct json *root)
{
    if (documents->count == documents->capacity) {
        size_t capacity = documents->capacity ? documents->capacity * 2 : 16;
        documents->items =
            arena_grow(documents->arena, documents->items, documents->count * sizeof *documents->items,
                       capacity * sizeof *documents->items);
        documents->capacity = capacity;
    }
    documents->items[documents->count++] = root;
}

static bool on_yaml(void *self, size_t index, const struct json *root, struct err *err)
{
    (void)index;
    (void)err;
    push_document(self, root);
    return true;
}

static bool on_json(void *self, const struct json_event *event, struct err *err)
{
    struct documents *documents = self;
    struct json_sink sink = json_builder_sink(documents->builder);
    if (!sink.event(sink.self, event, err))
        return false;
    const struct json *root = json_builder_root(documents->builder);
    if (root) {
        push_document(documents, root);
        json_builder_reset(documents->builder);
    }
    return true;
}

static bool read_json(struct str text, struct documents *documents, struct err *err)
{
    struct json_limits limits = { .max_value_bytes = INPUT_MAX_BYTES };
    documents->builder = json_builder_new(documents->arena);
    struct json_parser *parser = json_parser_new(&limits, true, (struct json_sink){ on_json, documents });
    bool ok = json_parser_feed(parser, text, err) && json_parser_finish(parser, err);
    json_parser_free(parser);
    return ok;
}

static bool read_yaml(struct str text, struct documents *documents, struct err *err)
{
    /* What aliases expand to may not outgrow the text by much. */
    struct kyaml_limits limits = { .max_bytes = INPUT_MAX_BYTES, .max_nodes = 1000000 + text.len };
    return kyaml_each(documents->arena, text, &limits, on_yaml, documents, err);
}

static bool looks_like_json(struct str text)
{
    struct str trimmed = str_trim(text);
    return !str_empty(trimmed) && trimmed.ptr[0] == '{';
}

/* JSON is read as JSON because large snapshots are JSON. A text that only begins like it
 * may still be YAML: flow style, or JSON documents between "---" lines. */
static bool read_documents(struct str text, struct documents *documents, struct err *err)
{
    struct err json_err = ERR_INIT;
    if (!looks_like_json(text))
        return read_yaml(text, documents, err);
    if (read_json(text, documents, &json_err))
        return true;
    *documents = (struct documents){ .arena = documents->arena };
    return read_yaml(text, documents, NULL) || err_set(err, ERR_INVALID, "%s", json_err.text);
}

bool input_add_text(struct snapshot *snapshot, const char *source, struct str text, struct err *err)
{
    struct input input = { .snapshot = snapshot, .source = source };
    struct documents documents = { .arena = &input.documents };
    bool ok = read_documents(text, &documents, err);
    for (size_t i = 0; ok && i < documents.count; i++)
        ok = add_document(&input, i, documents.items[i], err);
    arena_done(&input.documents);
    arena_done(&input.scratch);
    return ok || err_wrap(err, "%s", source);
}

bool input_add_file(struct snapshot *snapshot, const char *path, struct err *err)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(INPUT_MAX_BYTES);
    return file_read(path, &text, err) &&
           input_add_text(snapshot, strcmp(path, "-") == 0 ? "standard input" : path, strbuf_str(&text), err);
}
