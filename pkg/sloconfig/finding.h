#pragma once
/* What a check found, in words a person can act on: which key, which path inside it,
 * the value as written, and the rule it breaks. */
#include "base/arena.h"
#include "json/json.h"

enum finding_level {
    FINDING_REJECTED,  /* the whole key is refused */
    FINDING_ENTRY,     /* one node entry is skipped, or replaced by the cluster strategy */
    FINDING_NODE,      /* an override on one node is ignored */
    FINDING_ADMISSION, /* accepted by a running manager, refused at admission */
    FINDING_WARNING,   /* accepted everywhere, but probably not what was meant */
};

extern const char finding_reason_parse[];    /* ParseConfigFail */
extern const char finding_reason_invalid[];  /* ConfigParamInvalid */
extern const char finding_reason_overlap[];  /* NodeStrategiesOverlap */
extern const char finding_reason_conflict[]; /* ExistNodeConfict: upstream's spelling */
extern const char finding_reason_override[]; /* NodeOverrideInvalid */
extern const char finding_reason_unknown[];  /* UnknownValue */

struct finding {
    enum finding_level level;
    struct str key;     /* a data key, an annotation or a label */
    struct str path;    /* inside the key: "nodeConfigs[2].midCPUThresholdPercent"; "": all of it */
    struct str value;   /* the JSON as written, cut when long; "" when there is none */
    const char *reason; /* static */
    struct str message;
};

/* A list in an arena. Beyond FINDINGS_MAX they are only counted. */
#define FINDINGS_MAX 200
struct findings {
    struct arena *arena;
    struct finding *items;
    size_t count;
    size_t omitted;
    size_t rejected; /* how many were FINDING_REJECTED, omitted ones included */
};

#define FINDINGS_INIT(arena_) ((struct findings){ .arena = (arena_) })

/* All of these take NULL for `findings` where nobody asks. Texts are copied. */
void findings_add(struct findings *findings, enum finding_level level, struct str key, struct str path,
                  struct str value, const char *reason, const char *format, ...) PRINTF_LIKE(7, 8);
/* The JSON of a value, cut to a readable length without splitting a character. */
struct str finding_value(struct arena *arena, const struct json *value);
/* The same for text that may not be JSON. */
struct str finding_text(struct arena *arena, struct str text);

/* How many have this level. */
size_t findings_count(const struct findings *findings, enum finding_level level);
/* `colocation-config.degradeTimeMinutes = 0: must be above 0 (ConfigParamInvalid)`, one line. */
void finding_write(struct strbuf *out, const struct finding *finding);
