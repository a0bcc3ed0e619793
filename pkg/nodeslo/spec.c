#include "nodeslo/spec.h"

const struct str nodeslo_bandwidth_annotation = STR_INIT("node.koordinator.sh/network-bandwidth");

static const struct str bandwidth_field = STR_INIT("totalNetworkBandwidth");

const char *nodeslo_action_name(enum nodeslo_action action)
{
    static const char *const names[] = {
        [NODESLO_NONE] = "none",
        [NODESLO_CREATE] = "create",
        [NODESLO_UPDATE] = "update",
        [NODESLO_DELETE] = "delete",
    };
    return names[action];
}

/* --- desired --------------------------------------------------------------------- */

/* What the node itself says of its bandwidth; NULL: nothing usable. */
static const struct json *own_bandwidth(const struct node *node, struct arena *arena,
                                        struct findings *findings)
{
    struct quantity quantity;
    struct err err = ERR_INIT;
    struct str text = istr_str(node->network_bandwidth);
    if (!node->network_bandwidth)
        return NULL;
    bool usable = quantity_parse(str_trim(text), &quantity, &err);
    if (!usable || quantity_sign(quantity) < 0 || quantity.saturated) {
        findings_add(findings, FINDING_NODE, nodeslo_bandwidth_annotation, STR_NULL,
                     finding_text(arena, text), finding_reason_override, "annotation ignored: %s",
                     usable ? "must be a bandwidth of at least 0" : err.text);
        return NULL;
    }
    CLEANUP(strbuf_done) struct strbuf canonical = STRBUF_INIT(64);
    quantity_write(&canonical, quantity);
    return json_new_str(arena, strbuf_str(&canonical));
}

static const struct json *render(const struct slo_config *config, struct labels labels,
                                 const struct json *bandwidth, struct arena *arena)
{
    const struct json *strategy = slo_config_resolve(config, labels, arena);
    if (config->info == &slo_keys[SLO_SYSTEM] && bandwidth) {
        struct json *own = json_copy(arena, strategy);
        json_set(arena, own, bandwidth_field, bandwidth);
        return own;
    }
    return config->info->spec_part ? json_get(strategy, str_c(config->info->spec_part)) : strategy;
}

/* The default of a key, in the arena: for a NodeSLO that has nothing to keep. */
static const struct json *render_default(enum slo_key key, struct labels labels, const struct json *bandwidth,
                                         struct arena *arena)
{
    CLEANUP(slo_config_freep) struct slo_config *config = slo_config_default(key);
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(64 * 1024);
    const struct json *copy = NULL, *value = render(config, labels, bandwidth, arena);
    if (!value)
        return NULL;
    json_write(&text, value);
    return json_parse(arena, arena_str(arena, strbuf_str(&text)), NULL, &copy, NULL) ? copy : NULL;
}

/* An empty list is not written: it would come back as none. */
static void put(struct arena *arena, struct json *spec, struct str field, const struct json *value)
{
    if (value && !(json_is(value, JSON_ARRAY) && json_count(value) == 0))
        json_set(arena, spec, field, value);
}

/* Fields that nothing good is known of are not compared, and shown as they stand. */
static void desire(const struct nodeslo_input *in, struct json *have, struct json *want, struct json *spec,
                   struct arena *arena, struct findings *findings)
{
    struct labels labels = node_labels(in->node, arena);
    const struct json *bandwidth = own_bandwidth(in->node, arena, findings);
    for (size_t i = 0; i < SLO_KEY_COUNT; i++) {
        const struct slo_config *config = in->policy->in_force[i];
        struct str field = str_c(slo_keys[i].spec_field);
        if (!config && in->slo) {
            put(arena, spec, field, json_get(have, field));
            json_remove(have, field);
            continue;
        }
        const struct json *value = config ? render(config, labels, bandwidth, arena)
                                          : render_default((enum slo_key)i, labels, bandwidth, arena);
        put(arena, want, field, value);
        put(arena, spec, field, value);
    }
}

/* --- plan ------------------------------------------------------------------------ */

static struct json *present_spec(const struct nodeslo *slo, struct arena *arena)
{
    const struct json *spec = NULL;
    if (slo && slo->spec && json_parse(arena, istr_str(slo->spec), NULL, &spec, NULL) &&
        json_is(spec, JSON_OBJECT))
        return json_copy(arena, spec);
    return json_new(arena, JSON_OBJECT);
}

void nodeslo_plan_make(const struct nodeslo_input *in, struct arena *arena, struct findings *findings,
                       struct nodeslo_plan *ret)
{
    *ret = (struct nodeslo_plan){ .action = NODESLO_NONE };
    if (in->policy->holding)
        return;
    if (!in->node) {
        ret->action = in->slo ? NODESLO_DELETE : NODESLO_NONE;
        return;
    }
    struct json *have = present_spec(in->slo, arena);
    struct json *want = json_new(arena, JSON_OBJECT), *spec = json_new(arena, JSON_OBJECT);
    desire(in, have, want, spec, arena, findings);
    ret->spec = spec;
    if (!in->slo) {
        ret->action = NODESLO_CREATE;
        return;
    }
    ret->patch = schema_diff(&nodeslo_schema, have, want, arena);
    ret->action = ret->patch ? NODESLO_UPDATE : NODESLO_NONE;
}
