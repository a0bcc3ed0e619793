#pragma once
/* A node, its NodeMetric, its pods and a strategy from short texts, and a plan of them.
 *
 * Without a word the case is idle: 100 cores and 200G on both maps, a report one minute
 * old, prediction 15 cores and 30G, usage 30 cores and 50G, colocation enabled, MidResource the
 * only plugin. */
#include "noderesource/plan.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#define CORES(n_) ((__int128)(n_)*API_NANO_PER_UNIT)
#define MILLI(n_) ((__int128)(n_)*1000000)
#define MONO_S(s_) ((struct mono_time){ INT64_C(1000000000) * (s_) })

/* 2026-07-24T08:01:00Z; reports say 08:00:00. */
#define CASE_NOW_US (INT64_C(1784880060) * US_PER_S)

enum { CASE_PODS = 8 };

struct plan_case {
    struct arena arena;
    struct intern *pool;
    struct noderesource_input in;
    struct noderesource_plugins plugins;
    struct strategy strategy;
    struct node_history history;
    struct json_report report;
    const struct pod *pods[CASE_PODS];
    size_t reports;
    char path[256]; /* of the last report */
    struct noderesource_plan plan;
};

int case_setup(void **state);
int case_teardown(void **state);

/* `capacity`, `allocatable`: members of the map, without cpu and memory ones if they start
 * with a comma ("cpu 100, memory 200G" are put in front); `annotations`: members. */
void case_node(struct plan_case *c, const char *capacity, const char *allocatable, const char *annotations);
/* Members of status. */
void case_metric(struct plan_case *c, const char *status);
void case_no_metric(struct plan_case *c);
/* Adds one pod: priority class label, phase, requests. */
void case_pod(struct plan_case *c, const char *class, const char *phase, const char *cpu, const char *memory);

#define CASE_REPORT "\"updateTime\":\"2026-07-24T08:00:00Z\""
#define CASE_USAGE "\"nodeMetric\":{\"nodeUsage\":{\"resources\":{\"cpu\":\"30\",\"memory\":\"50G\"}}}"
#define CASE_PREDICTION                                                                                      \
    "\"prodReclaimableMetric\":{\"resource\":{\"resources\":{\"cpu\":\"15\",\"memory\":\"30G\"}}}"
#define CASE_STATUS CASE_REPORT "," CASE_USAGE "," CASE_PREDICTION

/* Any object from its JSON; the test unrefs it. */
const struct kube_object *case_object(struct plan_case *c, const struct kube_kind *kind, struct str json);

/* Makes case->plan. */
const struct noderesource_plan *case_plan(struct plan_case *c);
const struct noderesource_entry *case_cpu(const struct plan_case *c);
const struct noderesource_entry *case_memory(const struct plan_case *c);
int64_t case_term(const struct noderesource_entry *entry, const char *name);
bool case_has_term(const struct noderesource_entry *entry, const char *name);

struct opt_i64 number(int64_t value);
struct opt_str text(const char *value);
struct opt_decimal decimal(const char *value);

#define assert_planned(entry_, value_)                                                                       \
    do {                                                                                                     \
        assert_true((entry_)->planned.set);                                                                  \
        assert_int_equal((entry_)->planned.value, value_);                                                   \
    } while (0)
#define assert_absent(entry_) assert_false((entry_)->planned.set || (entry_)->keep)
#define assert_patch(case_, want_)                                                                           \
    do {                                                                                                     \
        CLEANUP(strbuf_done) struct strbuf patch_ = STRBUF_INIT(4096);                                       \
        assert_true(noderesource_patch(&(case_)->plan, &patch_));                                            \
        assert_string_equal(strbuf_cstr(&patch_), want_);                                                    \
    } while (0)

#define CASE(test_) cmocka_unit_test_setup_teardown(test_, case_setup, case_teardown)
