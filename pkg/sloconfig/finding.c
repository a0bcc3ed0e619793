#include "sloconfig/finding.h"

#define VALUE_SHOWN_BYTES 200
#define MESSAGE_MAX_BYTES ((size_t)64 * 1024)

const char finding_reason_parse[] = "ParseConfigFail";
const char finding_reason_invalid[] = "ConfigParamInvalid";
const char finding_reason_overlap[] = "NodeStrategiesOverlap";
const char finding_reason_conflict[] = "ExistNodeConfict";
const char finding_reason_override[] = "NodeOverrideInvalid";
const char finding_reason_unknown[] = "UnknownValue";

void findings_add(struct findings *findings, enum finding_level level, struct str key, struct str path,
                  struct str value, const char *reason, const char *format, ...)
{
    if (!findings)
        return;
    findings->rejected += level == FINDING_REJECTED;
    if (findings->count == FINDINGS_MAX) {
        findings->omitted++;
        return;
    }
    if (!findings->items)
        findings->items = arena_array(findings->arena, struct finding, FINDINGS_MAX);
    CLEANUP(strbuf_done) struct strbuf message = STRBUF_INIT(MESSAGE_MAX_BYTES);
    va_list args;
    va_start(args, format);
    strbuf_addv(&message, format, args);
    va_end(args);
    findings->items[findings->count++] = (struct finding){
        .level = level,
        .key = arena_str(findings->arena, key),
        .path = arena_str(findings->arena, path),
        .value = arena_str(findings->arena, value),
        .reason = reason,
        .message = arena_str(findings->arena, strbuf_str(&message)),
    };
}

struct str finding_text(struct arena *arena, struct str text)
{
    if (text.len <= VALUE_SHOWN_BYTES)
        return arena_str(arena, text);
    size_t end = VALUE_SHOWN_BYTES;
    while (end > 0 && ((unsigned char)text.ptr[end] & 0xc0) == 0x80)
        end--;
    return arena_strf(arena, STR_FMT "... (%zu bytes)", STR_ARG(str_slice(text, 0, end)), text.len);
}

struct str finding_value(struct arena *arena, const struct json *value)
{
    if (!value)
        return STR_NULL;
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT((size_t)16 * 1024 * 1024);
    json_write(&text, value);
    return finding_text(arena, strbuf_str(&text));
}

size_t findings_count(const struct findings *findings, enum finding_level level)
{
    size_t count = 0;
    for (size_t i = 0; i < findings->count; i++)
        count += findings->items[i].level == level;
    return count;
}

/* Foreign text on one line: a value may hold anything. */
static void add_line(struct strbuf *out, struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        strbuf_addc(out, (unsigned char)text.ptr[i] < 0x20 || text.ptr[i] == 0x7f ? ' ' : text.ptr[i]);
}

void finding_write(struct strbuf *out, const struct finding *finding)
{
    add_line(out, finding->key);
    if (!str_empty(finding->path)) {
        strbuf_addc(out, '.');
        add_line(out, finding->path);
    }
    if (!str_empty(finding->value)) {
        strbuf_add(out, STR(" = "));
        add_line(out, finding->value);
    }
    strbuf_add(out, STR(": "));
    add_line(out, finding->message);
    strbuf_addf(out, " (%s)", finding->reason);
}
