/* The NodeSLO CRD against what the policy may render: nothing is dropped, nothing refused. */
#include "trees.h"
#include "base/file.h"
#include "sloconfig/slo.h"
#include "test/apiserver/crd.h"
#include "test/apiserver/validate.h"
#include "yaml/yaml.h"

static struct arena arena;
static struct api_resource *crd;

static int setup(void **state)
{
    (void)state;
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(1048576);
    struct err err = ERR_INIT;
    const struct json *tree_of_it;
    size_t count, storage;
    arena = ARENA_INIT;
    if (!file_read(KOORD_TESTDATA "/../../crds/slo.koordinator.sh_nodeslos.yaml", &text, &err) ||
        !kyaml_parse(&arena, strbuf_str(&text), NULL, &tree_of_it, &err) ||
        !api_crd_read(&arena, tree_of_it, &crd, &count, &storage, &err))
        print_error("%s\n", err.text);
    return crd ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

/* Every field of a schema, with a value far outside every range. */
static const struct json *everything(const struct schema *schema)
{
    struct json *object = json_new(&arena, JSON_OBJECT);
    for (size_t i = 0; i < schema->count; i++) {
        const struct schema_field *field = &schema->fields[i];
        struct json *value = NULL;
        switch (field->type) {
        case SCHEMA_BOOL:
            value = json_new_bool(&arena, true);
            break;
        case SCHEMA_INT:
        case SCHEMA_SHARE:
            value = json_new_i64(&arena, -12345);
            break;
        case SCHEMA_TEXT:
        case SCHEMA_QUANTITY:
            value = json_new_str(&arena, STR("7"));
            break;
        case SCHEMA_BOOLS:
            value = json_new(&arena, JSON_OBJECT);
            json_set(&arena, value, STR("A"), json_new_bool(&arena, false));
            break;
        case SCHEMA_LIST:
            value = json_new(&arena, JSON_ARRAY);
            json_push(&arena, value, everything(field->object));
            break;
        case SCHEMA_OBJECT:
            json_set(&arena, object, str_c(field->name), everything(field->object));
            continue;
        }
        json_set(&arena, object, str_c(field->name), value);
    }
    return object;
}

static const struct json *nodeslo_with(const struct json *spec)
{
    struct json *object = json_copy(&arena, tree(&arena, "{'apiVersion':'slo.koordinator.sh/v1alpha1',"
                                                         "'kind':'NodeSLO','metadata':{'name':'n'}}"));
    json_set(&arena, object, STR("spec"), spec);
    return object;
}

static void assert_kept(const struct json *spec)
{
    struct api_error error = API_ERROR_INIT;
    const struct json *object = NULL;
    assert_true(api_object_decode(&arena, crd, nodeslo_with(spec), API_FIELDS_STRICT, NULL, &object, &error));
    assert_true(json_equal(json_get(object, STR("spec")), spec));
    bool valid = api_object_validate(&arena, crd, object, NULL, &error);
    assert_text(error.message, "");
    assert_true(valid);
}

static void every_field_is_kept_whatever_its_value(void **state)
{
    (void)state;
    assert_kept(everything(&nodeslo_schema));
}

static void fields_of_others_are_kept(void **state)
{
    (void)state;
    assert_kept(tree(&arena, "{'extensions':{'Object':{'a':[1]}},'future':{'b':true}}"));
}

static void a_share_may_be_a_quantity(void **state)
{
    (void)state;
    assert_kept(tree(&arena, "{'resourceQOSStrategy':{'lsClass':{'networkQOS':{'ingressLimit':'50M'}}}}"));
}

static void types_are_checked(void **state)
{
    (void)state;
    struct api_error error = API_ERROR_INIT;
    const struct json *object = nodeslo_with(tree(&arena, "{'cpuBurstStrategy':{'cpuBurstPercent':'1'}}"));
    assert_false(api_object_validate(&arena, crd, object, NULL, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_is_kept_whatever_its_value),
        cmocka_unit_test(fields_of_others_are_kept),
        cmocka_unit_test(a_share_may_be_a_quantity),
        cmocka_unit_test(types_are_checked),
    };
    return cmocka_run_group_tests_name("apiserver/nodeslo_crd", tests, setup, teardown);
}
