#pragma once
/* Arrays of entries that begin with a key: members of an object, pairs of a map.
 * Internal to this folder and to yaml. */
#include "base/str.h"

/* Removes every entry whose key comes again later, keeping the order of the rest, in
 * n log n however hostile the keys. Returns how many are left. */
size_t json_keys_keep_last(void *entries, size_t count, size_t entry_size);

/* The entries' addresses sorted by key, entries with equal keys in their order. The
 * caller frees the array. */
const struct str **json_keys_sorted(const void *entries, size_t count, size_t entry_size);
