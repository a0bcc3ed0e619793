#include "test/apiserver/object.h"

#include <inttypes.h>
#include <stdlib.h>

#include "test/apiserver/edit.h"

struct str as_field_value(struct arena *arena, const struct json *tree, const char *path, const char *absent)
{
    struct str left = str_c(path);
    while (tree && left.len) {
        struct str part;
        str_cut(left, '.', &part, &left);
        tree = json_get(tree, part);
    }
    if (tree && (tree->type == JSON_STRING || tree->type == JSON_NUMBER))
        return arena_str(arena, tree->text);
    if (tree && tree->type == JSON_BOOL)
        return tree->boolean ? STR("true") : STR("false");
    return str_c(absent);
}

/* Everything behind the resourceVersion: the metadata without it, then the rest. */
static void write_rest(struct strbuf *out, const struct json *tree, size_t *metadata_len)
{
    const struct json *metadata = as_map_of(json_get(tree, STR("metadata")));
    const char *comma = "";
    for (size_t i = 0; i < json_count(metadata); i++) {
        const struct json_member *member = &metadata->object.members[i];
        if (str_eq(member->key, STR("resourceVersion")))
            continue;
        strbuf_add(out, str_c(comma));
        json_write_str(out, member->key);
        strbuf_addc(out, ':');
        json_write(out, member->value);
        comma = ",";
    }
    strbuf_addc(out, '}');
    *metadata_len = out->len;
    for (size_t i = 0; i < json_count(tree); i++) {
        const struct json_member *member = &tree->object.members[i];
        if (str_eq(member->key, STR("metadata")) || str_eq(member->key, STR("apiVersion")) ||
            str_eq(member->key, STR("kind")))
            continue;
        strbuf_addc(out, ',');
        json_write_str(out, member->key);
        strbuf_addc(out, ':');
        json_write(out, member->value);
    }
    strbuf_addc(out, '}');
}

static int compare_labels(const void *a, const void *b)
{
    return str_cmp(((const struct label *)a)->key, ((const struct label *)b)->key);
}

static struct labels collect_labels(struct arena *arena, const struct json *tree)
{
    const struct json *map = json_path(tree, "metadata", "labels", NULL);
    if (!json_is(map, JSON_OBJECT) || !json_count(map))
        return (struct labels){ 0 };
    struct label *labels = arena_array(arena, struct label, json_count(map));
    size_t count = 0;
    for (size_t i = 0; i < json_count(map); i++) {
        const struct json_member *member = &map->object.members[i];
        if (json_is(member->value, JSON_STRING))
            labels[count++] = (struct label){ member->key, member->value->text };
    }
    qsort(labels, count, sizeof *labels, compare_labels);
    return (struct labels){ labels, count };
}

/* Copies text behind the block's arrays and moves the end. */
static struct str put(char **end, struct str text)
{
    struct str copy = { .ptr = *end, .len = text.len };
    if (text.len)
        memcpy(*end, text.ptr, text.len);
    *end += text.len;
    return copy;
}

struct as_object *as_object_new(const struct json *tree, const struct as_field *fields, size_t field_count)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    CLEANUP(strbuf_done) struct strbuf rest = STRBUF_INIT(SIZE_MAX);
    size_t metadata_len;
    write_rest(&rest, tree, &metadata_len);

    struct str namespace = json_str(json_path(tree, "metadata", "namespace", NULL));
    struct str name = json_str(json_path(tree, "metadata", "name", NULL));
    struct str uid = json_str(json_path(tree, "metadata", "uid", NULL));
    struct labels labels = collect_labels(&arena, tree);
    struct str *values = arena_array(&arena, struct str, field_count);

    size_t size =
        sizeof(struct as_object) + labels.count * sizeof(struct label) + field_count * sizeof(struct str);
    size += rest.len + uid.len + namespace.len + 1 + name.len;
    for (size_t i = 0; i < labels.count; i++)
        size += labels.items[i].key.len + labels.items[i].value.len;
    for (size_t i = 0; i < field_count; i++) {
        values[i] =
            as_field_value(&arena, tree, fields[i].path ? fields[i].path : fields[i].name, fields[i].absent);
        size += values[i].len;
    }

    struct as_object *object = mem_zalloc(size);
    struct label *own_labels = (struct label *)(void *)(object + 1);
    struct str *own_fields = (struct str *)(void *)(own_labels + labels.count);
    char *end = (char *)(own_fields + field_count);
    object->refs = 1;
    object->namespace = put(&end, namespace);
    if (namespace.len)
        put(&end, STR("/"));
    object->name = put(&end, name);
    object->key = (struct str){ object->namespace.ptr, (size_t)(end - object->namespace.ptr) };
    object->uid = put(&end, uid);
    for (size_t i = 0; i < labels.count; i++) {
        own_labels[i].key = put(&end, labels.items[i].key);
        own_labels[i].value = put(&end, labels.items[i].value);
    }
    for (size_t i = 0; i < field_count; i++)
        own_fields[i] = put(&end, values[i]);
    object->rest = put(&end, strbuf_str(&rest));
    object->metadata_len = metadata_len;
    object->labels = (struct labels){ own_labels, labels.count };
    object->fields = own_fields;
    object->field_count = field_count;
    return object;
}

struct as_object *as_object_ref(struct as_object *object)
{
    object->refs++;
    return object;
}

void as_object_unref(struct as_object *object)
{
    if (object && --object->refs == 0)
        free(object);
}

void as_object_write(struct strbuf *out, const struct as_object *object, const struct as_type_meta *type,
                     int64_t rv)
{
    strbuf_addc(out, '{');
    if (type) {
        strbuf_add(out, STR("\"apiVersion\":"));
        json_write_str(out, type->api_version);
        strbuf_add(out, STR(",\"kind\":"));
        json_write_str(out, type->kind);
        strbuf_addc(out, ',');
    }
    strbuf_addf(out, "\"metadata\":{\"resourceVersion\":\"%" PRId64 "\",", rv);
    strbuf_add(out, object->rest);
}

void as_object_write_metadata(struct strbuf *out, const struct as_object *object, int64_t rv)
{
    strbuf_addf(out,
                "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\","
                "\"metadata\":{\"resourceVersion\":\"%" PRId64 "\",",
                rv);
    strbuf_add(out, str_slice(object->rest, 0, object->metadata_len));
    strbuf_addc(out, '}');
}

const struct json *as_object_tree(struct arena *arena, const struct as_object *object,
                                  const struct as_type_meta *type, int64_t rv)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(SIZE_MAX);
    as_object_write(&text, object, type, rv);
    return as_parse_own(arena, strbuf_str(&text));
}
