#pragma once
/* Credentials from a plugin: runs it when there is nothing valid, again before what it
 * gave expires, and when the server refused it. At most one run at a time, never in the
 * way of a request. What is valid stays in use while a run fails; failures are repeated
 * after 1 s, doubling to 1 min. */
#include "kube/exec_credential.h"
#include "loop/loop.h"
#include "metrics/metrics.h"

struct exec_plugin;

struct exec_plugin_options {
    const struct kube_config *config; /* with exec; copied */
    struct metric_registry *metrics;  /* NULL: none */
    uint64_t seed;                    /* of the jitter */
    int64_t timeout_ms;               /* of a run; 0: 60 s */
    /* Takes a credential into use, or says why not. Borrowed during the call. */
    bool (*use)(void *self, const struct exec_credential *credential, struct err *err);
    /* A run ended, after `use`; NULL: there is a valid credential now. From the loop. The
     * plugin may be freed in it. */
    void (*ended)(void *self, const struct err *err);
    void *self;
};

/* The first run begins on the loop's next turn. */
struct exec_plugin *exec_plugin_new(struct loop *loop, const struct exec_plugin_options *options);
void exec_plugin_free(struct exec_plugin *plugin); /* kills what runs; NULL is fine */

/* True when the credential in use has not expired. When false `ended` will come. */
bool exec_plugin_valid(const struct exec_plugin *plugin);
/* Counts different credentials: tells whether a request was sent with the present one. */
uint64_t exec_plugin_generation(const struct exec_plugin *plugin);

enum exec_refusal {
    EXEC_RENEWED, /* another credential is in use already: try that */
    EXEC_RUNS,    /* `ended` will come */
    EXEC_USELESS, /* fresh credentials were refused one after the other: not so soon again */
};
/* After a 401 that answered a request sent with generation `used`. */
enum exec_refusal exec_plugin_refused(struct exec_plugin *plugin, uint64_t used);
/* Why the last run gave nothing; empty: it did. */
const char *exec_plugin_trouble(const struct exec_plugin *plugin);
