#include "policy_source.h"

#include <stdlib.h>

#include "api/configmap.h"
#include "base/log.h"

enum { NORMALIZATION, AMPLIFICATION, RATIO_KEYS };
static const struct ratio_key *const ratio_keys[RATIO_KEYS] = { &normalization_key, &amplification_key };

/* Warnings about one key as it stands that nobody has heard: a standby sends no Events, but
 * who becomes leader says what is wrong. */
#define KEPT_MAX 4
enum {
    ABOUT_COLOCATION,
    ABOUT_RATIOS,
    ABOUT_SLO = ABOUT_RATIOS + RATIO_KEYS,
    SUBJECTS = ABOUT_SLO + SLO_KEY_COUNT
};
struct kept_events {
    struct arena arena;
    struct colocation_event events[KEPT_MAX];
    size_t count;
};

struct policy_source {
    struct policy_source_options options;
    struct colocation_policy *policy;
    struct ratio_policy *ratios[RATIO_KEYS];
    struct slo_policy *slo;
    struct loop_timer timer;
    const struct informer *configmaps;
    uint64_t generation; /* of all keys together */
    uint64_t ratio_generations[RATIO_KEYS];
    bool leads;
    struct kept_events kept[SUBJECTS];
    bool known; /* the ConfigMap was looked for before */
    char *ns;
    char *name;
    struct metric *state, *rejections, *findings;
};

static const char *const state_names[] = {
    [COLOCATION_HOLDING] = "holding",
    [COLOCATION_DEFAULT] = "default",
    [COLOCATION_ACCEPTED] = "accepted",
    [COLOCATION_REJECTED] = "rejected",
};

static const struct configmap *find(const struct policy_source *source)
{
    const struct kube_object *object =
        store_get(informer_store(source->configmaps), str_c(source->ns), str_c(source->name));
    return object ? configmap_of(object) : NULL;
}

static void send_event(struct policy_source *source, const struct configmap *configmap,
                       const struct colocation_event *event)
{
    CLEANUP(strbuf_done) struct strbuf uid = STRBUF_INIT(512);
    struct event_regarding regarding = { .kind = &configmap_kind,
                                         .ns = str_c(source->ns),
                                         .name = str_c(source->name) };
    if (configmap) {
        kube_object_uid(&configmap->object, &uid);
        regarding.uid = strbuf_str(&uid);
        regarding.rv = kube_object_rv(&configmap->object);
    }
    event_record(source->options.events, &regarding, event->warning, event->reason, "LoadPolicy",
                 event->message);
}

static void forget(struct kept_events *kept)
{
    arena_clear(&kept->arena);
    kept->count = 0;
}

static void keep(struct kept_events *kept, const struct colocation_event *event)
{
    if (!event->warning || kept->count == KEPT_MAX)
        return;
    struct colocation_event *copy = &kept->events[kept->count++];
    *copy = *event;
    copy->message = arena_str(&kept->arena, event->message);
}

static void tell(struct policy_source *source, int subject, const struct configmap *configmap,
                 const struct colocation_event *event)
{
    struct log_field fields[] = { LOG_C("namespace", source->ns), LOG_C("configmap", source->name),
                                  LOG_C("reason", event->reason), LOG_S("detail", event->message) };
    log_write(event->warning ? LOG_LEVEL_WARN : LOG_LEVEL_INFO, "policy_source.c", __LINE__, "policy", fields,
              ARRAY_LEN(fields));
    /* That a start found things in order is no news: restarts write nothing. */
    if (!source->leads)
        keep(&source->kept[subject], event);
    else if (event->warning || source->known)
        send_event(source, configmap, event);
    if (event->warning)
        metric_add(source->rejections, 1, str_c(event->reason));
}

static void publish(struct policy_source *source, const struct colocation_status *status)
{
    for (size_t i = 0; i < ARRAY_LEN(state_names); i++)
        metric_set(source->state, (size_t)status->state == i, str_c(state_names[i]));
    metric_set(source->findings, status->findings ? (double)status->findings->count : 0);
}

static void observe_ratio(struct policy_source *source, int key, const struct configmap *configmap)
{
    struct str value = configmap ? configmap_value(configmap, ratio_keys[key]->key, NULL) : STR_NULL;
    const struct ratio_policy_status *status =
        ratio_policy_observe(source->ratios[key], configmap != NULL, value);
    struct colocation_event event = { true, ratio_keys[key]->event, status->message };
    if (status->told || status->generation != source->ratio_generations[key])
        forget(&source->kept[ABOUT_RATIOS + key]);
    if (status->told)
        tell(source, ABOUT_RATIOS + key, configmap, &event);
    source->ratio_generations[key] = status->generation;
}

