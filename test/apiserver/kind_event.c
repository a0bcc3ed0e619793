/* Events of both APIs. */
#include "test/apiserver/kindrules.h"
#include "test/apiserver/names.h"
#include "test/apiserver/tree.h"

/* The same facts under the names of the two APIs. */
struct event_names {
    const char *object, *message, *controller;
};

static const struct event_names core_names = { "involvedObject", "message", "reportingComponent" };
static const struct event_names new_names = { "regarding", "note", "reportingController" };

static void check_text(const struct api_kind_input *in, const char *field, size_t max, bool required)
{
    struct api_path path = API_FIELD(NULL, str_c(field));
    struct str text = api_get_str(in->object, field);
    if (required && str_empty(text))
        api_cause_required(in->causes, &path);
    else if (text.len > max)
        api_cause_invalid(in->causes, &path, api_get(in->object, field), "can have at most %zu characters",
                          max);
}

static void check_controller(const struct api_kind_input *in, const char *field)
{
    struct api_path path = API_FIELD(NULL, str_c(field));
    struct str name = api_get_str(in->object, field);
    if (str_empty(name))
        api_cause_required(in->causes, &path);
    else if (api_name_qualified(name))
        api_cause_invalid(in->causes, &path, api_get(in->object, field), "%s", api_name_qualified(name));
}

/* What has no namespace reports to "default" (node components may use "kube-system"). An
 * old Event lives in the namespace of what it is about; of one with an eventTime nobody
 * asks that. */
static void check_namespace(const struct api_kind_input *in, const struct event_names *names)
{
    struct api_path object = API_FIELD(NULL, str_c(names->object)),
                    path = API_FIELD(&object, STR("namespace"));
    const struct json *about = api_get(api_get(in->object, names->object), "namespace");
    struct str of_object = json_str(about),
               of_event = api_get_str(api_get(in->object, "metadata"), "namespace");
    bool fine = str_empty(of_object)
                    ? str_eq(of_event, STR("default")) || str_eq(of_event, STR("kube-system"))
                    : str_eq(of_object, of_event) || api_get(in->object, "eventTime");
    if (!fine)
        api_cause_invalid(in->causes, &path, about ? about : json_new_str(in->arena, STR_NULL),
                          "does not match event.namespace");
}

static void check_new_style(const struct api_kind_input *in, const struct event_names *names)
{
    check_controller(in, names->controller);
    check_text(in, "reportingInstance", 128, true);
    check_text(in, "action", 128, true);
    check_text(in, "reason", 128, true);
    check_text(in, names->message, 1024, false);
}

static void check_series(const struct api_kind_input *in)
{
    const struct json *series = api_get(in->object, "series");
    struct api_path path = API_FIELD(NULL, STR("series")), count_path = API_FIELD(&path, STR("count"));
    struct api_path time_path = API_FIELD(&path, STR("lastObservedTime"));
    int64_t count = 0;
    if (!series)
        return;
    if (!json_i64(api_get(series, "count"), &count) || count < 2)
        api_cause_invalid(in->causes, &count_path, json_new_i64(in->arena, count), "should be at least 2");
    if (!api_get(series, "lastObservedTime"))
        api_cause_required(in->causes, &time_path);
}

static void check_type(const struct api_kind_input *in)
{
    static const struct str types[] = { STR_INIT("Normal"), STR_INIT("Warning") };
    struct api_path path = API_FIELD(NULL, STR("type"));
    struct str type = api_get_str(in->object, "type");
    if (!str_eq(type, types[0]) && !str_eq(type, types[1]))
        api_cause_unsupported(in->causes, &path, type, types, ARRAY_LEN(types));
}

/* Clients of the new API may extend a series and nothing else. */
static void check_unchanged(const struct api_kind_input *in)
{
    static const char *const fields[] = {
        "regarding",           "related",          "reason", "note", "type", "action", "eventTime",
        "reportingController", "reportingInstance"
    };
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        api_validate_immutable(in, in->object, in->old, NULL, fields[i]);
}

static void check_deprecated(const struct api_kind_input *in)
{
    static const char *const fields[] = { "deprecatedSource", "deprecatedFirstTimestamp",
                                          "deprecatedLastTimestamp", "deprecatedCount" };
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        struct api_path path = API_FIELD(NULL, str_c(fields[i]));
        const struct json *value = api_get(in->object, fields[i]);
        bool empty = !value || ((json_is(value, JSON_OBJECT) && json_count(value) == 0));
        if (!empty)
            api_cause_invalid(in->causes, &path, value, "needs to be unset");
    }
}

void api_validate_event(const struct api_kind_input *in)
{
    bool is_new = !str_empty(in->resource->group);
    const struct event_names *names = is_new ? &new_names : &core_names;
    struct api_path time = API_FIELD(NULL, STR("eventTime"));
    check_namespace(in, names);
    bool has_time = api_get(in->object, "eventTime") != NULL;
    if (is_new && in->old) {
        /* An Event of the old API may be updated through the new one. */
        check_unchanged(in);
        check_series(in);
        return;
    }
    if (is_new && !has_time)
        api_cause_required(in->causes, &time);
    if (is_new || has_time)
        check_new_style(in, names);
    if (is_new) {
        check_type(in);
        check_series(in);
        check_deprecated(in);
    }
}
