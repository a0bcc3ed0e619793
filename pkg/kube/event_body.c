#include "kube/event_body.h"

#include "base/rfc3339.h"

#define MAX_NAME_BYTES 253

struct str event_cut(struct str text, size_t max)
{
    if (text.len <= max)
        return text;
    size_t end = max;
    while (end > 0 && ((unsigned char)text.ptr[end] & 0xC0) == 0x80)
        end--;
    return str_slice(text, 0, end);
}

void event_note(struct strbuf *out, struct str note)
{
    for (size_t i = 0; i < note.len && out->len <= EVENT_MAX_NOTE_BYTES;) {
        size_t len = str_utf8_len(str_slice(note, i, 4));
        strbuf_add(out, len ? str_slice(note, i, len) : STR("?"));
        i += len ? len : 1;
    }
    size_t keep = event_cut(strbuf_str(out), EVENT_MAX_NOTE_BYTES).len;
    if (keep == out->len)
        return;
    out->len = keep;
    out->ptr[keep] = '\0';
}

void event_name(struct strbuf *out, const struct event_content *event)
{
    CLEANUP(strbuf_done) struct strbuf suffix = STRBUF_INIT(32);
    strbuf_addf(&suffix, ".%llx", (unsigned long long)event->suffix);
    struct str name = str_slice(event->regarding.name, 0, MAX_NAME_BYTES - suffix.len);
    while (name.len > 0 && strchr("-.", name.ptr[name.len - 1]))
        name.len--; /* a label may not end there */
    strbuf_add(out, name);
    strbuf_add(out, strbuf_str(&suffix));
}

struct str event_namespace(const struct event_content *event)
{
    return str_empty(event->regarding.ns) ? STR("default") : event->regarding.ns;
}

/* --- JSON ------------------------------------------------------------------------- */

static void add_key(struct strbuf *out, const char *key)
{
    if (out->ptr[out->len - 1] != '{')
        strbuf_addc(out, ',');
    json_write_str(out, str_c(key));
    strbuf_addc(out, ':');
}

static void add_text(struct strbuf *out, const char *key, struct str value)
{
    if (str_empty(value))
        return;
    add_key(out, key);
    json_write_str(out, value);
}

static void add_metadata(struct strbuf *out, const struct event_content *event)
{
    CLEANUP(strbuf_done) struct strbuf name = STRBUF_INIT(2 * MAX_NAME_BYTES);
    event_name(&name, event);
    add_key(out, "metadata");
    strbuf_addc(out, '{');
    add_text(out, "name", strbuf_str(&name));
    add_text(out, "namespace", event_namespace(event));
    strbuf_addc(out, '}');
}

static void add_regarding(struct strbuf *out, const char *key, const struct event_regarding *regarding)
{
    const struct kube_kind *kind = regarding->kind;
    CLEANUP(strbuf_done) struct strbuf api_version = STRBUF_INIT(512);
    strbuf_addf(&api_version, "%s%s%s", kind->group, *kind->group ? "/" : "", kind->version);
    add_key(out, key);
    strbuf_addc(out, '{');
    add_text(out, "apiVersion", strbuf_str(&api_version));
    add_text(out, "kind", str_c(kind->kind));
    add_text(out, "namespace", regarding->ns);
    add_text(out, "name", regarding->name);
    add_text(out, "uid", regarding->uid);
    add_text(out, "resourceVersion", regarding->rv);
    strbuf_addc(out, '}');
}

static void add_new_fields(struct strbuf *out, const struct event_content *event)
{
    CLEANUP(strbuf_done) struct strbuf time = STRBUF_INIT(64);
    rfc3339_format_micro(&time, event->time);
    add_text(out, "eventTime", strbuf_str(&time));
    add_text(out, "reportingController", event->controller);
    add_text(out, "reportingInstance", event->instance);
    add_regarding(out, "regarding", &event->regarding);
    add_text(out, "note", event->note);
}

/* Without eventTime, so that servers which know only the old fields take it. */
static void add_core_fields(struct strbuf *out, const struct event_content *event)
{
    CLEANUP(strbuf_done) struct strbuf time = STRBUF_INIT(64);
    rfc3339_format(&time, event->time);
    add_text(out, "firstTimestamp", strbuf_str(&time));
    add_text(out, "lastTimestamp", strbuf_str(&time));
    add_key(out, "count");
    strbuf_addc(out, '1');
    add_text(out, "reportingComponent", event->controller);
    add_text(out, "reportingInstance", event->instance);
    add_key(out, "source");
    strbuf_addc(out, '{');
    add_text(out, "component", event->controller);
    add_text(out, "host", event->instance);
    strbuf_addc(out, '}');
    add_regarding(out, "involvedObject", &event->regarding);
    add_text(out, "message", event->note);
}

void event_write(struct strbuf *out, const struct event_content *event, enum event_api api)
{
    bool core = api == EVENT_API_CORE;
    strbuf_addc(out, '{');
    add_text(out, "apiVersion", core ? STR("v1") : STR("events.k8s.io/v1"));
    add_text(out, "kind", STR("Event"));
    add_metadata(out, event);
    add_text(out, "type", event->warning ? STR("Warning") : STR("Normal"));
    add_text(out, "reason", event->reason);
    add_text(out, "action", event->action);
    if (core)
        add_core_fields(out, event);
    else
        add_new_fields(out, event);
    strbuf_addc(out, '}');
}
