#include "test/apiserver/builtin.h"
#include "base/base.h"

#define NAMES(...)                                                                                           \
    .short_names = (const struct str[]){ __VA_ARGS__ },                                                      \
    .short_name_count = ARRAY_LEN(((const struct str[]){ __VA_ARGS__ }))
#define IN_ALL .categories = (const struct str[]){ STR_INIT("all") }, .category_count = 1
#define NAMED(kind_, plural_, singular_)                                                                     \
    .kind = STR_INIT(kind_), .list_kind = STR_INIT(kind_ "List"), .plural = STR_INIT(plural_),               \
    .singular = STR_INIT(singular_)
#define CORE .version = STR_INIT("v1")
#define OF(group_) .group = STR_INIT(group_), .version = STR_INIT("v1")
#define SHORT(name_) STR_INIT(name_)
#define VERBS .verbs = API_VERBS_ALL
#define NAMESPACED .namespaced = true
#define STATUS .has_status = true
#define GENERATION .counts_generation = true

static const struct api_resource resources[] = {
    { CORE, NAMED("Node", "nodes", "node"), NAMES(SHORT("no")), VERBS, STATUS },
    { CORE, NAMED("Namespace", "namespaces", "namespace"), NAMES(SHORT("ns")), VERBS, STATUS },
    { CORE, NAMED("Pod", "pods", "pod"), NAMES(SHORT("po")), IN_ALL, VERBS, NAMESPACED, STATUS },
    { CORE, NAMED("ConfigMap", "configmaps", "configmap"), NAMES(SHORT("cm")), VERBS, NAMESPACED },
    { CORE, NAMED("Secret", "secrets", "secret"), VERBS, NAMESPACED },
    { CORE, NAMED("Service", "services", "service"), NAMES(SHORT("svc")), IN_ALL, VERBS, NAMESPACED, STATUS },
    { CORE, NAMED("ServiceAccount", "serviceaccounts", "serviceaccount"), NAMES(SHORT("sa")), VERBS,
      NAMESPACED },
    { CORE, NAMED("Endpoints", "endpoints", "endpoints"), NAMES(SHORT("ep")), VERBS, NAMESPACED },
    { CORE, NAMED("Event", "events", "event"), NAMES(SHORT("ev")), VERBS, NAMESPACED },
    { OF("events.k8s.io"), NAMED("Event", "events", "event"), NAMES(SHORT("ev")), VERBS, NAMESPACED },
    { OF("coordination.k8s.io"), NAMED("Lease", "leases", "lease"), VERBS, NAMESPACED },
    { OF("apps"), NAMED("Deployment", "deployments", "deployment"), NAMES(SHORT("deploy")), IN_ALL, VERBS,
      NAMESPACED, STATUS, GENERATION },
    { OF("apps"), NAMED("DaemonSet", "daemonsets", "daemonset"), NAMES(SHORT("ds")), IN_ALL, VERBS,
      NAMESPACED, STATUS, GENERATION },
    { OF("apps"), NAMED("ReplicaSet", "replicasets", "replicaset"), NAMES(SHORT("rs")), IN_ALL, VERBS,
      NAMESPACED, STATUS, GENERATION },
    { OF("policy"), NAMED("PodDisruptionBudget", "poddisruptionbudgets", "poddisruptionbudget"),
      NAMES(SHORT("pdb")), VERBS, NAMESPACED, STATUS, GENERATION },
    { OF("networking.k8s.io"), NAMED("NetworkPolicy", "networkpolicies", "networkpolicy"),
      NAMES(SHORT("netpol")), VERBS, NAMESPACED, GENERATION },
    { OF("scheduling.k8s.io"), NAMED("PriorityClass", "priorityclasses", "priorityclass"), NAMES(SHORT("pc")),
      VERBS, GENERATION },
    { OF("rbac.authorization.k8s.io"), NAMED("ClusterRole", "clusterroles", "clusterrole"), VERBS },
    { OF("rbac.authorization.k8s.io"),
      NAMED("ClusterRoleBinding", "clusterrolebindings", "clusterrolebinding"), VERBS },
    { OF("rbac.authorization.k8s.io"), NAMED("Role", "roles", "role"), VERBS, NAMESPACED },
    { OF("rbac.authorization.k8s.io"), NAMED("RoleBinding", "rolebindings", "rolebinding"), VERBS,
      NAMESPACED },
    { OF("apiextensions.k8s.io"),
      NAMED("CustomResourceDefinition", "customresourcedefinitions", "customresourcedefinition"),
      NAMES(SHORT("crd"), SHORT("crds")), VERBS, STATUS, GENERATION },
    { OF("admissionregistration.k8s.io"),
      NAMED("ValidatingWebhookConfiguration", "validatingwebhookconfigurations",
            "validatingwebhookconfiguration"),
      VERBS, GENERATION },
    { OF("authorization.k8s.io"),
      NAMED("SelfSubjectAccessReview", "selfsubjectaccessreviews", "selfsubjectaccessreview"),
      .verbs = API_VERB_CREATE },
};

const struct api_resource *api_builtin_resources(size_t *count)
{
    *count = ARRAY_LEN(resources);
    return resources;
}
