#pragma once
/* metadata as decoded: borrowed from the decoder's arena. */
#include "base/clock.h"
#include "json/decode.h"
#include "quantity/quantity.h"

struct meta {
    struct str name;
    struct str ns;
    struct str uid;
    struct str rv;
    int64_t generation;
    struct json_items labels; /* struct json_pair */
};

/* "metadata" without annotations. Kinds that read some, or only some labels, have a table
 * of their own that starts with META_IDENTITY_FIELDS. */
extern const struct json_table meta_table;
#define META_IDENTITY_FIELDS(type_, member_)                                                                 \
    JSON_REQUIRED_STR(type_, member_.name, "name"), JSON_REQUIRED_STR(type_, member_.ns, "namespace"),       \
        JSON_REQUIRED_STR(type_, member_.uid, "uid"),                                                        \
        JSON_REQUIRED_STR(type_, member_.rv, "resourceVersion"),                                             \
        JSON_FIELD_I64(type_, member_.generation, "generation")

/* A text that may be absent, apart from an empty one. */
struct opt_text {
    bool set;
    struct str text;
};
/* json_scalar_fn: struct opt_text; strings only. */
bool api_into_text(struct arena *arena, const struct json_event *event, void *dst, struct err *err);

/* A quantity that may be absent or unreadable. */
struct opt_quantity {
    bool set;
    struct quantity value;
};
/* json_scalar_fn: struct opt_quantity. */
bool api_into_quantity(struct arena *arena, const struct json_event *event, void *dst, struct err *err);

struct opt_time {
    bool set;
    struct wall_time value;
};
/* json_scalar_fn: struct opt_time. */
bool api_into_time(struct arena *arena, const struct json_event *event, void *dst, struct err *err);

/* Amounts in billionths (nano-cores, nano-bytes): every quantity is a whole number of
 * them, so sums and differences are exact. Clamped to +-10^36 billionths, which leaves
 * room for a hundred of them in an __int128. */
#define API_NANO_PER_UNIT INT64_C(1000000000)
#define API_NANO_MAX ((__int128)1000000000000000000 * 1000000000000000000)

__int128 api_nano_from_quantity(struct quantity quantity);
/* The sum, clamped; both operands are within +-10^36. */
__int128 api_nano_add(__int128 a, __int128 b);

/* One amount that cannot sensibly be negative: a negative one is told to `report` (NULL:
 * nobody), at the path that the format gives, and counts as absent; one out of reach is
 * told and clamped. False when absent. */
bool api_take_amount(const struct opt_quantity *quantity, __int128 *ret_nano,
                     const struct json_report *report, const char *path_format, ...) PRINTF_LIKE(4, 5);

/* An exact amount of cpu and memory. */
struct amounts {
    bool has_cpu;
    bool has_memory;
    __int128 cpu_nano;
    __int128 memory_nano;
};

bool api_amounts_same(const struct amounts *a, const struct amounts *b);

/* "resources" as decoded: of all names in the map, the two that count. */
struct api_resources {
    struct opt_quantity cpu;
    struct opt_quantity memory;
};
extern const struct json_table api_resources_table;

/* Through api_take_amount, at "<path>.cpu" and "<path>.memory". */
struct amounts api_take_amounts(const struct api_resources *resources, const struct json_report *report,
                                const char *path);

/* status of a failed request, as decoded */
struct api_status {
    struct str status; /* "Failure" */
    struct str reason;
    struct str message;
    int64_t code;
    struct str continue_token;
    int64_t retry_after_s;
    struct json_items causes; /* struct api_cause */
};
struct api_cause {
    struct str reason;
    struct str field;
    struct str message;
};
extern const struct json_table api_status_table;
