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

/* "metadata" without annotations; kinds that read some add a table of their own. */
extern const struct json_field meta_fields[];
extern const size_t meta_field_count;
extern const struct json_table meta_table;

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

/* An exact amount of cpu and memory in billionths (nano-cores, nano-bytes): every quantity
 * is a whole number of them, so sums and differences are exact. Clamped to +-10^30 units. */
struct amounts {
    bool has_cpu;
    bool has_memory;
    __int128 cpu_nano;
    __int128 memory_nano;
};

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
