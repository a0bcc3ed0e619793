#include "api/nrt.h"

struct nrt_decoded {
    struct {
        struct meta meta;
        struct nrt_annotations {
            struct opt_text cpu_basic_info;
        } annotations;
    } metadata;
    const struct json *zones;
};

static const struct json_field annotation_fields[] = {
    JSON_FIELD_SCALAR(struct nrt_annotations, cpu_basic_info, "node.koordinator.sh/cpu-basic-info",
                      api_into_text),
};
static const struct json_table annotation_table = JSON_TABLE(struct nrt_annotations, annotation_fields);

#define NRT_META __typeof__(((struct nrt_decoded *)NULL)->metadata)
static const struct json_field metadata_fields[] = {
    META_IDENTITY_FIELDS(NRT_META, meta),
    JSON_FIELD_OBJECT(NRT_META, annotations, "annotations", &annotation_table),
};
static const struct json_table metadata_table = JSON_TABLE(NRT_META, metadata_fields);

static const struct json_field nrt_fields[] = {
    JSON_FIELD_OBJECT(struct nrt_decoded, metadata, "metadata", &metadata_table),
    JSON_FIELD_TREE(struct nrt_decoded, zones, "zones"),
};
static const struct json_table nrt_table = JSON_TABLE(struct nrt_decoded, nrt_fields);

enum { ZONES_MAX_BYTES = 1024 * 1024 };

static struct kube_object *project(const void *decoded, struct intern *pool, const struct json_report *report,
                                   struct err *err)
{
    const struct nrt_decoded *in = decoded;
    CLEANUP(strbuf_done) struct strbuf zones = STRBUF_INIT(ZONES_MAX_BYTES);
    struct kube_object *object =
        kube_object_new(&nrt_kind, sizeof(struct nrt), &in->metadata.meta, pool, err);
    if (!object)
        return NULL;
    struct nrt *nrt = (struct nrt *)(void *)object;
    const struct opt_text *info = &in->metadata.annotations.cpu_basic_info;
    nrt->cpu_basic_info = info->set ? intern_get(pool, info->text) : NULL;
    if (json_is(in->zones, JSON_ARRAY))
        json_write(&zones, in->zones);
    if (zones.overflow && report && report->mismatch)
        report->mismatch(report->self, STR("zones"), STR("array"), "longer than 1 MiB, left out");
    nrt->zones = zones.len && !zones.overflow ? intern_get(pool, strbuf_str(&zones)) : NULL;
    return object;
}

static void release(struct kube_object *object)
{
    istr_unref(nrt_of(object)->cpu_basic_info);
    istr_unref(nrt_of(object)->zones);
}

static bool same(const struct kube_object *a, const struct kube_object *b)
{
    return nrt_of(a)->cpu_basic_info == nrt_of(b)->cpu_basic_info && nrt_of(a)->zones == nrt_of(b)->zones;
}

const struct kube_kind nrt_kind = {
    .group = "topology.node.k8s.io",
    .version = "v1alpha1",
    .kind = "NodeResourceTopology",
    .plural = "noderesourcetopologies",
    .table = &nrt_table,
    .project = project,
    .release = release,
    .same = same,
};
