#include "kube/impersonate.h"

#include "base/strbuf.h"

#define MAX_NAME_BYTES 4096

static const struct str extra_prefix = STR_INIT("Impersonate-Extra-");

/* One more header would be somebody else's rights. */
static bool check_value(struct str value, const char *field, bool may_be_empty, struct err *err)
{
    if (!may_be_empty && str_empty(value))
        return err_set(err, ERR_INVALID, "%s: empty", field);
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.ptr[i];
        if (c < 0x20 || c == 0x7f)
            return err_set(err, ERR_INVALID, "%s: control character at byte %zu", field, i);
    }
    return true;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool stands_for_itself(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c && strchr("!#$&'*+-.^_`|~", c));
}

static bool extra_name(struct arena *arena, struct str key, struct str *ret, struct err *err)
{
    if (str_empty(key))
        return err_set(err, ERR_INVALID, "as-user-extra: empty key");
    CLEANUP(strbuf_done) struct strbuf name = STRBUF_INIT(MAX_NAME_BYTES);
    strbuf_add(&name, extra_prefix);
    for (size_t i = 0; i < key.len; i++) {
        char c = lower(key.ptr[i]);
        if (stands_for_itself(c))
            strbuf_addc(&name, c);
        else
            strbuf_addf(&name, "%%%02X", (unsigned)(unsigned char)c);
    }
    if (name.overflow)
        return err_set(err, ERR_INVALID, "as-user-extra: a key is too long");
    *ret = arena_str(arena, strbuf_str(&name));
    return true;
}

static void add(struct impersonation *to, struct http_header *headers, struct str name, struct str value)
{
    headers[to->count++] = (struct http_header){ .name = name, .value = value };
}

static bool add_groups(const struct kube_config *config, struct impersonation *to,
                       struct http_header *headers, struct err *err)
{
    for (size_t i = 0; i < config->impersonate_group_count; i++) {
        if (!check_value(config->impersonate_groups[i], "as-groups", false, err))
            return false;
        add(to, headers, STR("Impersonate-Group"), config->impersonate_groups[i]);
    }
    return true;
}

static bool add_extra(struct arena *arena, const struct kube_config *config, struct impersonation *to,
                      struct http_header *headers, struct err *err)
{
    for (size_t i = 0; i < config->impersonate_extra_count; i++) {
        const struct kube_extra *extra = &config->impersonate_extra[i];
        struct str name;
        if (!extra_name(arena, extra->key, &name, err) ||
            !check_value(extra->value, "as-user-extra", true, err))
            return false;
        add(to, headers, name, extra->value);
    }
    return true;
}

static bool check_alone(const struct kube_config *config, struct err *err)
{
    const char *field = !str_empty(config->impersonate_uid) ? "as-uid"
                        : config->impersonate_group_count   ? "as-groups"
                        : config->impersonate_extra_count   ? "as-user-extra"
                                                            : NULL;
    return !field || err_set(err, ERR_INVALID, "%s: needs a user in \"as\"", field);
}

bool impersonation_make(struct arena *arena, const struct kube_config *config, struct impersonation *ret,
                        struct err *err)
{
    *ret = (struct impersonation){ 0 };
    if (str_empty(config->impersonate_user))
        return check_alone(config, err);
    size_t most = 2 + config->impersonate_group_count + config->impersonate_extra_count;
    struct http_header *headers = arena_array(arena, struct http_header, most);
    struct impersonation made = { .headers = headers };
    if (!check_value(config->impersonate_user, "as", false, err) ||
        !check_value(config->impersonate_uid, "as-uid", true, err))
        return false;
    add(&made, headers, STR("Impersonate-User"), config->impersonate_user);
    if (!str_empty(config->impersonate_uid))
        add(&made, headers, STR("Impersonate-Uid"), config->impersonate_uid);
    if (!add_groups(config, &made, headers, err) || !add_extra(arena, config, &made, headers, err))
        return false;
    *ret = made;
    return true;
}
