#pragma once
/* What one node's status should say, and whether to write it now: a pure function of a
 * snapshot. The controller acts on the answer; `koordctl plan` prints it.
 *
 *     struct node_history history = { 0 };                       // kept per node uid
 *     node_history_observe(&history, kube_object_name(&node->object), mono);
 *     struct noderesource_input in = { .node = node, ..., .history = &history };
 *     struct noderesource_plan plan;
 *     noderesource_plan_make(&in, &arena, &plan);
 *     node_history_planned(&history, &plan);
 *     if (noderesource_patch(&plan, &body)) ... send, then node_history_written(&history, mono)
 *     if (plan.recheck_after_ms >= 0) ... plan again after that time, whatever happens
 */
#include "api/device.h"
#include "api/node.h"
#include "api/nodemetric.h"
#include "api/nrt.h"
#include "api/pod.h"
#include "noderesource/exact.h"
#include "noderesource/history.h"
#include "noderesource/plugins.h"
#include "sloconfig/ratio_config.h"
#include "sloconfig/strategy.h"

/* How trustworthy silence is. {.live = true} is a synced fresh start. */
struct noderesource_feed {
    bool live;                   /* the NodeMetric informer is synced and its stream is up */
    struct mono_time live_since; /* meaningful after a gap */
    int64_t gap_ms;              /* how long the feed was down before live_since; 0: never since start */
};

struct noderesource_input {
    const struct node *node;
    const struct nodemetric *metric; /* NULL: there is none */
    const struct pod *const *pods;   /* on this node; every phase and class */
    size_t pod_count;
    const struct strategy *strategy; /* effective for this node; NULL: hold (rejected, no earlier good one) */
    bool cluster_enabled;            /* the cluster strategy's `enable` */
    const struct ratio_strategy *normalization; /* of this node; NULL: unknown, keep what stands */
    const struct ratio_strategy *amplification; /* the same */
    const struct device *device;                /* NULL: there is none */
    bool device_known;                          /* false: nobody could say; keep what stands */
    const struct nrt *topology;                 /* NULL: there is none, or nobody could say */
    const struct noderesource_plugins *plugins;
    struct noderesource_feed feed;
    struct wall_time now;
    struct mono_time mono;
    const struct node_history *history; /* NULL: first seen now */
    const struct json_report *report;   /* hears of malformed annotations; NULL: nobody */
};

/* Why a value is what it is. */
enum noderesource_reason {
    NODERESOURCE_CALCULATED,
    NODERESOURCE_DISABLED,       /* by the cluster strategy or for this node */
    NODERESOURCE_NO_METRIC,      /* there is no NodeMetric */
    NODERESOURCE_NEVER_REPORTED, /* it has no readable updateTime */
    NODERESOURCE_STALE,          /* updateTime is older than degradeTimeMinutes */
    NODERESOURCE_FROM_FUTURE,    /* updateTime is more than degradeTimeMinutes ahead */
    NODERESOURCE_OLDER_REPORT,   /* a newer report was used before: not raised */
    NODERESOURCE_FEED_DOWN, /* stale or missing, but the feed is down or just back: not raised, not withdrawn
                             */
    NODERESOURCE_CONFIG_REJECTED, /* hold: left as it is */
    NODERESOURCE_NO_DEVICE,       /* no healthy device of this kind is reported */
};
/* One stable word: "calculated", "disabled", "noMetric", ... */
const char *noderesource_reason_word(enum noderesource_reason reason);

/* A key of ours as it stands in one map. */
struct noderesource_current {
    bool set;
    bool readable; /* a quantity */
    __int128 nano;
};

