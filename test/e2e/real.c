#include "real.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "audit.h"
#include "yaml/yaml.h"

#define CRD_PATH "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define NODESLO_PATH "/apis/slo.koordinator.sh/v1alpha1/nodeslos"
#define LEASE_PATH "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/koordinator-manager"

static const struct json *read_yaml(struct e2e *e2e, const char *path)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(1024 * 1024);
    struct err err = ERR_INIT;
    const struct json *root = NULL;
    if (!file_read(path, &text, &err) ||
        !kyaml_parse(&e2e->arena, arena_str(&e2e->arena, strbuf_str(&text)), NULL, &root, &err))
        fail_msg("%s: %s", path, err.text);
    return root;
}

/* --- kubeconfig ---------------------------------------------------------------------- */

/* `inner` of the list item called `name`. */
static const struct json *named(const struct json *list, struct str name, const char *inner)
{
    for (size_t i = 0; i < json_count(list); i++)
        if (str_eq(json_str(json_get(list->array.items[i], STR("name"))), name))
            return json_get(list->array.items[i], str_c(inner));
    return NULL;
}

static const char *text_or_null(struct e2e *e2e, const struct json *object, const char *key)
{
    struct str text = json_str(json_get(object, str_c(key)));
    return text.len ? arena_str(&e2e->arena, text).ptr : NULL;
}

/* A file, or what stands in KEY-data as one. */
static const char *file_or_data(struct e2e *e2e, const struct json *object, const char *key)
{
    const char *file = text_or_null(e2e, object, key);
    const char *data_key = arena_strf(&e2e->arena, "%s-data", key).ptr;
    const char *data = text_or_null(e2e, object, data_key);
    if (file || !data)
        return file;
    int len = (int)strlen(data);
    unsigned char *bytes = arena_alloc(&e2e->arena, (size_t)len + 4);
    int decoded = EVP_DecodeBlock(bytes, (const unsigned char *)data, len);
    assert_true(decoded >= 0);
    while (decoded > 0 && bytes[decoded - 1] == '\0') /* padding comes out as zeros; PEM has none */
        decoded--;
    return e2e_write_file(e2e, key, (struct str){ (const char *)bytes, (size_t)decoded });
}

static void read_kubeconfig(struct e2e *e2e, const char *path)
{
    const struct json *root = read_yaml(e2e, path);
    const struct json *context =
        named(json_get(root, STR("contexts")), json_str(json_get(root, STR("current-context"))), "context");
    const struct json *cluster =
        named(json_get(root, STR("clusters")), json_str(json_get(context, STR("cluster"))), "cluster");
    const struct json *user =
        named(json_get(root, STR("users")), json_str(json_get(context, STR("user"))), "user");
    e2e->url = text_or_null(e2e, cluster, "server");
    if (!e2e->url)
        fail_msg("%s has no server", path);
    e2e->credentials = (struct rest_credentials){
        .ca_file = file_or_data(e2e, cluster, "certificate-authority"),
        .cert_file = file_or_data(e2e, user, "client-certificate"),
        .key_file = file_or_data(e2e, user, "client-key"),
        .token = text_or_null(e2e, user, "token"),
    };
    e2e->kubeconfig = path;
    e2e->real = true;
}

/* --- making it empty ------------------------------------------------------------------ */

static void refuse_foreign_nodes(struct e2e *e2e)
{
    const struct json *nodes = json_get(e2e_get(e2e, "/api/v1/nodes"), STR("items"));
    for (size_t i = 0; i < json_count(nodes); i++) {
        const struct json *node = nodes->array.items[i];
        if (!json_path(node, "metadata", "labels", "koord-e2e", NULL))
            fail_msg("this cluster has a node of its own, " STR_FMT ": it is not one for tests",
                     STR_ARG(json_str(json_path(node, "metadata", "name", NULL))));
    }
}

static size_t items_at(struct e2e *e2e, const char *path)
{
    return json_count(json_get(e2e_get(e2e, "%s", path), STR("items")));
}

/* No kubelet is there to end pods. */
static void empty(struct e2e *e2e, const char *path)
{
    e2e_delete(e2e, "%s?gracePeriodSeconds=0", path);
    EVENTUALLY(e2e, items_at(e2e, path) == 0);
}

static void install_crd(struct e2e *e2e, const char *file, const char *list)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(1024 * 1024);
    json_write(&text, read_yaml(e2e, file));
    int code = e2e_call(e2e, "POST", NULL, arena_str(&e2e->arena, strbuf_str(&text)), CRD_PATH).code;
    if (code != 201 && code != 409)
        fail_msg("cannot create the CRD of %s: %d", file, code);
    EVENTUALLY(e2e, e2e_get(e2e, "%s", list));
}

void real_cluster_take(struct e2e *e2e, const char *kubeconfig)
{
    read_kubeconfig(e2e, kubeconfig);
    e2e->manager_kubeconfig = getenv("KOORD_TEST_MANAGER_KUBECONFIG");
    refuse_foreign_nodes(e2e);
    install_crd(e2e, E2E_CRDS "/slo.koordinator.sh_nodemetrics.yaml", NODEMETRIC_PATH);
    install_crd(e2e, E2E_CRDS "/slo.koordinator.sh_nodeslos.yaml", NODESLO_PATH);
    e2e_delete(e2e, "/api/v1/namespaces/kube-system/configmaps/slo-controller-config");
    e2e_delete(e2e, LEASE_PATH);
    empty(e2e, "/api/v1/namespaces/default/pods");
    empty(e2e, "/api/v1/nodes");
    empty(e2e, NODEMETRIC_PATH);
    empty(e2e, NODESLO_PATH);
    empty(e2e, "/apis/events.k8s.io/v1/namespaces/kube-system/events");
    empty(e2e, "/apis/events.k8s.io/v1/namespaces/default/events");
    audit_begin(e2e);
}
