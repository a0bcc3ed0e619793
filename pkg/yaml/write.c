#include "yaml/scalar.h"
#include "yaml/yaml.h"

#define LONG_KEY 128 /* readers need the colon within 1024 characters of a key's start */

/* --- strings --- */

/* Texts that YAML 1.1 readers, which Kubernetes' are, take for bools. */
static const struct str words_of_old[] = {
    STR_INIT("y"), STR_INIT("n"), STR_INIT("yes"), STR_INIT("no"), STR_INIT("on"), STR_INIT("off"),
};

static bool is_word_of_old(struct str text)
{
    for (size_t i = 0; i < ARRAY_LEN(words_of_old); i++) {
        if (str_eq_nocase(text, words_of_old[i]))
            return true;
    }
    return false;
}

/* Dates, times, 1_000 and 0b1 are typed by some readers. */
static bool is_numberlike(struct str text)
{
    if (!strchr("0123456789.", text.ptr[0]))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\0' || !strchr("0123456789abcdefABCDEFxXoO_.:+-tTzZ ", text.ptr[i]))
            return false;
    }
    return true;
}

static bool is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* May stand without quotes: a narrow rule that needs no knowledge of where it stands. */
static bool is_plain(struct str text)
{
    if (kyaml_classify(text) != KYAML_STRING || is_word_of_old(text) || is_numberlike(text))
        return false;
    char first = text.ptr[0], last = text.ptr[text.len - 1];
    if ((!is_letter_or_digit(first) && !strchr("/_.$(", first)) || last == ' ' || last == ':')
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c < ' ' || c > '~' || (c == ':' && text.ptr[i + 1] == ' ') ||
            (c == ' ' && text.ptr[i + 1] == '#'))
            return false;
    }
    return true;
}

static uint32_t decode_utf8(struct str text, size_t len)
{
    static const unsigned char lead_bits[] = { 0, 0x7F, 0x1F, 0x0F, 0x07 };
    uint32_t code = (unsigned char)text.ptr[0] & lead_bits[len];
    for (size_t i = 1; i < len; i++)
        code = code << 6 | ((unsigned char)text.ptr[i] & 0x3F);
    return code;
}

/* Shown as it is; the rest are line breaks of some kind or refused by readers. */
static bool is_printable(uint32_t code)
{
    return (code >= 0x20 && code < 0x7F) || (code >= 0xA0 && code != 0x2028 && code != 0x2029 &&
                                             code != 0xFEFF && code != 0xFFFE && code != 0xFFFF);
}

static void write_char(struct strbuf *out, uint32_t code, struct str bytes)
{
    static const struct {
        uint32_t code;
        struct str escape;
    } escapes[] = {
        { '"', STR_INIT("\\\"") }, { '\\', STR_INIT("\\\\") }, { '\n', STR_INIT("\\n") },
        { '\t', STR_INIT("\\t") }, { '\r', STR_INIT("\\r") },
    };
    for (size_t i = 0; i < ARRAY_LEN(escapes); i++) {
        if (code == escapes[i].code) {
            strbuf_add(out, escapes[i].escape);
            return;
        }
    }
    if (is_printable(code))
        strbuf_add(out, bytes);
    else
        strbuf_addf(out, "\\u%04X", code);
}

static void write_quoted(struct strbuf *out, struct str text)
{
    strbuf_addc(out, '"');
    while (text.len > 0) {
        size_t len = str_utf8_len(text);
        struct str bytes = len ? str_slice(text, 0, len) : STR("\xEF\xBF\xBD");
        write_char(out, decode_utf8(bytes, bytes.len), bytes);
        text = str_slice(text, len ? len : 1, text.len);
    }
    strbuf_addc(out, '"');
}

/* --- blocks of lines --- */

/* Several lines that read back exactly from a "|" block: nothing that needs an escape,
 * no blanks where lines begin the block or end it, at most one newline at the end. */
