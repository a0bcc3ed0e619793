#pragma once
/* Credential plugins as text: what a kubeconfig says about one, what it is told, what it
 * answers. Pure; exec_plugin.c runs them. */
#include "base/clock.h"
#include "base/strbuf.h"
#include "kube/kubeconfig.h"

struct json;

struct kube_exec_env {
    struct str name;
    struct str value;
};

struct kube_exec {
    struct str api_version; /* asked for, and expected back */
    struct str command;     /* with a slash: a path, else looked up in PATH */
    const struct str *args;
    size_t arg_count;
    const struct kube_exec_env *env; /* in addition to ours */
    size_t env_count;
    struct str install_hint;
    bool provide_cluster_info;
    const struct json *cluster_config; /* the cluster's extension for plugins; NULL: none */
};

/* What a plugin gave: a token, a certificate with its key, or both. */
struct exec_credential {
    struct str token;
    struct str cert_pem;
    struct str key_pem;
    bool expires;
    struct wall_time expiry;
};

/* The value of KUBERNETES_EXEC_INFO for `config`, whose exec must be set. */
void exec_info_write(struct strbuf *out, const struct kube_config *config);

/* A plugin's output, JSON or YAML. Whether certificate and key are any good is not looked
 * at. Errors quote nothing of the output: it may be a secret in the wrong place. */
bool exec_credential_parse(struct arena *arena, struct str output, struct str api_version,
                           struct exec_credential *ret, struct err *err) MUST_CHECK;
