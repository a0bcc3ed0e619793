#include "sloconfig/network.h"

/* The classes that share the node's bandwidth. */
static const struct str classes[] = { STR_INIT("lsrClass"), STR_INIT("lsClass"), STR_INIT("beClass") };
static const struct str requests[] = { STR_INIT("ingressRequest"), STR_INIT("egressRequest") };

/* One strategy under judgement. */
struct judge {
    struct findings *findings;
    struct str key;
    struct str prefix; /* "clusterStrategy" */
    const struct json *strategy;
    struct quantity bandwidth; /* 0: not known */
    struct arena *scratch;
};

static const struct json *request_of(const struct json *strategy, size_t class, size_t request)
{
    const struct json *network = json_get(json_get(strategy, classes[class]), STR("networkQOS"));
    return json_get(network, requests[request]);
}

static void refuse(const struct judge *judge, size_t class, size_t request, struct str rule)
{
    struct str path = arena_strf(judge->scratch, STR_FMT "." STR_FMT ".networkQOS." STR_FMT,
                                 STR_ARG(judge->prefix), STR_ARG(classes[class]), STR_ARG(requests[request]));
    const struct json *value = request_of(judge->strategy, class, request);
    findings_add(judge->findings, FINDING_ADMISSION, judge->key, path, finding_value(judge->scratch, value),
                 finding_reason_invalid, STR_FMT, STR_ARG(rule));
}

/* False: they cannot be added up. Which of the two kinds is told in *quantities. */
static bool of_one_kind(const struct judge *judge, bool *quantities)
{
    enum json_type kind = JSON_NULL;
    for (size_t c = 0; c < ARRAY_LEN(classes); c++) {
        for (size_t r = 0; r < ARRAY_LEN(requests); r++) {
            const struct json *value = request_of(judge->strategy, c, r);
            if (value && kind != JSON_NULL && value->type != kind) {
                refuse(judge, c, r,
                       STR("must be a percent where others are, or a quantity where others are"));
                return false;
            }
            if (value)
                kind = value->type;
        }
    }
    *quantities = kind == JSON_STRING;
    return true;
}

static struct quantity amount(const struct json *value)
{
    struct quantity quantity = QUANTITY_ZERO;
    int64_t percent = 0;
    if (json_is(value, JSON_STRING) && quantity_parse(json_str(value), &quantity, NULL))
        return quantity;
    return json_i64(value, &percent) ? quantity_from_i64(percent, QUANTITY_DECIMAL_SI) : QUANTITY_ZERO;
}

static struct str sum_rule(const struct judge *judge, bool quantities, struct quantity sum)
{
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(256);
    strbuf_add(&text, quantities ? STR("requests must not add up to more than totalNetworkBandwidth, ")
                                 : STR("requests must not add up to more than 100 percent, "));
    if (quantities)
        quantity_write(&text, judge->bandwidth);
    strbuf_add(&text, quantities ? STR(": they are ") : STR("they are "));
    quantity_write(&text, sum);
    return arena_str(judge->scratch, strbuf_str(&text));
}

/* Blamed on the last class that asks. */
static void check_sum(const struct judge *judge, bool quantities, size_t request)
{
    struct quantity sum = QUANTITY_ZERO;
    struct quantity limit = quantities ? judge->bandwidth : quantity_from_i64(100, QUANTITY_DECIMAL_SI);
    size_t last = 0;
    for (size_t c = 0; c < ARRAY_LEN(classes); c++) {
        const struct json *value = request_of(judge->strategy, c, request);
        sum = quantity_add(sum, amount(value));
        last = value ? c : last;
    }
    if (quantity_sign(limit) > 0 && quantity_cmp(sum, limit) > 0)
        refuse(judge, last, request, sum_rule(judge, quantities, sum));
}

static void check_strategy(const struct judge *judge)
{
    bool quantities = false;
    if (!of_one_kind(judge, &quantities))
        return;
    for (size_t r = 0; r < ARRAY_LEN(requests); r++)
        check_sum(judge, quantities, r);
}

static bool says_anything(const struct json *written)
{
    for (size_t c = 0; c < ARRAY_LEN(classes); c++)
        for (size_t r = 0; r < ARRAY_LEN(requests); r++)
            if (request_of(written, c, r))
                return true;
    return false;
}

/* --- bandwidth ------------------------------------------------------------------- */

static struct quantity bandwidth_in(const struct json *system)
{
    struct quantity quantity = QUANTITY_ZERO;
    struct str text = json_str(json_get(system, STR("totalNetworkBandwidth")));
    return quantity_parse(text, &quantity, NULL) ? quantity : QUANTITY_ZERO;
}

/* For the nodes of an entry: of the system entry with the same selector. */
static struct quantity bandwidth_for(const struct slo_config *system, const struct node_entry *entry,
                                     struct arena *scratch)
{
    for (size_t i = 0; i < system->list.count; i++)
        if (json_equal(system->list.items[i].selector_json, entry->selector_json))
            return bandwidth_in(slo_config_entry(system, i, scratch));
    return bandwidth_in(system->cluster);
}

void network_check(const struct slo_config *config, struct str system_text, struct findings *findings)
{
    CLEANUP(slo_config_freep) struct slo_config *parsed = slo_config_parse(SLO_SYSTEM, system_text, NULL);
    CLEANUP(slo_config_freep) struct slo_config *nothing = slo_config_default(SLO_SYSTEM);
    const struct slo_config *system = parsed ? parsed : nothing;
    CLEANUP(arena_done) struct arena scratch = ARENA_INIT;
    struct judge judge = { .findings = findings, .key = config->info->key, .scratch = &scratch };
    judge.prefix = str_c(config->info->cluster);
    judge.strategy = config->cluster;
    judge.bandwidth = bandwidth_in(system->cluster);
    check_strategy(&judge);
    for (size_t i = 0; i < config->list.count; i++, arena_clear(&scratch)) {
        if (!says_anything(config->written[i]))
            continue;
        judge.prefix = node_entry_path(&config->list, config->list.items[i].index, &scratch);
        judge.strategy = slo_config_entry(config, i, &scratch);
        judge.bandwidth = bandwidth_for(system, &config->list.items[i], &scratch);
        check_strategy(&judge);
    }
}
