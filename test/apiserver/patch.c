#include "test/apiserver/patch.h"
#include "test/apiserver/tree.h"

#define ACCEPTED                                                                                             \
    "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml, "              \
    "application/strategic-merge-patch+json"

static const struct {
    struct str media_type;
    enum api_patch_type type;
} types[] = {
    { STR_INIT("application/json-patch+json"), API_PATCH_JSON },
    { STR_INIT("application/merge-patch+json"), API_PATCH_MERGE },
    { STR_INIT("application/strategic-merge-patch+json"), API_PATCH_STRATEGIC },
    { STR_INIT("application/apply-patch+yaml"), API_PATCH_APPLY },
};

bool api_patch_type_parse(struct arena *arena, const struct api_resource *resource, struct str content_type,
                          enum api_patch_type *ret, struct api_error *error)
{
    struct str media_type, rest;
    str_cut(content_type, ',', &media_type, &rest);
    str_cut(media_type, ';', &media_type, &rest);
    media_type = str_trim(media_type);
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (!str_eq_nocase(types[i].media_type, media_type))
            continue;
        if (types[i].type == API_PATCH_STRATEGIC && resource->custom)
            break;
        *ret = types[i].type;
        return true;
    }
    return api_fail_media_type(error, arena, ACCEPTED);
}

/* What the patch says about identity: a stated value must be the object's, a blank one
 * says nothing. */
static bool check_version(struct arena *arena, const struct api_resource *resource, const struct json *before,
                          const struct json *after, struct api_error *error)
{
    struct str had = api_get_str(before, "resourceVersion"), wants = api_get_str(after, "resourceVersion");
    if (str_empty(wants) || str_eq(wants, STR("0")) || str_eq(had, wants))
        return true;
    return api_fail_modified(error, arena, resource, api_get_str(before, "name"));
}

/* A PUT with the UID of another object is a conflict, a patch is invalid. */
static bool check_uid(struct arena *arena, const struct api_resource *resource, const struct json *before,
                      const struct json *after, struct api_error *error)
{
    struct str had = api_get_str(before, "uid"), wants = api_get_str(after, "uid");
    if (str_empty(wants) || str_eq(had, wants))
        return true;
    struct api_causes causes = API_CAUSES_INIT(arena);
    struct api_path metadata = API_FIELD(NULL, STR("metadata")), uid = API_FIELD(&metadata, STR("uid"));
    api_cause_invalid(&causes, &uid, api_get(after, "uid"), "field is immutable");
    return api_fail_invalid(error, arena, resource, api_get_str(before, "name"), &causes);
}

static bool check_named(struct arena *arena, const struct json *before, const struct json *after,
                        struct api_error *error)
{
    if (!str_empty(api_get_str(after, "name")))
        return true;
    return api_fail(error, arena, 400,
                    "the name of the object (" STR_FMT " based on URL) was undeterminable: name must be "
                    "provided",
                    STR_ARG(api_get_str(before, "name")));
}

static bool check_same(struct arena *arena, const struct json *before, const struct json *after,
                       const char *field, struct api_error *error)
{
    struct str had = api_get_str(before, field), wants = api_get_str(after, field);
    if (str_empty(wants) || str_eq(had, wants))
        return true;
    return api_fail(error, arena, 400,
                    "the %s of the object (" STR_FMT ") does not match the %s on the URL (" STR_FMT ")",
                    field, STR_ARG(wants), field, STR_ARG(had));
}

static const char *const kept_metadata[] = {
    "name", "namespace", "uid", "resourceVersion", "creationTimestamp", "generation"
};

static const struct json *restore_metadata(struct arena *arena, const struct json *object,
                                           const struct json *before, const struct json *after)
{
    struct json *metadata = json_is(after, JSON_OBJECT) ? json_copy(arena, after) : api_object(arena);
    for (size_t i = 0; i < ARRAY_LEN(kept_metadata); i++) {
        const struct json *had = api_get(before, kept_metadata[i]);
        if (had)
            api_set(arena, metadata, kept_metadata[i], had);
    }
    return api_with(arena, object, "metadata", metadata);
}

static bool check_result(struct arena *arena, const struct api_resource *resource, const struct json *current,
                         const struct json *patched, const struct json **ret, struct api_error *error)
{
    const struct json *before = api_get(current, "metadata"), *after = api_get(patched, "metadata");
    if (!json_is(patched, JSON_OBJECT))
        return api_fail(error, arena, 400, "the patch does not leave an object");
    if (!check_named(arena, before, after, error) || !check_same(arena, before, after, "name", error) ||
        !check_same(arena, before, after, "namespace", error) ||
        !check_version(arena, resource, before, after, error) ||
        !check_uid(arena, resource, before, after, error))
        return false;
    *ret = restore_metadata(arena, patched, before, after);
    return true;
}

static bool patch_merge(struct arena *arena, const struct json *current, const struct json *patch,
                        const struct json **ret, struct api_error *error)
{
    if (!json_is(patch, JSON_OBJECT))
        return api_fail(error, arena, 400, "error decoding patch: a merge patch is an object");
    *ret = json_merge_patch(arena, current, patch);
    return true;
}

bool api_patch(struct arena *arena, const struct api_resource *resource, enum api_patch_type type,
               const struct json *current, const struct json *patch, const struct json **ret,
               struct api_error *error)
{
    const struct json *patched = NULL;
    bool ok = false;
    switch (type) {
    case API_PATCH_JSON:
        ok = api_patch_json(arena, current, patch, &patched, error);
        break;
    case API_PATCH_MERGE:
        ok = patch_merge(arena, current, patch, &patched, error);
        break;
    case API_PATCH_STRATEGIC:
        ok = api_patch_strategic(arena, resource, current, patch, &patched, error);
        break;
    case API_PATCH_APPLY:
        return api_fail_media_type(error, arena, ACCEPTED);
    }
    return ok && check_result(arena, resource, current, patched, ret, error);
}
