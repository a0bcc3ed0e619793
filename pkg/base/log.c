#include "base/log.h"
#include "base/clock.h"
#include "base/rfc3339.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define RECORD_MAX (16 * 1024)
/* Kept free so that a cut record can still be ended properly. */
#define TAIL_MAX 32

static struct {
    enum log_format format;
    enum log_level level;
    void (*sink)(void *self, struct str line);
    void *self;
} settings = { .format = LOG_FORMAT_TEXT, .level = LOG_LEVEL_INFO };

static const struct {
    char letter;
    const char *name;
} levels[] = {
    [LOG_LEVEL_ERROR] = { 'E', "error" },
    [LOG_LEVEL_WARN] = { 'W', "warn" },
    [LOG_LEVEL_INFO] = { 'I', "info" },
    [LOG_LEVEL_DEBUG] = { 'D', "debug" },
};

/* A record under construction. Pieces go in whole or not at all; the first that does
 * not fit sets `cut`, and nothing follows it. */
struct record {
    size_t len;
    bool cut;
    char bytes[RECORD_MAX];
};

static void add(struct record *record, struct str piece)
{
    if (record->cut || record->len + piece.len > RECORD_MAX - TAIL_MAX) {
        record->cut = true;
        return;
    }
    if (piece.len > 0)
        memcpy(record->bytes + record->len, piece.ptr, piece.len);
    record->len += piece.len;
}

/* Short texts made of our own numbers and names. */
static void addf(struct record *record, const char *format, ...) PRINTF_LIKE(2, 3);
static void addf(struct record *record, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (len < 0)
        len = 0;
    add(record, (struct str){ .ptr = text, .len = (size_t)min_i64(len, (int64_t)sizeof text - 1) });
}

/* From the tail, which always fits. */
static void add_tail(struct record *record, struct str piece)
{
    if (piece.len > 0)
        memcpy(record->bytes + record->len, piece.ptr, piece.len);
    record->len += piece.len;
}

static void add_escape(struct record *record, unsigned char byte)
{
    static const char short_form[] = { ['"'] = '"', ['\\'] = '\\', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't' };
    if (byte < sizeof short_form && short_form[byte])
        add(record, (struct str){ .ptr = (char[]){ '\\', short_form[byte] }, .len = 2 });
    else
        addf(record, settings.format == LOG_FORMAT_JSON ? "\\u%04x" : "\\x%02x", byte);
}

/* In quotes. The closing quote comes from the tail, so a cut text is still a string. */
static void add_quoted(struct record *record, struct str text)
{
    add(record, STR("\""));
    if (record->cut)
        return;
    while (text.len && !record->cut) {
        unsigned char byte = (unsigned char)text.ptr[0];
        size_t len = str_utf8_len(text);
        if (len == 0 && settings.format == LOG_FORMAT_JSON)
            add(record, STR("\xEF\xBF\xBD"));
        else if (len == 0 || byte < 0x20 || byte == 0x7F || byte == '"' || byte == '\\')
            add_escape(record, byte);
        else
            add(record, str_slice(text, 0, len));
        text = str_slice(text, len ? len : 1, text.len);
    }
    add_tail(record, STR("\""));
}

/* Takes back a key whose value did not fit: JSON knows no key without one. */
static void add_field(struct record *record, const struct log_field *field)
{
    size_t before = record->len;
    bool json = settings.format == LOG_FORMAT_JSON;
    struct str key = str_c(field->key);
    add(record, json ? STR(",") : STR(" "));
    if (json)
        add_quoted(record, key);
    else
        add(record, key);
    add(record, json ? STR(":") : STR("="));
    if (record->cut) {
        record->len = before;
        return;
    }
    size_t value = record->len;
    if (field->is_number)
        addf(record, "%lld", (long long)field->number);
    else
        add_quoted(record, field->text);
    if (record->len == value)
        record->len = before;
}

static void begin_text(struct record *record, enum log_level level, struct wall_time now, const char *file,
                       int line)
{
    CLEANUP(strbuf_done) struct strbuf time = STRBUF_INIT(64);
    rfc3339_format_micro(&time, now); /* 2026-07-24T08:00:00.000000Z */
    struct str text = strbuf_str(&time);
    struct str month = str_slice(text, 5, 2), day = str_slice(text, 8, 2), clock = str_slice(text, 11, 15);
    addf(record, "%c" STR_FMT STR_FMT " " STR_FMT " %s:%d] ", levels[level].letter, STR_ARG(month),
         STR_ARG(day), STR_ARG(clock), file, line);
}

static void begin_json(struct record *record, enum log_level level, struct wall_time now, const char *file,
                       int line)
{
    addf(record,
         "{\"ts\":%lld.%03d,\"level\":\"%s\",\"caller\":\"%s:%d\",\"msg\":", (long long)(now.us / 1000),
         (int)(now.us % 1000), levels[level].name, file, line);
}

static void end(struct record *record)
{
    bool json = settings.format == LOG_FORMAT_JSON;
    if (record->cut)
        add_tail(record, json ? STR(",\"truncated\":true") : STR(" truncated=true"));
    if (json)
        add_tail(record, STR("}"));
}

static void emit(struct record *record)
{
    if (settings.sink) {
        settings.sink(settings.self, (struct str){ .ptr = record->bytes, .len = record->len });
        return;
    }
    add_tail(record, STR("\n"));
    while (write(STDERR_FILENO, record->bytes, record->len) < 0 && errno == EINTR)
        ;
}

void log_setup(enum log_format format, enum log_level level)
{
    settings.format = format;
    settings.level = level;
}

bool log_enabled(enum log_level level)
{
    return level <= settings.level;
}

void log_capture(void (*sink)(void *self, struct str line), void *self)
{
    settings.sink = sink;
    settings.self = self;
}

void log_write(enum log_level level, const char *file, int line, const char *message,
               const struct log_field *fields, size_t count)
{
    struct record record;
    record.len = 0;
    record.cut = false;
    struct wall_time now = wall_now();
    if (settings.format == LOG_FORMAT_JSON)
        begin_json(&record, level, now, file, line);
    else
        begin_text(&record, level, now, file, line);
    add_quoted(&record, str_c(message));
    for (size_t i = 0; i < count && !record.cut; i++)
        add_field(&record, &fields[i]);
    end(&record);
    emit(&record);
}
