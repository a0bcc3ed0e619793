#pragma once
/* Shared by the policy tests: expectations as text. */
#include "sloconfig/colocation.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#define TEST_ROWS(tests_, rows_, function_)                                                                  \
    struct CMUnitTest tests_[ARRAY_LEN(rows_)];                                                              \
    for (size_t i_ = 0; i_ < ARRAY_LEN(rows_); i_++)                                                         \
        tests_[i_] = (struct CMUnitTest)                                                                     \
        {                                                                                                    \
            (rows_)[i_].name, (function_), NULL, NULL, (void *)(uintptr_t) & (rows_)[i_]                     \
        }

static inline const struct json *must_parse(struct arena *arena, struct str text)
{
    const struct json *root = NULL;
    struct err err = ERR_INIT;
    if (!json_parse(arena, text, NULL, &root, &err))
        fail_msg("test data " STR_FMT ": %s", STR_ARG(text), err.text);
    return root;
}

static inline const char *as_text(struct arena *arena, const struct json *value)
{
    struct strbuf text = STRBUF_INIT(1 << 20);
    if (value)
        json_write(&text, value);
    struct str copy = arena_str(arena, strbuf_str(&text));
    strbuf_done(&text);
    return copy.ptr;
}

/* Every member of `want` stands in `got` with the same value; null: it must be absent. */
static inline void assert_members(struct arena *arena, const struct json *got, const char *want_text)
{
    const struct json *want = must_parse(arena, str_c(want_text));
    for (size_t i = 0; i < json_count(want); i++) {
        const struct json_member *member = &want->object.members[i];
        const struct json *value = json_get(got, member->key);
        bool same = json_is(member->value, JSON_NULL) ? value == NULL : json_equal(value, member->value);
        if (!same)
            fail_msg(STR_FMT " is %s, want %s", STR_ARG(member->key), as_text(arena, value),
                     as_text(arena, member->value));
    }
}

/* "rejected:path:reason ..." of all findings, in order, warnings included. */
static inline void assert_findings(struct arena *arena, const struct findings *findings, const char *want)
{
    static const char *const levels[] = { "rejected", "entry", "node", "admission", "warning" };
    struct strbuf got = STRBUF_INIT(1 << 16);
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *f = &findings->items[i];
        strbuf_addf(&got, "%s%s:" STR_FMT ":%s", i ? " " : "", levels[f->level], STR_ARG(f->path), f->reason);
    }
    struct str copy = arena_str(arena, strbuf_str(&got));
    strbuf_done(&got);
    assert_string_equal(copy.ptr, want);
}
