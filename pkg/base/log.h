#pragma once
/* Structured logs: one record, one line, one write(2) to standard error.
 *
 *     LOG_INFO("policy accepted", LOG_S("configmap", name), LOG_I("nodes", count));
 *
 * Programs and controllers log; libraries return errors. Text format is
 * `I0724 08:00:00.000000 controller.c:12] "policy accepted" configmap="a/b" nodes=3`,
 * JSON is one object a line, valid for any input bytes: invalid UTF-8 becomes U+FFFD.
 * Times are UTC. Records are cut at 16 KiB, the newline included, and then end with
 * truncated=true. A record that a non-blocking standard error does not take is dropped. */
#include "base/base.h"
#include "base/str.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };
enum log_format { LOG_FORMAT_TEXT, LOG_FORMAT_JSON };

struct log_field {
    const char *key;
    bool is_number;
    struct str text;
    int64_t number;
};

#define LOG_S(key_, str_) ((struct log_field){ .key = (key_), .text = (str_) })
#define LOG_C(key_, cstr_) ((struct log_field){ .key = (key_), .text = str_c(cstr_) })
#define LOG_I(key_, number_) ((struct log_field){ .key = (key_), .is_number = true, .number = (number_) })
#define LOG_ERR(err_) LOG_C("err", (err_)->text)

/* Process-wide, set once by main before anything logs. */
void log_setup(enum log_format format, enum log_level level);
bool log_enabled(enum log_level level);
/* Tests capture records, without the newline, instead of writing them; NULL restores
 * standard error. */
void log_capture(void (*sink)(void *self, struct str line), void *self);

void log_write(enum log_level level, const char *file, int line, const char *message,
               const struct log_field *fields, size_t count);

#define LOG_AT(level_, message_, ...)                                                                        \
    do {                                                                                                     \
        if (log_enabled(level_)) {                                                                           \
            const struct log_field log_fields_[] = { __VA_ARGS__ __VA_OPT__(, ){ .key = NULL } };            \
            log_write((level_), __FILE_NAME__, __LINE__, (message_), log_fields_,                            \
                      ARRAY_LEN(log_fields_) - 1);                                                           \
        }                                                                                                    \
    } while (0)

#define LOG_ERROR(message_, ...) LOG_AT(LOG_LEVEL_ERROR, message_ __VA_OPT__(, ) __VA_ARGS__)
#define LOG_WARN(message_, ...) LOG_AT(LOG_LEVEL_WARN, message_ __VA_OPT__(, ) __VA_ARGS__)
#define LOG_INFO(message_, ...) LOG_AT(LOG_LEVEL_INFO, message_ __VA_OPT__(, ) __VA_ARGS__)
#define LOG_DEBUG(message_, ...) LOG_AT(LOG_LEVEL_DEBUG, message_ __VA_OPT__(, ) __VA_ARGS__)