static bool is_block(struct str text)
{
    ptrdiff_t newline = str_find_byte(text, '\n');
    if (newline <= 0 || text.ptr[0] == ' ' || text.ptr[0] == '\t' || str_ends_with(text, STR("\n\n")))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool line_ends = i + 1 == text.len || text.ptr[i + 1] == '\n';
        if ((c < ' ' && c != '\n' && c != '\t') || c > '~' || ((c == ' ' || c == '\t') && line_ends))
            return false;
    }
    return true;
}

static void write_break(struct strbuf *out, size_t indent)
{
    strbuf_addf(out, "\n%*s", (int)indent, "");
}

static void write_block(struct strbuf *out, struct str text, size_t indent)
{
    bool newline_at_end = text.ptr[text.len - 1] == '\n';
    strbuf_add(out, newline_at_end ? STR("|") : STR("|-"));
    struct str line, rest = newline_at_end ? str_slice(text, 0, text.len - 1) : text;
    for (bool more = true; more;) {
        more = str_cut(rest, '\n', &line, &rest);
        write_break(out, line.len > 0 ? indent : 0);
        strbuf_add(out, line);
    }
}

static void write_string(struct strbuf *out, struct str text, size_t indent)
{
    if (is_plain(text))
        strbuf_add(out, text);
    else if (is_block(text))
        write_block(out, text, indent);
    else
        write_quoted(out, text);
}

/* --- values: the cursor stands where they begin, and is left behind their last line --- */

/* `indent` is the column of the members or dashes; lines of a block go there as well. */
static void write_value(struct strbuf *out, const struct json *value, size_t indent);

static bool is_filled(const struct json *value, enum json_type type)
{
    return value->type == type && json_count(value) > 0;
}

static void write_key(struct strbuf *out, struct str key)
{
    if (is_plain(key))
        strbuf_add(out, key);
    else
        write_quoted(out, key);
}

static void write_member(struct strbuf *out, const struct json_member *member, size_t indent)
{
    if (member->key.len > LONG_KEY) {
        strbuf_add(out, STR("? "));
        write_key(out, member->key);
        write_break(out, indent);
        strbuf_add(out, STR(": "));
        write_value(out, member->value, indent + 2);
        return;
    }
    write_key(out, member->key);
    strbuf_addc(out, ':');
    if (is_filled(member->value, JSON_ARRAY)) {
        write_break(out, indent); /* dashes may stand below their key */
        write_value(out, member->value, indent);
    } else if (is_filled(member->value, JSON_OBJECT)) {
        write_break(out, indent + 2);
        write_value(out, member->value, indent + 2);
    } else {
        strbuf_addc(out, ' ');
        write_value(out, member->value, indent + 2);
    }
}

static void write_object(struct strbuf *out, const struct json *object, size_t indent)
{
    if (object->object.count == 0)
        strbuf_add(out, STR("{}"));
    for (size_t i = 0; i < object->object.count && !out->overflow; i++) {
        if (i > 0)
            write_break(out, indent);
        write_member(out, &object->object.members[i], indent);
    }
}

static void write_array(struct strbuf *out, const struct json *array, size_t indent)
{
    if (array->array.count == 0)
        strbuf_add(out, STR("[]"));
    for (size_t i = 0; i < array->array.count && !out->overflow; i++) {
        if (i > 0)
            write_break(out, indent);
        strbuf_add(out, STR("- "));
        write_value(out, array->array.items[i], indent + 2);
    }
}

static void write_value(struct strbuf *out, const struct json *value, size_t indent)
{
    switch (value->type) {
    case JSON_STRING:
        write_string(out, value->text, indent);
        break;
    case JSON_ARRAY:
        write_array(out, value, indent);
        break;
    case JSON_OBJECT:
        write_object(out, value, indent);
        break;
    default:
        json_write(out, value);
        break;
    }
}

void kyaml_write(struct strbuf *out, const struct json *value)
{
    write_value(out, value, value->type == JSON_STRING ? 2 : 0);
    strbuf_addc(out, '\n');
}
