#pragma once
/* What a server says about itself: /api, /apis, resource lists, aggregated discovery,
 * OpenAPI v3. Trees are made in `arena` and share the registry's strings. */
#include "base/arena.h"
#include "json/json.h"
#include "test/apiserver/resource.h"

/* Everything served, in any order; borrowed. */
struct api_registry {
    const struct api_resource *const *resources;
    size_t count;
};

/* GET /api, /apis, /apis/GROUP, /api/v1 and /apis/GROUP/VERSION. NULL when nothing of
 * that group or version is served. */
const struct json *api_discovery_core(struct arena *arena, struct str server_address);
const struct json *api_discovery_groups(struct arena *arena, const struct api_registry *registry);
const struct json *api_discovery_group(struct arena *arena, const struct api_registry *registry,
                                       struct str group);
const struct json *api_discovery_resources(struct arena *arena, const struct api_registry *registry,
                                           struct str group, struct str version);

/* Aggregated form for /api (core true) and /apis: kind APIGroupDiscoveryList of
 * apidiscovery.k8s.io/v2. Answered with API_DISCOVERY_MEDIA_TYPE. */
#define API_DISCOVERY_MEDIA_TYPE "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
const struct json *api_discovery_aggregated(struct arena *arena, const struct api_registry *registry,
                                            bool core);
/* Whether an Accept header prefers that form (v2). */
bool api_discovery_wants_aggregated(struct str accept);

/* GET /openapi/v2: a document without definitions, as protobuf (openapi.v2.Document) when
 * `accept` names that form. kubectl asks for it before it sends a `kind: List`; it checks
 * no field of what the document does not define. */
bool api_openapi_v2_wants_protobuf(struct str accept);
struct str api_openapi_v2_protobuf(void);
const struct json *api_openapi_v2(struct arena *arena);

#define API_OPENAPI_V2_MEDIA_TYPE "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"

/* GET /openapi/v3, and one group version's document: `group` empty and `version` empty
 * for "api", ... NULL when not served. */
const struct json *api_openapi_index(struct arena *arena, const struct api_registry *registry);
const struct json *api_openapi_document(struct arena *arena, const struct api_registry *registry,
                                        struct str group, struct str version);

/* GET /version */
const struct json *api_version_info(struct arena *arena);
