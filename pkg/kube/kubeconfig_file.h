#pragma once
/* Inside of kubeconfig: what one file says, and how several become one configuration.
 * Pure; kubeconfig_load.c reads the files. */
#include "api/meta.h"
#include "kube/kubeconfig.h"

struct kubeconfig_cluster {
    struct str server;
    struct opt_text ca_path;
    struct opt_text ca_data; /* base64 */
    bool insecure_skip_tls_verify;
    struct str tls_server_name;
    struct str proxy_url;
    const struct json *extensions;
};

struct kubeconfig_exec {
    struct str api_version;
    struct str command;
    struct json_items args; /* struct str */
    struct json_items env;  /* struct kube_exec_env */
    struct str install_hint;
    bool provide_cluster_info;
    struct str interactive_mode;
};

struct kubeconfig_user {
    struct str client_cert_path;
    struct str client_cert_data; /* base64 */
    struct str client_key_path;
    struct str client_key_data; /* base64 */
    struct str token;
    struct str token_path;
    struct str username;
    struct str password;
    struct str impersonate_user;
    struct str impersonate_uid;
    struct json_items impersonate_groups; /* struct str */
    const struct json *impersonate_extra;
    const struct kubeconfig_exec *exec;
    const struct json *auth_provider;
};

struct kubeconfig_context {
    struct str cluster;
    struct str user;
    struct str ns;
};

/* What all three lists hold: a name first, and the body by its name. */
struct kubeconfig_entry {
    struct str name;
    union {
        const struct kubeconfig_cluster *cluster; /* NULL: an empty one */
        const struct kubeconfig_user *user;
        const struct kubeconfig_context *context;
    };
};

struct kubeconfig_file {
    struct str api_version;
    struct str kind;
    struct str current_context;
    struct json_items clusters; /* struct kubeconfig_entry */
    struct json_items users;
    struct json_items contexts;
};

/* A parsed file and where it came from, for errors. */
struct kubeconfig_source {
    struct str path;
    const struct kubeconfig_file *file;
};

/* Merges and picks: of every name and scalar the first definition wins. `context` NULL:
 * current-context. Inline data is decoded; paths are left for the caller to read. */
bool kubeconfig_resolve(struct arena *arena, const struct kubeconfig_source *sources, size_t count,
                        const char *context, struct kube_config *ret, struct err *err) MUST_CHECK;

/* "https://host:port/prefix" without the slash at the end. */
bool kubeconfig_check_server(struct str server, struct str *ret, struct err *err) MUST_CHECK;

/* A user's credential plugin; `cluster` may hold settings for it, NULL is fine. */
bool kubeconfig_take_exec(struct arena *arena, const struct kubeconfig_exec *exec,
                          const struct kubeconfig_cluster *cluster, const struct kube_exec **ret,
                          struct err *err) MUST_CHECK;
