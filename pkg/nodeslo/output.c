/* The spec on the wire: whole for a create, the difference for an update. */
#include "nodeslo/spec.h"

void nodeslo_create_write(struct strbuf *out, struct str name, const struct nodeslo_plan *plan)
{
    strbuf_addf(out, "{\"apiVersion\":\"%s/%s\",\"kind\":\"%s\",\"metadata\":{\"name\":", nodeslo_kind.group,
                nodeslo_kind.version, nodeslo_kind.kind);
    json_write_str(out, name);
    strbuf_add(out, STR("},\"spec\":"));
    json_write(out, plan->spec);
    strbuf_addc(out, '}');
}

void nodeslo_patch_write(struct strbuf *out, const struct nodeslo_plan *plan)
{
    strbuf_add(out, STR("{\"spec\":"));
    json_write(out, plan->patch);
    strbuf_addc(out, '}');
}

const struct json *nodeslo_residue(struct arena *arena, struct str sent, struct str answer)
{
    const struct json *asked = NULL, *kept = NULL;
    if (!json_parse(arena, sent, NULL, &asked, NULL) || !json_parse(arena, answer, NULL, &kept, NULL))
        return NULL;
    const struct json *have = json_get(kept, STR("spec"));
    if (!have)
        have = json_new(arena, JSON_OBJECT);
    const struct json *want = json_merge_patch(arena, have, json_get(asked, STR("spec")));
    return schema_diff(&nodeslo_schema, have, want, arena);
}
