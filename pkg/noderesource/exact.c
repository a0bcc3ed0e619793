#include "noderesource/exact.h"

int64_t exact_clamp(__int128 value, bool *saturated)
{
    if (value >= INT64_MIN && value <= INT64_MAX)
        return (int64_t)value;
    *saturated = true;
    return value < 0 ? INT64_MIN : INT64_MAX;
}

int64_t exact_units(__int128 nano, int64_t unit_nano, bool *saturated)
{
    __int128 whole = nano / unit_nano, rest = nano % unit_nano;
    return exact_clamp(whole + (rest > 0) - (rest < 0), saturated);
}

int64_t exact_percent_of(int64_t value, int64_t percent, bool *saturated)
{
    return exact_clamp((__int128)value * percent / 100, saturated);
}
