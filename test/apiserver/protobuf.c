#include "test/apiserver/protobuf.h"
#include "base/rfc3339.h"
#include "test/apiserver/base64.h"
#include "test/apiserver/tree.h"

/* ---- the wire ---- */

#define MAX_ENTRIES 20000 /* of one map or list */

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct wire_field {
    uint64_t number;
    unsigned type;
    uint64_t varint;
    struct str bytes;
};

static bool take_varint(struct str *rest, uint64_t *ret)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < 10 && i < rest->len; i++) {
        unsigned char byte = (unsigned char)rest->ptr[i];
        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            *ret = value;
            *rest = str_slice(*rest, i + 1, rest->len);
            return true;
        }
    }
    return false;
}

static bool take_bytes(struct str *rest, uint64_t count, struct str *ret)
{
    if (count > rest->len)
        return false;
    *ret = str_slice(*rest, 0, (size_t)count);
    *rest = str_slice(*rest, (size_t)count, rest->len);
    return true;
}

static bool take_field(struct str *rest, struct wire_field *ret)
{
    uint64_t tag, count;
    if (!take_varint(rest, &tag))
        return false;
    *ret = (struct wire_field){ .number = tag >> 3, .type = (unsigned)(tag & 7) };
    switch (ret->type) {
    case WIRE_VARINT:
        return take_varint(rest, &ret->varint);
    case WIRE_FIXED64:
        return take_bytes(rest, 8, &ret->bytes);
    case WIRE_FIXED32:
        return take_bytes(rest, 4, &ret->bytes);
    case WIRE_BYTES:
        return take_varint(rest, &count) && take_bytes(rest, count, &ret->bytes);
    default:
        return false;
    }
}

/* ---- messages as tables ---- */

enum value_kind { TEXT, BASE64, INTEGER, BOOLEAN, TIME, MESSAGE, TEXT_MAP, BASE64_MAP };

struct message;

struct field {
    uint64_t number;
    const char *name;
    enum value_kind kind;
    bool repeated;
    bool keep_zero; /* a pointer in Go: zero is a statement */
    const struct message *message;
};

struct message {
    const struct field *fields;
    size_t count;
};

