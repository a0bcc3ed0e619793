#include "metrics/process_text.h"

/* Fields are counted from 1 as in proc(5); the first two come before the name's ')'. */
enum {
    FIELD_AFTER_NAME = 3,
    FIELD_UTIME = 14,
    FIELD_STIME = 15,
    FIELD_START = 22,
    FIELD_VSIZE = 23,
    FIELD_RSS = 24
};

bool metrics_process_stat_parse(struct str text, struct metrics_process_stat *ret, struct err *err)
{
    /* A program's name may hold blanks and parentheses: the last ')' ends it. */
    size_t start = text.len;
    while (start > 0 && text.ptr[start - 1] != ')')
        start--;
    struct str rest = str_trim(str_slice(text, start, text.len));
    int64_t fields[FIELD_RSS + 1] = { 0 };
    bool complete = start > 0;
    for (int i = FIELD_AFTER_NAME; complete && i <= FIELD_RSS; i++) {
        struct str field;
        str_cut(rest, ' ', &field, &rest);
        /* The state is a letter, and flags beyond our interest may exceed int64. */
        bool wanted = i == FIELD_UTIME || i == FIELD_STIME || i >= FIELD_START;
        complete = field.len && (!wanted || str_to_i64(field, &fields[i]));
    }
    if (!complete)
        return err_set(err, ERR_INVALID, "unexpected text in /proc/<pid>/stat");
    *ret = (struct metrics_process_stat){
        .cpu_ticks = fields[FIELD_UTIME] + fields[FIELD_STIME],
        .start_ticks = fields[FIELD_START],
        .virtual_bytes = fields[FIELD_VSIZE],
        .resident_pages = fields[FIELD_RSS],
    };
    return true;
}

bool metrics_process_boot_parse(struct str text, int64_t *ret_s, struct err *err)
{
    while (text.len) {
        struct str line, key, value;
        str_cut(text, '\n', &line, &text);
        str_cut(line, ' ', &key, &value);
        if (str_eq(key, STR("btime")) && str_to_i64(str_trim(value), ret_s))
            return true;
    }
    return err_set(err, ERR_INVALID, "no btime in /proc/stat");
}
