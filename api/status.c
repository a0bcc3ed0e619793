/* The Status object: what the API server says when a request fails. */
#include "api/meta.h"

static const struct json_field cause_fields[] = {
    JSON_FIELD_STR(struct api_cause, reason, "reason"),
    JSON_FIELD_STR(struct api_cause, field, "field"),
    JSON_FIELD_STR(struct api_cause, message, "message"),
};
static const struct json_table cause_table = JSON_TABLE(struct api_cause, cause_fields);

/* Nested objects whose fields land in the flat struct: tables over the same struct, at
 * offset 0 and of size 0, so that decoding one touches nothing but its own fields. */
static const struct json_field metadata_fields[] = {
    JSON_FIELD_STR(struct api_status, continue_token, "continue"),
};
static const struct json_table metadata_table = { .fields = metadata_fields,
                                                  .count = ARRAY_LEN(metadata_fields) };

static const struct json_field details_fields[] = {
    JSON_FIELD_I64(struct api_status, retry_after_s, "retryAfterSeconds"),
    JSON_FIELD_ARRAY(struct api_status, causes, "causes", &cause_table),
};
static const struct json_table details_table = { .fields = details_fields,
                                                 .count = ARRAY_LEN(details_fields) };

static const struct json_field status_fields[] = {
    JSON_FIELD_STR(struct api_status, status, "status"),
    JSON_FIELD_STR(struct api_status, reason, "reason"),
    JSON_FIELD_STR(struct api_status, message, "message"),
    JSON_FIELD_I64(struct api_status, code, "code"),
    { .name = "metadata", .type = JSON_INTO_OBJECT, .offset = 0, .table = &metadata_table },
    { .name = "details", .type = JSON_INTO_OBJECT, .offset = 0, .table = &details_table },
};
const struct json_table api_status_table = JSON_TABLE(struct api_status, status_fields);
