/* Writes over real HTTP. The rules of single kinds are tested with the rules. */
#include "harness.h"

#define CMS "/api/v1/namespaces/default/configmaps"
#define THINGS "/apis/ex.io/v1/things"
#define CM(name_, rest_)                                                                                     \
    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"" name_ "\"" rest_ "}}"

static const char crd[] =
    "{\"apiVersion\":\"apiextensions.k8s.io/"
    "v1\",\"kind\":\"CustomResourceDefinition\",\"metadata\":{\"name\":"
    "\"things.ex.io\"},\"spec\":{\"group\":\"ex.io\",\"scope\":\"Cluster\",\"names\":{\"plural\":\"things\","
    "\"singular\":\"thing\",\"kind\":\"Thing\",\"listKind\":\"ThingList\"},\"versions\":[{\"name\":\"v1\","
    "\"served\":true,\"storage\":true,\"subresources\":{\"status\":{}},\"selectableFields\":[{\"jsonPath\":"
    "\".spec.color\"}],\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"properties\":{\"spec\":{"
    "\"type\":"
    "\"object\",\"properties\":{\"color\":{\"type\":\"string\",\"enum\":[\"red\",\"blue\"]},\"size\":{"
    "\"type\":"
    "\"integer\",\"default\":3}}},\"status\":{\"type\":\"object\",\"properties\":{\"seen\":{\"type\":"
    "\"integer\"}}}}}}}]}}";

static int setup(void **state)
{
    static struct harness h;
    harness_start(&h, NULL);
    *state = &h;
    return 0;
}

static int setup_crd(void **state)
{
    setup(state);
    struct harness *h = *state;
    return post(h, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd).status == 201 ? 0 : -1;
}

static int teardown(void **state)
{
    harness_stop(*state);
    return 0;
}

static void create__fills_in_what_is_the_servers(void **state)
{
    struct harness *h = *state;
    struct reply reply = post(
        h, CMS, CM("a", ",\"uid\":\"mine\",\"creationTimestamp\":\"1999-01-01T00:00:00Z\",\"generation\":7"));
    assert_int_equal(reply.status, 201);
    assert_int_equal(strlen(at(h, reply.json, "metadata.uid")), 36);
    assert_string_not_equal(at(h, reply.json, "metadata.creationTimestamp"), "1999-01-01T00:00:00Z");
    assert_at(h, reply.json, "metadata.namespace", "default");
    assert_at(h, reply.json, "metadata.generation", "");
    assert_int_equal(rv_of(h, reply.json), apiserver_resource_version(h->server));
}

static void create__twice_is_already_exists(void **state)
{
    struct harness *h = *state;
    post(h, CMS, CM("a", ""));
    assert_status(h, post(h, CMS, CM("a", "")), 409, "AlreadyExists");
}

static void create__generated_names_differ(void **state)
{
    struct harness *h = *state;
    const char *body =
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"generateName\":\"x-\"}}";
    const char *first = at(h, post(h, CMS, body).json, "metadata.name");
    const char *second = at(h, post(h, CMS, body).json, "metadata.name");
    assert_int_equal(strlen(first), 7);
    assert_string_not_equal(first, second);
}

