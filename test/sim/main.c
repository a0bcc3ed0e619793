/* cluster-sim: fills an API server with simulated nodes and pods and then plays their
 * agents, reporting usage replayed from recorded traces. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/node.h"
#include "api/nodemetric.h"
#include "api/pod.h"
#include "base/file.h"
#include "base/flags.h"
#include "base/log.h"
#include "batch.h"
#include "fleet.h"
#include "loop/loop.h"

#define MAX_TRACES 16
#define MAX_TRACE_BYTES ((size_t)4 * 1024 * 1024)
#define REQUESTS_PER_NODE (2 + 2 * FLEET_PODS_PER_NODE)

struct options {
    const char *kubeconfig;
    int64_t nodes;
    int64_t interval_ns;
    int64_t start_step;
    int64_t reports;
    struct flag_list traces;
    bool help;
};

static const struct flag flags[] = {
    FLAG_STR(struct options, kubeconfig, "kubeconfig", "FILE", "how to reach the API server"),
    FLAG_I64(struct options, nodes, "nodes", "N", "how many nodes to simulate"),
    FLAG_DURATION(struct options, interval_ns, "interval",
                  "time between reports; each moves the traces on by 5 minutes"),
    FLAG_I64(struct options, start_step, "start-step", "N", "sample of the traces to start at"),
    FLAG_I64(struct options, reports, "reports", "N",
             "stop after so many rounds of reports; 0 goes on until a signal"),
    FLAG_LIST(struct options, traces, "trace", 0, "FILE", "a CPU trace; may be given several times"),
    FLAG_BOOL(struct options, help, "help", "print this text"),
};

struct sim {
    const struct options *options;
    struct loop *loop;
    struct kube_client *client;
    struct fleet fleet;
    struct trace traces[MAX_TRACES];
    struct arena arena;
    struct batch batch;
    struct loop_timer timer;
    size_t step;
    int64_t rounds;
    bool failed;
};

static struct str keep(struct arena *arena, struct strbuf *buf)
{
    struct str kept = arena_str(arena, strbuf_str(buf));
    strbuf_done(buf);
    return kept;
}

/* --- creating the cluster --------------------------------------------------------- */

/* Only ever created. */
static const struct kube_kind priority_class_kind = {
    .group = "scheduling.k8s.io", .version = "v1", .kind = "PriorityClass", .plural = "priorityclasses"
};

static void class_request(void *self, size_t index, struct kube_request *request, struct arena *arena)
{
    (void)self, (void)index;
    struct strbuf body = STRBUF_INIT(1024);
    fleet_class_json(&body);
    *request = (struct kube_request){ .verb = KUBE_CREATE,
                                      .kind = &priority_class_kind,
                                      .body = keep(arena, &body) };
}

static void node_request(size_t node, bool status, struct kube_request *request, struct arena *arena)
{
    struct strbuf body = STRBUF_INIT(16 * 1024), name = STRBUF_INIT(256);
    request->kind = &node_kind;
    if (status) {
        fleet_node_status_json(node, &body);
        fleet_node_name(node, &name);
        request->verb = KUBE_PATCH_MERGE;
        request->subresource = "status";
    } else {
        fleet_node_json(node, &body);
        request->verb = KUBE_CREATE;
    }
    request->body = keep(arena, &body);
    request->name = keep(arena, &name);
}

static void pod_request(size_t node, size_t pod, bool status, struct kube_request *request,
                        struct arena *arena)
{
    struct strbuf body = STRBUF_INIT(16 * 1024), name = STRBUF_INIT(256);
    request->kind = &pod_kind;
    request->ns = STR("default");
    if (status) {
        fleet_pod_status_json(&body);
        fleet_pod_name(node, pod, &name);
        request->verb = KUBE_PATCH_MERGE;
        request->subresource = "status";
    } else {
        fleet_pod_json(node, pod, &body);
        request->verb = KUBE_CREATE;
    }
    request->body = keep(arena, &body);
    request->name = keep(arena, &name);
}

/* Objects first, then what only the status subresource takes. */
static void create_request(void *self, size_t index, struct kube_request *request, struct arena *arena)
{
    struct sim *sim = self;
    size_t half = sim->fleet.nodes * (1 + FLEET_PODS_PER_NODE);
    bool status = index >= half;
    size_t at = status ? index - half : index;
    size_t node = at / (1 + FLEET_PODS_PER_NODE), part = at % (1 + FLEET_PODS_PER_NODE);
    if (part == 0)
        node_request(node, status, request, arena);
    else
        pod_request(node, part - 1, status, request, arena);
}

/* --- reporting -------------------------------------------------------------------- */

static void report_request(void *self, size_t index, struct kube_request *request, struct arena *arena)
{
    struct sim *sim = self;
    struct strbuf body = STRBUF_INIT(16 * 1024), name = STRBUF_INIT(256);
    fleet_report_json(&sim->fleet, index, sim->step, loop_wall(sim->loop), &body);
    fleet_node_name(index, &name);
    *request = (struct kube_request){ .verb = KUBE_PATCH_MERGE,
                                      .kind = &nodemetric_kind,
                                      .name = keep(arena, &name),
                                      .subresource = "status",
                                      .body = keep(arena, &body) };
}

