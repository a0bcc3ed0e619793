#include "kube/proxy_env.h"

#include <arpa/inet.h>

/* --- servers and entries ---------------------------------------------------------- */

/* An IPv4 address is kept as IPv6 has it (::ffff:a.b.c.d), so that there is one kind. */
struct address {
    unsigned char bytes[16];
    bool is_v4;
};

struct place {
    struct str host; /* without brackets and final dot */
    struct str port; /* empty: any */
    bool is_address;
    struct address address;
};

static bool parse_address(struct str text, struct address *ret)
{
    char terminated[INET6_ADDRSTRLEN];
    if (text.len == 0 || text.len >= sizeof terminated || str_find_byte(text, '\0') >= 0)
        return false;
    memcpy(terminated, text.ptr, text.len);
    terminated[text.len] = '\0';
    *ret = (struct address){ .bytes = { [10] = 0xff, [11] = 0xff }, .is_v4 = true };
    if (inet_pton(AF_INET, terminated, ret->bytes + 12) == 1)
        return true;
    *ret = (struct address){ 0 };
    return inet_pton(AF_INET6, terminated, ret->bytes) == 1;
}

/* "host:port", "[v6]:port", "v6", "host" */
static struct place parse_place(struct str text)
{
    struct place place = { 0 };
    ptrdiff_t close = str_find_byte(text, ']');
    if (str_starts_with(text, STR("[")) && close > 0) {
        place.host = str_slice(text, 1, (size_t)close - 1);
        struct str rest = str_slice(text, (size_t)close + 1, text.len);
        place.port = str_starts_with(rest, STR(":")) ? str_slice(rest, 1, rest.len) : STR_NULL;
    } else if (parse_address(text, &place.address)) {
        place.host = text; /* its colons are its own */
    } else {
        str_cut(text, ':', &place.host, &place.port);
    }
    if (str_ends_with(place.host, STR(".")))
        place.host.len--;
    place.is_address = parse_address(place.host, &place.address);
    return place;
}

static struct place server_place(struct str server)
{
    bool https = str_starts_with(server, STR("https://"));
    struct str authority, path;
    str_cut(str_slice(server, https ? 8 : 7, server.len), '/', &authority, &path);
    struct place place = parse_place(authority);
    if (str_empty(place.port))
        place.port = https ? STR("443") : STR("80");
    return place;
}

/* --- matching --------------------------------------------------------------------- */

static bool is_loopback(const struct place *server)
{
    static const unsigned char v6_loopback[16] = { [15] = 1 };
    if (!server->is_address)
        return str_eq_nocase(server->host, STR("localhost"));
    return server->address.is_v4 ? server->address.bytes[12] == 127
                                 : memcmp(server->address.bytes, v6_loopback, sizeof v6_loopback) == 0;
}

static bool in_network(const struct place *server, struct str network, struct str length)
{
    struct address base;
    int64_t bits;
    if (!server->is_address || !parse_address(network, &base) || !str_to_i64(length, &bits) ||
        base.is_v4 != server->address.is_v4 || bits < 0 || bits > (base.is_v4 ? 32 : 128))
        return false;
    if (base.is_v4)
        bits += 96;
    size_t whole = (size_t)bits / 8;
    unsigned rest = (unsigned)bits % 8;
    if (memcmp(base.bytes, server->address.bytes, whole) != 0)
        return false;
    return rest == 0 || (base.bytes[whole] ^ server->address.bytes[whole]) >> (8 - rest) == 0;
}

static bool is_below(struct str host, struct str domain)
{
    if (host.len <= domain.len)
        return false;
    size_t at = host.len - domain.len;
    return host.ptr[at - 1] == '.' && str_eq_nocase(str_slice(host, at, domain.len), domain);
}

static bool matches(const struct place *server, struct str entry)
{
    struct str network, length;
    if (str_eq(entry, STR("*")))
        return true;
    if (str_cut(entry, '/', &network, &length))
        return in_network(server, network, length);
    struct place wanted = parse_place(entry);
    if (!str_empty(wanted.port) && !str_eq(wanted.port, server->port))
        return false;
    if (wanted.is_address || server->is_address)
        return wanted.is_address && server->is_address &&
               memcmp(&wanted.address.bytes, &server->address.bytes, sizeof wanted.address.bytes) == 0;
    struct str domain = wanted.host;
    if (str_starts_with(domain, STR("*.")))
        domain = str_slice(domain, 1, domain.len);
    bool only_below = str_starts_with(domain, STR("."));
    domain = str_slice(domain, only_below ? 1 : 0, domain.len);
    return !str_empty(domain) &&
           (is_below(server->host, domain) || (!only_below && str_eq_nocase(server->host, domain)));
}

bool proxy_is_bypassed(struct str no_proxy, struct str server)
{
    struct place place = server_place(server);
    struct str entry, rest = no_proxy;
    if (is_loopback(&place))
        return true;
    while (!str_empty(rest)) {
        str_cut(rest, ',', &entry, &rest);
        entry = str_trim(entry);
        if (!str_empty(entry) && matches(&place, entry))
            return true;
    }
    return false;
}

/* --- the proxy -------------------------------------------------------------------- */

bool proxy_is_usable(struct str url)
{
    static const struct str schemes[] = { STR_INIT("http://"), STR_INIT("https://"), STR_INIT("socks5://") };
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        if (str_starts_with(url, schemes[i]) && url.len > schemes[i].len)
            return true;
    }
    return false;
}

static bool has_scheme(struct str value)
{
    ptrdiff_t colon = str_find_byte(value, ':');
    return colon > 0 && str_starts_with(str_slice(value, (size_t)colon, 3), STR("://"));
}

bool proxy_from_variable(struct arena *arena, struct str value, struct str *ret, struct err *err)
{
    struct str url = str_trim(value);
    if (!str_empty(url) && !has_scheme(url))
        url = arena_strf(arena, "http://" STR_FMT, STR_ARG(url));
    if (!str_empty(url) && !proxy_is_usable(url))
        return err_set(err, ERR_INVALID, "neither http, https nor socks5");
    *ret = arena_str(arena, url);
    return true;
}
