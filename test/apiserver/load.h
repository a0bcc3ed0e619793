#pragma once
/* Objects that come from files and tests rather than over HTTP. */
#include "test/apiserver/server.h"

bool as_load_object(struct apiserver *server, const struct json *object, struct err *err) MUST_CHECK;
bool as_load_text(struct apiserver *server, struct str manifests, struct err *err) MUST_CHECK;
/* Every *.yaml, *.yml and *.json of a folder, in order of name. */
bool as_load_dir(struct apiserver *server, const char *dir, struct err *err) MUST_CHECK;
