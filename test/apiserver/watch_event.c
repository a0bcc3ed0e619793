#include <inttypes.h>

#include "test/apiserver/watch_internal.h"

bool watch_event_of(const struct as_filter *filter, const struct as_change *change, struct watch_event *ret)
{
    bool before = change->before && as_filter_matches(filter, change->before);
    bool after = change->after && as_filter_matches(filter, change->after);
    if (!before && !after)
        return false;
    /* Whoever leaves the selection is shown as it was, under the version of the change. */
    *ret = (struct watch_event){
        .type = !after   ? "DELETED"
                : before ? "MODIFIED"
                         : "ADDED",
        .object = after ? change->after : change->before,
        .rv = change->rv,
    };
    return true;
}

void watch_format(struct strbuf *out, const struct as_view *view, const struct watch_event *event)
{
    strbuf_addf(out, "{\"type\":\"%s\",\"object\":", event->type);
    as_media_write(out, view, event->object, event->rv);
    strbuf_add(out, STR("}\n"));
}

static void bookmark_metadata(struct strbuf *out, int64_t rv, bool initial_events_end)
{
    strbuf_addf(out, "\"metadata\":{\"resourceVersion\":\"%" PRId64 "\"", rv);
    if (initial_events_end)
        strbuf_add(out, STR(",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}"));
    strbuf_addc(out, '}');
}

void watch_format_bookmark(struct strbuf *out, const struct as_view *view, int64_t rv,
                           bool initial_events_end)
{
    struct as_type_meta type = view->resource->type;
    if (view->media == AS_MEDIA_METADATA)
        type = (struct as_type_meta){ STR("meta.k8s.io/v1"), STR("PartialObjectMetadata") };
    else if (view->media == AS_MEDIA_TABLE)
        type = (struct as_type_meta){ STR("meta.k8s.io/v1"), STR("Table") };
    strbuf_add(out, STR("{\"type\":\"BOOKMARK\",\"object\":{\"kind\":"));
    json_write_str(out, type.kind);
    strbuf_add(out, STR(",\"apiVersion\":"));
    json_write_str(out, type.api_version);
    strbuf_addc(out, ',');
    bookmark_metadata(out, rv, initial_events_end);
    if (view->media == AS_MEDIA_TABLE) {
        /* Tables carry the bookmark's object in their only row. */
        strbuf_add(out, STR(",\"columnDefinitions\":null,\"rows\":[{\"cells\":[],\"object\":{"));
        strbuf_add(out, STR("\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\","));
        bookmark_metadata(out, rv, initial_events_end);
        strbuf_add(out, STR("}}]"));
    }
    strbuf_add(out, STR("}}\n"));
}

void watch_format_error(struct strbuf *out, const struct api_error *error)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    strbuf_add(out, STR("{\"type\":\"ERROR\",\"object\":"));
    json_write(out, api_status_json(&arena, error));
    strbuf_add(out, STR("}\n"));
}
