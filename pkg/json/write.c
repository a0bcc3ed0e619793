#include "json/json.h"

#define REPLACEMENT STR("\xEF\xBF\xBD") /* U+FFFD */

static bool is_plain(char c)
{
    return (unsigned char)c >= 0x20 && (unsigned char)c < 0x80 && c != '"' && c != '\\';
}

/* Writes what `text` begins with, which is not plain, and answers its length. */
static size_t write_special(struct strbuf *out, struct str text)
{
    static const char shorts[] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r', ['"'] = '"', ['\\'] = '\\'
    };
    unsigned char c = (unsigned char)text.ptr[0];
    if (c >= 0x80) {
        size_t len = str_utf8_len(text);
        strbuf_add(out, len ? str_slice(text, 0, len) : REPLACEMENT);
        return len ? len : 1;
    }
    if (shorts[c]) {
        strbuf_addc(out, '\\');
        strbuf_addc(out, shorts[c]);
    } else {
        strbuf_addf(out, "\\u%04x", c);
    }
    return 1;
}

void json_write_str(struct strbuf *out, struct str text)
{
    strbuf_addc(out, '"');
    for (size_t i = 0; i < text.len;) {
        size_t run = i;
        while (run < text.len && is_plain(text.ptr[run]))
            run++;
        if (run > i)
            strbuf_add(out, str_slice(text, i, run - i));
        i = run;
        if (i < text.len)
            i += write_special(out, str_slice(text, i, text.len - i));
    }
    strbuf_addc(out, '"');
}

/* `indent` is the column of the value's closing bracket; negative writes compactly. */
static void write_value(struct strbuf *out, const struct json *value, int indent);

static int deeper(int indent)
{
    return indent < 0 ? indent : indent + 2;
}

static void write_break(struct strbuf *out, int indent)
{
    if (indent >= 0)
        strbuf_addf(out, "\n%*s", indent, "");
}

static void write_array(struct strbuf *out, const struct json *value, int indent)
{
    strbuf_addc(out, '[');
    for (size_t i = 0; i < value->array.count && !out->overflow; i++) {
        if (i > 0)
            strbuf_addc(out, ',');
        write_break(out, deeper(indent));
        write_value(out, value->array.items[i], deeper(indent));
    }
    if (value->array.count > 0)
        write_break(out, indent);
    strbuf_addc(out, ']');
}

static void write_object(struct strbuf *out, const struct json *value, int indent)
{
    strbuf_addc(out, '{');
    for (size_t i = 0; i < value->object.count && !out->overflow; i++) {
        if (i > 0)
            strbuf_addc(out, ',');
        write_break(out, deeper(indent));
        json_write_str(out, value->object.members[i].key);
        strbuf_add(out, indent < 0 ? STR(":") : STR(": "));
        write_value(out, value->object.members[i].value, deeper(indent));
    }
    if (value->object.count > 0)
        write_break(out, indent);
    strbuf_addc(out, '}');
}

static void write_value(struct strbuf *out, const struct json *value, int indent)
{
    switch (value->type) {
    case JSON_NULL:
        strbuf_add(out, STR("null"));
        break;
    case JSON_BOOL:
        strbuf_add(out, value->boolean ? STR("true") : STR("false"));
        break;
    case JSON_NUMBER:
        strbuf_add(out, value->text);
        break;
    case JSON_STRING:
        json_write_str(out, value->text);
        break;
    case JSON_ARRAY:
        write_array(out, value, indent);
        break;
    case JSON_OBJECT:
        write_object(out, value, indent);
        break;
    }
}

void json_write(struct strbuf *out, const struct json *value)
{
    write_value(out, value, -1);
}

void json_write_pretty(struct strbuf *out, const struct json *value)
{
    write_value(out, value, 0);
}
