#include "test/apiserver/route.h"

#define MAX_SEGMENTS 12

struct segments {
    struct str items[MAX_SEGMENTS];
    size_t count;
};

static bool split(struct arena *arena, struct str path, struct segments *ret, struct api_error *error)
{
    *ret = (struct segments){ 0 };
    if (str_starts_with(path, STR("/")))
        path = str_slice(path, 1, path.len);
    while (path.len) {
        struct str raw;
        str_cut(path, '/', &raw, &path);
        struct str segment;
        if (!url_decode(arena, raw, &segment, NULL))
            return api_fail(error, arena, 400, "bad percent-encoding in the path");
        if (str_empty(segment) || str_eq(segment, STR(".")) || str_eq(segment, STR("..")))
            return api_fail(error, arena, 400, "empty or relative segment in the path");
        if (ret->count == MAX_SEGMENTS)
            return api_fail_no_resource(error, arena);
        ret->items[ret->count++] = segment;
    }
    return true;
}

/* What follows the group and version: [watch/][namespaces/NS/]resource[/name[/subresource]] */
static void parse_resource(const struct segments *segments, size_t at, struct as_route *route)
{
    size_t left = segments->count - at;
    const struct str *items = segments->items + at;
    if (left && str_eq(items[0], STR("watch"))) {
        route->is_watch_path = true;
        items++;
        left--;
    }
    if (!left)
        return;
    route->is_resource = true;
    bool about_namespace =
        left == 3 && (str_eq(items[2], STR("status")) || str_eq(items[2], STR("finalize")));
    if (left >= 3 && str_eq(items[0], STR("namespaces")) && !about_namespace) {
        route->namespace = items[1];
        items += 2;
        left -= 2;
    }
    route->resource = items[0];
    if (left > 1)
        route->name = items[1];
    if (left > 2)
        route->subresource = items[2];
}

bool as_route_parse(struct arena *arena, struct str path, struct as_route *ret, struct api_error *error)
{
    *ret = (struct as_route){ .path = path };
    struct segments segments;
    if (!split(arena, path, &segments, error))
        return false;
    if (segments.count >= 2 && str_eq(segments.items[0], STR("api"))) {
        ret->version = segments.items[1];
        parse_resource(&segments, 2, ret);
    } else if (segments.count >= 3 && str_eq(segments.items[0], STR("apis"))) {
        ret->group = segments.items[1];
        ret->version = segments.items[2];
        parse_resource(&segments, 3, ret);
    }
    return true;
}

bool as_params_parse(struct arena *arena, struct str query, struct as_params *ret, struct api_error *error)
{
    struct url_param *items = NULL;
    if (!url_query_parse(arena, query, &items, &ret->count, NULL))
        return api_fail(error, arena, 400, "bad percent-encoding in the query");
    ret->items = items;
    return true;
}

struct str as_param(const struct as_params *params, const char *name)
{
    return url_param(params->items, params->count, str_c(name), NULL);
}

bool as_param_given(const struct as_params *params, const char *name)
{
    bool found = false;
    url_param(params->items, params->count, str_c(name), &found);
    return found;
}

bool as_param_bool(const struct as_params *params, const char *name)
{
    struct str value = as_param(params, name);
    return as_param_given(params, name) && !str_eq(value, STR("0")) && !str_eq_nocase(value, STR("false"));
}