static const struct refusal {
    const char *name;
    const char *method;
    const char *path;
    const char *content_type;
    const char *body;
    int code;
    const char *reason;
} refusals[] = {
    { "create: another namespace than the address is 400", "POST", CMS, "application/json",
      CM("a", ",\"namespace\":\"other\""), 400, "BadRequest" },
    { "create: another kind is 400", "POST", CMS, "application/json",
      "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"a\"}}", 400, "BadRequest" },
    { "create: no name is 422", "POST", CMS, "application/json",
      "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{}}", 422, "Invalid" },
    { "create: a bad name is 422", "POST", CMS, "application/json", CM("A_b", ""), 422, "Invalid" },
    { "create: broken JSON is 400", "POST", CMS, "application/json", "{\"kind\":", 400, "BadRequest" },
    { "create: an array is 400", "POST", CMS, "application/json", "[]", 400, "BadRequest" },
    { "create: an unknown media type is 415", "POST", CMS, "text/plain", "x", 415, "UnsupportedMediaType" },
    { "create: in a namespace that is not there is 404", "POST", "/api/v1/namespaces/nope/configmaps",
      "application/json", CM("a", ""), 404, "NotFound" },
    { "create: with a resourceVersion is refused", "POST", CMS, "application/json",
      CM("a", ",\"resourceVersion\":\"5\""), 400, "BadRequest" },
    { "create: without a namespace in the address is 405", "POST", "/api/v1/configmaps", "application/json",
      CM("a", ""), 405, "MethodNotAllowed" },
    { "put: what is not there is 404", "PUT", CMS "/nope", "application/json", CM("nope", ""), 404,
      "NotFound" },
    { "put: another name is 400", "PUT", CMS "/there", "application/json", CM("other", ""), 400,
      "BadRequest" },
    { "put: an old version is 409", "PUT", CMS "/there", "application/json",
      CM("there", ",\"resourceVersion\":\"1\""), 409, "Conflict" },
    { "put: another uid is 409", "PUT", CMS "/there", "application/json", CM("there", ",\"uid\":\"x\""), 409,
      "Conflict" },
    { "patch: what is not there is 404", "PATCH", CMS "/nope", "application/merge-patch+json", "{}", 404,
      "NotFound" },
    { "patch: an old version is 409", "PATCH", CMS "/there", "application/merge-patch+json",
      "{\"metadata\":{\"resourceVersion\":\"1\"}}", 409, "Conflict" },
    { "patch: a media type that is none is 415", "PATCH", CMS "/there", "application/json", "{}", 415,
      "UnsupportedMediaType" },
    { "patch: a failed JSON test is 422", "PATCH", CMS "/there", "application/json-patch+json",
      "[{\"op\":\"test\",\"path\":\"/data/key\",\"value\":\"no\"}]", 422, "Invalid" },
    { "delete: what is not there is 404", "DELETE", CMS "/nope", NULL, NULL, 404, "NotFound" },
    { "delete: another uid is 409", "DELETE", CMS "/there", "application/json",
      "{\"preconditions\":{\"uid\":\"x\"}}", 409, "Conflict" },
    { "delete: an old version is 409", "DELETE", CMS "/there", "application/json",
      "{\"preconditions\":{\"resourceVersion\":\"1\"}}", 409, "Conflict" },
    { "any: dryRun must be All", "POST", CMS "?dryRun=Some", "application/json", CM("a", ""), 422,
      "Invalid" },
    { "any: fieldValidation must be known", "POST", CMS "?fieldValidation=Maybe", "application/json",
      CM("a", ""), 422, "Invalid" },
    { "delete: propagationPolicy must be known", "DELETE", CMS "/there?propagationPolicy=Some", NULL, NULL,
      422, "Invalid" },
    { "patch: force is for applying", "PATCH", CMS "/there?force=true", "application/merge-patch+json", "{}",
      422, "Invalid" },
    { "patch: another uid is 422", "PATCH", CMS "/there", "application/merge-patch+json",
      "{\"metadata\":{\"uid\":\"x\"}}", 422, "Invalid" },
    { "patch: a wrong type is 422, not 400 as in a PUT", "PATCH", CMS "/there",
      "application/merge-patch+json", "{\"data\":{\"key\":5}}", 422, "Invalid" },
    { "patch: a quantity that is none is 422", "PATCH", "/api/v1/nodes/n/status",
      "application/merge-patch+json", "{\"status\":{\"capacity\":{\"cpu\":\"abc\"}}}", 422, "Invalid" },
    { "any: an unknown method is 405", "PUT", CMS, "application/json", CM("a", ""), 405, "MethodNotAllowed" },
    { "any: a status where there is none is 404", "PUT", CMS "/there/status", "application/json",
      CM("there", ""), 404, "NotFound" },
    { "node: a fractional mid-cpu is 422", "PATCH", "/api/v1/nodes/n/status", "application/merge-patch+json",
      "{\"status\":{\"capacity\":{\"kubernetes.io/mid-cpu\":\"0.5\"}}}", 422, "Invalid" },
    { "node: a negative mid-cpu is 422", "PATCH", "/api/v1/nodes/n/status", "application/merge-patch+json",
      "{\"status\":{\"capacity\":{\"kubernetes.io/mid-cpu\":\"-5\"}}}", 422, "Invalid" },
    { "lease: a MicroTime without six digits is 400", "POST",
      "/apis/coordination.k8s.io/v1/namespaces/default/leases", "application/json",
      "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":\"l\"},\"spec\":"
      "{\"renewTime\":\"2026-07-24T08:00:00Z\"}}",
      400, "BadRequest" },
};

