#pragma once
/* One served resource: what routing, discovery, validation and printing need to know.
 * Built-ins are rows of a table (builtin.h); custom resources come from CRDs (crd.h). */
#include "base/str.h"

struct api_schema;

/* One printer column of a custom resource. */
struct api_column {
    struct str name;
    struct str type;   /* string, integer, number, boolean, date */
    struct str format; /* may be empty */
    struct str description;
    struct str path; /* JSONPath without braces: .status.updateTime */
    int64_t priority;
};

enum api_verb {
    API_VERB_CREATE = 1 << 0,
    API_VERB_DELETE = 1 << 1,
    API_VERB_DELETE_COLLECTION = 1 << 2,
    API_VERB_GET = 1 << 3,
    API_VERB_LIST = 1 << 4,
    API_VERB_PATCH = 1 << 5,
    API_VERB_UPDATE = 1 << 6,
    API_VERB_WATCH = 1 << 7,
};

#define API_VERBS_ALL 0xffU

struct api_resource {
    struct str group; /* empty: core */
    struct str version;
    struct str kind;
    struct str list_kind;
    struct str plural;
    struct str singular;
    const struct str *short_names;
    size_t short_name_count;
    const struct str *categories; /* "all", ... */
    size_t category_count;
    unsigned verbs; /* API_VERB_* */
    bool namespaced;
    bool has_status;        /* serves /status, and status is ignored on the main endpoint */
    bool counts_generation; /* metadata.generation moves when something but metadata and status changes */
    bool custom;            /* from a CRD */

    /* Custom resources only. */
    const struct api_schema *schema; /* NULL: anything goes */
    const struct api_column *columns;
    size_t column_count;
};

/* "nodes", "nodemetrics.slo.koordinator.sh": as NotFound messages and CRD names spell it. */
#define API_RESOURCE_FMT "%.*s%s%.*s"
#define API_RESOURCE_ARG(r) STR_ARG((r)->plural), (r)->group.len ? "." : "", STR_ARG((r)->group)

/* "v1" or "group/version". */
#define API_GV_FMT "%.*s%s%.*s"
#define API_GV_ARG(r) STR_ARG((r)->group), (r)->group.len ? "/" : "", STR_ARG((r)->version)
