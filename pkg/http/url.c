#include "http/url.h"

static bool is_unreserved(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == '~';
}

void url_encode(struct strbuf *out, struct str text)
{
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        if (is_unreserved(text.ptr[i])) {
            strbuf_addc(out, text.ptr[i]);
        } else {
            const char escape[3] = { '%', hex[byte >> 4], hex[byte & 15] };
            strbuf_add(out, (struct str){ .ptr = escape, .len = sizeof escape });
        }
    }
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

static bool decode(struct arena *arena, struct str text, bool plus_is_blank, struct str *ret, struct err *err)
{
    char *decoded = arena_array(arena, char, text.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '%') {
            int high = i + 2 < text.len ? hex_value(text.ptr[i + 1]) : -1;
            int low = i + 2 < text.len ? hex_value(text.ptr[i + 2]) : -1;
            if (high < 0 || low < 0)
                return err_set(err, ERR_INVALID, "bad escape \"" STR_FMT "\" in URL",
                               STR_ARG(str_slice(text, i, 3)));
            c = (char)(high * 16 + low);
            i += 2;
        } else if (c == '+' && plus_is_blank) {
            c = ' ';
        }
        decoded[len++] = c;
    }
    *ret = (struct str){ .ptr = decoded, .len = len };
    return true;
}

bool url_decode(struct arena *arena, struct str text, struct str *ret, struct err *err)
{
    return decode(arena, text, false, ret, err);
}

static size_t count_params(struct str query)
{
    size_t count = 1;
    for (size_t i = 0; i < query.len; i++)
        count += query.ptr[i] == '&';
    return count;
}

bool url_query_parse(struct arena *arena, struct str query, struct url_param **ret, size_t *ret_count,
                     struct err *err)
{
    struct url_param *params = arena_array(arena, struct url_param, count_params(query));
    size_t count = 0;
    while (query.len > 0) {
        struct str pair, name, value;
        (void)str_cut(query, '&', &pair, &query);
        if (pair.len == 0)
            continue;
        (void)str_cut(pair, '=', &name, &value);
        struct url_param *param = &params[count++];
        if (!decode(arena, name, true, &param->name, err) || !decode(arena, value, true, &param->value, err))
            return false;
    }
    *ret = params;
    *ret_count = count;
    return true;
}

struct str url_param(const struct url_param *params, size_t count, struct str name, bool *found)
{
    for (size_t i = 0; i < count; i++) {
        if (str_eq(params[i].name, name)) {
            if (found)
                *found = true;
            return params[i].value;
        }
    }
    if (found)
        *found = false;
    return STR_NULL;
}
