#include "test/apiserver/auth.h"

struct as_auth_token {
    struct str token;
    struct as_identity identity;
};

void as_auth_done(struct as_auth *auth)
{
    arena_done(&auth->arena);
    *auth = (struct as_auth){ 0 };
}

/* One field of a CSV line; quotes may surround it. */
static struct str cut_field(struct str *rest)
{
    struct str field;
    if (str_starts_with(*rest, STR("\""))) {
        *rest = str_slice(*rest, 1, rest->len);
        str_cut(*rest, '"', &field, rest);
        struct str nothing;
        str_cut(*rest, ',', &nothing, rest);
        return field;
    }
    str_cut(*rest, ',', &field, rest);
    return str_trim(field);
}

static struct as_identity identity_new(struct arena *arena, struct str user, struct str groups)
{
    size_t count = 1;
    for (size_t i = 0; i < groups.len; i++)
        count += groups.ptr[i] == ',';
    struct str *list = arena_array(arena, struct str, count + 1);
    size_t used = 0;
    while (groups.len) {
        struct str group;
        str_cut(groups, ',', &group, &groups);
        if (str_trim(group).len)
            list[used++] = arena_str(arena, str_trim(group));
    }
    list[used++] = STR("system:authenticated");
    return (struct as_identity){ arena_str(arena, user), list, used };
}

bool as_auth_load(struct as_auth *auth, struct str csv, struct err *err)
{
    size_t line_number = 0;
    auth->has_tokens = true;
    while (csv.len) {
        struct str line;
        str_cut(csv, '\n', &line, &csv);
        line = str_trim(line);
        line_number++;
        if (str_empty(line) || line.ptr[0] == '#')
            continue;
        struct str token = cut_field(&line);
        struct str user = cut_field(&line);
        cut_field(&line); /* uid: nothing here asks for it */
        struct str groups = cut_field(&line);
        if (str_empty(token) || str_empty(user))
            return err_set(err, ERR_INVALID, "token file line %zu: need token,user,uid", line_number);
        auth->tokens = arena_grow(&auth->arena, auth->tokens, auth->count * sizeof *auth->tokens,
                                  (auth->count + 1) * sizeof *auth->tokens);
        auth->tokens[auth->count++] = (struct as_auth_token){
            .token = arena_str(&auth->arena, token),
            .identity = identity_new(&auth->arena, user, groups),
        };
    }
    return true;
}

bool as_auth_identify(const struct as_auth *auth, struct arena *arena, struct str authorization,
                      struct str peer_subject, struct as_identity *ret, struct api_error *error)
{
    static const struct str anonymous_groups[] = { STR_INIT("system:unauthenticated") };
    if (peer_subject.len) {
        *ret = identity_new(arena, peer_subject, STR_NULL);
        return true;
    }
    if (auth->has_tokens && str_starts_with(authorization, STR("Bearer "))) {
        struct str token = str_trim(str_slice(authorization, 7, authorization.len));
        for (size_t i = 0; i < auth->count; i++) {
            if (str_eq(auth->tokens[i].token, token)) {
                *ret = auth->tokens[i].identity;
                return true;
            }
        }
        return api_fail(error, arena, 401, "Unauthorized");
    }
    *ret = (struct as_identity){ STR("system:anonymous"), anonymous_groups, 1 };
    return true;
}

bool as_identity_in_group(const struct as_identity *identity, struct str group)
{
    for (size_t i = 0; i < identity->group_count; i++)
        if (str_eq(identity->groups[i], group))
            return true;
    return false;
}
