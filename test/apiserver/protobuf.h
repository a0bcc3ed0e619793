#pragma once
/* Kubernetes protobuf bodies to JSON trees, for the kinds real clients send that way:
 * Secret, ConfigMap, Namespace, ServiceAccount, roles and their bindings,
 * SelfSubjectAccessReview, DeleteOptions. Answers are always JSON. */
#include "base/arena.h"
#include "json/json.h"
#include "test/apiserver/status.h"

#define API_PROTOBUF_MEDIA_TYPE "application/vnd.kubernetes.protobuf"

/* The envelope (k8s\0 + Unknown) and its object. 400 for a malformed body, 415 for a
 * kind without a decoder. */
bool api_protobuf_decode(struct arena *arena, struct str body, const struct json **ret,
                         struct api_error *error) MUST_CHECK;
