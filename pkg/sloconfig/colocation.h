#pragma once
/* The `colocation-config` key as a value: parsed, checked, merged, immutable.
 *
 *     struct colocation_config *config = colocation_parse(text, &findings);
 *     if (!config) ... the findings of level FINDING_REJECTED say why
 *
 * Reading follows Go's encoding/json: names match in any case, of duplicates the last
 * wins, null leaves a field unset, integers are plain, and a wrong type anywhere fails
 * the whole key, as does null as the whole value. */
#include "selector/selector.h"
#include "sloconfig/fields.h"
#include "sloconfig/finding.h"

extern const struct str colocation_key; /* "colocation-config" */

/* The API server keeps no ConfigMap larger than this; more is refused unread. */
#define COLOCATION_MAX_BYTES ((size_t)1024 * 1024)

/* Keys one `extensions` map may have: merging it is work for every node. */
#define COLOCATION_MAX_EXTENSIONS 1024

struct colocation_entry {
    size_t index; /* in nodeConfigs */
    struct str name;
    struct selector selector;
    const struct json *selector_json; /* as written; NULL when absent */
    /* Out of range: the entry still matches and shadows later ones, but with the
     * cluster's strategy. */
    bool replaced;
    struct strategy written; /* only what the entry says; colocation_resolve merges it */
};

struct colocation_config {
    struct strategy cluster; /* complete: defaults with the cluster's fields on top */
    struct strategy written; /* only what the key says */
    const struct colocation_entry *entries;
    size_t count;       /* entries with an unusable selector are left out */
    size_t skipped;     /* how many those were */
    struct arena arena; /* owns everything above */
};

/* NULL when the key is refused. An empty text is a missing key: the defaults. Findings of
 * every level are added (`findings` may be NULL). */
struct colocation_config *colocation_parse(struct str text, struct findings *findings);

/* The built-in defaults: colocation disabled. */
struct colocation_config *colocation_default(void);

void colocation_config_free(struct colocation_config *config); /* NULL is fine */
DEFINE_CLEANUP(colocation_config_free, struct colocation_config)

/* Every node gets the same answer from both. */
bool colocation_config_equal(const struct colocation_config *a, const struct colocation_config *b);

/* One strategy from a JSON object, as written; nothing is checked but types. False with
 * err: a wrong type; *path and *bad (either may be NULL) name the place. */
bool strategy_from_json(const struct json *object, struct arena *arena, struct strategy *ret,
                        struct str *path, const struct json **bad, struct err *err) MUST_CHECK;
