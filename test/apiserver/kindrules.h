#pragma once
/* The rules of single built-in kinds (422), for validate.c. */
#include "test/apiserver/status.h"

struct api_kind_input {
    struct arena *arena;
    const struct api_resource *resource;
    const struct json *object;
    const struct json *old; /* NULL at create */
    struct api_causes *causes;
};

void api_validate_node(const struct api_kind_input *in);
void api_validate_pod(const struct api_kind_input *in);
void api_validate_workload(const struct api_kind_input *in);
void api_validate_lease(const struct api_kind_input *in);
void api_validate_event(const struct api_kind_input *in);
void api_validate_config_map(const struct api_kind_input *in);
void api_validate_secret(const struct api_kind_input *in);

/* `field is immutable` when `key` of both objects differs; no-op at create. */
void api_validate_immutable(const struct api_kind_input *in, const struct json *now,
                            const struct json *before, const struct api_path *parent, const char *key);
