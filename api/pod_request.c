/* What a pod asks for, as the scheduler counts it, restricted to cpu and memory. */
#include "api/pod_internal.h"

struct opt_quantity pod_request_or_limit(const struct opt_quantity *request, const struct opt_quantity *limit)
{
    return request->set ? *request : *limit;
}

/* Which container, for reports. */
struct place {
    const char *list;
    size_t index;
    const struct json_report *report;
};

static __int128 take(const struct place *at, const struct opt_quantity *request,
                     const struct opt_quantity *limit, const char *name)
{
    struct opt_quantity effective = pod_request_or_limit(request, limit);
    __int128 nano = 0;
    api_take_amount(&effective, &nano, at->report, "spec.%s[%zu].resources.%s.%s", at->list, at->index,
                    request->set ? "requests" : "limits", name);
    return nano;
}

/* cpu and memory of one container; absent is 0. */
struct ask {
    __int128 cpu;
    __int128 memory;
};

static struct ask container_ask(const struct pod_container *container, const struct place *at)
{
    const struct pod_resources *resources = &container->resources;
    return (struct ask){
        .cpu = take(at, &resources->requests.cpu, &resources->limits.cpu, "cpu"),
        .memory = take(at, &resources->requests.memory, &resources->limits.memory, "memory"),
    };
}

static struct ask ask_add(struct ask a, struct ask b)
{
    return (struct ask){ api_nano_add(a.cpu, b.cpu), api_nano_add(a.memory, b.memory) };
}

static struct ask ask_max(struct ask a, struct ask b)
{
    return (struct ask){ a.cpu > b.cpu ? a.cpu : b.cpu, a.memory > b.memory ? a.memory : b.memory };
}

/* Containers run together; init containers one after another, each beside the restartable
 * ones started before it, which keep running beside the containers too. */
static struct ask containers_ask(const struct pod_spec *spec, const struct json_report *report)
{
    struct ask running = { 0 }, sidecars = { 0 }, largest_step = { 0 };
    const struct pod_container *containers = spec->containers.items;
    for (size_t i = 0; i < spec->containers.count; i++)
        running = ask_add(running, container_ask(&containers[i], &(struct place){ "containers", i, report }));

    const struct pod_container *inits = spec->init_containers.items;
    for (size_t i = 0; i < spec->init_containers.count; i++) {
        struct ask step = container_ask(&inits[i], &(struct place){ "initContainers", i, report });
        step = ask_add(step, sidecars);
        if (str_eq(inits[i].restart_policy, STR("Always")))
            sidecars = step;
        largest_step = ask_max(largest_step, step);
    }
    return ask_max(ask_add(running, sidecars), largest_step);
}

/* A request of the pod as a whole replaces what its containers add up to. A limit without
 * request is one only when no container asks for anything. */
static __int128 pod_level(__int128 sum, const struct opt_quantity *request, const struct opt_quantity *limit,
                          const char *name, const struct json_report *report)
{
    __int128 nano = 0;
    if (request->set)
        return api_take_amount(request, &nano, report, "spec.resources.requests.%s", name) ? nano : sum;
    if (sum == 0)
        api_take_amount(limit, &sum, report, "spec.resources.limits.%s", name);
    return sum;
}

struct amounts pod_request(const struct pod_spec *spec, const struct json_report *report)
{
    struct ask sum = containers_ask(spec, report);
    const struct pod_resources *whole = &spec->resources;
    sum.cpu = pod_level(sum.cpu, &whole->requests.cpu, &whole->limits.cpu, "cpu", report);
    sum.memory = pod_level(sum.memory, &whole->requests.memory, &whole->limits.memory, "memory", report);
    struct amounts overhead = api_take_amounts(&spec->overhead, report, "spec.overhead");
    return (struct amounts){
        .has_cpu = true,
        .has_memory = true,
        .cpu_nano = api_nano_add(sum.cpu, overhead.cpu_nano),
        .memory_nano = api_nano_add(sum.memory, overhead.memory_nano),
    };
}
