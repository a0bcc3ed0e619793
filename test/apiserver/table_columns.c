#include "test/apiserver/table_columns.h"
#include "test/apiserver/tree.h"

static const struct json *text(const struct api_cell_input *in, struct str value)
{
    return json_new_str(in->arena, value);
}

/* What kubectl prints where there is nothing. */
static const struct json *text_or_none(const struct api_cell_input *in, struct str value)
{
    return text(in, str_empty(value) ? STR("<none>") : value);
}

static const struct json *number(const struct api_cell_input *in, int64_t value)
{
    return json_new_i64(in->arena, value);
}

static int64_t read_i64(const struct json *object, const char *key)
{
    int64_t value;
    return json_i64(api_get(object, key), &value) ? value : 0;
}

static const struct json *spec_of(const struct api_cell_input *in)
{
    return api_get(in->object, "spec");
}

static const struct json *status_of(const struct api_cell_input *in)
{
    return api_get(in->object, "status");
}

static const struct json *cell_name(const struct api_cell_input *in)
{
    return text(in, api_get_str(api_get(in->object, "metadata"), "name"));
}

static const struct json *cell_age(const struct api_cell_input *in)
{
    return api_age_cell(in, json_path(in->object, "metadata", "creationTimestamp", NULL));
}

static const struct json *cell_created(const struct api_cell_input *in)
{
    return text(in, json_str(json_path(in->object, "metadata", "creationTimestamp", NULL)));
}

/* ---- nodes ---- */

static const struct json *find_typed(const struct json *list, struct str type)
{
    for (size_t i = 0; i < api_list_count(list); i++)
        if (str_eq(api_get_str(list->array.items[i], "type"), type))
            return list->array.items[i];
    return NULL;
}

static const struct json *node_status(const struct api_cell_input *in)
{
    const struct json *ready = find_typed(api_get(status_of(in), "conditions"), STR("Ready"));
    const char *word = !ready                                              ? "Unknown"
                       : str_eq(api_get_str(ready, "status"), STR("True")) ? "Ready"
                                                                           : "NotReady";
    bool cordoned = json_bool(api_get(spec_of(in), "unschedulable"));
    return text(in, arena_strf(in->arena, "%s%s", word, cordoned ? ",SchedulingDisabled" : ""));
}

static const struct json *node_roles(const struct api_cell_input *in)
{
    static const struct str prefix = STR_INIT("node-role.kubernetes.io/");
    const struct json *labels = json_path(in->object, "metadata", "labels", NULL);
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(4096);
    for (size_t i = 0; i < api_map_count(labels); i++) {
        struct str key = labels->object.members[i].key;
        if (str_starts_with(key, prefix) && key.len > prefix.len) {
            struct str role = str_slice(key, prefix.len, key.len);
            strbuf_addf(&out, "%s" STR_FMT, out.len ? "," : "", STR_ARG(role));
        }
    }
    return text_or_none(in, strbuf_str(&out));
}

static const struct json *node_address(const struct api_cell_input *in, struct str type)
{
    return text_or_none(in, api_get_str(find_typed(api_get(status_of(in), "addresses"), type), "address"));
}

static const struct json *node_internal_ip(const struct api_cell_input *in)
{
    return node_address(in, STR("InternalIP"));
}

static const struct json *node_external_ip(const struct api_cell_input *in)
{
    return node_address(in, STR("ExternalIP"));
}

static struct str node_info(const struct api_cell_input *in, const char *key)
{
    return api_get_str(api_get(status_of(in), "nodeInfo"), key);
}

static const struct json *node_version(const struct api_cell_input *in)
{
    return text(in, node_info(in, "kubeletVersion"));
}

static const struct json *node_os_image(const struct api_cell_input *in)
{
    return text_or_none(in, node_info(in, "osImage"));
}

static const struct json *node_kernel(const struct api_cell_input *in)
{
    return text_or_none(in, node_info(in, "kernelVersion"));
}

static const struct json *node_runtime(const struct api_cell_input *in)
{
    return text_or_none(in, node_info(in, "containerRuntimeVersion"));
}

/* ---- pods ---- */

static const struct json *pod_ready(const struct api_cell_input *in)
{
    const struct json *statuses = api_get(status_of(in), "containerStatuses");
    size_t ready = 0;
    for (size_t i = 0; i < api_list_count(statuses); i++)
        ready += json_bool(api_get(statuses->array.items[i], "ready"));
    return text(in, arena_strf(in->arena, "%zu/%zu", ready, json_count(api_get(spec_of(in), "containers"))));
}

