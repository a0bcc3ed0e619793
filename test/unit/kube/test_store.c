#include <malloc.h>

#include "core_support.h"
#include "api/pod.h"
#include "kube/backoff.h"
#include "kube/store.h"

static const struct str in_ns = STR_INIT("ns");

static const struct kube_object *get(const struct store *store, const char *name)
{
    return store_get(store, in_ns, str_c(name));
}

/* Puts and drops what it replaces. */
static void put(struct store *store, struct kube_object *object)
{
    kube_object_unref(store_put(store, object));
}

static void drop(struct store *store, const char *name)
{
    kube_object_unref(store_remove(store, in_ns, str_c(name)));
}

static size_t indexed(const struct store *store, const char *group)
{
    size_t count;
    const struct kube_object *const *objects = store_by_index(store, str_c(group), &count);
    assert_int_equal(objects != NULL, count > 0);
    for (size_t i = 0; i < count; i++)
        assert_str(istr_str(thing_of(objects[i])->group), group);
    return count;
}

/* --- one by one -------------------------------------------------------------------- */

static void empty_store_knows_nothing(void **state)
{
    (void)state;
    struct store *store = store_new(&thing_kind);
    assert_null(get(store, "a"));
    assert_null(store_remove(store, in_ns, STR("a")));
    assert_int_equal(store_count(store), 0);
    assert_int_equal(indexed(store, "g"), 0);
    store_free(store);
    store_free(NULL);
}

static void put_hands_out_what_it_replaces(void **state)
{
    struct core *core = *state;
    struct store *store = store_new(&thing_kind);
    struct kube_object *first = core_thing(core, "a", "u", "1", NULL, 1);
    struct kube_object *second = core_thing(core, "a", "u", "2", NULL, 2);
    assert_null(store_put(store, first));
    assert_ptr_equal(store_put(store, second), first);
    assert_ptr_equal(get(store, "a"), second);
    assert_int_equal(store_count(store), 1);
    kube_object_unref(first);
    store_free(store);
}

static void remove_hands_out_what_it_removed(void **state)
{
    struct core *core = *state;
    struct store *store = store_new(&thing_kind);
    struct kube_object *object = core_thing(core, "a", "u", "1", "g", 1);
    put(store, object);
    assert_ptr_equal(store_remove(store, in_ns, STR("a")), object);
    assert_null(get(store, "a"));
    assert_int_equal(store_count(store), 0);
    assert_int_equal(indexed(store, "g"), 0);
    kube_object_unref(object);
    store_free(store);
}

static void namespace_and_name_together_are_the_key(void **state)
{
    struct core *core = *state;
    struct store *store = store_new(&thing_kind);
    put(store, core_object(core, &thing_kind, "{\"metadata\":{\"namespace\":\"ab\",\"name\":\"c\"}}"));
    put(store, core_object(core, &thing_kind, "{\"metadata\":{\"namespace\":\"a\",\"name\":\"bc\"}}"));
    put(store, core_object(core, &thing_kind, "{\"metadata\":{\"name\":\"abc\"}}"));
    assert_int_equal(store_count(store), 3);
    assert_non_null(store_get(store, STR("ab"), STR("c")));
    assert_non_null(store_get(store, STR("a"), STR("bc")));
    assert_non_null(store_get(store, STR_NULL, STR("abc")));
    assert_null(store_get(store, STR("a"), STR("c")));
    assert_null(store_get(store, STR_NULL, STR("c")));
    store_free(store);
}

static void a_reference_outlives_the_store(void **state)
{
    struct core *core = *state;
    struct store *store = store_new(&thing_kind);
    put(store, core_thing(core, "a", "u", "1", "g", 42));
    struct kube_object *held = kube_object_ref(get(store, "a"));
    store_free(store);
    assert_int_equal(thing_of(held)->value, 42);
    kube_object_unref(held);
}

/* --- index ------------------------------------------------------------------------- */

static void t_55_changed_value_moves_the_object(void **state)
{
    struct core *core = *state;
    struct store *store = store_new(&thing_kind);
    put(store, core_thing(core, "a", "u", "1", "g", 1));
    put(store, core_thing(core, "b", "v", "1", "g", 1));
    assert_int_equal(indexed(store, "g"), 2);
    put(store, core_thing(core, "a", "u", "2", "h", 1));
    assert_int_equal(indexed(store, "g"), 1);
    assert_int_equal(indexed(store, "h"), 1);
    store_free(store);
}

