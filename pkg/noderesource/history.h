#pragma once
/* What one process remembers of one node between plans: a plain value that the controller
 * keeps per node uid (a recreated node starts with an empty one). {0} is "not seen". */
#include "api/meta.h"

struct node_history {
    bool seen;
    uint16_t spread; /* 0..65535: share of half a time threshold added to the first wait */
    struct mono_time
        threshold_from;     /* updateTimeThresholdSeconds runs from here: first sight or last write */
    struct opt_time report; /* updateTime of the newest report ever planned from */
};

struct noderesource_plan;

/* The node is about to be planned. At first sight its time threshold starts now, spread
 * by a hash of its name, so that a restart does not turn into a wave of writes. */
void node_history_observe(struct node_history *history, struct str node_name, struct mono_time now);

/* A plan was made: remembers the report behind it, written or not. */
void node_history_planned(struct node_history *history, const struct noderesource_plan *plan);

/* The node's status was written. */
void node_history_written(struct node_history *history, struct mono_time now);

/* When a difference that is too small to be written at once is due. */
struct mono_time node_history_due(const struct node_history *history, int64_t update_time_threshold_s);
