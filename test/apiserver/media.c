#include "test/apiserver/media.h"

#include "test/apiserver/accept.h"
#include "test/apiserver/event.h"
#include "test/apiserver/table.h"

/* Whether we can answer in that form, and which one it is. */
static bool range_media(const struct api_media_range *range, enum as_media *ret)
{
    static const struct str types[] = { STR_INIT("application/json"), STR_INIT("application/*"),
                                        STR_INIT("*/*") };
    static const struct {
        struct str as;
        enum as_media media;
    } forms[] = {
        { STR_INIT(""), AS_MEDIA_JSON },
        { STR_INIT("PartialObjectMetadata"), AS_MEDIA_METADATA },
        { STR_INIT("PartialObjectMetadataList"), AS_MEDIA_METADATA },
        { STR_INIT("Table"), AS_MEDIA_TABLE },
    };
    bool known = false;
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        known |= str_eq(range->type, types[i]);
    if (!known || (range->as.len && !str_eq(range->version, STR("v1"))))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        if (str_eq(range->as, forms[i].as)) {
            *ret = forms[i].media;
            return true;
        }
    }
    return false;
}

bool as_media_parse(struct arena *arena, struct str accept, enum as_media *ret, struct api_error *error)
{
    *ret = AS_MEDIA_JSON;
    if (str_empty(str_trim(accept)))
        return true;
    struct api_media_range range;
    while (api_media_next(&accept, &range))
        if (range_media(&range, ret))
            return true;
    return api_fail_not_acceptable(error, arena);
}

const struct json *as_media_tree(struct arena *arena, const struct as_resource *resource,
                                 const struct as_object *object, int64_t rv)
{
    if (!resource->is_converted)
        return as_object_tree(arena, object, &resource->type, rv);
    struct as_type_meta core = { STR("v1"), resource->type.kind };
    return api_event_from_core(arena, as_object_tree(arena, object, &core, rv));
}

static void write_table(struct strbuf *out, const struct as_view *view, const struct as_object *object,
                        int64_t rv)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    const struct json *tree = as_media_tree(&arena, view->resource, object, rv);
    struct json *metadata = json_new(&arena, JSON_OBJECT);
    json_set(&arena, metadata, STR("resourceVersion"),
             json_get(json_get(tree, STR("metadata")), STR("resourceVersion")));
    struct api_table_options options = {
        .include = view->include,
        .no_columns = view->no_columns,
        .now = view->now,
        .list_metadata = metadata,
    };
    json_write(out, api_table(&arena, view->resource->api, &tree, 1, &options));
}

void as_media_write(struct strbuf *out, const struct as_view *view, const struct as_object *object,
                    int64_t rv)
{
    const struct as_resource *resource = view->resource;
    if (view->media == AS_MEDIA_TABLE) {
        write_table(out, view, object, rv);
    } else if (view->media == AS_MEDIA_METADATA) {
        as_object_write_metadata(out, object, rv);
    } else if (resource->is_converted) {
        CLEANUP(arena_done) struct arena arena = ARENA_INIT;
        json_write(out, as_media_tree(&arena, resource, object, rv));
    } else {
        bool bare = view->in_list && !resource->api->custom;
        as_object_write(out, object, bare ? NULL : &resource->type, rv);
    }
}