/* The keys of NodeSLO. *recheck_after_ms: the sooner of what is there and what they need. */
static uint64_t observe_slo(struct policy_source *source, const struct configmap *configmap,
                            const struct colocation_input *seen, int64_t *recheck_after_ms)
{
    struct slo_input in = { .source = seen->source, .now = seen->now };
    for (int i = 0; configmap && i < SLO_KEY_COUNT; i++)
        in.values[i].text = configmap_value(configmap, slo_keys[i].key, &in.values[i].present);
    const struct slo_status *status = slo_policy_observe(source->slo, &in);
    for (int i = 0; i < SLO_KEY_COUNT; i++)
        if (status->news[i])
            forget(&source->kept[ABOUT_SLO + i]);
    for (size_t i = 0; i < status->event_count; i++)
        tell(source, ABOUT_SLO + (int)status->event_keys[i], configmap, &status->events[i]);
    int64_t again = status->recheck_after_ms;
    if (again >= 0 && (*recheck_after_ms < 0 || again < *recheck_after_ms))
        *recheck_after_ms = again;
    return status->generation;
}

static void observe(void *self)
{
    struct policy_source *source = self;
    const struct configmap *configmap = find(source);
    struct colocation_input in = {
        .source = !informer_feed(source->configmaps).synced ? SOURCE_UNKNOWN
                  : configmap                               ? SOURCE_PRESENT
                                                            : SOURCE_ABSENT,
        .now = loop_mono(source->options.loop),
    };
    if (configmap)
        in.value = configmap_value(configmap, colocation_key, NULL);
    const struct colocation_status *status = colocation_policy_observe(source->policy, &in);
    if (status->event_count)
        forget(&source->kept[ABOUT_COLOCATION]);
    for (size_t i = 0; i < status->event_count; i++)
        tell(source, ABOUT_COLOCATION, configmap, &status->events[i]);
    publish(source, status);
    int64_t recheck_after_ms = status->recheck_after_ms;
    uint64_t generation = status->generation + observe_slo(source, configmap, &in, &recheck_after_ms);
    if (recheck_after_ms >= 0)
        loop_timer_set(&source->timer, recheck_after_ms);
    for (int i = 0; i < RATIO_KEYS; i++) {
        if (in.source != SOURCE_UNKNOWN)
            observe_ratio(source, i, configmap);
        generation += source->ratio_generations[i]; /* each grows when any node could get another answer */
    }
    source->known |= in.source != SOURCE_UNKNOWN;
    if (generation != source->generation) {
        source->generation = generation;
        source->options.changed(source->options.self);
    }
}

struct policy_source *policy_source_new(const struct policy_source_options *options)
{
    struct policy_source *source = mem_zalloc(sizeof *source);
    source->options = *options;
    source->ns = str_dup_c(options->ns);
    source->name = str_dup_c(options->name);
    source->policy = colocation_policy_new(options->missing_grace_ms);
    for (int i = 0; i < RATIO_KEYS; i++)
        source->ratios[i] = ratio_policy_new(ratio_keys[i]);
    source->slo = slo_policy_new(options->missing_grace_ms);
    loop_timer_init(&source->timer, options->loop, observe, source);
    source->state = metric_gauge(options->registry, "koord_manager_config_state",
                                 "1 for the state colocation-config is in.", "state", NULL);
    source->rejections = metric_counter(
        options->registry, "koord_manager_config_warnings_total",
        "Times colocation-config was refused, missing or only partly applied.", "reason", NULL);
    source->findings = metric_gauge(options->registry, "koord_manager_config_findings",
                                    "Problems found in the present colocation-config.", NULL);
    return source;
}

void policy_source_free(struct policy_source *source)
{
    if (!source)
        return;
    loop_timer_done(&source->timer);
    colocation_policy_free(source->policy);
    slo_policy_free(source->slo);
    for (int i = 0; i < RATIO_KEYS; i++)
        ratio_policy_free(source->ratios[i]);
    for (int i = 0; i < SUBJECTS; i++)
        arena_done(&source->kept[i].arena);
    free(source->ns);
    free(source->name);
    free(source);
}

const struct colocation_policy *policy_source_policy(const struct policy_source *source)
{
    return source->policy;
}

const struct slo_policy *policy_source_slo(const struct policy_source *source)
{
    return source->slo;
}

const struct ratio_policy *policy_source_normalization(const struct policy_source *source)
{
    return source->ratios[NORMALIZATION];
}

const struct ratio_policy *policy_source_amplification(const struct policy_source *source)
{
    return source->ratios[AMPLIFICATION];
}

void policy_source_observe(struct policy_source *source, const struct informer *configmaps)
{
    source->configmaps = configmaps;
    observe(source);
}

void policy_source_lead(struct policy_source *source)
{
    source->leads = true;
    for (int i = 0; i < SUBJECTS; i++) {
        struct kept_events *kept = &source->kept[i];
        for (size_t j = 0; j < kept->count; j++)
            send_event(source, find(source), &kept->events[j]);
        forget(kept);
    }
}