static const struct json *pod_status(const struct api_cell_input *in)
{
    const struct json *status = status_of(in), *statuses = api_get(status, "containerStatuses");
    struct str reason = api_get_str(status, "reason");
    if (str_empty(reason))
        reason = api_get_str(status, "phase");
    for (size_t i = 0; i < api_list_count(statuses); i++) {
        const struct json *state = api_get(statuses->array.items[i], "state");
        struct str waiting = api_get_str(api_get(state, "waiting"), "reason");
        struct str ended = api_get_str(api_get(state, "terminated"), "reason");
        if (!str_empty(waiting) || !str_empty(ended))
            reason = str_empty(waiting) ? ended : waiting;
    }
    if (json_path(in->object, "metadata", "deletionTimestamp", NULL))
        reason = STR("Terminating");
    return text(in, reason);
}

static const struct json *pod_restarts(const struct api_cell_input *in)
{
    const struct json *statuses = api_get(status_of(in), "containerStatuses");
    int64_t restarts = 0;
    for (size_t i = 0; i < api_list_count(statuses); i++)
        restarts += read_i64(statuses->array.items[i], "restartCount");
    return text(in, arena_strf(in->arena, "%lld", (long long)restarts));
}

static const struct json *pod_ip(const struct api_cell_input *in)
{
    return text_or_none(in, api_get_str(status_of(in), "podIP"));
}

static const struct json *pod_node(const struct api_cell_input *in)
{
    return text_or_none(in, api_get_str(spec_of(in), "nodeName"));
}

/* ---- configuration ---- */

static const struct json *data_count(const struct api_cell_input *in)
{
    return number(in, (int64_t)(json_count(api_get(in->object, "data")) +
                                json_count(api_get(in->object, "binaryData"))));
}

static const struct json *secret_type(const struct api_cell_input *in)
{
    return text(in, api_get_str(in->object, "type"));
}

static const struct json *lease_holder(const struct api_cell_input *in)
{
    return text(in, api_get_str(spec_of(in), "holderIdentity"));
}

static const struct json *status_phase(const struct api_cell_input *in)
{
    return text(in, api_get_str(status_of(in), "phase"));
}

static const struct json *account_secrets(const struct api_cell_input *in)
{
    return number(in, (int64_t)json_count(api_get(in->object, "secrets")));
}

static const struct json *binding_role(const struct api_cell_input *in)
{
    const struct json *role = api_get(in->object, "roleRef");
    return text(in, arena_strf(in->arena, STR_FMT "/" STR_FMT, STR_ARG(api_get_str(role, "kind")),
                               STR_ARG(api_get_str(role, "name"))));
}

/* ---- events, of either API ---- */

static const struct json *event_field(const struct api_cell_input *in, const char *core, const char *new)
{
    const struct json *value = api_get(in->object, core);
    return value ? value : api_get(in->object, new);
}

static const struct json *event_first_seen(const struct api_cell_input *in)
{
    const struct json *time = event_field(in, "firstTimestamp", "deprecatedFirstTimestamp");
    return api_age_cell(in, time ? time : api_get(in->object, "eventTime"));
}

static const struct json *event_last_seen(const struct api_cell_input *in)
{
    const struct json *series = json_path(in->object, "series", "lastObservedTime", NULL);
    const struct json *last = event_field(in, "lastTimestamp", "deprecatedLastTimestamp");
    if (series || last)
        return api_age_cell(in, series ? series : last);
    return event_first_seen(in);
}

static const struct json *event_type(const struct api_cell_input *in)
{
    return text(in, api_get_str(in->object, "type"));
}

static const struct json *event_reason(const struct api_cell_input *in)
{
    return text(in, api_get_str(in->object, "reason"));
}

static const struct json *event_object(const struct api_cell_input *in)
{
    const struct json *about = event_field(in, "involvedObject", "regarding");
    struct str kind = api_lower(in->arena, api_get_str(about, "kind"));
    return text(
        in, arena_strf(in->arena, STR_FMT "/" STR_FMT, STR_ARG(kind), STR_ARG(api_get_str(about, "name"))));
}

static const struct json *event_source(const struct api_cell_input *in)
{
    struct str component = api_get_str(event_field(in, "source", "deprecatedSource"), "component");
    if (str_empty(component))
        component = json_str(event_field(in, "reportingComponent", "reportingController"));
    return text(in, component);
}

static const struct json *event_message(const struct api_cell_input *in)
{
    return text(in, str_trim(json_str(event_field(in, "message", "note"))));
}

static const struct json *event_count(const struct api_cell_input *in)
{
    int64_t series = read_i64(api_get(in->object, "series"), "count"), count;
    if (series > 0)
        return number(in, series);
    return number(in, json_i64(event_field(in, "count", "deprecatedCount"), &count) ? count : 1);
}

/* ---- workloads and services ---- */

static const struct json *deployment_ready(const struct api_cell_input *in)
{
    return text(in, arena_strf(in->arena, "%lld/%lld", (long long)read_i64(status_of(in), "readyReplicas"),
                               (long long)read_i64(spec_of(in), "replicas")));
}

