#pragma once
/* Request bodies to trees, and the parameters that go with writes. */
#include "test/apiserver/apply.h"
#include "test/apiserver/request.h"
#include "test/apiserver/validate.h"

/* JSON, YAML or protobuf by Content-Type; 400 for what does not parse, 415 for other
 * types. An empty body gives NULL. */
bool as_body_parse(struct as_request *request, const struct json **ret, struct api_error *error) MUST_CHECK;
/* The same, and it must be a JSON object. */
bool as_body_object(struct as_request *request, const struct json **ret, struct api_error *error) MUST_CHECK;

struct as_write_options {
    bool dry_run;
    bool force;
    enum api_field_validation field_validation;
    struct api_writer writer;
};
bool as_write_options_parse(struct as_request *request, struct as_write_options *ret,
                            struct api_error *error) MUST_CHECK;

/* Adds a Warning header per cause. */
void as_warn(struct as_request *request, const struct api_causes *warnings);
