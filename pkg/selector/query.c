#include "selector/internal.h"

/* The query is read in two steps: words and signs first, then terms made of them. */
enum token_type {
    TOKEN_END,
    TOKEN_WORD, /* anything between signs and blanks, "in" and "notin" included */
    TOKEN_COMMA,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_BANG,
    TOKEN_EQUAL,     /* "=" or "==" */
    TOKEN_NOT_EQUAL, /* "!=" */
    TOKEN_GREATER,
    TOKEN_LESS,
};

struct token {
    enum token_type type;
    struct str text;
};

struct parser {
    struct arena *arena;
    struct str rest;
    struct token token; /* the one to look at */
};

static const struct {
    struct str text;
    enum token_type type;
} signs[] = {
    /* Longer ones first. */
    { STR_INIT("=="), TOKEN_EQUAL }, { STR_INIT("!="), TOKEN_NOT_EQUAL }, { STR_INIT("="), TOKEN_EQUAL },
    { STR_INIT("!"), TOKEN_BANG },   { STR_INIT(","), TOKEN_COMMA },      { STR_INIT("("), TOKEN_OPEN },
    { STR_INIT(")"), TOKEN_CLOSE },  { STR_INIT(">"), TOKEN_GREATER },    { STR_INIT("<"), TOKEN_LESS },
};

static bool ends_word(char c)
{
    return c == '=' || c == '!' || c == ',' || c == '(' || c == ')' || c == '>' || c == '<' || c == ' ' ||
           c == '\t' || c == '\r' || c == '\n';
}

static struct token scan(struct str text)
{
    if (text.len == 0)
        return (struct token){ .type = TOKEN_END, .text = STR("the end") };
    for (size_t i = 0; i < ARRAY_LEN(signs); i++)
        if (str_starts_with(text, signs[i].text))
            return (struct token){ .type = signs[i].type, .text = str_slice(text, 0, signs[i].text.len) };
    size_t len = 0;
    while (len < text.len && !ends_word(text.ptr[len]))
        len++;
    return (struct token){ .type = TOKEN_WORD, .text = str_slice(text, 0, len) };
}

/* Takes the token looked at and looks at the next. */
static struct token next(struct parser *parser)
{
    struct token taken = parser->token;
    parser->rest = str_trim(parser->rest);
    parser->token = scan(parser->rest);
    if (parser->token.type != TOKEN_END)
        parser->rest = str_slice(parser->rest, parser->token.text.len, SIZE_MAX);
    return taken;
}

static bool unexpected(const struct parser *parser, const char *expected, struct err *err)
{
    return err_set(err, ERR_INVALID, "found \"" STR_FMT "\", expected %s",
                   STR_ARG(selector_quote(parser->token.text)), expected);
}

/* What stands behind "=": a word, or nothing for the empty value. */
static bool parse_value(struct parser *parser, struct selector_values *values, struct err *err)
{
    if (parser->token.type == TOKEN_END || parser->token.type == TOKEN_COMMA) {
        selector_add_value(parser->arena, values, STR_NULL);
        return true;
    }
    if (parser->token.type != TOKEN_WORD)
        return unexpected(parser, "a value", err);
    selector_add_value(parser->arena, values, next(parser).text);
    return true;
}

/* "(x,y)"; a place left empty is the empty value, but "()" holds no value at all. */
static bool parse_list(struct parser *parser, struct selector_values *values, struct err *err)
{
    if (parser->token.type != TOKEN_OPEN)
        return unexpected(parser, "\"(\"", err);
    (void)next(parser);
    bool more = parser->token.type != TOKEN_CLOSE;
    while (more) {
        bool named = parser->token.type == TOKEN_WORD;
        selector_add_value(parser->arena, values, named ? next(parser).text : STR_NULL);
        more = parser->token.type == TOKEN_COMMA;
        if (more)
            (void)next(parser);
    }
    if (parser->token.type != TOKEN_CLOSE)
        return unexpected(parser, "\",\" or \")\"", err);
    (void)next(parser);
    return true;
}

/* The part of a term behind its key; the key alone asks for existence. */
static bool parse_operation(struct parser *parser, struct selector_term *term, struct selector_values *values,
                            struct err *err)
{
    switch (parser->token.type) {
    case TOKEN_END:
    case TOKEN_COMMA:
        term->op = SELECTOR_EXISTS;
        return true;
    case TOKEN_EQUAL:
    case TOKEN_NOT_EQUAL:
        term->op = next(parser).type == TOKEN_EQUAL ? SELECTOR_IN : SELECTOR_NOT_IN;
        return parse_value(parser, values, err);
    case TOKEN_WORD:
        if (!str_eq(parser->token.text, STR("in")) && !str_eq(parser->token.text, STR("notin")))
            return unexpected(parser, "an operator", err);
        term->op = str_eq(next(parser).text, STR("in")) ? SELECTOR_IN : SELECTOR_NOT_IN;
        return parse_list(parser, values, err);
    case TOKEN_GREATER:
    case TOKEN_LESS:
        return err_set(err, ERR_INVALID, "operator \"" STR_FMT "\" is not supported",
                       STR_ARG(parser->token.text));
    default:
        return unexpected(parser, "an operator", err);
    }
}

static bool parse_term(struct parser *parser, struct selector_terms *terms, struct err *err)
{
    struct selector_term term = { 0 };
    struct selector_values values = { 0 };
    bool absent = parser->token.type == TOKEN_BANG;
    if (absent)
        (void)next(parser);
    if (parser->token.type != TOKEN_WORD)
        return unexpected(parser, "a label key", err);
    term.key = next(parser).text;
    if (absent)
        term.op = SELECTOR_NOT_EXISTS;
    else if (!parse_operation(parser, &term, &values, err))
        return false;
    term.values = values.items;
    term.value_count = values.count;
    return selector_add_term(parser->arena, terms, term, err);
}

static bool parse_terms(struct parser *parser, struct selector_terms *terms, struct err *err)
{
    bool more = parser->token.type != TOKEN_END;
    while (more) {
        if (!parse_term(parser, terms, err))
            return false;
        more = parser->token.type == TOKEN_COMMA;
        if (more)
            (void)next(parser);
    }
    return parser->token.type == TOKEN_END || unexpected(parser, "\",\" or the end", err);
}

bool selector_from_query(struct arena *arena, struct str query, struct selector *ret, struct err *err)
{
    struct parser parser = { .arena = arena, .rest = query };
    struct selector_terms terms = { 0 };
    (void)next(&parser);
    if (!parse_terms(&parser, &terms, err))
        return err_wrap(err, "label selector \"" STR_FMT "\"", STR_ARG(selector_quote(query)));
    *ret = (struct selector){ .terms = terms.items, .count = terms.count };
    return true;
}
