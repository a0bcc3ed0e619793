#include "http/head.h"

#define MAX_FIELDS 128

enum {
    OK = 0,
    BAD_REQUEST = 400,
    EXPECTATION_FAILED = 417,
    FIELDS_TOO_LARGE = 431,
    NOT_IMPLEMENTED = 501,
    VERSION_NOT_SUPPORTED = 505
};

static bool is_token(struct str text)
{
    static const char special[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool alnum = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!alnum && !memchr(special, c, sizeof special - 1))
            return false;
    }
    return text.len > 0;
}

static bool is_visible(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < 0x21 || text.ptr[i] > 0x7e)
            return false;
    }
    return text.len > 0;
}

static bool is_field_value(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

/* Takes one line off `rest`. A line ends with CRLF and nothing else does. */
static bool next_line(struct str *rest, struct str *ret)
{
    ptrdiff_t end = str_find_byte(*rest, '\n');
    if (end < 1 || rest->ptr[end - 1] != '\r')
        return false;
    *ret = str_slice(*rest, 0, (size_t)end - 1);
    *rest = str_slice(*rest, (size_t)end + 1, rest->len);
    return true;
}

/* "http://host/path", what a client of a proxy sends, means "/path". */
static struct str without_authority(struct str target)
{
    static const struct str schemes[] = { STR_INIT("http://"), STR_INIT("https://") };
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        size_t len = schemes[i].len;
        if (!str_eq_nocase(str_slice(target, 0, len), schemes[i]))
            continue;
        struct str rest = str_slice(target, len, target.len);
        ptrdiff_t slash = str_find_byte(rest, '/');
        return slash < 0 ? STR("/") : str_slice(rest, (size_t)slash, rest.len);
    }
    return target;
}

static int parse_version(struct str text, struct http_head *ret)
{
    if (text.len != 8 || !str_starts_with(text, STR("HTTP/")) || text.ptr[6] != '.')
        return BAD_REQUEST;
    if (text.ptr[5] != '1' || (text.ptr[7] != '0' && text.ptr[7] != '1'))
        return VERSION_NOT_SUPPORTED;
    ret->minor = text.ptr[7] - '0';
    return OK;
}

static int parse_request_line(struct str line, struct http_head *ret)
{
    struct str rest, target, version;
    if (!str_cut(line, ' ', &ret->method, &rest) || !str_cut(rest, ' ', &target, &version))
        return BAD_REQUEST;
    if (!is_token(ret->method) || !is_visible(target))
        return BAD_REQUEST;
    target = without_authority(target);
    if (target.ptr[0] != '/' && !str_eq(target, STR("*")))
        return BAD_REQUEST;
    str_cut(target, '?', &ret->path, &ret->query);
    return parse_version(version, ret);
}

static int parse_field(struct str line, struct http_head_field *ret)
{
    struct str value;
    if (!str_cut(line, ':', &ret->name, &value))
        return BAD_REQUEST;
    ret->value = str_trim(value);
    /* A blank before the colon or at the start of a line (folding) fails as a token. */
    return is_token(ret->name) && is_field_value(value) ? OK : BAD_REQUEST;
}

static int parse_fields(struct arena *arena, struct str rest, struct http_head *ret)
{
    ret->fields = arena_array(arena, struct http_head_field, MAX_FIELDS);
    for (;;) {
        struct str line;
        if (!next_line(&rest, &line))
            return BAD_REQUEST;
        if (str_empty(line))
            return str_empty(rest) ? OK : BAD_REQUEST;
        if (ret->field_count == MAX_FIELDS)
            return FIELDS_TOO_LARGE;
        int status = parse_field(line, &ret->fields[ret->field_count]);
        if (status != OK)
            return status;
        ret->field_count++;
    }
}

static size_t count_fields(const struct http_head *head, struct str name)
{
    size_t count = 0;
    for (size_t i = 0; i < head->field_count; i++)
        count += str_eq_nocase(head->fields[i].name, name);
    return count;
}

/* Whether a comma-separated field names the option. */
static bool field_has(const struct http_head *head, struct str name, struct str option)
{
    for (size_t i = 0; i < head->field_count; i++) {
        struct str rest = head->fields[i].value, item;
        if (!str_eq_nocase(head->fields[i].name, name))
            continue;
        while (!str_empty(rest)) {
            str_cut(rest, ',', &item, &rest);
            if (str_eq_nocase(str_trim(item), option))
                return true;
        }
    }
    return false;
}

static bool all_digits(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
    }
    return text.len > 0;
}

/* Where the body ends. Two answers to that question are request smuggling. */
static int parse_framing(struct http_head *ret)
{
    size_t lengths = count_fields(ret, STR("Content-Length"));
    size_t codings = count_fields(ret, STR("Transfer-Encoding"));
    if (lengths + codings > 1)
        return BAD_REQUEST;
    if (lengths == 1) {
        struct str text = http_head_field(ret, STR("Content-Length"));
        return all_digits(text) && str_to_i64(text, &ret->content_length) ? OK : BAD_REQUEST;
    }
    if (codings == 0)
        return OK;
    if (ret->minor == 0)
        return BAD_REQUEST;
    ret->chunked = str_eq_nocase(http_head_field(ret, STR("Transfer-Encoding")), STR("chunked"));
    return ret->chunked ? OK : NOT_IMPLEMENTED;
}

static int parse_options(struct http_head *ret)
{
    size_t hosts = count_fields(ret, STR("Host"));
    if (hosts > 1 || (hosts == 0 && ret->minor > 0))
        return BAD_REQUEST;
    bool close = field_has(ret, STR("Connection"), STR("close"));
    ret->keep_alive = !close && (ret->minor > 0 || field_has(ret, STR("Connection"), STR("keep-alive")));
    struct str expect = http_head_field(ret, STR("Expect"));
    if (str_empty(expect) || ret->minor == 0)
        return OK;
    ret->expects_continue = str_eq_nocase(expect, STR("100-continue"));
    return ret->expects_continue ? OK : EXPECTATION_FAILED;
}

int http_head_parse(struct arena *arena, struct str text, struct http_head *ret)
{
    *ret = (struct http_head){ 0 };
    struct str line;
    if (!next_line(&text, &line))
        return BAD_REQUEST;
    int status = parse_request_line(line, ret);
    if (status == OK)
        status = parse_fields(arena, text, ret);
    if (status == OK)
        status = parse_framing(ret);
    return status == OK ? parse_options(ret) : status;
}

struct str http_head_field(const struct http_head *head, struct str name)
{
    for (size_t i = 0; i < head->field_count; i++) {
        if (str_eq_nocase(head->fields[i].name, name))
            return head->fields[i].value;
    }
    return STR_NULL;
}

int64_t http_chunk_size(struct str line)
{
    struct str digits, extension;
    str_cut(line, ';', &digits, &extension);
    while (digits.len && (digits.ptr[digits.len - 1] == ' ' || digits.ptr[digits.len - 1] == '\t'))
        digits.len--;
    if (digits.len == 0 || digits.len > 15) /* 15 hex digits stay below 2^60 */
        return -1;
    int64_t size = 0;
    for (size_t i = 0; i < digits.len; i++) {
        static const char hex[] = "0123456789abcdef";
        char c = digits.ptr[i];
        const char *digit = memchr(hex, c >= 'A' && c <= 'F' ? c + ('a' - 'A') : c, sizeof hex - 1);
        if (!digit)
            return -1;
        size = size * 16 + (digit - hex);
    }
    return size;
}
