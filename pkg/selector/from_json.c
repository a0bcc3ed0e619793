#include "selector/internal.h"

static const struct {
    struct str name;
    enum selector_op op;
} operators[] = {
    { STR_INIT("In"), SELECTOR_IN },
    { STR_INIT("NotIn"), SELECTOR_NOT_IN },
    { STR_INIT("Exists"), SELECTOR_EXISTS },
    { STR_INIT("DoesNotExist"), SELECTOR_NOT_EXISTS },
};

static bool operator_parse(struct str name, enum selector_op *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
        if (str_eq(operators[i].name, name)) {
            *ret = operators[i].op;
            return true;
        }
    }
    return false;
}

/* Go reads null as the zero value wherever something is expected. */
static bool is_absent(const struct json *value)
{
    return !value || value->type == JSON_NULL;
}

static bool expect(const struct json *value, enum json_type type, struct err *err)
{
    if (is_absent(value) || value->type == type)
        return true;
    if (value->type == JSON_STRING || value->type == JSON_NUMBER)
        return err_set(err, ERR_INVALID, "\"" STR_FMT "\" has type %s, not %s",
                       STR_ARG(selector_quote(value->text)), json_type_name(value->type),
                       json_type_name(type));
    return err_set(err, ERR_INVALID, "has type %s, not %s", json_type_name(value->type),
                   json_type_name(type));
}

static bool read_label(struct arena *arena, const struct json_member *member, struct selector_terms *terms,
                       struct err *err)
{
    struct selector_values values = { 0 };
    struct str value = json_str(member->value);
    if (!expect(member->value, JSON_STRING, err))
        return false;
    if (!label_key_valid(member->key))
        return err_set(err, ERR_INVALID, "not a label key");
    if (!label_value_valid(value))
        return err_set(err, ERR_INVALID, "\"" STR_FMT "\" is not a label value",
                       STR_ARG(selector_quote(value)));
    selector_add_value(arena, &values, value);
    struct selector_term term = {
        .key = member->key, .op = SELECTOR_IN, .values = values.items, .value_count = values.count
    };
    return selector_add_term(arena, terms, term, err);
}

static bool read_labels(struct arena *arena, const struct json *labels, struct selector_terms *terms,
                        struct err *err)
{
    if (!expect(labels, JSON_OBJECT, err))
        return err_wrap(err, "matchLabels");
    for (size_t i = 0; i < json_count(labels); i++) {
        const struct json_member *member = &labels->object.members[i];
        if (!read_label(arena, member, terms, err))
            return err_wrap(err, "matchLabels[\"" STR_FMT "\"]", STR_ARG(selector_quote(member->key)));
    }
    return true;
}

static bool read_values(struct arena *arena, const struct json *list, struct selector_values *values,
                        struct err *err)
{
    if (!expect(list, JSON_ARRAY, err))
        return err_wrap(err, "values");
    for (size_t i = 0; i < json_count(list); i++) {
        if (!expect(list->array.items[i], JSON_STRING, err))
            return err_wrap(err, "values[%zu]", i);
        selector_add_value(arena, values, json_str(list->array.items[i]));
    }
    return true;
}

/* Errors begin with the name of a field. */
static bool read_expression(struct arena *arena, const struct json *object, struct selector_terms *terms,
                            struct err *err)
{
    const struct json *key = json_get_nocase(object, STR("key"));
    const struct json *op_name = json_get_nocase(object, STR("operator"));
    struct selector_term term = { .key = json_str(key) };
    struct selector_values values = { 0 };
    if (!expect(key, JSON_STRING, err))
        return err_wrap(err, "key");
    if (!expect(op_name, JSON_STRING, err))
        return err_wrap(err, "operator");
    if (!operator_parse(json_str(op_name), &term.op))
        return err_set(err, ERR_INVALID,
                       "operator: \"" STR_FMT "\" is not one of In, NotIn, Exists, DoesNotExist",
                       STR_ARG(selector_quote(json_str(op_name))));
    if (!read_values(arena, json_get_nocase(object, STR("values")), &values, err))
        return false;
    term.values = values.items;
    term.value_count = values.count;
    return selector_add_term(arena, terms, term, err);
}

/* Puts the element in front of the field that the error begins with. */
static bool in_expression(size_t index, struct err *err)
{
    if (!err)
        return false;
    const struct err inner = *err;
    return err_set(err, inner.kind, "matchExpressions[%zu].%s", index, inner.text);
}

static bool read_expressions(struct arena *arena, const struct json *list, struct selector_terms *terms,
                             struct err *err)
{
    if (!expect(list, JSON_ARRAY, err))
        return err_wrap(err, "matchExpressions");
    for (size_t i = 0; i < json_count(list); i++) {
        if (!expect(list->array.items[i], JSON_OBJECT, err))
            return err_wrap(err, "matchExpressions[%zu]", i);
        if (!read_expression(arena, list->array.items[i], terms, err))
            return in_expression(i, err);
    }
    return true;
}

bool selector_from_json(struct arena *arena, const struct json *object, struct selector *ret, struct err *err)
{
    struct selector_terms terms = { 0 };
    if (is_absent(object)) {
        *ret = (struct selector){ .nothing = true };
        return true;
    }
    if (!expect(object, JSON_OBJECT, err) ||
        !read_labels(arena, json_get_nocase(object, STR("matchLabels")), &terms, err) ||
        !read_expressions(arena, json_get_nocase(object, STR("matchExpressions")), &terms, err))
        return false;
    *ret = (struct selector){ .terms = terms.items, .count = terms.count };
    return true;
}
