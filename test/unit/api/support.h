#pragma once
/* What the tests of this folder share: cmocka, an object from JSON, recorded reports. */
#include "api/kind.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

struct fixture {
    struct arena arena;
    struct intern *pool;
    struct err err;
    size_t reports;
    char path[256]; /* of the last report */
    char value[256];
    char message[256];
};

int fixture_setup(void **state);
/* Also proves that every interned string was released. */
int fixture_teardown(void **state);

struct json_report fixture_report(struct fixture *fixture);
/* NULL with fixture->err. */
struct kube_object *fixture_object(struct fixture *fixture, const struct kube_kind *kind, const char *json);

#define assert_str(got_, want_)                                                                              \
    do {                                                                                                     \
        struct str got_str_ = (got_);                                                                        \
        struct str want_str_ = str_c(want_);                                                                 \
        if (!str_eq(got_str_, want_str_))                                                                    \
            fail_msg("got \"" STR_FMT "\", want \"" STR_FMT "\"", STR_ARG(got_str_), STR_ARG(want_str_));    \
    } while (0)
