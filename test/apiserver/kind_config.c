/* ConfigMaps, Secrets and Leases. */
#include "test/apiserver/base64.h"
#include "test/apiserver/kindrules.h"
#include "test/apiserver/names.h"
#include "test/apiserver/tree.h"

#define MAX_DATA_BYTES 1048576

static size_t check_keys(const struct api_kind_input *in, const char *field, bool base64)
{
    const struct json *map = api_get(in->object, field);
    struct api_path path = API_FIELD(NULL, str_c(field));
    size_t total = 0;
    for (size_t i = 0; i < api_map_count(map); i++) {
        const struct json_member *member = &map->object.members[i];
        struct api_path at = API_KEY(&path, member->key);
        const char *why = api_name_config_key(member->key);
        if (why)
            api_cause_invalid(in->causes, &at, json_new_str(in->arena, member->key), "%s", why);
        struct str value = json_str(member->value);
        total += base64 ? api_base64_size(value) : value.len;
    }
    return total;
}

static void check_size(const struct api_kind_input *in, size_t total, const char *field)
{
    struct api_path path = API_FIELD(NULL, str_c(field));
    if (total > MAX_DATA_BYTES)
        api_cause_add(in->causes, API_CAUSE_TOO_LONG, &path, "Too long: may not be more than %d bytes",
                      MAX_DATA_BYTES);
}

static void check_frozen(const struct api_kind_input *in, const char *field)
{
    struct api_path path = API_FIELD(NULL, str_c(field));
    if (in->old && json_bool(api_get(in->old, "immutable")) &&
        !json_equal(api_get(in->object, field), api_get(in->old, field)))
        api_cause_add(in->causes, API_CAUSE_FORBIDDEN, &path,
                      "Forbidden: field is immutable when `immutable` is set");
}

void api_validate_config_map(const struct api_kind_input *in)
{
    const struct json *data = api_get(in->object, "data"), *binary = api_get(in->object, "binaryData");
    size_t total = check_keys(in, "data", false) + check_keys(in, "binaryData", true);
    struct api_path path = API_FIELD(NULL, STR("data"));
    for (size_t i = 0; i < api_map_count(data); i++) {
        struct api_path at = API_KEY(&path, data->object.members[i].key);
        if (json_get(binary, data->object.members[i].key))
            api_cause_invalid(in->causes, &at, json_new_str(in->arena, data->object.members[i].key),
                              "duplicate of key present in binaryData");
    }
    check_size(in, total, "");
    check_frozen(in, "immutable");
    check_frozen(in, "data");
    check_frozen(in, "binaryData");
}

void api_validate_secret(const struct api_kind_input *in)
{
    check_size(in, check_keys(in, "data", true), "data");
    if (in->old)
        api_validate_immutable(in, in->object, in->old, NULL, "type");
    check_frozen(in, "immutable");
    check_frozen(in, "data");
}

void api_validate_lease(const struct api_kind_input *in)
{
    const struct json *spec = api_get(in->object, "spec");
    struct api_path path = API_FIELD(NULL, STR("spec"));
    struct api_path duration = API_FIELD(&path, STR("leaseDurationSeconds"));
    struct api_path transitions = API_FIELD(&path, STR("leaseTransitions"));
    int64_t value;
    if (json_i64(api_get(spec, "leaseDurationSeconds"), &value) && value <= 0)
        api_cause_invalid(in->causes, &duration, api_get(spec, "leaseDurationSeconds"),
                          "must be greater than 0");
    if (json_i64(api_get(spec, "leaseTransitions"), &value) && value < 0)
        api_cause_invalid(in->causes, &transitions, api_get(spec, "leaseTransitions"),
                          "must be greater than or equal to 0");
}
