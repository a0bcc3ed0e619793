#pragma once
/* A request's address taken apart. Pure. */
#include "base/arena.h"
#include "http/url.h"
#include "test/apiserver/status.h"

struct as_route {
    bool is_resource;   /* else /version, /apis/GROUP and the like */
    bool is_watch_path; /* /api/v1/watch/...: the old spelling of ?watch=true */
    struct str path;    /* as received */
    struct str group, version;
    struct str namespace; /* empty: cluster-scoped, or all namespaces */
    struct str resource, name, subresource;
};

/* 400 for a bad escape, for "." and ".." and for empty segments in the middle. */
bool as_route_parse(struct arena *arena, struct str path, struct as_route *ret,
                    struct api_error *error) MUST_CHECK;

struct as_params {
    const struct url_param *items;
    size_t count;
};

bool as_params_parse(struct arena *arena, struct str query, struct as_params *ret,
                     struct api_error *error) MUST_CHECK;
/* Empty when absent. */
struct str as_param(const struct as_params *params, const char *name);
bool as_param_given(const struct as_params *params, const char *name);
/* As the real server reads them: only absence, "0" and "false" (any case) are false. */
bool as_param_bool(const struct as_params *params, const char *name);
