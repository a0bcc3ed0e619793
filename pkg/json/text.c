#include "json/text.h"

bool json_text_is_ascii(struct str text)
{
    uint64_t seen = 0, word;
    size_t i = 0;
    for (; i + sizeof word <= text.len; i += sizeof word) {
        memcpy(&word, text.ptr + i, sizeof word);
        seen |= word;
    }
    for (; i < text.len; i++)
        seen |= (unsigned char)text.ptr[i];
    return (seen & UINT64_C(0x8080808080808080)) == 0;
}

struct str json_text_replace_surrogates(struct str text, struct strbuf *buf)
{
    strbuf_clear(buf);
    for (size_t i = 0; i < text.len;) {
        bool surrogate =
            i + 3 <= text.len && (unsigned char)text.ptr[i] == 0xED && (unsigned char)text.ptr[i + 1] >= 0xA0;
        strbuf_add(buf, surrogate ? STR("\xEF\xBF\xBD") : str_slice(text, i, 1));
        i += surrogate ? 3 : 1;
    }
    return strbuf_str(buf);
}

size_t json_text_string_end(struct str text, bool *escaped, bool *closed)
{
    size_t i = 0;
    for (*closed = false; i < text.len && !*closed; i++) {
        char c = text.ptr[i];
        *closed = c == '"' && !*escaped;
        *escaped = c == '\\' && !*escaped;
    }
    return i;
}
