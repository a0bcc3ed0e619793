#include "selector/selector.h"

enum { NAME_MAX_BYTES = 63, PREFIX_MAX_BYTES = 253 };

static bool is_lower_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c)
{
    return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

/* Letters and digits at both ends, "-", "_" and "." between. */
static bool name_valid(struct str name)
{
    if (name.len == 0 || name.len > NAME_MAX_BYTES)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool inner = i > 0 && i + 1 < name.len && (c == '-' || c == '_' || c == '.');
        if (!inner && !is_alnum(c))
            return false;
    }
    return true;
}

static bool dns_label_valid(struct str label)
{
    if (label.len == 0)
        return false;
    for (size_t i = 0; i < label.len; i++) {
        bool inner = i > 0 && i + 1 < label.len && label.ptr[i] == '-';
        if (!inner && !is_lower_alnum(label.ptr[i]))
            return false;
    }
    return true;
}

/* Upstream limits the whole name only, not each part to 63 bytes. */
static bool prefix_valid(struct str prefix)
{
    if (prefix.len > PREFIX_MAX_BYTES)
        return false;
    bool more = true;
    while (more) {
        struct str part;
        more = str_cut(prefix, '.', &part, &prefix);
        if (!dns_label_valid(part))
            return false;
    }
    return true;
}

bool label_key_valid(struct str key)
{
    struct str prefix, name;
    if (!str_cut(key, '/', &prefix, &name))
        return name_valid(key);
    return prefix_valid(prefix) && name_valid(name);
}

bool label_value_valid(struct str value)
{
    return value.len == 0 || name_valid(value);
}

const struct label *labels_find(struct labels labels, struct str key)
{
    size_t low = 0, high = labels.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = str_cmp(labels.items[middle].key, key);
        if (order == 0)
            return &labels.items[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
