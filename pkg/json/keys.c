#include "json/keys.h"
#include <stdlib.h>

/* Below this, comparing each with each is faster than sorting. */
#define FEW 16

static const struct str *key_at(const void *entries, size_t i, size_t entry_size)
{
    return (const struct str *)(const void *)((const char *)entries + i * entry_size);
}

/* Addresses break ties, so equal keys keep their order. */
static int compare(const void *a, const void *b)
{
    const struct str *left = *(const struct str *const *)a;
    const struct str *right = *(const struct str *const *)b;
    int order = str_cmp(*left, *right);
    if (order != 0)
        return order;
    return left < right ? -1 : left > right;
}

const struct str **json_keys_sorted(const void *entries, size_t count, size_t entry_size)
{
    const struct str **sorted = mem_alloc(count * sizeof *sorted + 1);
    for (size_t i = 0; i < count; i++)
        sorted[i] = key_at(entries, i, entry_size);
    qsort(sorted, count, sizeof *sorted, compare);
    return sorted;
}

static bool comes_again(const void *entries, size_t i, size_t count, size_t entry_size)
{
    struct str key = *key_at(entries, i, entry_size);
    for (size_t j = i + 1; j < count; j++) {
        if (str_eq(key, *key_at(entries, j, entry_size)))
            return true;
    }
    return false;
}

/* Marks with true what json_keys_keep_last removes; NULL when there is nothing. */
static bool *find_doomed(const void *entries, size_t count, size_t entry_size)
{
    const struct str **sorted = json_keys_sorted(entries, count, entry_size);
    bool *doomed = NULL;
    for (size_t i = 0; i + 1 < count; i++) {
        if (!str_eq(*sorted[i], *sorted[i + 1]))
            continue;
        if (!doomed)
            doomed = mem_zalloc(count * sizeof *doomed);
        size_t at = (size_t)((const char *)sorted[i] - (const char *)entries) / entry_size;
        doomed[at] = true;
    }
    free(sorted);
    return doomed;
}

size_t json_keys_keep_last(void *entries, size_t count, size_t entry_size)
{
    bool *doomed = count > FEW ? find_doomed(entries, count, entry_size) : NULL;
    if (count > FEW && !doomed)
        return count;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (doomed ? doomed[i] : comes_again(entries, i, count, entry_size))
            continue;
        if (kept != i)
            memcpy((char *)entries + kept * entry_size, (char *)entries + i * entry_size, entry_size);
        kept++;
    }
    free(doomed);
    return kept;
}
