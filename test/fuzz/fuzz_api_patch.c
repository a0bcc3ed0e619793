/* Two lines of JSON, an object and a patch: every kind of patch either fails with a
 * client's error or gives an object that decodes, twice to the same. */
#include "test/apiserver/apply.h"
#include "test/apiserver/builtin.h"
#include "test/apiserver/patch.h"
#include "test/apiserver/tree.h"
#include "test/apiserver/validate.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

/* Decoding twice must change nothing, or no-op writes would not be no-ops. */
static void store(struct arena *arena, const struct api_resource *resource, const struct json *object)
{
    struct api_error error = API_ERROR_INIT;
    const struct json *once, *twice;
    if (!api_object_decode(arena, resource, object, API_FIELDS_IGNORE, NULL, &once, &error)) {
        check(error.code == 400);
        return;
    }
    check(api_object_decode(arena, resource, once, API_FIELDS_STRICT, NULL, &twice, &error));
    check(json_equal(once, twice));
    if (!api_object_validate(arena, resource, once, NULL, &error))
        check(error.code == 422 && error.cause_count > 0 && json_count(api_status_json(arena, &error)) > 0);
}

static void patch(struct arena *arena, const struct api_resource *resource, const struct json *current,
                  const struct json *change)
{
    static const enum api_patch_type types[] = { API_PATCH_JSON, API_PATCH_MERGE, API_PATCH_STRATEGIC };
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        struct api_error error = API_ERROR_INIT;
        const struct json *result;
        if (api_patch(arena, resource, types[i], current, change, &result, &error))
            store(arena, resource, result);
        else
            check(error.code >= 400 && error.code < 500);
    }
}

static void apply(struct arena *arena, const struct api_resource *resource, const struct json *current,
                  const struct json *config)
{
    struct api_writer writer = { .manager = STR("fuzz"), .force = true };
    struct api_error error = API_ERROR_INIT;
    const struct json *result, *again;
    if (!api_apply(arena, resource, current, config, &writer, &result, &error)) {
        check(error.code >= 400 && error.code < 500);
        return;
    }
    check(api_apply(arena, resource, result, config, &writer, &again, &error) || error.code == 409);
    (void)api_manage_update(arena, resource, current, result, &writer);
    store(arena, resource, result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct json_limits limits = { .max_depth = 64 };
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct str first, second, rest = { .ptr = (const char *)data, .len = size };
    const struct json *current, *change;
    if (size > 65536 || !str_cut(rest, '\n', &first, &rest))
        return 0;
    str_cut(rest, '\n', &second, &rest);
    if (!json_parse(&arena, first, &limits, &current, NULL) ||
        !json_parse(&arena, second, &limits, &change, NULL) || !json_is(current, JSON_OBJECT))
        return 0;
    size_t count;
    const struct api_resource *resources = api_builtin_resources(&count);
    struct str kind = api_get_str(current, "kind");
    for (size_t i = 0; i < count; i++) {
        if (!str_eq(resources[i].kind, kind))
            continue;
        patch(&arena, &resources[i], current, change);
        apply(&arena, &resources[i], current, change);
    }
    return 0;
}
