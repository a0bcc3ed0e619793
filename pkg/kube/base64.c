#include "kube/base64.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int digit_value(char c)
{
    const char *place = c ? strchr(alphabet, c) : NULL;
    return place ? (int)(place - alphabet) : -1;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool base64_decode(struct arena *arena, struct str text, struct str *ret, struct err *err)
{
    char *bytes = arena_alloc(arena, text.len / 4 * 3 + 4);
    size_t len = 0, digits = 0, padding = 0;
    uint32_t group = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (is_blank(c))
            continue;
        int value = digit_value(c);
        bool is_padding = c == '=' && digits % 4 >= 2;
        if ((value < 0 && !is_padding) || (value >= 0 && padding > 0))
            return err_set(err, ERR_INVALID, "not base64 at byte %zu", i);
        padding += is_padding;
        group = group << 6 | (uint32_t)(is_padding ? 0 : value);
        if (++digits % 4 != 0)
            continue;
        for (int shift = 16; shift >= 0; shift -= 8)
            bytes[len++] = (char)(group >> shift & 0xFF);
        group = 0;
    }
    if (digits % 4 != 0)
        return err_set(err, ERR_INVALID, "base64 is cut short");
    *ret = (struct str){ .ptr = bytes, .len = len - padding };
    return true;
}

void base64_encode(struct strbuf *out, struct str bytes)
{
    for (size_t i = 0; i < bytes.len; i += 3) {
        uint32_t group = 0;
        size_t have = bytes.len - i < 3 ? bytes.len - i : 3;
        for (size_t j = 0; j < 3; j++)
            group = group << 8 | (j < have ? (unsigned char)bytes.ptr[i + j] : 0);
        for (size_t j = 0; j < 4; j++)
            strbuf_addc(out, j <= have ? alphabet[group >> (18 - 6 * j) & 0x3F] : '=');
    }
}