static void t_55_no_value_means_no_entry(void **state)
{
    struct core *core = *state;
    struct store *store = store_new(&thing_kind);
    put(store, core_thing(core, "a", "u", "1", NULL, 1));
    assert_int_equal(indexed(store, ""), 0);
    put(store, core_thing(core, "a", "u", "2", "g", 1));
    assert_int_equal(indexed(store, "g"), 1);
    put(store, core_thing(core, "a", "u", "3", NULL, 1));
    assert_int_equal(indexed(store, "g"), 0);
    store_free(store);
}

static void t_55_same_value_leaves_one_entry(void **state)
{
    struct core *core = *state;
    struct store *store = store_new(&thing_kind);
    for (int i = 0; i < 10; i++)
        put(store, core_thing(core, "a", i % 2 ? "u" : "v", "1", "g", i));
    assert_int_equal(indexed(store, "g"), 1);
    drop(store, "a");
    assert_int_equal(indexed(store, "g"), 0);
    store_free(store);
}

static void t_55_kind_without_index(void **state)
{
    struct core *core = *state;
    struct kube_kind plain = thing_kind;
    plain.index = NULL;
    struct store *store = store_new(&plain);
    put(store, core_thing(core, "a", "u", "1", "g", 1));
    assert_int_equal(indexed(store, "g"), 0);
    drop(store, "a");
    store_free(store);
}

static void t_55_emptied_values_give_their_strings_back(void **state)
{
    struct core *core = *state;
    struct store *store = store_new(&thing_kind);
    char group[32];
    for (int i = 0; i < 1000; i++) {
        snprintf(group, sizeof group, "group-%d", i);
        put(store, core_thing(core, "a", "u", "1", group, 1));
    }
    assert_int_equal(intern_count(core->pool), 2); /* the namespace and the last group */
    store_free(store);
}

/* --- walking ----------------------------------------------------------------------- */

struct walk {
    size_t seen;
    size_t stop_at;
};

static bool step(void *self, const struct kube_object *object)
{
    struct walk *walk = self;
    assert_non_null(object);
    return ++walk->seen != walk->stop_at;
}

static void walk_sees_each_object_once_and_stops_when_told(void **state)
{
    struct core *core = *state;
    struct store *store = store_new(&thing_kind);
    char name[32];
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "thing-%d", i);
        put(store, core_thing(core, name, "u", "1", NULL, i));
    }
    struct walk all = { 0 }, some = { .stop_at = 7 };
    store_each(store, step, &all);
    store_each(store, step, &some);
    assert_int_equal(all.seen, 100);
    assert_int_equal(some.seen, 7);
    store_free(store);
}

/* --- swap -------------------------------------------------------------------------- */

struct changes {
    const struct store *store;
    size_t count;
    size_t unordered; /* deletes after anything else */
    bool other;
    char text[1024]; /* "-a +b ~c " in the order told */
};

static void note(void *self, const struct kube_object *old, const struct kube_object *new)
{
    struct changes *changes = self;
    const struct kube_object *about = old ? old : new;
    struct str name = kube_object_name(about);
    char sign = !new ? '-' : !old ? '+' : '~';
    size_t used = strlen(changes->text);
    snprintf(changes->text + used, sizeof changes->text - used, "%c" STR_FMT " ", sign, STR_ARG(name));
    changes->count++;
    if (sign == '-')
        changes->unordered += changes->other;
    else
        changes->other = true;
    /* Readers see the new content already. */
    const struct kube_object *now = store_get(changes->store, kube_object_namespace(about), name);
    if (new)
        assert_ptr_equal(now, new);
    else
        assert_true(!now || !kube_uid_eq(now, old));
}

static void swap(struct store *store, struct store *next, struct changes *changes)
{
    *changes = (struct changes){ .store = store };
    store_swap(store, next, note, changes);
    assert_int_equal(store_count(next), 0);
    assert_int_equal(changes->unordered, 0);
}

static void first_swap_adds_everything(void **state)
{
    struct core *core = *state;
    struct store *store = store_new(&thing_kind), *next = store_new(&thing_kind);
    put(next, core_thing(core, "a", "u", "1", "g", 1));
    struct changes changes;
    swap(store, next, &changes);
    assert_string_equal(changes.text, "+a ");
    assert_int_equal(store_count(store), 1);
    assert_int_equal(indexed(store, "g"), 1);
    store_free(next);
    store_free(store);
}

