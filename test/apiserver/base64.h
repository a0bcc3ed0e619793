#pragma once
/* Base64 with padding, as JSON carries bytes. */
#include "base/arena.h"

/* Allowing line breaks, as Go's decoder does. */
bool api_base64_valid(struct str text);
struct str api_base64_encode(struct arena *arena, struct str bytes);
/* How many bytes a valid text stands for. */
size_t api_base64_size(struct str text);
