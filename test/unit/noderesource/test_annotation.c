#include "noderesource/annotation.h"
#include "support.h"

/* --- reservation -------------------------------------------------------------------------- */

static const struct row {
    const char *name;
    const char *text;
    bool ok;
    int64_t cpu_milli;
    int64_t memory_bytes;
} rows[] = {
    { "reservation: amounts", "{\"resources\":{\"cpu\":\"2500m\",\"memory\":\"4Gi\"}}", true, 2500,
      4294967296 },
    { "reservation: CPUs replace the cpu amount",
      "{\"resources\":{\"cpu\":\"9\",\"memory\":\"5\"},\"reservedCPUs\":\"0-3,8\"}", true, 5000, 5 },
    { "reservation: CPUs alone", "{\"reservedCPUs\":\"0-1\"}", true, 2000, 0 },
    { "reservation: empty CPUs replace nothing", "{\"resources\":{\"cpu\":\"9\"},\"reservedCPUs\":\"\"}",
      true, 9000, 0 },
    { "reservation: policy is not looked at",
      "{\"resources\":{\"cpu\":\"1\"},\"applyPolicy\":\"ReservedCPUsOnly\"}", true, 1000, 0 },
    { "reservation: field names in any case", "{\"RESOURCES\":{\"cpu\":1},\"reservedcpus\":null}", true, 1000,
      0 },
    { "reservation: other resources are ignored",
      "{\"resources\":{\"nvidia.com/gpu\":\"1\",\"memory\":\"7\"},\"x\":[]}", true, 0, 7 },
    { "reservation: null amounts are 0", "{\"resources\":{\"cpu\":null,\"memory\":\"1\"}}", true, 0, 1 },
    { "reservation: negative counts 0", "{\"resources\":{\"cpu\":\"-2\",\"memory\":\"1\"}}", true, 0, 1 },
    { "reservation: empty object", "{}", true, 0, 0 },
    { "reservation: null", "null", true, 0, 0 },
    { "reservation: empty text is malformed", "", false, 0, 0 },
    { "reservation: a list is malformed", "[]", false, 0, 0 },
    { "reservation: cut short is malformed", "{\"resources\":{\"cpu\":\"2\"", false, 0, 0 },
    { "reservation: bad quantity spoils all", "{\"resources\":{\"cpu\":\"2\",\"memory\":\"4GiB\"}}", false, 0,
      0 },
    { "reservation: bad quantity of another resource spoils all",
      "{\"resources\":{\"cpu\":\"2\",\"x\":true}}", false, 0, 0 },
    { "reservation: resources as a list are malformed", "{\"resources\":[]}", false, 0, 0 },
    { "reservation: CPUs as a number are malformed", "{\"reservedCPUs\":3}", false, 0, 0 },
    { "reservation: bad cpuset spoils all", "{\"resources\":{\"memory\":\"1\"},\"reservedCPUs\":\"0-\"}",
      false, 0, 0 },
};

static void reservation__row(void **state)
{
    const struct row *row = *state;
    struct arena arena = ARENA_INIT;
    struct amounts amounts = { .cpu_nano = -77 };
    struct err err = ERR_INIT;
    assert_int_equal(noderesource_reservation_parse(&arena, str_c(row->text), &amounts, &err), row->ok);
    if (row->ok) {
        assert_true(amounts.cpu_nano == MILLI(row->cpu_milli));
        assert_true(amounts.memory_nano == CORES(row->memory_bytes));
    } else {
        assert_int_equal(err.kind, ERR_INVALID);
        assert_true(amounts.cpu_nano == -77);
    }
    arena_done(&arena);
}

/* --- cpuset ------------------------------------------------------------------------------- */

static const struct cpuset_row {
    const char *name;
    const char *list;
    int64_t count; /* -1: an error */
} cpuset_rows[] = {
    { "cpuset: empty", "", 0 },
    { "cpuset: one", "0", 1 },
    { "cpuset: ranges and ids", "0-3,8", 5 },
    { "cpuset: overlaps count once", "0-3,2-5,4", 6 },
    { "cpuset: highest id", "4096", 1 },
    { "cpuset: everything", "0-4096", 4097 },
    { "cpuset: above the highest", "4097", -1 },
    { "cpuset: range above the highest", "0-5000", -1 },
    { "cpuset: far above", "99999999999999999999999", -1 },
    { "cpuset: reversed", "3-1", -1 },
    { "cpuset: negative", "-1", -1 },
    { "cpuset: open range", "1-", -1 },
    { "cpuset: three parts", "1-2-3", -1 },
    { "cpuset: empty item", "1,,2", -1 },
    { "cpuset: trailing comma", "1,", -1 },
    { "cpuset: blank", "1, 2", -1 },
    { "cpuset: sign", "+1", -1 },
    { "cpuset: word", "all", -1 },
};

static void cpuset__row(void **state)
{
    const struct cpuset_row *row = *state;
    int64_t count = -7;
    struct err err = ERR_INIT;
    bool ok = noderesource_cpuset_count(str_c(row->list), &count, &err);
    assert_int_equal(ok, row->count >= 0);
    assert_int_equal(count, ok ? row->count : -7);
}

/* --- raw allocatable ----------------------------------------------------------------------- */

static void raw_allocatable__is_a_plain_map(void **state)
{
    (void)state;
    struct arena arena = ARENA_INIT;
    struct amounts amounts;
    assert_true(
        noderesource_raw_allocatable_parse(&arena, STR("{\"cpu\":\"4\",\"pods\":110}"), &amounts, NULL));
    assert_true(amounts.has_cpu && amounts.cpu_nano == CORES(4));
    assert_false(amounts.has_memory);
    arena_done(&arena);
}

static void raw_allocatable__malformed_is_an_error(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "", "4", "[]", "{\"cpu\":{}}", "{\"cpu\":\"-4\"}", "{\"cpu\":\"four\"}"
    };
    struct arena arena = ARENA_INIT;
    struct amounts amounts;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct err err = ERR_INIT;
        assert_false(noderesource_raw_allocatable_parse(&arena, str_c(texts[i]), &amounts, &err));
        assert_int_equal(err.kind, ERR_INVALID);
    }
    arena_done(&arena);
}

int main(void)
{
    struct CMUnitTest tests[2 + ARRAY_LEN(rows) + ARRAY_LEN(cpuset_rows)];
    size_t count = 0;
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(raw_allocatable__is_a_plain_map);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(raw_allocatable__malformed_is_an_error);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[count++] =
            (struct CMUnitTest){ rows[i].name, reservation__row, NULL, NULL, (void *)(uintptr_t)&rows[i] };
    for (size_t i = 0; i < ARRAY_LEN(cpuset_rows); i++)
        tests[count++] = (struct CMUnitTest){ cpuset_rows[i].name, cpuset__row, NULL, NULL,
                                              (void *)(uintptr_t)&cpuset_rows[i] };
    return cmocka_run_group_tests_name("noderesource/annotation", tests, NULL, NULL);
}