static void t_46_missing_objects_are_deleted_before_others_come(void **state)
{
    struct core *core = *state;
    struct store *store = store_new(&thing_kind), *next = store_new(&thing_kind);
    char name[32];
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "old%d", i);
        put(store, core_thing(core, name, "u", "1", "g", i));
        snprintf(name, sizeof name, "new%d", i);
        put(next, core_thing(core, name, "u", "2", "h", i));
    }
    struct changes changes;
    swap(store, next, &changes);
    assert_int_equal(changes.count, 40);
    assert_int_equal(indexed(store, "g"), 0);
    assert_int_equal(indexed(store, "h"), 20);
    store_free(next);
    store_free(store);
}

struct swap_row {
    const char *name;
    const char *was_uid, *was_rv; /* NULL uid: not there */
    const char *is_uid, *is_rv;
    const char *want;
};

static const struct swap_row swap_rows[] = {
    { "swap: same uid and resourceVersion say nothing", "u", "1", "u", "1", "" },
    { "swap: another resourceVersion is an update", "u", "1", "u", "2", "~a " },
    { "t_38 swap: a lower resourceVersion is an update, too", "u", "9", "u", "2", "~a " },
    { "t_45_ref_11 swap: another uid is a delete and an add", "u", "1", "v", "2", "-a +a " },
    { "t_45 swap: another uid under one resourceVersion", "u", "1", "v", "1", "-a +a " },
    { "t_34 swap: without resourceVersion nobody knows", "u", "", "u", "", "~a " },
    { "t_34 swap: opaque and equal", "u", "abc", "u", "abc", "" },
    { "t_46 swap: gone", "u", "1", NULL, NULL, "-a " },
    { "swap: came", NULL, NULL, "u", "1", "+a " },
    { "swap: objects without uid", "", "1", "", "2", "~a " },
};

static void swap__row(void **state)
{
    const struct swap_row *row = *state;
    struct core core = { .pool = intern_new() };
    struct store *store = store_new(&thing_kind), *next = store_new(&thing_kind);
    if (row->was_uid)
        put(store, core_thing(&core, "a", row->was_uid, row->was_rv, "g", 1));
    if (row->is_uid)
        put(next, core_thing(&core, "a", row->is_uid, row->is_rv, "g", 2));
    struct changes changes;
    swap(store, next, &changes);
    assert_string_equal(changes.text, row->want);
    assert_int_equal(store_count(store), row->is_uid ? 1 : 0);
    store_free(next);
    store_free(store);
    intern_free(core.pool);
}

static void swap_keeps_objects_that_both_share(void **state)
{
    struct core *core = *state;
    struct store *store = store_new(&thing_kind), *next = store_new(&thing_kind);
    put(store, core_thing(core, "a", "u", "", "g", 1));
    put(next, kube_object_ref(get(store, "a")));
    const struct kube_object *shared = get(store, "a");
    struct changes changes;
    swap(store, next, &changes);
    assert_string_equal(changes.text, "");
    assert_ptr_equal(get(store, "a"), shared);
    assert_int_equal(shared->refs, 1);
    store_free(next);
    store_free(store);
}

static void swap_with_nothing_empties(void **state)
{
    struct core *core = *state;
    struct store *store = store_new(&thing_kind), *next = store_new(&thing_kind);
    put(store, core_thing(core, "a", "u", "1", "g", 1));
    struct changes changes;
    swap(store, next, &changes);
    assert_int_equal(store_count(store), 0);
    assert_int_equal(intern_count(core->pool), 0);
    put(store, core_thing(core, "b", "u", "1", "g", 1)); /* both still work */
    put(next, core_thing(core, "c", "u", "1", "g", 1));
    store_free(next);
    store_free(store);
}

/* --- against a naive model --------------------------------------------------------- */

#define KEYS 300
#define GROUPS 7

/* What the store should hold: borrowed pointers, in no structure at all. */
struct model {
    struct random random;
    struct core *core;
    const struct kube_object *is[KEYS];
    int group[KEYS];
    int rv;
};

static void key_name(int key, char name[16])
{
    snprintf(name, 16, "thing-%d", key);
}

static struct kube_object *make(struct model *model, int key, int group)
{
    char name[16], rv[16], text[16];
    key_name(key, name);
    snprintf(rv, sizeof rv, "%d", ++model->rv);
    snprintf(text, sizeof text, "g%d", group);
    return core_thing(model->core, name, "u", rv, group ? text : NULL, key);
}

static void check_model(const struct model *model, const struct store *store)
{
    size_t count = 0, per_group[GROUPS] = { 0 };
    for (int key = 0; key < KEYS; key++) {
        char name[16];
        key_name(key, name);
        assert_ptr_equal(get(store, name), model->is[key]);
        count += model->is[key] != NULL;
        if (model->is[key])
            per_group[model->group[key]]++;
    }
    assert_int_equal(store_count(store), count);
    struct walk walk = { 0 };
    store_each(store, step, &walk);
    assert_int_equal(walk.seen, count);
    for (int group = 1; group < GROUPS; group++) {
        char text[16];
        snprintf(text, sizeof text, "g%d", group);
        assert_int_equal(indexed(store, text), per_group[group]);
    }
}