struct noderesource_entry {
    enum owned_resource resource;
    struct opt_i64 planned; /* milli-cores or bytes; unset: the key must be absent */
    bool keep; /* leave both maps alone; `planned` repeats allocatable where it is a whole number */
    struct noderesource_current allocatable; /* now */
    struct noderesource_current capacity;
    bool differs_allocatable; /* from `planned`; false with `keep` */
    bool differs_capacity;
    bool write; /* the goal: planned differs from either map */
    bool send;  /* a running manager writes it now */
    enum noderesource_reason reason;
    const char *bound; /* name of the term that decided; NULL unless calculated */
    bool saturated;    /* some term did not fit and was clamped */
    struct noderesource_term *terms;
    size_t term_count; /* 0 unless calculated */
};

/* An annotation or a label of the Node that an active plugin manages. */
struct noderesource_meta {
    const char *key;
    bool label; /* else an annotation */
    struct opt_str current;
    struct opt_str planned; /* unset: must be absent */
    bool follows_status;    /* waits for as long as the status waits */
    bool write;             /* the goal: they differ */
    bool send;              /* a running manager writes it now */
};

/* What a NUMA zone of the node lends of one resource. */
struct noderesource_zone_value {
    enum owned_resource resource;
    struct noderesource_current current; /* its allocatable in the topology */
    bool planned_set;                    /* false: nothing is to be told */
    __int128 planned_nano;               /* capacity, allocatable and available alike */
    bool write;                          /* the goal: one of the three differs */
};

struct noderesource_zone {
    struct str name;
    struct noderesource_zone_value values[2]; /* batch-cpu, batch-memory */
};

enum { NODERESOURCE_METAS_MAX = 8 };

struct noderesource_plan {
    struct noderesource_entry entries[OWNED_COUNT]; /* keys of active, built plugins, in enum order */
    size_t count; /* 0: node without capacity or allocatable, or no plugin */
    struct noderesource_meta metas[NODERESOURCE_METAS_MAX]; /* in the order of the plugins' work */
    size_t meta_count;
    struct noderesource_zone *zones; /* of the topology, in its order */
    size_t zone_count;               /* 0: nothing to manage */
    struct str zones_patch;          /* what makes the topology say so; empty: it does */
    bool send_zones;                 /* a running manager writes it now; goes last */
    bool write;                      /* any entry's */
    bool send;                       /* any entry's */
    bool send_meta;                  /* any meta's; goes after the status */
    bool degraded;                   /* keys are absent for want of a usable report */
    bool skewed;                     /* updateTime is ahead of now, within tolerance */
    bool saturated;                  /* any entry's */
    bool withdrawal;                 /* what is sent removes or lowers something: goes first */
    bool increase;                   /* what is sent raises something */
    bool unknown_mode;               /* midReclaimMode is no mode we know; dynamic is used */
    struct opt_time report;          /* updateTime of the report planned from; unset when none was used */
    int64_t wait_ms;                 /* until a small difference is written anyway; -1: nothing waits */
    int64_t recheck_after_ms;        /* plan again then even if nothing happens; -1: no need */
};

/* Terms and texts of the plan live in `arena`. */
void noderesource_plan_make(const struct noderesource_input *in, struct arena *arena,
                            struct noderesource_plan *ret);

/* The smallest merge patch for the node's status subresource: the keys to be sent that
 * differ, per map; null removes. False and nothing added when there is nothing to send. */
bool noderesource_patch(const struct noderesource_plan *plan, struct strbuf *out);

/* The same for the Node's own annotations and labels, of those to be sent. */
bool noderesource_meta_patch(const struct noderesource_plan *plan, struct strbuf *out);

/* "reason" for people: the word, a sentence, and when a running manager would wait. */
void noderesource_explain(const struct noderesource_plan *plan, const struct noderesource_entry *entry,
                          struct strbuf *out);

/* Canonical quantity text, without quotes: cpu keys in decimal, memory keys in binary format. */
void noderesource_value_write(struct strbuf *out, enum owned_resource resource, int64_t value);
/* The same for what a map holds; "?" when unreadable, nothing when absent. */
void noderesource_current_write(struct strbuf *out, enum owned_resource resource,
                                const struct noderesource_current *current);
