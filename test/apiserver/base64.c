#include "test/apiserver/base64.h"

/* The last one pads. */
static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";

struct counts {
    size_t letters;
    size_t padding;
    bool broken;
};

static struct counts count(struct str text)
{
    struct counts counts = { 0 };
    for (size_t i = 0; i < text.len; i++) {
        char byte = text.ptr[i];
        if (byte == '\n' || byte == '\r')
            continue;
        if (byte == '=')
            counts.padding++;
        else if (byte == '\0' || !strchr(alphabet, byte) || counts.padding > 0)
            counts.broken = true;
        else
            counts.letters++;
    }
    return counts;
}

bool api_base64_valid(struct str text)
{
    struct counts counts = count(text);
    return !counts.broken && counts.padding <= 2 && (counts.letters + counts.padding) % 4 == 0;
}

size_t api_base64_size(struct str text)
{
    return count(text).letters * 3 / 4;
}

struct str api_base64_encode(struct arena *arena, struct str bytes)
{
    char *out = arena_array(arena, char, (bytes.len + 2) / 3 * 4 + 1);
    size_t len = 0;
    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t left = bytes.len - i;
        uint32_t group = (uint32_t)(unsigned char)bytes.ptr[i] << 16;
        if (left > 1)
            group |= (uint32_t)(unsigned char)bytes.ptr[i + 1] << 8;
        if (left > 2)
            group |= (unsigned char)bytes.ptr[i + 2];
        out[len++] = alphabet[group >> 18 & 63];
        out[len++] = alphabet[group >> 12 & 63];
        out[len++] = alphabet[left > 1 ? group >> 6 & 63 : 64];
        out[len++] = alphabet[left > 2 ? group & 63 : 64];
    }
    return (struct str){ .ptr = out, .len = len };
}
