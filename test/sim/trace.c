#include "trace.h"

#include <stdlib.h>

static bool last_column(struct str line, double *ret)
{
    struct str rest = str_trim(line), column = rest;
    while (str_cut(rest, ',', &column, &rest))
        column = rest;
    char text[64];
    if (column.len == 0 || column.len >= sizeof text)
        return false;
    memcpy(text, column.ptr, column.len);
    text[column.len] = '\0';
    char *end;
    *ret = strtod(text, &end);
    return *end == '\0' && *ret >= 0 && *ret <= 1000;
}

bool trace_parse(struct arena *arena, struct str text, struct trace *ret, struct err *err)
{
    size_t lines = 0, count = 0;
    for (size_t i = 0; i < text.len; i++)
        lines += text.ptr[i] == '\n';
    double *percent = arena_array(arena, double, lines + 1);
    struct str line;
    str_cut(text, '\n', &line, &text); /* the header */
    while (!str_empty(text)) {
        str_cut(text, '\n', &line, &text);
        if (str_empty(str_trim(line)))
            continue;
        if (!last_column(line, &percent[count]))
            return err_set(err, ERR_INVALID, "trace: bad line \"" STR_FMT "\"", STR_ARG(line));
        count++;
    }
    if (count == 0)
        return err_set(err, ERR_INVALID, "trace: no samples");
    *ret = (struct trace){ .percent = percent, .count = count };
    return true;
}

double trace_at(const struct trace *trace, size_t step)
{
    return trace->percent[step % trace->count];
}

double trace_peak(const struct trace *trace, size_t step, size_t window)
{
    double peak = 0;
    for (size_t i = 0; i < window; i++) {
        double value = trace_at(trace, step + trace->count * window - i);
        peak = value > peak ? value : peak;
    }
    return peak;
}