static const struct json *deployment_updated(const struct api_cell_input *in)
{
    return number(in, read_i64(status_of(in), "updatedReplicas"));
}

static const struct json *deployment_available(const struct api_cell_input *in)
{
    return number(in, read_i64(status_of(in), "availableReplicas"));
}

static const struct json *service_type(const struct api_cell_input *in)
{
    return text(in, api_get_str(spec_of(in), "type"));
}

static const struct json *service_ip(const struct api_cell_input *in)
{
    return text_or_none(in, api_get_str(spec_of(in), "clusterIP"));
}

/* ---- the tables ---- */

/* clang-format off */

#define NAME { "Name", "string", "name", 0, cell_name }
#define AGE { "Age", "string", "", 0, cell_age }
#define TEXT(name_, cell_) { name_, "string", "", 0, cell_ }
#define WIDE(name_, cell_) { name_, "string", "", 1, cell_ }
#define NUMBER(name_, cell_) { name_, "integer", "", 0, cell_ }

static const struct api_table_column generic_columns[] = { NAME, AGE };
static const struct api_table_column node_columns[] = {
    NAME, TEXT("Status", node_status), TEXT("Roles", node_roles), AGE, TEXT("Version", node_version),
    WIDE("Internal-IP", node_internal_ip), WIDE("External-IP", node_external_ip), WIDE("OS-Image", node_os_image),
    WIDE("Kernel-Version", node_kernel), WIDE("Container-Runtime", node_runtime),
};
static const struct api_table_column pod_columns[] = {
    NAME, TEXT("Ready", pod_ready), TEXT("Status", pod_status), TEXT("Restarts", pod_restarts), AGE,
    WIDE("IP", pod_ip), WIDE("Node", pod_node),
};
static const struct api_table_column config_map_columns[] = { NAME, NUMBER("Data", data_count), AGE };
static const struct api_table_column secret_columns[] = {
    NAME, TEXT("Type", secret_type), NUMBER("Data", data_count), AGE,
};
static const struct api_table_column lease_columns[] = { NAME, TEXT("Holder", lease_holder), AGE };
static const struct api_table_column namespace_columns[] = { NAME, TEXT("Status", status_phase), AGE };
static const struct api_table_column account_columns[] = { NAME, NUMBER("Secrets", account_secrets), AGE };
static const struct api_table_column created_columns[] = { NAME, TEXT("Created At", cell_created) };
static const struct api_table_column binding_columns[] = { NAME, TEXT("Role", binding_role), AGE };
static const struct api_table_column event_columns[] = {
    TEXT("Last Seen", event_last_seen), TEXT("Type", event_type), TEXT("Reason", event_reason),
    TEXT("Object", event_object), WIDE("Source", event_source), TEXT("Message", event_message),
    WIDE("First Seen", event_first_seen), { "Count", "integer", "", 1, event_count },
    { "Name", "string", "name", 1, cell_name },
};
static const struct api_table_column deployment_columns[] = {
    NAME, TEXT("Ready", deployment_ready), NUMBER("Up-to-date", deployment_updated),
    NUMBER("Available", deployment_available), AGE,
};
static const struct api_table_column service_columns[] = {
    NAME, TEXT("Type", service_type), TEXT("Cluster-IP", service_ip), AGE,
};

#define COLUMNS(kind_, columns_) { kind_, columns_, ARRAY_LEN(columns_) }

static const struct {
    const char *kind;
    const struct api_table_column *columns;
    size_t count;
} kinds[] = {
    COLUMNS("Node", node_columns), COLUMNS("Pod", pod_columns), COLUMNS("ConfigMap", config_map_columns),
    COLUMNS("Secret", secret_columns), COLUMNS("Lease", lease_columns), COLUMNS("Namespace", namespace_columns),
    COLUMNS("ServiceAccount", account_columns), COLUMNS("Event", event_columns),
    COLUMNS("Deployment", deployment_columns), COLUMNS("Service", service_columns),
    COLUMNS("CustomResourceDefinition", created_columns), COLUMNS("ClusterRole", created_columns),
    COLUMNS("Role", created_columns), COLUMNS("ClusterRoleBinding", binding_columns),
    COLUMNS("RoleBinding", binding_columns),
};

/* clang-format on */

const struct api_table_column *api_table_columns(const struct api_resource *resource, size_t *count)
{
    for (size_t i = 0; !resource->custom && i < ARRAY_LEN(kinds); i++)
        if (str_eq(str_c(kinds[i].kind), resource->kind)) {
            *count = kinds[i].count;
            return kinds[i].columns;
        }
    *count = ARRAY_LEN(generic_columns);
    return generic_columns;
}