static void random_swap(struct model *model, struct store *store)
{
    struct store *next = store_new(&thing_kind);
    struct changes changes;
    size_t want = 0;
    for (int key = 0; key < KEYS; key++) {
        int64_t what = random_between(&model->random, 0, 3);
        const struct kube_object *was = model->is[key];
        if (what == 0) { /* gone */
            want += was != NULL;
            model->is[key] = NULL;
        } else if (what == 1 && was) { /* as it was */
            put(next, kube_object_ref(was));
        } else {
            want++;
            model->group[key] = (int)random_between(&model->random, 0, GROUPS - 1);
            struct kube_object *object = make(model, key, model->group[key]);
            model->is[key] = object;
            put(next, object);
        }
    }
    swap(store, next, &changes);
    assert_int_equal(changes.count, want);
    store_free(next);
}

static void any_sequence_agrees_with_a_naive_model(void **state)
{
    struct core *core = *state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct model model = { .random = { .state = seed }, .core = core };
        struct store *store = store_new(&thing_kind);
        for (int i = 0; i < 3000; i++) {
            int key = (int)random_between(&model.random, 0, KEYS - 1);
            /* Phases of growth and of shrinking, so that the tables do both. */
            bool remove = random_between(&model.random, 0, 9) < (i / 500 % 2 ? 7 : 2);
            char name[16];
            key_name(key, name);
            struct kube_object *out;
            if (remove) {
                out = store_remove(store, in_ns, str_c(name));
                assert_ptr_equal(out, model.is[key]);
                model.is[key] = NULL;
            } else {
                model.group[key] = (int)random_between(&model.random, 0, GROUPS - 1);
                struct kube_object *object = make(&model, key, model.group[key]);
                out = store_put(store, object);
                assert_ptr_equal(out, model.is[key]);
                model.is[key] = object;
            }
            kube_object_unref(out);
            if (i % 97 == 0)
                check_model(&model, store);
            if (i % 701 == 700)
                random_swap(&model, store);
        }
        check_model(&model, store);
        store_free(store);
    }
}

/* --- memory ------------------------------------------------------------------------ */

/* Live heap as glibc would account for it, also under a sanitizer's allocator: the linker
 * sends every allocation through here. */
static size_t live_bytes;

static size_t chunk_bytes(void *ptr)
{
    size_t chunk = (malloc_usable_size(ptr) + 8 + 15) & ~(size_t)15;
    return ptr ? (chunk < 32 ? 32 : chunk) : 0;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *ptr, size_t size);
void __real_free(void *ptr);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *ptr, size_t size);
void __wrap_free(void *ptr);

void *__wrap_malloc(size_t size)
{
    void *ptr = __real_malloc(size);
    live_bytes += chunk_bytes(ptr);
    return ptr;
}

void *__wrap_calloc(size_t count, size_t size)
{
    void *ptr = __real_calloc(count, size);
    live_bytes += chunk_bytes(ptr);
    return ptr;
}

void *__wrap_realloc(void *ptr, size_t size)
{
    live_bytes -= chunk_bytes(ptr);
    ptr = __real_realloc(ptr, size);
    live_bytes += chunk_bytes(ptr);
    return ptr;
}

void __wrap_free(void *ptr)
{
    live_bytes -= chunk_bytes(ptr);
    __real_free(ptr);
}

#define PODS 100000
#define PODS_PER_NODE 100

static void pod_name(int i, char *name, size_t size)
{
    snprintf(name, size, "checkout-frontend-7f9c6d5b8c-%05x", (unsigned)i * 2654435761u % 1048576u);
}

static struct kube_object *pod(struct core *core, int i, const char *rv)
{
    char name[64], json[512];
    pod_name(i, name, sizeof name);
    snprintf(json, sizeof json,
             "{\"metadata\":{\"namespace\":\"team-%d\",\"name\":\"%s\",\"resourceVersion\":\"%s\","
             "\"uid\":\"0f8fad5b-d9cb-469f-a165-%012x\"},"
             "\"spec\":{\"nodeName\":\"node-%d.rack-7.example.com\",\"containers\":[{\"resources\":"
             "{\"requests\":{\"cpu\":\"250m\",\"memory\":\"512Mi\"}}}]},\"status\":{\"phase\":\"Running\"}}",
             i % 40, name, rv, (unsigned)i, i / PODS_PER_NODE);
    return core_object(core, &pod_kind, json);
}

