#pragma once
/* The credentials behind the Authorization header, kept fresh from a token file. Inside
 * of the client; `now` is passed in, so tests need no waiting. */
#include "base/clock.h"
#include "kube/kubeconfig.h"

struct kube_auth;

/* Copies what it needs. Plain HTTP gets no credentials at all (NET-8). */
struct kube_auth *kube_auth_new(const struct kube_config *config, struct mono_time now);
void kube_auth_free(struct kube_auth *auth); /* wipes; NULL is fine */

/* The header's value, empty for none; borrowed until the next call. The token file is
 * looked at every 10 s and read every 60 s; what cannot be used leaves the last good
 * token in force (AUT-2). */
struct str kube_auth_header(struct kube_auth *auth, struct mono_time now);
/* A bearer token from elsewhere; empty: no credentials. */
void kube_auth_set_token(struct kube_auth *auth, struct str token);
/* Counts the credentials seen: tells whether a request was sent with the present ones. */
uint64_t kube_auth_generation(const struct kube_auth *auth);
/* After a 401 that answered generation `used`: reads the file now. True when there is
 * something else to try. */
bool kube_auth_refresh(struct kube_auth *auth, uint64_t used, struct mono_time now);
/* Why the token file could not be used last time; empty: it could. */
const char *kube_auth_trouble(const struct kube_auth *auth);