static void refusal__row(void **state)
{
    const struct refusal *row = *state;
    void *made;
    setup(&made);
    struct harness *h = made;
    add_config_map(h, "there", "1");
    add_node(h, "n");
    int64_t rv = apiserver_resource_version(h->server);
    struct reply reply = ask(h, row->method, row->path, row->content_type, row->body);
    assert_status(h, reply, row->code, row->reason);
    assert_int_equal(apiserver_resource_version(h->server), rv);
    teardown(&made);
}

static void put__replaces_and_moves_the_version(void **state)
{
    struct harness *h = *state;
    add_config_map(h, "a", "1");
    struct reply before = get(h, CMS "/a");
    struct reply reply = put(h, CMS "/a", CM("a", ",\"labels\":{\"x\":\"y\"}"));
    assert_int_equal(reply.status, 200);
    assert_at(h, reply.json, "data", "");
    assert_at(h, reply.json, "metadata.labels.x", "y");
    assert_string_equal(at(h, reply.json, "metadata.uid"), at(h, before.json, "metadata.uid"));
    assert_string_equal(at(h, reply.json, "metadata.creationTimestamp"),
                        at(h, before.json, "metadata.creationTimestamp"));
    assert_true(rv_of(h, reply.json) > rv_of(h, before.json));
}

static void put__a_lease_may_be_created_but_not_changed_blindly(void **state)
{
    struct harness *h = *state;
    const char *path = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l";
    const char *body =
        "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":\"l\"},"
        "\"spec\":{\"holderIdentity\":\"me\"}}";
    assert_int_equal(put(h, path, body).status, 201);
    assert_status(h, put(h, path, body), 422, "Invalid");
}

static void wrt_4_a_write_that_changes_nothing_moves_nothing(void **state)
{
    struct harness *h = *state;
    add_config_map(h, "a", "1");
    int64_t rv = apiserver_resource_version(h->server);
    struct stream s;
    stream_open(h, &s, arena_strf(&h->arena, CMS "?watch=true&resourceVersion=%d", (int)rv).ptr);
    assert_int_equal(rv_of(h, merge(h, CMS "/a", "{\"data\":{\"key\":\"1\"}}").json), rv);
    assert_int_equal(rv_of(h, put(h, CMS "/a", get(h, CMS "/a").text.ptr).json), rv);
    assert_int_equal(apiserver_resource_version(h->server), rv);
    merge(h, CMS "/a", "{\"data\":{\"key\":\"2\"}}");
    assert_event(&s, 0, "MODIFIED", "a");
    assert_at(h, s.events[0], "object.data.key", "2");
    stream_close(&s);
}

