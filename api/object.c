#include "api/object.h"
#include "api/kind.h"
#include <assert.h>
#include <stdlib.h>

enum { NAME_MAX_LEN = 253, UUID_LEN = 36 };

/* --- uid --------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_dash_position(size_t i)
{
    return i == 8 || i == 13 || i == 18 || i == 23;
}

/* Lower-case 8-4-4-4-12 only: what cannot be formatted back exactly is kept as text. */
static bool uuid_parse(struct str text, struct kube_uid *ret)
{
    if (text.len != UUID_LEN)
        return false;
    struct kube_uid uid = { 0 };
    size_t digits = 0;
    uint8_t any = 0;
    for (size_t i = 0; i < UUID_LEN; i++) {
        if (is_dash_position(i)) {
            if (text.ptr[i] != '-')
                return false;
            continue;
        }
        int digit = hex_digit(text.ptr[i]);
        if (digit < 0)
            return false;
        uid.bytes[digits / 2] = (uint8_t)(uid.bytes[digits / 2] << 4 | digit);
        any |= (uint8_t)digit;
        digits++;
    }
    *ret = uid;
    return any != 0; /* all zero stands for "no uid" */
}

static struct kube_uid uid_hash(struct str text)
{
    uint64_t hash = str_hash(text);
    struct kube_uid uid;
    memcpy(uid.bytes, &hash, sizeof hash);
    hash ^= text.len;
    memcpy(uid.bytes + sizeof hash, &hash, sizeof hash);
    return uid;
}

static bool uid_is_absent(const struct kube_object *object)
{
    static const struct kube_uid none;
    return object->uid_len == 0 && memcmp(&object->uid, &none, sizeof none) == 0;
}

/* --- construction ------------------------------------------------------------------ */

/* Names become path segments of URLs and keys of stores. */
static bool name_check(const char *what, struct str name, struct err *err)
{
    if (name.len > NAME_MAX_LEN)
        return err_set(err, ERR_INVALID, "%s is longer than %d bytes", what, NAME_MAX_LEN);
    if (str_find_byte(name, '/') >= 0 || str_find_byte(name, '\0') >= 0 || !str_is_utf8(name) ||
        str_eq(name, STR(".")) || str_eq(name, STR("..")))
        return err_set(err, ERR_INVALID, "%s \"" STR_FMT "\" is malformed", what, STR_ARG(name));
    return true;
}

static bool identity_check(const struct meta *meta, struct err *err)
{
    if (str_empty(meta->name))
        return err_set(err, ERR_INVALID, "metadata.name is missing");
    if (!name_check("metadata.name", meta->name, err) || !name_check("metadata.namespace", meta->ns, err))
        return false;
    if (meta->rv.len > UINT8_MAX)
        return err_set(err, ERR_INVALID, "metadata.resourceVersion is longer than %d bytes", UINT8_MAX);
    if (meta->uid.len > UINT8_MAX)
        return err_set(err, ERR_INVALID, "metadata.uid is longer than %d bytes", UINT8_MAX);
    return true;
}

static void append(char **at, struct str text)
{
    if (text.len)
        memcpy(*at, text.ptr, text.len);
    *at += text.len;
}

struct kube_object *kube_object_new(const struct kube_kind *kind, size_t size, const struct meta *meta,
                                    struct intern *pool, struct err *err)
{
    if (!identity_check(meta, err))
        return NULL;
    assert(size >= sizeof(struct kube_object) && size <= UINT32_MAX);
    struct kube_uid uid = { 0 };
    struct str uid_text = STR_NULL;
    if (meta->uid.len && !uuid_parse(meta->uid, &uid)) {
        uid = uid_hash(meta->uid);
        uid_text = meta->uid;
    }
    struct kube_object *object = mem_zalloc(size + meta->name.len + meta->rv.len + uid_text.len);
    object->kind = kind;
    object->refs = 1;
    object->tail = (uint32_t)size;
    object->name_len = (uint8_t)meta->name.len;
    object->rv_len = (uint8_t)meta->rv.len;
    object->uid_len = (uint8_t)uid_text.len;
    object->uid = uid;
    object->ns = str_empty(meta->ns) ? NULL : intern_get(pool, meta->ns);
    char *at = (char *)object + size;
    append(&at, meta->name);
    append(&at, meta->rv);
    append(&at, uid_text);
    return object;
}

struct kube_object *kube_object_ref(const struct kube_object *object)
{
    struct kube_object *mine = (struct kube_object *)(uintptr_t)object;
    if (mine)
        mine->refs++;
    return mine;
}

void kube_object_unref(const struct kube_object *object)
{
    struct kube_object *mine = (struct kube_object *)(uintptr_t)object;
    if (!mine)
        return;
    assert(mine->refs > 0);
    if (--mine->refs > 0)
        return;
    if (mine->kind->release)
        mine->kind->release(mine);
    istr_unref(mine->ns);
    free(mine);
}

/* --- reading ----------------------------------------------------------------------- */

static const char *tail(const struct kube_object *object)
{
    return (const char *)object + object->tail;
}

struct str kube_object_name(const struct kube_object *object)
{
    return (struct str){ .ptr = tail(object), .len = object->name_len };
}

struct str kube_object_namespace(const struct kube_object *object)
{
    return istr_str(object->ns);
}

struct str kube_object_rv(const struct kube_object *object)
{
    return (struct str){ .ptr = tail(object) + object->name_len, .len = object->rv_len };
}

static struct str uid_text(const struct kube_object *object)
{
    return (struct str){ .ptr = tail(object) + object->name_len + object->rv_len, .len = object->uid_len };
}

void kube_object_uid(const struct kube_object *object, struct strbuf *out)
{
    if (object->uid_len) {
        strbuf_add(out, uid_text(object));
        return;
    }
    if (uid_is_absent(object))
        return;
    for (size_t i = 0; i < sizeof object->uid.bytes; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            strbuf_addc(out, '-');
        strbuf_addf(out, "%02x", object->uid.bytes[i]);
    }
}

bool kube_uid_eq(const struct kube_object *a, const struct kube_object *b)
{
    return memcmp(&a->uid, &b->uid, sizeof a->uid) == 0 && str_eq(uid_text(a), uid_text(b));
}

/* --- resourceVersion --------------------------------------------------------------- */

static bool rv_is_ordered(struct str rv)
{
    if (rv.len == 0 || rv.ptr[0] == '0')
        return false;
    for (size_t i = 0; i < rv.len; i++) {
        if (rv.ptr[i] < '0' || rv.ptr[i] > '9')
            return false;
    }
    return true;
}

enum rv_order rv_compare(struct str a, struct str b)
{
    if (str_eq(a, b))
        return RV_EQUAL;
    if (!rv_is_ordered(a) || !rv_is_ordered(b))
        return RV_UNKNOWN;
    if (a.len != b.len)
        return a.len < b.len ? RV_LESS : RV_GREATER;
    return str_cmp(a, b) < 0 ? RV_LESS : RV_GREATER;
}