#define MESSAGE_OF(name_, ...)                                                                               \
    static const struct field name_##_fields[] = { __VA_ARGS__ };                                            \
    static const struct message name_ = { name_##_fields, ARRAY_LEN(name_##_fields) }

/* clang-format off */
MESSAGE_OF(owner_reference,
    { 1, "kind", TEXT, false, false, NULL }, { 3, "name", TEXT, false, false, NULL },
    { 4, "uid", TEXT, false, false, NULL }, { 5, "apiVersion", TEXT, false, false, NULL },
    { 6, "controller", BOOLEAN, false, true, NULL }, { 7, "blockOwnerDeletion", BOOLEAN, false, true, NULL });
MESSAGE_OF(object_meta,
    { 1, "name", TEXT, false, false, NULL }, { 2, "generateName", TEXT, false, false, NULL },
    { 3, "namespace", TEXT, false, false, NULL }, { 5, "uid", TEXT, false, false, NULL },
    { 6, "resourceVersion", TEXT, false, false, NULL }, { 7, "generation", INTEGER, false, false, NULL },
    { 8, "creationTimestamp", TIME, false, false, NULL }, { 9, "deletionTimestamp", TIME, false, false, NULL },
    { 10, "deletionGracePeriodSeconds", INTEGER, false, true, NULL },
    { 11, "labels", TEXT_MAP, false, false, NULL }, { 12, "annotations", TEXT_MAP, false, false, NULL },
    { 13, "ownerReferences", MESSAGE, true, false, &owner_reference },
    { 14, "finalizers", TEXT, true, false, NULL });
MESSAGE_OF(secret,
    { 1, "metadata", MESSAGE, false, false, &object_meta }, { 2, "data", BASE64_MAP, false, false, NULL },
    { 3, "type", TEXT, false, false, NULL }, { 4, "stringData", TEXT_MAP, false, false, NULL },
    { 5, "immutable", BOOLEAN, false, true, NULL });
MESSAGE_OF(config_map,
    { 1, "metadata", MESSAGE, false, false, &object_meta }, { 2, "data", TEXT_MAP, false, false, NULL },
    { 3, "binaryData", BASE64_MAP, false, false, NULL }, { 4, "immutable", BOOLEAN, false, true, NULL });
MESSAGE_OF(namespace_spec, { 1, "finalizers", TEXT, true, false, NULL });
MESSAGE_OF(namespace,
    { 1, "metadata", MESSAGE, false, false, &object_meta }, { 2, "spec", MESSAGE, false, false, &namespace_spec });
MESSAGE_OF(service_account,
    { 1, "metadata", MESSAGE, false, false, &object_meta },
    { 4, "automountServiceAccountToken", BOOLEAN, false, true, NULL });
MESSAGE_OF(preconditions,
    { 1, "uid", TEXT, false, true, NULL }, { 2, "resourceVersion", TEXT, false, true, NULL });
MESSAGE_OF(delete_options,
    { 1, "gracePeriodSeconds", INTEGER, false, true, NULL },
    { 2, "preconditions", MESSAGE, false, false, &preconditions },
    { 3, "orphanDependents", BOOLEAN, false, true, NULL }, { 4, "propagationPolicy", TEXT, false, true, NULL },
    { 5, "dryRun", TEXT, true, false, NULL });

MESSAGE_OF(resource_attributes,
    { 1, "namespace", TEXT, false, false, NULL }, { 2, "verb", TEXT, false, false, NULL },
    { 3, "group", TEXT, false, false, NULL }, { 4, "version", TEXT, false, false, NULL },
    { 5, "resource", TEXT, false, false, NULL }, { 6, "subresource", TEXT, false, false, NULL },
    { 7, "name", TEXT, false, false, NULL });
MESSAGE_OF(non_resource_attributes,
    { 1, "path", TEXT, false, false, NULL }, { 2, "verb", TEXT, false, false, NULL });
MESSAGE_OF(access_review_spec,
    { 1, "resourceAttributes", MESSAGE, false, false, &resource_attributes },
    { 2, "nonResourceAttributes", MESSAGE, false, false, &non_resource_attributes });
MESSAGE_OF(access_review,
    { 1, "metadata", MESSAGE, false, false, &object_meta },
    { 2, "spec", MESSAGE, false, false, &access_review_spec });
MESSAGE_OF(policy_rule,
    { 1, "verbs", TEXT, true, false, NULL }, { 2, "apiGroups", TEXT, true, false, NULL },
    { 3, "resources", TEXT, true, false, NULL }, { 4, "resourceNames", TEXT, true, false, NULL },
    { 5, "nonResourceURLs", TEXT, true, false, NULL });
MESSAGE_OF(role,
    { 1, "metadata", MESSAGE, false, false, &object_meta }, { 2, "rules", MESSAGE, true, false, &policy_rule });
MESSAGE_OF(subject,
    { 1, "kind", TEXT, false, false, NULL }, { 2, "apiGroup", TEXT, false, false, NULL },
    { 3, "name", TEXT, false, false, NULL }, { 4, "namespace", TEXT, false, false, NULL });
MESSAGE_OF(role_ref,
    { 1, "apiGroup", TEXT, false, false, NULL }, { 2, "kind", TEXT, false, false, NULL },
    { 3, "name", TEXT, false, false, NULL });
MESSAGE_OF(role_binding,
    { 1, "metadata", MESSAGE, false, false, &object_meta }, { 2, "subjects", MESSAGE, true, false, &subject },
    { 3, "roleRef", MESSAGE, false, false, &role_ref });
/* clang-format on */

#define RBAC "rbac.authorization.k8s.io/v1"

static const struct {
    const char *api_version; /* NULL: any */
    const char *kind;
    const struct message *message;
} kinds[] = {
    { "v1", "Secret", &secret },
    { "v1", "ConfigMap", &config_map },
    { "v1", "Namespace", &namespace },
    { "v1", "ServiceAccount", &service_account },
    { NULL, "DeleteOptions", &delete_options },
    { "authorization.k8s.io/v1", "SelfSubjectAccessReview", &access_review },
    { RBAC, "Role", &role },
    { RBAC, "ClusterRole", &role },
    { RBAC, "RoleBinding", &role_binding },
    { RBAC, "ClusterRoleBinding", &role_binding },
};

/* ---- decoding; false means malformed ---- */

static bool decode_message(struct arena *arena, const struct message *message, struct str bytes,
                           struct json *object);

static bool decode_text(struct arena *arena, struct str bytes, bool base64, const struct json **ret)
{
    if (!base64 && !str_is_utf8(bytes))
        return false;
    *ret = json_new_str(arena, base64 ? api_base64_encode(arena, bytes) : bytes);
    return true;
}

/* An entry is a message of its own: 1 the key, 2 the value. */
static bool decode_entry(struct arena *arena, struct str bytes, bool base64, struct json *map)
{
    struct wire_field part;
    struct str key = STR_NULL, text = STR_NULL;
    const struct json *value;
    while (bytes.len > 0) {
        if (!take_field(&bytes, &part) || part.type != WIRE_BYTES)
            return false;
        if (part.number == 1)
            key = part.bytes;
        else if (part.number == 2)
            text = part.bytes;
    }
    if (!str_is_utf8(key) || str_find_byte(key, 0) >= 0 || !decode_text(arena, text, base64, &value))
        return false;
    json_set(arena, map, key, value);
    return true;
}

static bool decode_time(struct arena *arena, struct str bytes, const struct json **ret)
{
    struct wire_field part;
    int64_t seconds = 0;
    while (bytes.len > 0) {
        if (!take_field(&bytes, &part))
            return false;
        if (part.number == 1 && part.type == WIRE_VARINT)
            seconds = (int64_t)part.varint;
    }
    /* Years 1 to 9999: everything a Time can say. The zero Time is absent. */
    *ret = NULL;
    if (seconds <= -62135596800 || seconds > 253402300799)
        return true;
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(64);
    rfc3339_format(&out, (struct wall_time){ seconds * US_PER_S });
    if (seconds != 0)
        *ret = json_new_str(arena, strbuf_str(&out));
    return true;
}

/* *ret NULL: nothing to set. */
static bool decode_value(struct arena *arena, const struct field *field, const struct wire_field *wire,
                         const struct json **ret)
{
    struct json *message;
    *ret = NULL;
    switch (field->kind) {
    case TEXT:
    case BASE64:
        if (wire->bytes.len == 0 && !field->keep_zero && !field->repeated)
            return true;
        return decode_text(arena, wire->bytes, field->kind == BASE64, ret);
    case INTEGER:
        if (wire->varint != 0 || field->keep_zero)
            *ret = json_new_i64(arena, (int64_t)wire->varint);
        return true;
    case BOOLEAN:
        if (wire->varint != 0 || field->keep_zero)
            *ret = json_new_bool(arena, wire->varint != 0);
        return true;
    case TIME:
        return decode_time(arena, wire->bytes, ret);
    case MESSAGE:
        message = api_object(arena);
        *ret = message;
        return decode_message(arena, field->message, wire->bytes, message);
    case TEXT_MAP:
    case BASE64_MAP:
        break;
    }
    return false;
}

/* `container` keeps the list or map of a repeated field while its message is read. */
static bool decode_field(struct arena *arena, const struct field *field, const struct wire_field *wire,
                         struct json *object, struct json **container)
{
    bool scalar = field->kind == INTEGER || field->kind == BOOLEAN;
    bool is_map = field->kind == TEXT_MAP || field->kind == BASE64_MAP;
    if (wire->type != (scalar ? WIRE_VARINT : WIRE_BYTES))
        return false;
    if ((is_map || field->repeated) && !*container) {
        *container = json_new(arena, is_map ? JSON_OBJECT : JSON_ARRAY);
        api_set(arena, object, field->name, *container);
    }
    if (*container && json_count(*container) >= MAX_ENTRIES)
        return false;
    if (is_map)
        return decode_entry(arena, wire->bytes, field->kind == BASE64_MAP, *container);
    const struct json *value;
    if (!decode_value(arena, field, wire, &value))
        return false;
    if (value && field->repeated)
        json_push(arena, *container, value);
    else if (value)
        api_set(arena, object, field->name, value);
    return true;
}

static bool decode_message(struct arena *arena, const struct message *message, struct str bytes,
                           struct json *object)
{
    struct wire_field wire;
    struct json **containers = arena_array(arena, struct json *, message->count);
    while (bytes.len > 0) {
        if (!take_field(&bytes, &wire))
            return false;
        for (size_t i = 0; i < message->count; i++)
            if (message->fields[i].number == wire.number &&
                !decode_field(arena, &message->fields[i], &wire, object, &containers[i]))
                return false;
    }
    return true;
}

/* ---- the envelope ---- */

struct envelope {
    struct str api_version, kind, object, encoding;
};

static bool read_type(struct str bytes, struct envelope *envelope)
{
    struct wire_field wire;
    while (bytes.len > 0) {
        if (!take_field(&bytes, &wire))
            return false;
        if (wire.number == 1)
            envelope->api_version = wire.bytes;
        else if (wire.number == 2)
            envelope->kind = wire.bytes;
    }
    return str_is_utf8(envelope->api_version) && str_is_utf8(envelope->kind);
}

static bool read_envelope(struct str body, struct envelope *ret)
{
    static const struct str magic = { .ptr = "k8s\0", .len = 4 };
    struct wire_field wire;
    *ret = (struct envelope){ 0 };
    if (!str_starts_with(body, magic))
        return false;
    body = str_slice(body, magic.len, body.len);
    while (body.len > 0) {
        if (!take_field(&body, &wire))
            return false;
        if (wire.number == 1 && !read_type(wire.bytes, ret))
            return false;
        if (wire.number == 2)
            ret->object = wire.bytes;
        if (wire.number == 3)
            ret->encoding = wire.bytes;
    }
    return true;
}

bool api_protobuf_decode(struct arena *arena, struct str body, const struct json **ret,
                         struct api_error *error)
{
    struct envelope envelope;
    if (!read_envelope(body, &envelope))
        return api_fail(error, arena, 400, "the body is not a Kubernetes protobuf object");
    if (!str_empty(envelope.encoding))
        return api_fail_media_type(error, arena, "application/json");
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        bool version_fits =
            !kinds[i].api_version || str_eq(str_c(kinds[i].api_version), envelope.api_version);
        if (!version_fits || !str_eq(str_c(kinds[i].kind), envelope.kind))
            continue;
        struct json *object = api_object(arena);
        api_set_str(arena, object, "kind", envelope.kind);
        api_set_str(arena, object, "apiVersion", envelope.api_version);
        if (!decode_message(arena, kinds[i].message, envelope.object, object))
            return api_fail(error, arena, 400,
                            "%s in version \"" STR_FMT "\" cannot be decoded from protobuf", kinds[i].kind,
                            STR_ARG(envelope.api_version));
        *ret = object;
        return true;
    }
    return api_fail_media_type(error, arena, "application/json");
}
