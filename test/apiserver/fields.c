#include "test/apiserver/fields.h"

#include "test/apiserver/status.h"

static bool resolve(const struct as_filter_source *source, struct as_field_term *term)
{
    if (str_eq(term->field, STR("metadata.name"))) {
        term->index = AS_FIELD_NAME;
        return true;
    }
    if (str_eq(term->field, STR("metadata.namespace"))) {
        term->index = AS_FIELD_NAMESPACE;
        return true;
    }
    struct str wanted = term->field;
    for (size_t i = 0; i < source->alias_count; i++)
        if (str_eq(wanted, str_c(source->aliases[i].name)))
            wanted = str_c(source->aliases[i].stored);
    for (size_t i = 0; i < source->bucket->field_count; i++) {
        if (str_eq(wanted, str_c(source->bucket->fields[i].name))) {
            term->index = (int)i;
            return true;
        }
    }
    return false;
}

/* Up to the next comma that is not escaped. */
static struct str cut_term(struct str *rest)
{
    size_t end = 0;
    while (end < rest->len && rest->ptr[end] != ',')
        end += rest->ptr[end] == '\\' && end + 1 < rest->len ? 2 : 1;
    struct str term = str_slice(*rest, 0, end);
    *rest = str_slice(*rest, end + 1, rest->len);
    return term;
}

static bool unescape(struct arena *arena, struct str text, struct str *ret)
{
    char *copy = arena_alloc(arena, text.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        char byte = text.ptr[i];
        if (byte == '\\') {
            if (++i == text.len)
                return false;
            byte = text.ptr[i];
            if (byte != '\\' && byte != ',' && byte != '=')
                return false;
        } else if (byte == '=') {
            return false;
        }
        copy[len++] = byte;
    }
    *ret = (struct str){ copy, len };
    return true;
}

static bool parse_term(struct arena *arena, struct str text, struct as_field_term *ret)
{
    ptrdiff_t at = str_find_byte(text, '=');
    if (at <= 0)
        return false;
    struct str field = str_slice(text, 0, (size_t)at);
    struct str value = str_slice(text, (size_t)at + 1, text.len);
    *ret = (struct as_field_term){ 0 };
    if (str_ends_with(field, STR("!"))) {
        ret->not_equal = true;
        field.len--;
    } else if (str_starts_with(value, STR("="))) {
        value = str_slice(value, 1, value.len);
    }
    ret->field = str_trim(field);
    return ret->field.len && unescape(arena, value, &ret->value);
}

struct str as_field_one_name(struct arena *arena, struct str field_selector)
{
    while (field_selector.len) {
        struct as_field_term term;
        if (parse_term(arena, cut_term(&field_selector), &term) && !term.not_equal &&
            str_eq(term.field, STR("metadata.name")))
            return term.value;
    }
    return STR_NULL;
}

static bool parse_fields(struct arena *arena, const struct as_filter_source *source, struct as_filter *filter,
                         struct api_error *error)
{
    struct str rest = source->field_selector;
    struct as_field_term *terms = NULL;
    size_t count = 0;
    while (rest.len) {
        struct str text = cut_term(&rest);
        if (str_empty(str_trim(text)))
            continue;
        terms = arena_grow(arena, terms, count * sizeof *terms, (count + 1) * sizeof *terms);
        if (!parse_term(arena, text, &terms[count]))
            return api_fail(error, arena, 400, "invalid field selector: \"" STR_FMT "\"", STR_ARG(text));
        if (!resolve(source, &terms[count]))
            return api_fail(error, arena, 400, "field label not supported: " STR_FMT,
                            STR_ARG(terms[count].field));
        count++;
    }
    filter->terms = terms;
    filter->term_count = count;
    return true;
}

bool as_filter_parse(struct arena *arena, const struct as_filter_source *source, struct as_filter *ret,
                     struct api_error *error)
{
    struct err err = ERR_INIT;
    *ret = (struct as_filter){ 0 };
    if (source->namespace.len)
        ret->prefix = arena_strf(arena, STR_FMT "/", STR_ARG(source->namespace));
    if (!selector_from_query(arena, source->label_selector, &ret->labels, &err))
        return api_fail(error, arena, 400, "unable to parse the label selector: %s", err.text);
    if (!parse_fields(arena, source, ret, error))
        return false;
    ret->selective = ret->labels.count || ret->labels.nothing || ret->term_count;
    return true;
}

static struct str term_value(const struct as_field_term *term, const struct as_object *object)
{
    if (term->index == AS_FIELD_NAME)
        return object->name;
    if (term->index == AS_FIELD_NAMESPACE)
        return object->namespace;
    return (size_t)term->index < object->field_count ? object->fields[term->index] : STR_NULL;
}

bool as_filter_matches(const struct as_filter *filter, const struct as_object *object)
{
    if (!str_starts_with(object->key, filter->prefix))
        return false;
    for (size_t i = 0; i < filter->term_count; i++) {
        const struct as_field_term *term = &filter->terms[i];
        if (str_eq(term_value(term, object), term->value) == term->not_equal)
            return false;
    }
    return selector_matches(&filter->labels, object->labels);
}

bool as_filter_matches_fn(void *filter, const struct as_object *object)
{
    return as_filter_matches(filter, object);
}
