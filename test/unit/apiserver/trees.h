#pragma once
/* JSON in tests: single quotes stand for double ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test/apiserver/builtin.h"
#include "test/apiserver/status.h"

const struct json *tree(struct arena *arena, const char *text);
/* Fails with both texts unless they are the same JSON. */
void assert_tree(struct arena *arena, const struct json *got, const char *want);
/* "422 Invalid" for an error, "ok" for none. */
struct str error_label(struct arena *arena, const struct api_error *error);
void assert_text(struct str got, const char *want);
/* Whether any cause is `field: message`, as far as `want` goes. */
void assert_cause(struct arena *arena, const struct api_error *error, const char *want);

/* A row of the built-in table by kind and group; fails when there is none. */
const struct api_resource *builtin(const char *group, const char *kind);
