#pragma once
/* What every cached Kubernetes object starts with: identity and lifetime.
 *
 * An object is one immutable block, reference-counted, made by a kind's `project` from
 * what was decoded. Name, resourceVersion and an unusual uid stand behind the struct in
 * the same block; strings that repeat across objects (namespace, node name, labels) are
 * interned. This keeps a pod near 150 bytes, so every field here is counted. */
#include "base/err.h"
#include "base/strbuf.h"

/* --- interned strings ------------------------------------------------------------ */

struct intern; /* a pool; loop thread only */

/* One string of a pool. Equal strings of one pool are one pointer. */
struct istr {
    struct intern *pool;
    uint32_t refs;
    uint32_t len;
    char bytes[];
};

struct intern *intern_new(void);
/* Asserts that every string was released: a leak is a bug. NULL is fine. */
void intern_free(struct intern *pool);
size_t intern_count(const struct intern *pool);

/* A new reference. */
const struct istr *intern_get(struct intern *pool, struct str text);
const struct istr *istr_ref(const struct istr *text);
void istr_unref(const struct istr *text); /* NULL is fine */

static inline struct str istr_str(const struct istr *text)
{
    return text ? (struct str){ .ptr = text->bytes, .len = text->len } : STR_NULL;
}

/* --- objects --------------------------------------------------------------------- */

struct kube_kind;

struct kube_uid {
    uint8_t bytes[16]; /* of a canonical UUID, else a hash of the text */
};

struct kube_object {
    const struct kube_kind *kind;
    uint32_t refs;
    uint32_t tail;    /* offset of name, resourceVersion, uid text behind the struct */
    uint8_t name_len; /* at most 253 */
    uint8_t rv_len;
    uint8_t uid_len; /* 0: a canonical UUID, to be formatted from `uid`; all zero: none */
    struct kube_uid uid;
    const struct istr *ns; /* NULL for cluster-scoped objects */
};

struct meta;

/* Allocates `size` (the kind's struct) plus the tail, zeroed, refs 1, identity filled in
 * from meta. NULL with ERR_INVALID for a missing, overlong or malformed name (not UTF-8,
 * holding '/' or NUL, "." or ".."), the same of a namespace that is given, or an overlong
 * resourceVersion or uid. */
struct kube_object *kube_object_new(const struct kube_kind *kind, size_t size, const struct meta *meta,
                                    struct intern *pool, struct err *err);
struct kube_object *kube_object_ref(const struct kube_object *object);
void kube_object_unref(const struct kube_object *object); /* NULL is fine */

/* Borrowed for the object's life. */
struct str kube_object_name(const struct kube_object *object);
struct str kube_object_namespace(const struct kube_object *object);
struct str kube_object_rv(const struct kube_object *object);
void kube_object_uid(const struct kube_object *object, struct strbuf *out);
bool kube_uid_eq(const struct kube_object *a, const struct kube_object *b);

/* resourceVersion order (KEP-5504): decimal digits without leading zero compare by length,
 * then bytewise; anything else is RV_UNKNOWN unless equal. Never arithmetic. */
enum rv_order { RV_LESS, RV_EQUAL, RV_GREATER, RV_UNKNOWN };
enum rv_order rv_compare(struct str a, struct str b);
