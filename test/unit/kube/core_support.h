#pragma once
/* What the tests of the pure core share: cmocka, a small kind, objects made of JSON, time
 * that is only a number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "api/kind.h"

/* A namespaced kind with one index value and one value that makes a relevant change:
 * {"metadata":{...},"spec":{"group":"a","value":1}}. */
extern const struct kube_kind thing_kind;
struct thing {
    struct kube_object object;
    const struct istr *group;
    int64_t value;
};
static inline const struct thing *thing_of(const struct kube_object *object)
{
    return (const struct thing *)(const void *)object;
}

struct core {
    struct intern *pool;
};
int core_setup(void **state);
/* Also proves that every interned string was given back. */
int core_teardown(void **state);

/* An object of this kind from JSON; fails the test when there is none. */
struct kube_object *core_object(struct core *core, const struct kube_kind *kind, const char *json);
/* A thing in namespace "ns". NULL or "" leaves a part out. */
struct kube_object *core_thing(struct core *core, const char *name, const char *uid, const char *rv,
                               const char *group, int64_t value);

static inline struct mono_time at_ms(int64_t ms)
{
    return (struct mono_time){ .ns = ms * NS_PER_MS };
}

#define assert_str(got_, want_)                                                                              \
    do {                                                                                                     \
        struct str got_str_ = (got_);                                                                        \
        struct str want_str_ = str_c(want_);                                                                 \
        if (!str_eq(got_str_, want_str_))                                                                    \
            fail_msg("got \"" STR_FMT "\", want \"" STR_FMT "\"", STR_ARG(got_str_), STR_ARG(want_str_));    \
    } while (0)
#define assert_between(got_, low_, high_)                                                                    \
    do {                                                                                                     \
        int64_t got_i64_ = (got_), low_i64_ = (low_), high_i64_ = (high_);                                   \
        if (got_i64_ < low_i64_ || got_i64_ > high_i64_)                                                     \
            fail_msg("%lld is not within [%lld, %lld]", (long long)got_i64_, (long long)low_i64_,            \
                     (long long)high_i64_);                                                                  \
    } while (0)
