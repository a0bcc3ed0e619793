#include "sloconfig/crumb.h"

struct str crumb_text(const struct crumb *crumb, struct arena *arena)
{
    if (!crumb)
        return STR_NULL;
    struct str above = crumb_text(crumb->up, arena);
    if (crumb->kind == CRUMB_INDEX)
        return arena_strf(arena, STR_FMT "[%zu]", STR_ARG(above), crumb->index);
    if (crumb->kind == CRUMB_KEY)
        return arena_strf(arena, STR_FMT "[" STR_FMT "]", STR_ARG(above), STR_ARG(crumb->name));
    if (str_empty(above) || str_empty(crumb->name))
        return str_empty(above) ? crumb->name : above;
    return arena_strf(arena, STR_FMT "." STR_FMT, STR_ARG(above), STR_ARG(crumb->name));
}
