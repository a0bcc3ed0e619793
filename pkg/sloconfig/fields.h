#pragma once
/* The fields of a colocation strategy as one table: name, type, place in the struct,
 * default, and the range at each of two levels. Parsing, merging, checking, writing and
 * the documentation of a strategy all walk this table, so a new knob is a new row.
 *
 * LEVEL_CONTROLLER is what a running manager refuses to act on. LEVEL_ADMISSION is what
 * nobody should write; it is never looser. */
#include "sloconfig/strategy.h"

enum rule_level { LEVEL_CONTROLLER, LEVEL_ADMISSION, LEVEL_COUNT };

enum strategy_field_type {
    STRATEGY_BOOL,      /* struct opt_bool */
    STRATEGY_I64,       /* struct opt_i64 */
    STRATEGY_DECIMAL,   /* struct opt_decimal */
    STRATEGY_TEXT,      /* struct opt_str */
    STRATEGY_DURATIONS, /* const struct json *: array of canonical duration strings */
    STRATEGY_MAP,       /* const struct json *: object, merged key by key */
};

/* Bounds for numbers. {0} allows everything. */
struct strategy_range {
    bool has_min;
    bool above_min; /* min itself is outside */
    bool has_max;
    int64_t min;
    int64_t max;
};

#define RANGE_AT_LEAST(n)                                                                                    \
    {                                                                                                        \
        .has_min = true, .min = (n)                                                                          \
    }
#define RANGE_ABOVE(n)                                                                                       \
    {                                                                                                        \
        .has_min = true, .above_min = true, .min = (n)                                                       \
    }
#define RANGE_BETWEEN(low, high)                                                                             \
    {                                                                                                        \
        .has_min = true, .min = (low), .has_max = true, .max = (high)                                        \
    }
#define RANGE_ABOVE_UP_TO(low, high)                                                                         \
    {                                                                                                        \
        .has_min = true, .above_min = true, .min = (low), .has_max = true, .max = (high)                     \
    }

bool strategy_range_admits(const struct strategy_range *range, int64_t value);
/* "must be between 0 and 100" */
struct str strategy_range_rule(const struct strategy_range *range, struct arena *arena);

struct strategy_field {
    const char *parent; /* the object the field stands in; NULL: the strategy itself */
    const char *name;
    enum strategy_field_type type;
    size_t offset;            /* in struct strategy */
    const char *default_json; /* NULL: unset by default */
    struct strategy_range range[LEVEL_COUNT];
    const char *const *words; /* STRATEGY_TEXT: the only allowed values, NULL-ended; NULL: any text */
    const char *const *known; /* other values are read as `unknown_is`, with a warning; NULL: no opinion */
    const char *unknown_is;
    const char *description;
};

extern const struct strategy_field strategy_fields[];
extern const size_t strategy_field_count;

/* The value of a field as JSON in the arena, durations canonical; NULL while unset. */
const struct json *strategy_field_json(const struct strategy_field *field, const struct strategy *strategy,
                                       struct arena *arena);
bool strategy_field_is_set(const struct strategy_field *field, const struct strategy *strategy);

/* Within the field's range at this level; unset is. Otherwise *rule (may be NULL) tells
 * the rule: "must be between 0 and 100". The text lives in the arena. */
bool strategy_field_in_range(const struct strategy_field *field, const struct strategy *strategy,
                             enum rule_level level, struct arena *arena, struct str *rule);
/* False for a text that is allowed but that nothing gives a meaning. */
bool strategy_field_is_known(const struct strategy_field *field, const struct strategy *strategy);

/* "midCPUThresholdPercent", "nodePredictPolicy.coldStartPeriodSeconds" */
struct str strategy_field_path(const struct strategy_field *field, struct arena *arena);

/* Built-in defaults; whatever has none stays unset. */
void strategy_defaults(struct strategy *ret, struct arena *arena);

/* What is set in `over` replaces what `base` has; maps merge key by key. */
void strategy_merge(struct strategy *base, const struct strategy *over, struct arena *arena);

/* Same fields set to the same values (decimals by value). */
bool strategy_equal(const struct strategy *a, const struct strategy *b);

/* The strategy under its wire names in table order, unset fields left out, durations
 * canonical. */
const struct json *strategy_to_json(const struct strategy *strategy, struct arena *arena);
