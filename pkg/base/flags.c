#include "base/flags.h"
#include "base/duration.h"
#include <stdlib.h>

#define HELP_COLUMNS 90
#define HELP_INDENT 8

void flag_list_done(struct flag_list *list)
{
    free(list->items);
    *list = (struct flag_list){ 0 };
}

/* ------------------------------------------------------------------ values */

static void *slot(const struct flag *flag, void *target)
{
    return (char *)target + flag->offset;
}

static bool bad_value(const struct flag *flag, const char *value, const char *want, struct err *err)
{
    return err_set(err, ERR_INVALID, "flag --%s: \"%s\" is not %s", flag->name, value, want);
}

static bool set_bool(const struct flag *flag, const char *value, void *target, struct err *err)
{
    static const struct {
        const char *word;
        bool value;
    } words[] = {
        { "1", true },    { "t", true },      { "T", true },      { "true", true },
        { "True", true }, { "TRUE", true },   { "0", false },     { "f", false },
        { "F", false },   { "false", false }, { "False", false }, { "FALSE", false },
    };
    if (!value)
        value = "true";
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcmp(words[i].word, value) == 0) {
            *(bool *)slot(flag, target) = words[i].value;
            return true;
        }
    return bad_value(flag, value, "true or false", err);
}

static bool set_i64(const struct flag *flag, const char *value, void *target, struct err *err)
{
    int64_t number;
    if (!str_to_i64(str_c(value), &number))
        return bad_value(flag, value, "a whole number", err);
    if (number < flag->min)
        return err_set(err, ERR_INVALID, "flag --%s: %s is below %lld", flag->name, value,
                       (long long)flag->min);
    *(int64_t *)slot(flag, target) = number;
    return true;
}

static bool set_duration(const struct flag *flag, const char *value, void *target, struct err *err)
{
    int64_t ns;
    if (!duration_parse(str_c(value), &ns, NULL))
        return bad_value(flag, value, "a duration such as 30s or 1h30m", err);
    if (ns < flag->min) {
        CLEANUP(strbuf_done) struct strbuf min = STRBUF_INIT(64);
        duration_format(&min, flag->min);
        return err_set(err, ERR_INVALID, "flag --%s: %s is below %s", flag->name, value, strbuf_cstr(&min));
    }
    *(int64_t *)slot(flag, target) = ns;
    return true;
}

static bool set_str(const struct flag *flag, const char *value, void *target, struct err *err)
{
    (void)err;
    *(const char **)slot(flag, target) = value;
    return true;
}

static bool set_list(const struct flag *flag, const char *value, void *target, struct err *err)
{
    (void)err;
    struct flag_list *list = slot(flag, target);
    list->items = mem_realloc(list->items, (list->count + 1) * sizeof *list->items);
    list->items[list->count++] = value;
    return true;
}

static bool set_ignored(const struct flag *flag, const char *value, void *target, struct err *err)
{
    (void)flag, (void)value, (void)target, (void)err;
    return true;
}

/* ---------------------------------------------------------- defaults in help */

static void show_bool(const void *value, struct strbuf *out)
{
    if (*(const bool *)value)
        strbuf_add(out, STR("true"));
}

static void show_i64(const void *value, struct strbuf *out)
{
    strbuf_addf(out, "%lld", (long long)*(const int64_t *)value);
}

static void show_duration(const void *value, struct strbuf *out)
{
    duration_format(out, *(const int64_t *)value);
}

static void show_str(const void *value, struct strbuf *out)
{
    const char *text = *(const char *const *)value;
    if (text && *text)
        strbuf_addf(out, "\"%s\"", text);
}

static const struct {
    bool (*set)(const struct flag *flag, const char *value, void *target, struct err *err);
    void (*show)(const void *value, struct strbuf *out); /* NULL: no default to show */
} types[] = {
    [FLAG_TYPE_BOOL] = { set_bool, show_bool },
    [FLAG_TYPE_I64] = { set_i64, show_i64 },
    [FLAG_TYPE_DURATION] = { set_duration, show_duration },
    [FLAG_TYPE_STR] = { set_str, show_str },
    [FLAG_TYPE_LIST] = { set_list, NULL },
    [FLAG_TYPE_IGNORED] = { set_ignored, NULL },
};

/* ----------------------------------------------------------------- parsing */

struct parser {
    const struct flag *flags;
    size_t count;
    char **args; /* what is left */
    size_t left;
    void *target;
    const struct flags_handlers *handlers;
};

static const char *next_arg(struct parser *parser)
{
    if (parser->left == 0)
        return NULL;
    parser->left--;
    return *parser->args++;
}

static const struct flag *find_flag(const struct parser *parser, struct str name)
{
    for (size_t i = 0; i < parser->count; i++) {
        const struct flag *flag = &parser->flags[i];
        bool is_short = flag->shorthand && name.len == 1 && name.ptr[0] == flag->shorthand;
        if (is_short || str_eq(name, str_c(flag->name)))
            return flag;
    }
    return NULL;
}

