#pragma once
/* How one kind of object is addressed, decoded and kept. Generic code (lists, watches,
 * stores, plan input) knows kinds only through this struct; each kind is a row in its own
 * file. */
#include "api/meta.h"
#include "api/object.h"
#include "json/decode.h"

struct kube_kind {
    const char *group; /* "" for core */
    const char *version;
    const char *kind;
    const char *plural;
    bool namespaced;
    const char *field_selector; /* sent with every list and watch; NULL: none */

    /* Decodes one object; the decoded struct starts with `struct meta meta`. */
    const struct json_table *table;

    /* What we keep of a decoded object. NULL with err when it has no usable identity; odd
     * values elsewhere are told to `report` (path, value, message), and read as absent or
     * 0, whichever lends less. */
    struct kube_object *(*project)(const void *decoded, struct intern *pool, const struct json_report *report,
                                   struct err *err);
    /* Gives back interned strings and owned memory; the block itself is freed by unref. */
    void (*release)(struct kube_object *object);
    /* Nothing we keep differs; identity and resourceVersion are not compared. */
    bool (*same)(const struct kube_object *a, const struct kube_object *b);
    /* The value this object is indexed under (pods: node name); NULL kind or result: none. */
    const struct istr *(*index)(const struct kube_object *object);
};
