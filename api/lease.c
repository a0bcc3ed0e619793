#include "api/lease.h"

struct lease_decoded {
    struct meta meta;
    struct lease_spec {
        struct str holder;
        struct str preferred;
        int64_t duration_s;
        int64_t transitions;
        struct opt_time acquire_time;
        struct opt_time renew_time;
    } spec;
};

static const struct json_field spec_fields[] = {
    JSON_FIELD_STR(struct lease_spec, holder, "holderIdentity"),
    JSON_FIELD_STR(struct lease_spec, preferred, "preferredHolder"),
    JSON_FIELD_I64(struct lease_spec, duration_s, "leaseDurationSeconds"),
    JSON_FIELD_I64(struct lease_spec, transitions, "leaseTransitions"),
    JSON_FIELD_SCALAR(struct lease_spec, acquire_time, "acquireTime", api_into_time),
    JSON_FIELD_SCALAR(struct lease_spec, renew_time, "renewTime", api_into_time),
};
static const struct json_table spec_table = JSON_TABLE(struct lease_spec, spec_fields);

static const struct json_field lease_fields[] = {
    JSON_FIELD_OBJECT(struct lease_decoded, meta, "metadata", &meta_table),
    JSON_FIELD_OBJECT(struct lease_decoded, spec, "spec", &spec_table),
};
static const struct json_table lease_table = JSON_TABLE(struct lease_decoded, lease_fields);

static const struct istr *keep(struct intern *pool, struct str text)
{
    return str_empty(text) ? NULL : intern_get(pool, text);
}

static struct kube_object *project(const void *decoded, struct intern *pool, const struct json_report *report,
                                   struct err *err)
{
    (void)report;
    const struct lease_decoded *in = decoded;
    struct kube_object *object = kube_object_new(&lease_kind, sizeof(struct lease), &in->meta, pool, err);
    if (!object)
        return NULL;
    struct lease *lease = (struct lease *)(void *)object;
    lease->holder = keep(pool, in->spec.holder);
    lease->preferred = keep(pool, in->spec.preferred);
    lease->duration_s = in->spec.duration_s;
    lease->transitions = in->spec.transitions;
    lease->acquire_time = in->spec.acquire_time;
    lease->renew_time = in->spec.renew_time;
    return object;
}

static void release(struct kube_object *object)
{
    const struct lease *lease = lease_of(object);
    istr_unref(lease->holder);
    istr_unref(lease->preferred);
}

/* Every renewal matters to whoever waits for it to stop. */
const struct kube_kind lease_kind = {
    .group = "coordination.k8s.io",
    .version = "v1",
    .kind = "Lease",
    .plural = "leases",
    .namespaced = true,
    .table = &lease_table,
    .project = project,
    .release = release,
};

struct kube_object *lease_decode(struct intern *pool, struct str text, struct err *err)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct lease_decoded decoded;
    if (!json_decode(&arena, text, &lease_table, &decoded, NULL, err))
        return NULL;
    return project(&decoded, pool, NULL, err);
}
