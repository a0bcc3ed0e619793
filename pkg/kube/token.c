#include "kube/token.h"

bool token_is_valid(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] <= 0x20 || text.ptr[i] >= 0x7f)
            return false;
    }
    return text.len > 0;
}
