#pragma once
/* Who is asking: bearer tokens from a file, or the CN of a client certificate. */
#include "base/arena.h"
#include "base/err.h"
#include "test/apiserver/status.h"

struct as_identity {
    struct str user;
    const struct str *groups;
    size_t group_count;
};

struct as_auth_token;

struct as_auth {
    bool has_tokens;
    struct arena arena;
    struct as_auth_token *tokens;
    size_t count;
};

/* Lines of token,user,uid[,"group,group"]; blank lines and # comments are passed over. */
bool as_auth_load(struct as_auth *auth, struct str csv, struct err *err) MUST_CHECK;
void as_auth_done(struct as_auth *auth);

/* 401 for a token that is not in the file. Without credentials: system:anonymous.
 * Borrows from `auth` and from the arguments. */
bool as_auth_identify(const struct as_auth *auth, struct arena *arena, struct str authorization,
                      struct str peer_subject, struct as_identity *ret, struct api_error *error) MUST_CHECK;
bool as_identity_in_group(const struct as_identity *identity, struct str group);
