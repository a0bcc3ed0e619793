#pragma once
/* Objects that come from files and tests rather than over HTTP. */
#include "test/apiserver/server.h"

enum as_load_mode {
    AS_LOAD_REPLACE, /* what exists becomes what the manifest says; nothing when it is that already */
    AS_LOAD_MISSING, /* what exists stays as it is */
};

bool as_load_object(struct apiserver *server, const struct json *object, enum as_load_mode mode,
                    struct err *err) MUST_CHECK;
bool as_load_text(struct apiserver *server, struct str manifests, enum as_load_mode mode,
                  struct err *err) MUST_CHECK;
/* Every *.yaml, *.yml and *.json of a folder, in order of name; replacing. */
bool as_load_dir(struct apiserver *server, const char *dir, struct err *err) MUST_CHECK;
