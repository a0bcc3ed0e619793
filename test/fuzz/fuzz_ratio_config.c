/* Both keys of ratios: any text is read or refused with a reason, and resolves. */
#include "sloconfig/ratio_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct ratio_key *const keys[] = { &normalization_key, &amplification_key };
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct label label = { STR("a"), STR("1") };
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        struct findings findings = FINDINGS_INIT(&arena);
        struct ratio_strategy strategy;
        struct ratio_config *config =
            ratio_config_parse(keys[i], (struct str){ (const char *)data, size }, &findings);
        if (!config && findings.rejected == 0)
            __builtin_trap();
        if (config)
            ratio_config_resolve(config, (struct labels){ &label, 1 }, &arena, &strategy);
        ratio_config_free(config);
    }
    return 0;
}
