/* Nodes and Pods: amounts of resources above all. */
#include "quantity/quantity.h"
#include "selector/selector.h"
#include "test/apiserver/kindrules.h"
#include "test/apiserver/names.h"
#include "test/apiserver/tree.h"

static bool parse(const struct json *value, struct quantity *ret)
{
    return value && json_is(value, JSON_STRING) && quantity_parse(value->text, ret, NULL);
}

static bool is_native(struct str resource)
{
    struct str prefix, name;
    if (!str_cut(resource, '/', &prefix, &name))
        return true;
    return str_eq(prefix, STR("kubernetes.io")) || str_ends_with(prefix, STR(".kubernetes.io"));
}

/* What is counted, not measured: only whole numbers make sense. Extended resources are
 * counted by definition. The resources of colocation are plain integers of their unit; a
 * real server, which knows nothing of them, takes fractions, but nobody may send any, so
 * this one finds whoever does. */
static bool is_counted(struct str resource)
{
    return !is_native(resource) || str_eq(resource, STR("pods")) ||
           str_starts_with(resource, STR("kubernetes.io/mid-")) ||
           str_starts_with(resource, STR("kubernetes.io/batch-"));
}

/* Node status spells paths with dots, container resources with brackets. */
static void check_quantities(const struct api_kind_input *in, const struct json *amounts,
                             const struct api_path *path, bool dotted)
{
    if (!json_is(amounts, JSON_OBJECT))
        return;
    for (size_t i = 0; i < amounts->object.count; i++) {
        const struct json_member *amount = &amounts->object.members[i];
        struct api_path at = dotted ? API_FIELD(path, amount->key) : API_KEY(path, amount->key);
        struct quantity quantity;
        if (!parse(amount->value, &quantity))
            api_cause_invalid(in->causes, &at, amount->value, "must be a quantity");
        else if (quantity_sign(quantity) < 0)
            api_cause_invalid(in->causes, &at, amount->value, "must be greater than or equal to 0");
        else if (is_counted(amount->key) && !quantity_is_integer(quantity))
            api_cause_invalid(in->causes, &at, amount->value, "must be an integer");
    }
}

/* ---- Node ---- */

static void check_taint(const struct api_kind_input *in, const struct json *taint,
                        const struct api_path *path)
{
    static const struct str effects[] = { STR_INIT("NoSchedule"), STR_INIT("PreferNoSchedule"),
                                          STR_INIT("NoExecute") };
    struct api_path key = API_FIELD(path, STR("key")), effect = API_FIELD(path, STR("effect"));
    struct api_path value = API_FIELD(path, STR("value"));
    const char *why = api_name_qualified(api_get_str(taint, "key"));
    if (why)
        api_cause_invalid(in->causes, &key, api_get(taint, "key"), "%s", why);
    if (!label_value_valid(api_get_str(taint, "value")))
        api_cause_invalid(in->causes, &value, api_get(taint, "value"), "must be a valid label value");
    struct str given = api_get_str(taint, "effect");
    for (size_t i = 0; i < ARRAY_LEN(effects); i++)
        if (str_eq(effects[i], given))
            return;
    if (str_empty(given))
        api_cause_required(in->causes, &effect);
    else
        api_cause_unsupported(in->causes, &effect, given, effects, ARRAY_LEN(effects));
}

static void check_taints(const struct api_kind_input *in)
{
    const struct json *taints = json_path(in->object, "spec", "taints", NULL);
    struct api_path spec = API_FIELD(NULL, STR("spec")), path = API_FIELD(&spec, STR("taints"));
    for (size_t i = 0; i < api_list_count(taints); i++) {
        struct api_path at = API_INDEX(&path, i);
        const struct json *taint = taints->array.items[i];
        check_taint(in, taint, &at);
        for (size_t j = 0; j < i; j++) {
            const struct json *other = taints->array.items[j];
            if (json_equal(api_get(taint, "key"), api_get(other, "key")) &&
                json_equal(api_get(taint, "effect"), api_get(other, "effect"))) {
                struct str shown = api_text(in->arena, taint, 256);
                api_cause_add(in->causes, API_CAUSE_DUPLICATE, &at, "Duplicate value: " STR_FMT,
                              STR_ARG(shown));
            }
        }
    }
}

void api_validate_node(const struct api_kind_input *in)
{
    const struct json *node_status = api_get(in->object, "status");
    struct api_path status = API_FIELD(NULL, STR("status"));
    struct api_path capacity = API_FIELD(&status, STR("capacity"));
    struct api_path allocatable = API_FIELD(&status, STR("allocatable"));
    check_taints(in);
    check_quantities(in, api_get(node_status, "capacity"), &capacity, true);
    check_quantities(in, api_get(node_status, "allocatable"), &allocatable, true);
}

/* ---- Pod ---- */