static void patch__four_types(void **state)
{
    struct harness *h = *state;
    add_config_map(h, "a", "1");
    assert_at(h, merge(h, CMS "/a", "{\"data\":{\"m\":\"1\"}}").json, "data.m", "1");
    assert_at(h,
              ask(h, "PATCH", CMS "/a", "application/strategic-merge-patch+json",
                  "{\"data\":{\"s\":\"1\",\"m\":null}}")
                  .json,
              "data.m", "");
    assert_at(h,
              ask(h, "PATCH", CMS "/a", "application/json-patch+json",
                  "[{\"op\":\"add\",\"path\":\"/data/j\",\"value\":\"1\"}]")
                  .json,
              "data.j", "1");
    struct reply applied =
        ask(h, "PATCH", CMS "/a?fieldManager=me&force=true", "application/apply-patch+yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {y: '1'}\n");
    assert_int_equal(applied.status, 200);
    assert_at(h, applied.json, "data.y", "1");
    assert_at(h, applied.json, "data.key", "1");
}

static void apply__creates_with_a_creation_time(void **state)
{
    struct harness *h = *state;
    struct reply reply =
        ask(h, "PATCH", CMS "/new?fieldManager=me", "application/apply-patch+yaml",
            "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"new\"}}");
    assert_int_equal(reply.status, 201);
    assert_string_not_equal(at(h, reply.json, "metadata.creationTimestamp"), "");
    assert_string_not_equal(at(h, reply.json, "metadata.uid"), "");
}