static void t_53_a_pod_costs_at_most_200_bytes_and_gives_them_back(void **state)
{
    struct core *core = *state;
    struct store *store = store_new(&pod_kind);
    size_t before = live_bytes;
    for (int i = 0; i < PODS; i++)
        put(store, pod(core, i, "1234567890"));
    assert_int_equal(store_count(store), PODS);
    size_t per_pod = (live_bytes - before) / PODS;
    print_message("           %zu bytes a pod, store, index and node names included\n", per_pod);
    assert_between((int64_t)per_pod, 100, 200);

    size_t on_node;
    assert_non_null(store_by_index(store, STR("node-7.rack-7.example.com"), &on_node));
    assert_int_equal(on_node, PODS_PER_NODE);
    for (int i = 0; i < PODS; i++) {
        char ns[32], name[64];
        snprintf(ns, sizeof ns, "team-%d", i % 40);
        pod_name(i, name, sizeof name);
        assert_non_null(store_get(store, str_c(ns), str_c(name)));
        if (i % 20)
            kube_object_unref(store_remove(store, str_c(ns), str_c(name)));
    }
    assert_int_equal(store_count(store), PODS / 20);
    size_t left = live_bytes - before;
    print_message("           %zu bytes a pod after 95 %% were deleted\n", left / (PODS / 20));
    assert_true(left < (size_t)PODS * per_pod / 8);
    store_free(store);
}

static void t_53_a_relist_that_shares_costs_tables_only(void **state)
{
    struct core *core = *state;
    enum { COUNT = 20000 };
    struct store *store = store_new(&pod_kind);
    size_t before = live_bytes;
    for (int i = 0; i < COUNT; i++)
        put(store, pod(core, i, "1"));
    size_t once = live_bytes - before;
    for (int round = 0; round < 3; round++) {
        struct store *next = store_new(&pod_kind);
        for (int i = 0; i < COUNT; i++) {
            struct kube_object *object = pod(core, i, "1");
            const struct kube_object *known =
                store_get(store, kube_object_namespace(object), kube_object_name(object));
            put(next, kube_object_ref(known));
            kube_object_unref(object);
        }
        assert_true(live_bytes - before < once + once / 3);
        struct changes changes;
        swap(store, next, &changes);
        assert_int_equal(changes.count, 0);
        store_free(next);
    }
    /* glibc may hand out a chunk a little larger than needed. */
    assert_between((int64_t)(live_bytes - before), (int64_t)(once - once / 50), (int64_t)(once + once / 50));
    store_free(store);
}

#define CORE_TEST(test) cmocka_unit_test_setup_teardown(test, core_setup, core_teardown)

int main(void)
{
    const struct CMUnitTest plain[] = {
        CORE_TEST(empty_store_knows_nothing),
        CORE_TEST(put_hands_out_what_it_replaces),
        CORE_TEST(remove_hands_out_what_it_removed),
        CORE_TEST(namespace_and_name_together_are_the_key),
        CORE_TEST(a_reference_outlives_the_store),
        CORE_TEST(t_55_changed_value_moves_the_object),
        CORE_TEST(t_55_no_value_means_no_entry),
        CORE_TEST(t_55_same_value_leaves_one_entry),
        CORE_TEST(t_55_kind_without_index),
        CORE_TEST(t_55_emptied_values_give_their_strings_back),
        CORE_TEST(walk_sees_each_object_once_and_stops_when_told),
        CORE_TEST(first_swap_adds_everything),
        CORE_TEST(t_46_missing_objects_are_deleted_before_others_come),
        CORE_TEST(swap_keeps_objects_that_both_share),
        CORE_TEST(swap_with_nothing_empties),
        CORE_TEST(any_sequence_agrees_with_a_naive_model),
        CORE_TEST(t_53_a_pod_costs_at_most_200_bytes_and_gives_them_back),
        CORE_TEST(t_53_a_relist_that_shares_costs_tables_only),
    };
    struct CMUnitTest tests[ARRAY_LEN(plain) + ARRAY_LEN(swap_rows)];
    memcpy(tests, plain, sizeof plain);
    for (size_t i = 0; i < ARRAY_LEN(swap_rows); i++)
        tests[ARRAY_LEN(plain) + i] =
            (struct CMUnitTest){ swap_rows[i].name, swap__row, NULL, NULL, (void *)&swap_rows[i] };
    return cmocka_run_group_tests_name("kube/store", tests, NULL, NULL);
}
