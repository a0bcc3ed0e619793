#pragma once
/* The objects a plan is made from, wherever they came from: each kind sorted, every object
 * once, pods found by node.
 *
 *     struct snapshot snapshot;
 *     snapshot_init(&snapshot);
 *     snapshot_add(&snapshot, SNAPSHOT_NODE, object); ...
 *     snapshot_seal(&snapshot);
 *     ... read ...
 *     snapshot_done(&snapshot);
 */
#include "api/configmap.h"
#include "api/device.h"
#include "api/node.h"
#include "api/nodemetric.h"
#include "api/nodeslo.h"
#include "api/nrt.h"
#include "api/pod.h"

enum snapshot_kind {
    SNAPSHOT_CONFIGMAP,
    SNAPSHOT_NODE,
    SNAPSHOT_POD,
    SNAPSHOT_NODEMETRIC,
    SNAPSHOT_DEVICE,
    SNAPSHOT_TOPOLOGY,
    SNAPSHOT_NODESLO,
    SNAPSHOT_KINDS,
};
extern const struct kube_kind *const snapshot_kinds[SNAPSHOT_KINDS];

/* Something about an input that a person should look at; the run goes on. */
struct snapshot_warning {
    struct str object; /* "Pod default/web-0" */
    struct str path;   /* "status.capacity.cpu"; "": the object */
    struct str value;
    struct str message;
};

struct snapshot_list {
    struct snapshot_item {
        struct kube_object *object; /* one reference */
        size_t sequence;
    } * items;
    size_t count;
    size_t capacity;
};

#define SNAPSHOT_WARNINGS_MAX 1000

struct snapshot {
    struct intern *pool; /* of every object's strings */
    struct arena arena;  /* of the warnings and the index */
    struct snapshot_list lists[SNAPSHOT_KINDS];
    const struct pod **pods_by_node; /* after snapshot_seal; unscheduled pods left out */
    size_t pods_by_node_count;
    struct snapshot_warning *warnings;
    size_t warning_count;
    size_t warnings_omitted;
    bool no_nodeslos; /* the cluster serves no such kind */
};

void snapshot_init(struct snapshot *snapshot);
void snapshot_done(struct snapshot *snapshot);

/* Takes over the reference. */
void snapshot_add(struct snapshot *snapshot, enum snapshot_kind kind, struct kube_object *object);
/* Texts are copied. */
void snapshot_warn(struct snapshot *snapshot, struct str object, struct str path, struct str value,
                   struct str message);

/* Sorts by namespace and name. Of an object given more than once the last one stays, with
 * a warning. */
void snapshot_seal(struct snapshot *snapshot);

/* After the seal. */
const struct kube_object *snapshot_at(const struct snapshot *snapshot, enum snapshot_kind kind, size_t index);
/* Of a cluster-scoped kind, by name; NULL: there is none. */
const struct kube_object *snapshot_find(const struct snapshot *snapshot, enum snapshot_kind kind,
                                        struct str name);
const struct pod *const *snapshot_pods_on(const struct snapshot *snapshot, struct str node, size_t *count);

/* "Node n1", "Pod default/web-0"; in the arena. */
struct str snapshot_object_name(struct arena *arena, const char *kind, struct str ns, struct str name);