static void status__of_a_node_is_taken_on_its_own_endpoint_only(void **state)
{
    struct harness *h = *state;
    add_node(h, "n");
    merge(h, "/api/v1/nodes/n",
          "{\"status\":{\"capacity\":{\"cpu\":\"64\"}},\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
    struct reply node = get(h, "/api/v1/nodes/n");
    assert_at(h, node.json, "status.capacity.cpu", "8");
    assert_at(h, node.json, "metadata.labels.a", "b");
    merge(h, "/api/v1/nodes/n/status",
          "{\"status\":{\"capacity\":{\"kubernetes.io/"
          "mid-cpu\":\"10000\"}},\"spec\":{\"unschedulable\":true}}");
    node = get(h, "/api/v1/nodes/n");
    assert_at(h, node.json, "status.capacity.kubernetes", ""); /* the path helper cuts at dots */
    assert_true(str_eq(
        json_str(json_get(json_path(node.json, "status", "capacity", NULL), STR("kubernetes.io/mid-cpu"))),
        STR("10k")));
    assert_at(h, node.json, "spec.unschedulable", "");
}

static void status__of_a_node_comes_with_its_creation(void **state)
{
    struct harness *h = *state;
    struct reply reply =
        post(h, "/api/v1/nodes",
             "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n\"},\"status\":"
             "{\"capacity\":{\"cpu\":\"8\"}}}");
    assert_at(h, reply.json, "status.capacity.cpu", "8");
}

#define THING(name_, rest_)                                                                                  \
    "{\"apiVersion\":\"ex.io/v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"" name_ "\"}" rest_ "}"

static void custom__status_at_create_is_ignored_and_generation_counts_the_spec(void **state)
{
    struct harness *h = *state;
    struct reply made = post(h, THINGS, THING("t", ",\"spec\":{\"color\":\"red\"},\"status\":{\"seen\":1}"));
    assert_int_equal(made.status, 201);
    assert_at(h, made.json, "status", "");
    assert_at(h, made.json, "spec.size", "3");
    assert_at(h, made.json, "metadata.generation", "1");
    assert_at(h, merge(h, THINGS "/t", "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}").json,
              "metadata.generation", "1");
    assert_at(h, merge(h, THINGS "/t/status", "{\"status\":{\"seen\":2},\"spec\":{\"color\":\"blue\"}}").json,
              "metadata.generation", "1");
    struct reply now = merge(h, THINGS "/t", "{\"spec\":{\"color\":\"blue\"},\"status\":{\"seen\":9}}");
    assert_at(h, now.json, "metadata.generation", "2");
    assert_at(h, now.json, "status.seen", "2");
}

static void custom__the_status_endpoint_leaves_metadata_alone(void **state)
{
    struct harness *h = *state;
    post(h, THINGS, THING("t", ""));
    merge(h, THINGS "/t/status", "{\"status\":{\"seen\":2},\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
    assert_at(h, get(h, THINGS "/t").json, "metadata.labels.a", "");
    assert_at(h, get(h, THINGS "/t").json, "status.seen", "2");
}

static void custom__is_pruned_and_checked(void **state)
{
    struct harness *h = *state;
    struct reply made = post(h, THINGS, THING("t", ",\"spec\":{\"color\":\"red\",\"junk\":1}"));
    assert_at(h, made.json, "spec.junk", "");
    assert_status(h, post(h, THINGS "?fieldValidation=Strict", THING("u", ",\"spec\":{\"junk\":1}")), 400,
                  "BadRequest");
    assert_status(h, post(h, THINGS, THING("u", ",\"spec\":{\"color\":\"green\"}")), 422, "Invalid");
    assert_status(h, ask(h, "PATCH", THINGS "/t", "application/strategic-merge-patch+json", "{}"), 415,
                  "UnsupportedMediaType");
    assert_status(h, put(h, THINGS "/t", THING("t", "")), 422, "Invalid");
}

static void custom__selectable_fields_select(void **state)
{
    struct harness *h = *state;
    post(h, THINGS, THING("r", ",\"spec\":{\"color\":\"red\"}"));
    post(h, THINGS, THING("b", ",\"spec\":{\"color\":\"blue\"}"));
    struct reply list = get(h, THINGS "?fieldSelector=spec.color%3Dblue");
    assert_int_equal(json_count(json_get(list.json, STR("items"))), 1);
    assert_at(h, list.json, "items[0].metadata.name", "b");
    assert_at(h, list.json, "items[0].kind", "Thing");
}

static void crd__is_established_at_once_and_writing_it_again_changes_nothing(void **state)
{
    struct harness *h = *state;
    const char *path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.ex.io";
    struct reply reply = get(h, path);
    bool established = false;
    const struct json *conditions = json_path(reply.json, "status", "conditions", NULL);
    for (size_t i = 0; i < json_count(conditions); i++)
        established |=
            str_eq(json_str(json_get(conditions->array.items[i], STR("type"))), STR("Established"));
    assert_true(established);
    assert_int_equal(rv_of(h, merge(h, path, "{}").json), rv_of(h, reply.json));
    /* The manifest itself, silent about what the server has filled in. */
    const struct json *manifest;
    assert_true(json_parse(&h->arena, STR(crd), NULL, &manifest, NULL));
    struct json *again = json_copy(&h->arena, manifest);
    struct json *metadata = json_copy(&h->arena, json_get(manifest, STR("metadata")));
    json_set(&h->arena, metadata, STR("resourceVersion"),
             json_path(reply.json, "metadata", "resourceVersion", NULL));
    json_set(&h->arena, again, STR("metadata"), metadata);
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(1 << 20);
    json_write(&text, again);
    struct reply same = put(h, path, strbuf_cstr(&text));
    assert_int_equal(same.status, 200);
    assert_at(h, same.json, "metadata.generation", "1");
    assert_int_equal(rv_of(h, same.json), rv_of(h, reply.json));
}

static void delete__answers_success_and_the_object_is_gone(void **state)
{
    struct harness *h = *state;
    add_config_map(h, "a", "1");
    struct reply reply = del(h, CMS "/a",
                             "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"propagationPolicy\":"
                             "\"Background\"}");
    assert_int_equal(reply.status, 200);
    assert_at(h, reply.json, "status", "Success");
    assert_at(h, reply.json, "details.name", "a");
    assert_int_equal(get(h, CMS "/a").status, 404);
}

static void delete__right_preconditions_let_it_pass(void **state)
{
    struct harness *h = *state;
    add_config_map(h, "a", "1");
    const char *uid = at(h, get(h, CMS "/a").json, "metadata.uid");
    const char *body = arena_strf(&h->arena, "{\"preconditions\":{\"uid\":\"%s\"}}", uid).ptr;
    assert_int_equal(del(h, CMS "/a", body).status, 200);
}

static void delete__finalizers_hold_until_the_last_is_gone(void **state)
{
    struct harness *h = *state;
    post(h, CMS, CM("a", ",\"finalizers\":[\"ex.io/x\",\"ex.io/y\"]"));
    struct reply held = del(h, CMS "/a", NULL);
    assert_int_equal(held.status, 200);
    assert_string_not_equal(at(h, held.json, "metadata.deletionTimestamp"), "");
    int64_t rv = apiserver_resource_version(h->server);
    assert_int_equal(del(h, CMS "/a", NULL).status, 200);
    assert_int_equal(apiserver_resource_version(h->server), rv);
    merge(h, CMS "/a", "{\"metadata\":{\"finalizers\":[\"ex.io/y\"]}}");
    assert_int_equal(get(h, CMS "/a").status, 200);
    assert_int_equal(merge(h, CMS "/a", "{\"metadata\":{\"finalizers\":null}}").status, 200);
    assert_int_equal(get(h, CMS "/a").status, 404);
}

static void delete__a_collection_by_selector(void **state)
{
    struct harness *h = *state;
    add_config_map(h, "a", "x");
    add_config_map(h, "b", "y");
    struct reply reply = del(h, CMS "?labelSelector=value%3Dx", NULL);
    assert_int_equal(reply.status, 200);
    assert_at(h, reply.json, "items[0].metadata.name", "a");
    assert_int_equal(get(h, CMS "/a").status, 404);
    assert_int_equal(get(h, CMS "/b").status, 200);
}

static void delete__a_namespace_takes_its_objects_along(void **state)
{
    struct harness *h = *state;
    struct err err = ERR_INIT;
    assert_true(apiserver_put(h->server,
                              STR("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
                                  "\"x\",\"namespace\":\"z\"}}"),
                              &err));
    assert_int_equal(get(h, "/api/v1/namespaces/z").status, 200);
    assert_int_equal(del(h, "/api/v1/namespaces/z", NULL).status, 200);
    assert_int_equal(get(h, "/api/v1/namespaces/z").status, 404);
    assert_int_equal(get(h, "/api/v1/namespaces/z/configmaps/x").status, 404);
}

static void dry_run__answers_but_keeps_nothing(void **state)
{
    struct harness *h = *state;
    add_config_map(h, "a", "1");
    int64_t rv = apiserver_resource_version(h->server);
    assert_int_equal(post(h, CMS "?dryRun=All", CM("new", "")).status, 201);
    assert_at(h, merge(h, CMS "/a?dryRun=All", "{\"data\":{\"key\":\"2\"}}").json, "data.key", "2");
    assert_int_equal(del(h, CMS "/a?dryRun=All", NULL).status, 200);
    assert_int_equal(del(h, CMS "/a", "{\"dryRun\":[\"All\"]}").status, 200);
    assert_int_equal(apiserver_resource_version(h->server), rv);
    assert_at(h, get(h, CMS "/a").json, "data.key", "1");
}

static void scale__reads_and_changes_replicas(void **state)
{
    struct harness *h = *state;
    struct err err = ERR_INIT;
    const char *path = "/apis/apps/v1/namespaces/default/deployments/d";
    if (!apiserver_put(
            h->server,
            STR("{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"d\"},\"spec\":"
                "{\"replicas\":2,\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":"
                "{\"labels\":{\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}"),
            &err))
        fail_msg("%s", err.text);
    assert_at(h, get(h, arena_strf(&h->arena, "%s/scale", path).ptr).json, "spec.replicas", "2");
    assert_at(h, merge(h, arena_strf(&h->arena, "%s/scale", path).ptr, "{\"spec\":{\"replicas\":5}}").json,
              "spec.replicas", "5");
    assert_at(h, get(h, path).json, "spec.replicas", "5");
    assert_at(h, get(h, path).json, "metadata.generation", "2");
}

static void pod__binding_and_eviction(void **state)
{
    struct harness *h = *state;
    add_pod(h, "p", "");
    const char *body =
        "{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":\"p\"},\"target\":{\"kind\":"
        "\"Node\",\"name\":\"n\"}}";
    assert_int_equal(post(h, "/api/v1/namespaces/default/pods/p/binding", body).status, 201);
    assert_at(h, get(h, "/api/v1/namespaces/default/pods/p").json, "spec.nodeName", "n");
    assert_status(h, post(h, "/api/v1/namespaces/default/pods/p/binding", body), 409, "Conflict");
    assert_int_equal(
        post(h, "/api/v1/namespaces/default/pods/p/eviction",
             "{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\",\"metadata\":{\"name\":\"p\"}}")
            .status,
        201);
    assert_at(h, get(h, "/api/v1/namespaces/default/pods/p").json, "metadata.deletionGracePeriodSeconds",
              "30");
}

static void review__says_yes_when_nothing_is_enforced(void **state)
{
    struct harness *h = *state;
    struct reply reply =
        post(h, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
             "{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SelfSubjectAccessReview\","
             "\"spec\":{\"resourceAttributes\":{\"verb\":\"get\",\"resource\":\"pods\"}}}");
    assert_int_equal(reply.status, 201);
    assert_at(h, reply.json, "status.allowed", "true");
}

#define TEST(function_) cmocka_unit_test_setup_teardown(function_, setup, teardown)
#define CRD(function_) cmocka_unit_test_setup_teardown(function_, setup_crd, teardown)

int main(void)
{
    static const struct CMUnitTest plain[] = {
        TEST(create__fills_in_what_is_the_servers),
        TEST(create__twice_is_already_exists),
        TEST(create__generated_names_differ),
        TEST(put__replaces_and_moves_the_version),
        TEST(put__a_lease_may_be_created_but_not_changed_blindly),
        TEST(wrt_4_a_write_that_changes_nothing_moves_nothing),
        TEST(patch__four_types),
        TEST(apply__creates_with_a_creation_time),
        TEST(status__of_a_node_is_taken_on_its_own_endpoint_only),
        TEST(status__of_a_node_comes_with_its_creation),
        CRD(custom__status_at_create_is_ignored_and_generation_counts_the_spec),
        CRD(custom__the_status_endpoint_leaves_metadata_alone),
        CRD(custom__is_pruned_and_checked),
        CRD(custom__selectable_fields_select),
        CRD(crd__is_established_at_once_and_writing_it_again_changes_nothing),
        TEST(delete__answers_success_and_the_object_is_gone),
        TEST(delete__right_preconditions_let_it_pass),
        TEST(delete__finalizers_hold_until_the_last_is_gone),
        TEST(delete__a_collection_by_selector),
        TEST(delete__a_namespace_takes_its_objects_along),
        TEST(dry_run__answers_but_keeps_nothing),
        TEST(scale__reads_and_changes_replicas),
        TEST(pod__binding_and_eviction),
        TEST(review__says_yes_when_nothing_is_enforced),
    };
    static struct CMUnitTest tests[ARRAY_LEN(plain) + ARRAY_LEN(refusals)];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++)
        tests[count++] = (struct CMUnitTest){ refusals[i].name, refusal__row, NULL, NULL,
                                              (void *)(uintptr_t)&refusals[i] };
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        tests[count++] = plain[i];
    return cmocka_run_group_tests_name("apiserver/write", tests, NULL, NULL);
}
