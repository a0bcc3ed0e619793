#include "test/apiserver/accept.h"

static void read_parameter(struct str parameter, struct api_media_range *range)
{
    struct str name, value;
    str_cut(parameter, '=', &name, &value);
    name = str_trim(name);
    value = str_trim(value);
    if (str_eq_nocase(name, STR("as")))
        range->as = value;
    else if (str_eq_nocase(name, STR("g")))
        range->group = value;
    else if (str_eq_nocase(name, STR("v")))
        range->version = value;
}

bool api_media_next(struct str *rest, struct api_media_range *ret)
{
    if (str_empty(*rest))
        return false;
    struct str range, parameter;
    str_cut(*rest, ',', &range, rest);
    *ret = (struct api_media_range){ 0 };
    bool more = str_cut(range, ';', &ret->type, &range);
    ret->type = str_trim(ret->type);
    while (more) {
        more = str_cut(range, ';', &parameter, &range);
        read_parameter(parameter, ret);
    }
    return true;
}
