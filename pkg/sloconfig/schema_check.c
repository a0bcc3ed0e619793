/* What an administrator should not write: ranges, words and pairs of a schema. */
#include "sloconfig/crumb.h"
#include "sloconfig/schema.h"

struct checker {
    struct str key;
    struct findings *findings;
    struct arena arena; /* paths and rules, which findings copy */
};

static void check_object(struct checker *checker, const struct schema *schema, const struct crumb *at,
                         const struct json *written, const struct json *effective);

static void report(struct checker *checker, enum finding_level level, const struct crumb *at,
                   const struct json *value, const char *reason, struct str rule)
{
    findings_add(checker->findings, level, checker->key, crumb_text(at, &checker->arena),
                 finding_value(&checker->arena, value), reason, STR_FMT, STR_ARG(rule));
}

static void invalid(struct checker *checker, const struct crumb *at, const struct json *value,
                    struct str rule)
{
    report(checker, FINDING_ADMISSION, at, value, finding_reason_invalid, rule);
}

static struct str percents(const struct json *value)
{
    int64_t percent = 0;
    struct quantity quantity;
    if (json_is(value, JSON_NUMBER))
        return json_i64(value, &percent) && percent >= 0 && percent <= 100 ? STR_NULL
                                                                           : STR("must be between 0 and 100");
    if (!quantity_parse(json_str(value), &quantity, NULL) || quantity_sign(quantity) < 0)
        return STR("must be a percent between 0 and 100 or a quantity such as \"50M\"");
    return STR_NULL;
}

static bool word_in(const char *const *words, struct str text)
{
    for (; *words; words++)
        if (str_eq(str_c(*words), text))
            return true;
    return false;
}

static void check_text(struct checker *checker, const struct schema_field *field, const struct crumb *at,
                       const struct json *value)
{
    struct str text = json_str(value);
    if (field->words && !word_in(field->words, text)) {
        struct str rule = STR("must be one of");
        for (size_t i = 0; field->words[i]; i++)
            rule = arena_strf(&checker->arena, STR_FMT "%s %s", STR_ARG(rule), i ? "," : "", field->words[i]);
        invalid(checker, at, value, rule);
    }
    if (field->known && !word_in(field->known, text))
        report(checker, FINDING_WARNING, at, value, finding_reason_unknown,
               STR("unknown value, without a meaning to the agent"));
}

static void check_value(struct checker *checker, const struct schema_field *field, const struct crumb *at,
                        const struct json *value, const struct json *effective)
{
    int64_t number = 0;
    struct str rule;
    switch (field->type) {
    case SCHEMA_INT:
        if (json_i64(value, &number) && !strategy_range_admits(&field->range, number))
            invalid(checker, at, value, strategy_range_rule(&field->range, &checker->arena));
        return;
    case SCHEMA_TEXT:
        check_text(checker, field, at, value);
        return;
    case SCHEMA_SHARE:
        rule = percents(value);
        break;
    case SCHEMA_QUANTITY:
        rule = str_starts_with(value->text, STR("-")) ? STR("must not be negative") : STR_NULL;
        break;
    case SCHEMA_OBJECT:
        check_object(checker, field->object, at, value, effective);
        return;
    case SCHEMA_LIST:
        for (size_t i = 0; i < value->array.count; i++) {
            struct crumb here = { .up = at, .kind = CRUMB_INDEX, .index = i };
            check_object(checker, field->object, &here, value->array.items[i], value->array.items[i]);
        }
        return;
    case SCHEMA_BOOL:
    case SCHEMA_BOOLS:
    default:
        return;
    }
    if (!str_empty(rule))
        invalid(checker, at, value, rule);
}

/* Blamed on the half that is written; on the lower one when both are. */
static void check_pair(struct checker *checker, const struct schema_field *field, const struct crumb *at,
                       const struct json *written, const struct json *effective)
{
    struct str low = str_c(field->name), high = str_c(field->below);
    const struct json *lower = json_get(written, low), *upper = json_get(written, high);
    int64_t low_value = 0, high_value = 0;
    if ((!lower && !upper) || !json_i64(json_get(effective, low), &low_value) ||
        !json_i64(json_get(effective, high), &high_value) || low_value < high_value)
        return;
    struct crumb here = { .up = at, .name = lower ? low : high };
    invalid(checker, &here, lower ? lower : upper,
            lower ? arena_strf(&checker->arena, "must be less than %s, which is %lld", field->below,
                               (long long)high_value)
                  : arena_strf(&checker->arena, "must be above %s, which is %lld", field->name,
                               (long long)low_value));
}

static void check_object(struct checker *checker, const struct schema *schema, const struct crumb *at,
                         const struct json *written, const struct json *effective)
{
    for (size_t i = 0; i < schema->count; i++) {
        const struct schema_field *field = &schema->fields[i];
        struct str name = str_c(field->name);
        const struct json *value = json_get(written, name);
        struct crumb here = { .up = at, .name = name };
        if (value)
            check_value(checker, field, &here, value, json_get(effective, name));
        else if (field->required)
            invalid(checker, &here, NULL, STR("must be given"));
        if (field->below)
            check_pair(checker, field, at, written, effective);
    }
}

void schema_check(const struct schema *schema, const struct json *written, const struct json *effective,
                  const struct schema_place *place)
{
    struct checker checker = { .key = place->key, .findings = place->findings };
    struct crumb root = { .name = place->prefix };
    check_object(&checker, schema, &root, written, effective);
    arena_done(&checker.arena);
}
