/* Accept headers: any bytes get one of the two answers, and blanks around do not matter. */
#include "metrics/metrics.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str accept = { .ptr = (const char *)data, .len = size };
    enum metric_text whole, trimmed;
    const char *content_type = metric_negotiate(accept, &whole);
    if (!content_type || metric_negotiate(str_trim(accept), &trimmed) != content_type || whole != trimmed)
        abort();
    return 0;
}
