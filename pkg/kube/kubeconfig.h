#pragma once
/* How to reach one API server: from kubeconfig files or from inside a pod. Pure but for
 * reading files; what was read is plain memory. */
#include "base/arena.h"
#include "base/err.h"

/* A further attribute of the user to impersonate; a key with two values is there twice. */
struct kube_extra {
    struct str key;
    struct str value;
};

struct kube_exec;

/* One cluster, one user, one namespace. Strings live in the arena it was loaded into. */
struct kube_config {
    struct str source; /* for the log: "kubeconfig /a/b (context x)", "in-cluster" */
    struct str server; /* "https://host:port[/prefix]", no slash at the end */
    struct str ns;     /* context's or pod's namespace; "default" when none is named */
    bool in_cluster;

    struct str ca_pem;  /* empty: system roots */
    struct str ca_path; /* file the PEM came from, for reload; empty: inline data */
    bool insecure_skip_tls_verify;
    struct str tls_server_name;
    struct str proxy_url; /* the cluster's, else the environment's; empty: none */

    struct str client_cert_pem;
    struct str client_key_pem;
    struct str client_cert_path;
    struct str client_key_path;
    struct str token;      /* bearer; wiped by kube_config_wipe */
    struct str token_path; /* re-read while running; wins over token once read */
    struct str username;   /* basic auth */
    struct str password;
    const struct kube_exec *exec; /* credential plugin; NULL: none. See exec_credential.h */
    struct str impersonate_user;  /* empty: nobody, and the rest is empty too */
    struct str impersonate_uid;
    const struct str *impersonate_groups;
    size_t impersonate_group_count;
    const struct kube_extra *impersonate_extra;
    size_t impersonate_extra_count;
};

struct kube_config_options {
    const char *kubeconfig; /* explicit path, must exist; NULL: $KUBECONFIG, in-cluster, ~/.kube/config */
    const char *context;    /* NULL: current-context */
    bool force_in_cluster;
    /* Environment, so that tests need no setenv. NULL: getenv. */
    const char *(*getenv)(void *self, const char *name);
    void *getenv_self;
    const char *service_account_dir; /* NULL: /var/run/secrets/kubernetes.io/serviceaccount */
};

/* Order: explicit path, $KUBECONFIG (a list, merged, first definition of a name wins),
 * in-cluster environment, ~/.kube/config. Without a proxy-url the environment's
 * HTTPS_PROXY (for http:// servers HTTP_PROXY) counts, unless NO_PROXY names the server;
 * small letters work too. Relative paths in a file are relative to it;
 * data beats file. Errors name the file and the field. */
bool kube_config_load(struct arena *arena, const struct kube_config_options *options, struct kube_config *ret,
                      struct err *err) MUST_CHECK;

/* Overwrites the secrets in the arena that `config` was loaded into, and forgets them. */
void kube_config_wipe(struct kube_config *config);

/* The parsing part, for one file's text (YAML or JSON): pure, fuzzed. `dir` is what relative
 * paths are joined to. Reads no file named inside. */
struct kubeconfig_file;
bool kubeconfig_parse(struct arena *arena, struct str text, struct str dir,
                      const struct kubeconfig_file **ret, struct err *err) MUST_CHECK;