static bool takes_no_value(const struct flag *flag)
{
    return flag->type == FLAG_TYPE_BOOL || (flag->type == FLAG_TYPE_IGNORED && flag->value_optional);
}

/* "-ojson": a letter and its value in one. */
static const struct flag *find_letter(const struct parser *parser, const char *arg, const char **ret_value)
{
    if (arg[1] == '-')
        return NULL;
    const struct flag *flag = find_flag(parser, str_slice(str_c(arg), 1, 1));
    if (!flag || takes_no_value(flag))
        return NULL;
    *ret_value = arg + 2;
    return flag;
}

static bool parse_flag(struct parser *parser, const char *arg, struct err *err)
{
    struct str text = str_c(arg), name, after;
    text = str_slice(text, str_starts_with(text, STR("--")) ? 2 : 1, text.len);
    bool attached = str_cut(text, '=', &name, &after);
    const char *value = attached ? after.ptr : NULL; /* argv strings end with NUL, and so does `after` */
    const struct flag *flag = find_flag(parser, name);
    if (!flag && !(flag = find_letter(parser, arg, &value)))
        return err_set(err, ERR_INVALID, "unknown flag %s", arg);

    if (!value && !takes_no_value(flag) && !(value = next_arg(parser)))
        return err_set(err, ERR_INVALID, "flag --%s needs a value", flag->name);
    if (flag->type == FLAG_TYPE_IGNORED && parser->handlers && parser->handlers->ignored)
        parser->handlers->ignored(parser->handlers->self, flag->name, value);
    return types[flag->type].set(flag, value, parser->target, err);
}

static bool parse_positional(const struct parser *parser, const char *arg, struct err *err)
{
    if (!parser->handlers || !parser->handlers->positional)
        return err_set(err, ERR_INVALID, "unexpected argument \"%s\"", arg);
    return parser->handlers->positional(parser->handlers->self, arg, err);
}

bool flags_parse(const struct flag *flags, size_t count, int argc, char **argv, void *target,
                 const struct flags_handlers *handlers, struct err *err)
{
    struct parser parser = { .flags = flags, .count = count, .target = target, .handlers = handlers };
    if (argc > 1) {
        parser.args = argv + 1;
        parser.left = (size_t)argc - 1;
    }
    bool flags_ended = false;
    for (const char *arg; (arg = next_arg(&parser));) {
        bool is_flag = !flags_ended && arg[0] == '-' && arg[1] != '\0';
        if (is_flag && strcmp(arg, "--") == 0)
            flags_ended = true;
        else if (!(is_flag ? parse_flag(&parser, arg, err) : parse_positional(&parser, arg, err)))
            return false;
    }
    return true;
}

/* -------------------------------------------------------------------- help */

static void add_wrapped(struct strbuf *out, struct str text)
{
    size_t column = HELP_COLUMNS; /* the first word starts a line */
    while (text.len) {
        struct str word;
        str_cut(text, ' ', &word, &text);
        if (column + 1 + word.len > HELP_COLUMNS) {
            strbuf_addf(out, "%s%*s", column == HELP_COLUMNS ? "" : "\n", HELP_INDENT, "");
            column = HELP_INDENT;
        } else {
            strbuf_addc(out, ' ');
            column++;
        }
        strbuf_add(out, word);
        column += word.len;
    }
    strbuf_addc(out, '\n');
}

static void help_one(struct strbuf *out, const struct flag *flag, const void *target)
{
    strbuf_add(out, STR("  "));
    if (flag->shorthand)
        strbuf_addf(out, "-%c, ", flag->shorthand);
    strbuf_addf(out, "--%s", flag->name);
    if (flag->value_name)
        strbuf_addf(out, " %s", flag->value_name);
    strbuf_addc(out, '\n');

    CLEANUP(strbuf_done) struct strbuf value = STRBUF_INIT(1024);
    if (types[flag->type].show)
        types[flag->type].show((const char *)target + flag->offset, &value);
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(16 * 1024);
    strbuf_add(&text, str_c(flag->help));
    if (value.len)
        strbuf_addf(&text, " (default %s)", strbuf_cstr(&value));
    add_wrapped(out, strbuf_str(&text));
}

void flags_help(struct strbuf *out, const struct flag *flags, size_t count, const void *target)
{
    size_t ignored = 0;
    for (size_t i = 0; i < count; i++) {
        if (flags[i].type == FLAG_TYPE_IGNORED)
            ignored++;
        else
            help_one(out, &flags[i], target);
    }
    if (ignored == 0)
        return;
    const char *separator = "Accepted for compatibility and ignored: ";
    for (size_t i = 0; i < count; i++)
        if (flags[i].type == FLAG_TYPE_IGNORED) {
            strbuf_addf(out, "%s--%s", separator, flags[i].name);
            separator = ", ";
        }
    strbuf_addc(out, '\n');
}