static void next_round(struct sim *sim)
{
    if (sim->options->reports > 0 && sim->rounds >= sim->options->reports)
        loop_stop(sim->loop);
    else
        loop_timer_set(&sim->timer, sim->options->interval_ns / NS_PER_MS);
}

static void reported(void *self, size_t failures)
{
    struct sim *sim = self;
    if (failures > 0)
        LOG_WARN("reports failed", LOG_I("count", (int64_t)failures), LOG_ERR(&sim->batch.last));
    sim->step++;
    sim->rounds++;
    next_round(sim);
}

static void report(void *self)
{
    struct sim *sim = self;
    sim->batch = (struct batch){ .client = sim->client,
                                 .count = sim->fleet.nodes,
                                 .request = report_request,
                                 .finished = reported,
                                 .self = sim };
    batch_start(&sim->batch);
}

static void created(void *self, size_t failures)
{
    struct sim *sim = self;
    if (failures > 0) {
        LOG_ERROR("cannot create the cluster", LOG_I("failures", (int64_t)failures),
                  LOG_ERR(&sim->batch.last));
        sim->failed = true;
        loop_stop(sim->loop);
        return;
    }
    printf("cluster-sim: %zu nodes with %zu pods are there\n", sim->fleet.nodes,
           sim->fleet.nodes * FLEET_PODS_PER_NODE);
    fflush(stdout);
    loop_timer_set(&sim->timer, 0);
}

static void class_created(void *self, size_t failures)
{
    struct sim *sim = self;
    if (failures > 0) {
        created(sim, failures);
        return;
    }
    sim->batch = (struct batch){ .client = sim->client,
                                 .count = sim->fleet.nodes * REQUESTS_PER_NODE,
                                 .request = create_request,
                                 .finished = created,
                                 .self = sim };
    batch_start(&sim->batch);
}

/* --- program ---------------------------------------------------------------------- */

static void on_signal(void *self, int signal)
{
    (void)signal;
    struct sim *sim = self;
    loop_stop(sim->loop);
}

static bool load_traces(struct sim *sim, struct err *err)
{
    const struct flag_list *files = &sim->options->traces;
    if (files->count == 0 || files->count > MAX_TRACES)
        return err_set(err, ERR_INVALID, "give 1 to %d traces with --trace", MAX_TRACES);
    for (size_t i = 0; i < files->count; i++) {
        CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(MAX_TRACE_BYTES);
        if (!file_read(files->items[i], &text, err) ||
            !trace_parse(&sim->arena, strbuf_str(&text), &sim->traces[i], err))
            return err_wrap(err, "%s", files->items[i]);
    }
    sim->fleet = (struct fleet){ sim->traces, files->count, (size_t)sim->options->nodes };
    return true;
}

static bool connect_client(struct sim *sim, struct err *err)
{
    struct kube_config config;
    struct kube_config_options load = { .kubeconfig = sim->options->kubeconfig };
    if (!kube_config_load(&sim->arena, &load, &config, err))
        return false;
    struct kube_client_options options = { .config = &config, .user_agent = "cluster-sim/" KOORD_VERSION };
    sim->client = kube_client_new(sim->loop, &options, err);
    return sim->client != NULL;
}

static bool run(struct sim *sim, struct err *err)
{
    sim->loop = loop_new(err);
    if (!sim->loop)
        return false;
    loop_timer_init(&sim->timer, sim->loop, report, sim);
    if (!load_traces(sim, err) || !connect_client(sim, err) ||
        !loop_on_signal(sim->loop, SIGTERM, on_signal, sim, err) ||
        !loop_on_signal(sim->loop, SIGINT, on_signal, sim, err))
        return false;
    sim->step = (size_t)sim->options->start_step;
    sim->batch = (struct batch){
        .client = sim->client, .count = 1, .request = class_request, .finished = class_created, .self = sim
    };
    batch_start(&sim->batch);
    if (!loop_run(sim->loop, err))
        return false;
    return !sim->failed || err_set(err, ERR_TRANSIENT, "the cluster could not be created");
}

int main(int argc, char **argv)
{
    struct err err = ERR_INIT;
    struct options options = { .nodes = 36, .interval_ns = NS_PER_S };
    if (!flags_parse(flags, ARRAY_LEN(flags), argc, argv, &options, NULL, &err)) {
        fprintf(stderr, "cluster-sim: %s\n", err.text);
        return 2;
    }
    if (options.help) {
        CLEANUP(strbuf_done) struct strbuf help = STRBUF_INIT(16 * 1024);
        flags_help(&help, flags, ARRAY_LEN(flags), &options);
        printf("Usage: cluster-sim --kubeconfig FILE --trace FILE...\n%s", strbuf_cstr(&help));
        return 0;
    }
    struct sim sim = { .options = &options };
    bool ok = run(&sim, &err);
    if (!ok)
        fprintf(stderr, "cluster-sim: %s\n", err.text);
    kube_client_free(sim.client);
    if (sim.loop)
        loop_timer_done(&sim.timer);
    loop_free(sim.loop);
    arena_done(&sim.batch.arena);
    arena_done(&sim.arena);
    flag_list_done(&options.traces);
    return ok ? 0 : 1;
}
