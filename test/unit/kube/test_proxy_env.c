/* T-83: which servers NO_PROXY names, and what a variable may hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kube/proxy_env.h"

struct row {
    const char *name;
    struct str no_proxy;
    struct str server;
    bool want;
};

#define ROW(no_proxy_, server_, want_)                                                                       \
    {                                                                                                        \
        "t_83 NO_PROXY=" no_proxy_ " " server_, STR_INIT(no_proxy_), STR_INIT(server_), want_                \
    }

static const struct row rows[] = {
    ROW("", "https://api.example.com", false),
    ROW("*", "https://api.example.com", true),
    ROW("example.com", "https://example.com", true),
    ROW("example.com", "https://api.example.com:6443/prefix", true),
    ROW("EXAMPLE.com", "https://api.Example.COM", true),
    ROW("example.com", "https://badexample.com", false),
    ROW("example.com", "https://example.com.evil", false),
    ROW(".example.com", "https://api.example.com", true),
    ROW(".example.com", "https://example.com", false),
    ROW("*.example.com", "https://api.example.com", true),
    ROW("*.example.com", "https://example.com", false),
    ROW("example.com.", "https://example.com", true),
    ROW("example.com", "https://example.com.:6443", true),
    ROW("a, b ,example.com", "https://example.com", true),
    ROW(",,", "https://example.com", false),
    ROW("example.com:6443", "https://example.com:6443", true),
    ROW("example.com:6443", "https://example.com", false),
    ROW("example.com:443", "https://example.com", true),
    ROW("example.com:80", "http://example.com", true),
    ROW("10.1.2.3", "https://10.1.2.3:6443", true),
    ROW("10.1.2.3", "https://10.1.2.30", false),
    ROW("10.1.2.3:6443", "https://10.1.2.3:6443", true),
    ROW("10.1.2.3:1", "https://10.1.2.3:6443", false),
    ROW("10.0.0.0/8", "https://10.200.0.1", true),
    ROW("10.0.0.0/8", "https://11.0.0.1", false),
    ROW("10.96.0.0/12", "https://10.111.255.255", true),
    ROW("10.96.0.0/12", "https://10.112.0.0", false),
    ROW("0.0.0.0/0", "https://8.8.8.8", true),
    ROW("0.0.0.0/0", "https://[2001:db8::1]", false),
    ROW("0.0.0.0/0", "https://example.com", false),
    ROW("10.0.0.0/33", "https://10.0.0.1", false),
    ROW("10.0.0.0/-1", "https://10.0.0.1", false),
    ROW("10.0.0.0/x", "https://10.0.0.1", false),
    ROW("2001:db8::1", "https://[2001:db8::1]:6443", true),
    ROW("2001:DB8:0::1", "https://[2001:db8::1]", true),
    ROW("[2001:db8::1]:6443", "https://[2001:db8::1]:6443", true),
    ROW("[2001:db8::1]:1", "https://[2001:db8::1]:6443", false),
    ROW("2001:db8::/32", "https://[2001:db8:1::1]", true),
    ROW("2001:db8::/32", "https://[2001:db9::1]", false),
    ROW("::/0", "https://10.0.0.1", false),
    ROW("", "https://localhost:6443", true),
    ROW("", "https://127.9.9.9:6443", true),
    ROW("", "https://[::1]:6443", true),
    ROW("", "https://localhost.example", false),
    ROW(".", "https://example.com", false),
    ROW("*.", "https://example.com", false),
    ROW("[", "https://example.com", false),
    ROW("/", "https://10.0.0.1", false),
};

static void proxy_env__row(void **state)
{
    const struct row *row = *state;
    assert_int_equal(proxy_is_bypassed(row->no_proxy, row->server), row->want);
}

static void proxy_env__what_a_variable_may_hold(void **state)
{
    (void)state;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    static const struct {
        struct str value;
        const char *want; /* NULL: refused */
    } values[] = {
        { STR_INIT(""), "" },
        { STR_INIT("proxy:3128"), "http://proxy:3128" },
        { STR_INIT(" http://proxy:3128 "), "http://proxy:3128" },
        { STR_INIT("https://u:p@proxy"), "https://u:p@proxy" },
        { STR_INIT("socks5://proxy:1080"), "socks5://proxy:1080" },
        { STR_INIT("ftp://u:canary@proxy"), NULL },
        { STR_INIT("http://"), NULL },
    };
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        struct str got = STR_NULL;
        struct err err = ERR_INIT;
        assert_int_equal(proxy_from_variable(&arena, values[i].value, &got, &err), values[i].want != NULL);
        assert_null(strstr(err.text, "canary"));
        if (values[i].want)
            assert_true(str_eq(got, str_c(values[i].want)));
    }
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(rows) + 1];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        tests[i] = (struct CMUnitTest){ rows[i].name, proxy_env__row, NULL, NULL, (void *)&rows[i] };
    tests[ARRAY_LEN(rows)] = (struct CMUnitTest)cmocka_unit_test(proxy_env__what_a_variable_may_hold);
    return cmocka_run_group_tests_name("kube/proxy_env", tests, NULL, NULL);
}
