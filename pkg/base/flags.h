#pragma once
/* Command-line flags as rows of a table; the table is the documentation.
 *
 *     static const struct flag flags[] = {
 *         FLAG_STR(struct options, kubeconfig, "kubeconfig", "FILE", "path of a kubeconfig"),
 *         FLAG_BOOL(struct options, verbose, "verbose", "say more"),
 *     };
 *
 * `-flag` and `--flag`, `--flag=value` and `--flag value` are all accepted; a bool
 * takes `--flag`, `--flag=true|false` (Go's ParseBool words). A shorthand may carry its
 * value: `-ojson`. "--" ends flags. */
#include "base/err.h"
#include "base/strbuf.h"

enum flag_type {
    FLAG_TYPE_BOOL,     /* bool */
    FLAG_TYPE_I64,      /* int64_t */
    FLAG_TYPE_DURATION, /* int64_t nanoseconds, Go syntax */
    FLAG_TYPE_STR,      /* const char * (borrows argv) */
    FLAG_TYPE_LIST,     /* struct flag_list: may be given several times */
    FLAG_TYPE_IGNORED,  /* accepted for compatibility; `ignored` hears of it */
};

struct flag_list {
    const char **items; /* heap, freed by flag_list_done; the strings borrow argv */
    size_t count;
};
void flag_list_done(struct flag_list *list);

struct flag {
    const char *name;
    enum flag_type type;
    bool value_optional; /* FLAG_TYPE_IGNORED only: a bool upstream, so no value follows */
    size_t offset;
    const char *value_name; /* shown in --help: FILE, ADDR, ... */
    const char *help;
    char shorthand; /* one letter, or 0 */
    int64_t min;    /* FLAG_TYPE_I64 and _DURATION: smallest value accepted */
};

#define FLAG_BOOL(type_, member, name_, help_)                                                               \
    {                                                                                                        \
        .name = name_, .type = FLAG_TYPE_BOOL, .offset = offsetof(type_, member), .help = help_              \
    }
#define FLAG_I64(type_, member, name_, value_, help_)                                                        \
    {                                                                                                        \
        .name = name_, .type = FLAG_TYPE_I64, .offset = offsetof(type_, member), .value_name = value_,       \
        .help = help_                                                                                        \
    }
#define FLAG_DURATION(type_, member, name_, help_)                                                           \
    {                                                                                                        \
        .name = name_, .type = FLAG_TYPE_DURATION, .offset = offsetof(type_, member),                        \
        .value_name = "DURATION", .help = help_                                                              \
    }
#define FLAG_STR(type_, member, name_, value_, help_)                                                        \
    {                                                                                                        \
        .name = name_, .type = FLAG_TYPE_STR, .offset = offsetof(type_, member), .value_name = value_,       \
        .help = help_                                                                                        \
    }
#define FLAG_LIST(type_, member, name_, shorthand_, value_, help_)                                           \
    {                                                                                                        \
        .name = name_, .type = FLAG_TYPE_LIST, .offset = offsetof(type_, member), .shorthand = shorthand_,   \
        .value_name = value_, .help = help_                                                                  \
    }

/* Writes each given flag into `target`; what is not given stays as it was, so
 * defaults are set before. Stops at the first error, which names flag and value.
 * Arguments that are not flags are handed to `positional` (NULL: an error), flags of
 * FLAG_TYPE_IGNORED to `ignored` (NULL: silently dropped). */
struct flags_handlers {
    bool (*positional)(void *self, const char *argument, struct err *err);
    void (*ignored)(void *self, const char *name, const char *value);
    void *self;
};
bool flags_parse(const struct flag *flags, size_t count, int argc, char **argv, void *target,
                 const struct flags_handlers *handlers, struct err *err) MUST_CHECK;

/* One paragraph per flag, sorted as in the table, with the defaults found in `target`.
 * Ignored flags are listed on one line at the end. */
void flags_help(struct strbuf *out, const struct flag *flags, size_t count, const void *target);
