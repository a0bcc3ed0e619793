#include "api/nodeslo.h"

/* No policy renders to more, since a ConfigMap has no more. */
enum { SPEC_MAX_BYTES = 4 * 1024 * 1024 };

struct nodeslo_decoded {
    struct meta meta;
    const struct json *spec;
};
static const struct json_field nodeslo_fields[] = {
    JSON_FIELD_OBJECT(struct nodeslo_decoded, meta, "metadata", &meta_table),
    JSON_FIELD_TREE(struct nodeslo_decoded, spec, "spec"),
};
static const struct json_table nodeslo_table = JSON_TABLE(struct nodeslo_decoded, nodeslo_fields);

static void write_spec(struct strbuf *out, const struct json *spec)
{
    bool any = false;
    strbuf_addc(out, '{');
    for (size_t i = 0; i < json_count(spec); i++) {
        const struct json_member *member = &spec->object.members[i];
        if (str_eq(member->key, STR("extensions")))
            continue;
        if (any)
            strbuf_addc(out, ',');
        any = true;
        json_write_str(out, member->key);
        strbuf_addc(out, ':');
        json_write(out, member->value);
    }
    strbuf_addc(out, '}');
}

static struct kube_object *project(const void *decoded, struct intern *pool, const struct json_report *report,
                                   struct err *err)
{
    (void)report;
    const struct nodeslo_decoded *in = decoded;
    CLEANUP(strbuf_done) struct strbuf spec = STRBUF_INIT(SPEC_MAX_BYTES);
    if (json_is(in->spec, JSON_OBJECT))
        write_spec(&spec, in->spec);
    if (spec.overflow)
        return err_set(err, ERR_INVALID, "spec is longer than %d bytes", SPEC_MAX_BYTES), NULL;
    struct kube_object *object = kube_object_new(&nodeslo_kind, sizeof(struct nodeslo), &in->meta, pool, err);
    if (!object)
        return NULL;
    struct nodeslo *slo = (struct nodeslo *)(void *)object;
    slo->spec = spec.len ? intern_get(pool, strbuf_str(&spec)) : NULL;
    return object;
}

static void release(struct kube_object *object)
{
    istr_unref(nodeslo_of(object)->spec);
}

/* Texts of one pool are equal exactly when they are one pointer. */
static bool same(const struct kube_object *a, const struct kube_object *b)
{
    return nodeslo_of(a)->spec == nodeslo_of(b)->spec;
}

const struct kube_kind nodeslo_kind = {
    .group = "slo.koordinator.sh",
    .version = "v1alpha1",
    .kind = "NodeSLO",
    .plural = "nodeslos",
    .table = &nodeslo_table,
    .project = project,
    .release = release,
    .same = same,
};
