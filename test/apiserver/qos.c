#include "test/apiserver/qos.h"

#include "quantity/quantity.h"
#include "test/apiserver/tree.h"

struct sums {
    struct quantity cpu, memory;
    bool any;
};

/* True when both cpu and memory are there, and more than nothing. */
static bool add(struct sums *sums, const struct json *amounts)
{
    static const char *const names[] = { "cpu", "memory" };
    struct quantity *const totals[] = { &sums->cpu, &sums->memory };
    size_t found = 0;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct quantity amount;
        if (!quantity_parse(api_get_str(amounts, names[i]), &amount, NULL) || quantity_sign(amount) <= 0)
            continue;
        *totals[i] = quantity_add(*totals[i], amount);
        sums->any = true;
        found++;
    }
    return found == ARRAY_LEN(names);
}

struct str api_pod_qos(const struct json *spec)
{
    static const char *const lists[] = { "containers", "initContainers" };
    struct sums requests = { 0 }, limits = { 0 };
    bool limited = true;
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        const struct json *containers = api_get(spec, lists[i]);
        for (size_t j = 0; j < api_list_count(containers); j++) {
            const struct json *resources = api_get(containers->array.items[j], "resources");
            (void)add(&requests, api_get(resources, "requests"));
            limited &= add(&limits, api_get(resources, "limits"));
        }
    }
    if (!requests.any && !limits.any)
        return STR("BestEffort");
    bool equal =
        quantity_cmp(requests.cpu, limits.cpu) == 0 && quantity_cmp(requests.memory, limits.memory) == 0;
    return limited && equal ? STR("Guaranteed") : STR("Burstable");
}
