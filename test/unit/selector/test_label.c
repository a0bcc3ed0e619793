#include "selector/selector.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define X10 "xxxxxxxxxx"
#define X50 X10 X10 X10 X10 X10
#define X63 X50 X10 "xxx"
#define X250 X50 X50 X50 X50 X50

static const struct row {
    const char *name;
    bool is_key;
    struct str text;
    bool valid;
} rows[] = {
    { "label_key: plain name", true, STR_INIT("app"), true },
    { "label_key: every allowed byte", true, STR_INIT("A-z_0.9"), true },
    { "label_key: prefix", true, STR_INIT("node.koordinator.sh/cpu-pool"), true },
    { "label_key: upper case name behind a prefix", true, STR_INIT("example.com/Name_1"), true },
    { "label_key: one letter", true, STR_INIT("a"), true },
    { "label_key: 63 bytes", true, STR_INIT(X63), true },
    { "label_key: 64 bytes", true, STR_INIT(X63 "x"), false },
    { "label_key: 63 bytes behind a prefix", true, STR_INIT("a/" X63), true },
    { "label_key: prefix of 253 bytes", true, STR_INIT(X250 "xxx/a"), true },
    { "label_key: prefix of 254 bytes", true, STR_INIT(X250 "xxxx/a"), false },
    { "label_key: empty", true, STR_INIT(""), false },
    { "label_key: empty prefix", true, STR_INIT("/a"), false },
    { "label_key: empty name", true, STR_INIT("a/"), false },
    { "label_key: two slashes", true, STR_INIT("a/b/c"), false },
    { "label_key: upper case prefix", true, STR_INIT("Example.com/a"), false },
    { "label_key: underscore in the prefix", true, STR_INIT("a_b/c"), false },
    { "label_key: empty part of the prefix", true, STR_INIT("a..b/c"), false },
    { "label_key: prefix ending with a dot", true, STR_INIT("a./c"), false },
    { "label_key: prefix part beginning with a dash", true, STR_INIT("a.-b/c"), false },
    { "label_key: prefix part ending with a dash", true, STR_INIT("a-.b/c"), false },
    { "label_key: leading dash", true, STR_INIT("-a"), false },
    { "label_key: trailing dot", true, STR_INIT("a."), false },
    { "label_key: blank", true, STR_INIT("a b"), false },
    { "label_key: not ASCII", true, STR_INIT("caf\u00e9"), false },
    { "label_key: NUL", true, STR_INIT("a\0b"), false },
    { "label_value: empty", false, STR_INIT(""), true },
    { "label_value: every allowed byte", false, STR_INIT("A-z_0.9"), true },
    { "label_value: 63 bytes", false, STR_INIT(X63), true },
    { "label_value: 64 bytes", false, STR_INIT(X63 "x"), false },
    { "label_value: slash", false, STR_INIT("a/b"), false },
    { "label_value: leading underscore", false, STR_INIT("_a"), false },
    { "label_value: trailing dash", false, STR_INIT("a-"), false },
    { "label_value: one dot", false, STR_INIT("."), false },
};

static void label_syntax(void **state)
{
    const struct row *row = *state;
    assert_int_equal(row->is_key ? label_key_valid(row->text) : label_value_valid(row->text), row->valid);
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(rows)];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[i] = (struct CMUnitTest){ rows[i].name, label_syntax, NULL, NULL, (void *)&rows[i] };
    return cmocka_run_group_tests_name("selector/label", tests, NULL, NULL);
}