static void check_against_limits(const struct api_kind_input *in, const struct json *requests,
                                 const struct json *limits, const struct api_path *path)
{
    for (size_t i = 0; i < api_map_count(requests); i++) {
        const struct json_member *request = &requests->object.members[i];
        const struct json *limit = json_get(limits, request->key);
        struct quantity asked, most;
        if (!parse(request->value, &asked))
            continue;
        if (!limit && !is_native(request->key)) {
            api_cause_add(in->causes, API_CAUSE_REQUIRED, path,
                          "Required value: Limit must be set for non overcommitable resources");
            continue;
        }
        if (!parse(limit, &most))
            continue;
        int order = quantity_cmp(asked, most);
        if (order != 0 && !is_native(request->key))
            api_cause_invalid(in->causes, path, request->value,
                              "must be equal to " STR_FMT " limit of " STR_FMT, STR_ARG(request->key),
                              STR_ARG(limit->text));
        else if (order > 0)
            api_cause_invalid(in->causes, path, request->value,
                              "must be less than or equal to " STR_FMT " limit of " STR_FMT,
                              STR_ARG(request->key), STR_ARG(limit->text));
    }
}

static void check_container(const struct api_kind_input *in, const struct json *container,
                            const struct api_path *path)
{
    struct api_path name = API_FIELD(path, STR("name")), image = API_FIELD(path, STR("image"));
    struct api_path resources = API_FIELD(path, STR("resources"));
    struct api_path limits = API_FIELD(&resources, STR("limits"));
    struct api_path requests = API_FIELD(&resources, STR("requests"));
    const struct json *amounts = api_get(container, "resources");
    struct str given = api_get_str(container, "name");
    if (str_empty(given))
        api_cause_required(in->causes, &name);
    else if (api_name_label(given))
        api_cause_invalid(in->causes, &name, api_get(container, "name"), "%s", api_name_label(given));
    if (str_empty(api_get_str(container, "image")))
        api_cause_required(in->causes, &image);
    check_quantities(in, api_get(amounts, "limits"), &limits, false);
    check_quantities(in, api_get(amounts, "requests"), &requests, false);
    check_against_limits(in, api_get(amounts, "requests"), api_get(amounts, "limits"), &requests);
}

static void check_containers(const struct api_kind_input *in, const struct json *spec,
                             const struct api_path *path, const char *key, bool required)
{
    struct api_path list = API_FIELD(path, str_c(key));
    const struct json *containers = api_get(spec, key);
    if (required && json_count(containers) == 0)
        api_cause_required(in->causes, &list);
    for (size_t i = 0; i < api_list_count(containers); i++) {
        struct api_path at = API_INDEX(&list, i), name = API_FIELD(&at, STR("name"));
        const struct json *container = containers->array.items[i];
        check_container(in, container, &at);
        for (size_t j = 0; j < i; j++)
            if (str_eq(api_get_str(containers->array.items[j], "name"), api_get_str(container, "name")))
                api_cause_add(in->causes, API_CAUSE_DUPLICATE, &name, "Duplicate value: \"" STR_FMT "\"",
                              STR_ARG(api_get_str(container, "name")));
    }
}

static void check_pod_spec(const struct api_kind_input *in, const struct json *spec,
                           const struct api_path *path)
{
    struct api_path overhead = API_FIELD(path, STR("overhead"));
    check_containers(in, spec, path, "containers", true);
    check_containers(in, spec, path, "initContainers", false);
    check_quantities(in, api_get(spec, "overhead"), &overhead, false);
}

/* Of the many fields that stay as they are, those that say where and what a Pod is; only a
 * Binding fills in the node. */
static void check_kept(const struct api_kind_input *in, const struct api_path *path)
{
    static const char *const kept[] = { "nodeName", "priority", "priorityClassName" };
    const struct json *now = api_get(in->object, "spec"), *before = api_get(in->old, "spec");
    for (size_t i = 0; in->old && i < ARRAY_LEN(kept); i++) {
        const struct json *was = api_get(before, kept[i]), *is = api_get(now, kept[i]);
        bool filled_in = i == 0 && !was;
        if (!filled_in && (!was != !is || (was && !json_equal(was, is)))) {
            api_cause_add(in->causes, API_CAUSE_FORBIDDEN, path,
                          "Forbidden: pod updates may not change fields other than images, "
                          "`spec.activeDeadlineSeconds`, `spec.tolerations` (only additions) and "
                          "`spec.terminationGracePeriodSeconds`");
            return;
        }
    }
}

void api_validate_pod(const struct api_kind_input *in)
{
    struct api_path spec = API_FIELD(NULL, STR("spec"));
    check_pod_spec(in, api_get(in->object, "spec"), &spec);
    check_kept(in, &spec);
}

void api_validate_workload(const struct api_kind_input *in)
{
    const struct json *object_spec = api_get(in->object, "spec");
    struct api_path spec = API_FIELD(NULL, STR("spec")), replicas = API_FIELD(&spec, STR("replicas"));
    struct api_path selector = API_FIELD(&spec, STR("selector")),
                    template = API_FIELD(&spec, STR("template"));
    struct api_path template_spec = API_FIELD(&template, STR("spec"));
    int64_t count;
    if (json_i64(api_get(object_spec, "replicas"), &count) && count < 0)
        api_cause_invalid(in->causes, &replicas, api_get(object_spec, "replicas"),
                          "must be greater than or equal to 0");
    if (!api_get(object_spec, "selector"))
        api_cause_required(in->causes, &selector);
    if (in->old)
        api_validate_immutable(in, object_spec, api_get(in->old, "spec"), &spec, "selector");
    check_pod_spec(in, json_path(object_spec, "template", "spec", NULL), &template_spec);
}
