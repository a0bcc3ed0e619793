#include "kube/exec_credential.h"

#include "api/meta.h"
#include "base/rfc3339.h"
#include "kube/base64.h"
#include "kube/token.h"
#include "yaml/yaml.h"

#define MAX_CA_BYTES ((size_t)2 << 20)
#define MAX_OUTPUT_BYTES ((size_t)1 << 20)

/* --- what it is told -------------------------------------------------------------- */

static void set_text(struct arena *arena, struct json *object, const char *key, struct str text)
{
    if (!str_empty(text))
        json_set(arena, object, str_c(key), json_new_str(arena, text));
}

static const struct json *cluster_info(struct arena *arena, const struct kube_config *config)
{
    struct json *cluster = json_new(arena, JSON_OBJECT);
    CLEANUP(strbuf_done) struct strbuf ca = STRBUF_INIT(MAX_CA_BYTES);
    base64_encode(&ca, config->ca_pem);
    set_text(arena, cluster, "server", config->server);
    set_text(arena, cluster, "tls-server-name", config->tls_server_name);
    if (config->insecure_skip_tls_verify)
        json_set(arena, cluster, STR("insecure-skip-tls-verify"), json_new_bool(arena, true));
    set_text(arena, cluster, "certificate-authority-data", strbuf_str(&ca));
    set_text(arena, cluster, "proxy-url", config->proxy_url);
    if (config->exec->cluster_config)
        json_set(arena, cluster, STR("config"), config->exec->cluster_config);
    return cluster;
}

void exec_info_write(struct strbuf *out, const struct kube_config *config)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct json *root = json_new(&arena, JSON_OBJECT);
    struct json *spec = json_new(&arena, JSON_OBJECT);
    /* Nobody sits in front of a controller; its terminal, if any, is not the plugin's. */
    json_set(&arena, spec, STR("interactive"), json_new_bool(&arena, false));
    if (config->exec->provide_cluster_info)
        json_set(&arena, spec, STR("cluster"), cluster_info(&arena, config));
    json_set(&arena, root, STR("kind"), json_new_str(&arena, STR("ExecCredential")));
    json_set(&arena, root, STR("apiVersion"), json_new_str(&arena, config->exec->api_version));
    json_set(&arena, root, STR("spec"), spec);
    json_write(out, root);
}

/* --- what it answers -------------------------------------------------------------- */

struct status {
    struct str token;
    struct str cert;
    struct str key;
    struct str expiry;
};
static const struct json_field status_fields[] = {
    JSON_FIELD_STR(struct status, token, "token"),
    JSON_FIELD_STR(struct status, cert, "clientCertificateData"),
    JSON_FIELD_STR(struct status, key, "clientKeyData"),
    JSON_FIELD_STR(struct status, expiry, "expirationTimestamp"),
};
static const struct json_table status_table = JSON_TABLE(struct status, status_fields);

struct answer {
    struct str kind;
    struct str api_version;
    struct status *status;
};
static const struct json_field answer_fields[] = {
    JSON_FIELD_STR(struct answer, kind, "kind"),
    JSON_FIELD_STR(struct answer, api_version, "apiVersion"),
    JSON_FIELD_OBJECT_PTR(struct answer, status, "status", &status_table),
};
static const struct json_table answer_table = JSON_TABLE(struct answer, answer_fields);

/* The parsers' own words would quote. */
static bool parse(struct arena *arena, struct str output, const struct json **ret, struct err *err)
{
    struct kyaml_limits limits = { .max_bytes = MAX_OUTPUT_BYTES };
    bool json = str_starts_with(str_trim(output), STR("{"));
    bool ok = (json && json_parse(arena, str_trim(output), NULL, ret, NULL)) ||
              kyaml_parse(arena, output, &limits, ret, NULL);
    if (!ok)
        return err_set(err, ERR_INVALID, "the output is neither JSON nor YAML");
    return json_is(*ret, JSON_OBJECT) || err_set(err, ERR_INVALID, "the output is not an ExecCredential");
}

static void on_mismatch(void *self, struct str path, struct str value, const char *message)
{
    (void)value, (void)message;
    struct err *first = self;
    static const struct str known[] = { STR_INIT("kind"),
                                        STR_INIT("apiVersion"),
                                        STR_INIT("status"),
                                        STR_INIT("status.token"),
                                        STR_INIT("status.clientCertificateData"),
                                        STR_INIT("status.clientKeyData"),
                                        STR_INIT("status.expirationTimestamp") };
    for (size_t i = 0; i < ARRAY_LEN(known) && first->kind == ERR_NONE; i++) {
        if (str_eq_nocase(path, known[i]))
            err_set(first, ERR_INVALID, "%s: value has the wrong type", known[i].ptr);
    }
}

static bool decode(struct arena *arena, struct str output, struct answer *ret, struct err *err)
{
    const struct json *root;
    struct err wrong = ERR_INIT;
    struct json_decode_options options = { .report = { .mismatch = on_mismatch, .self = &wrong } };
    if (!parse(arena, output, &root, err))
        return false;
    if (!json_decode_tree(arena, root, &answer_table, ret, &options, NULL))
        return err_set(err, ERR_INVALID, "the output is not an ExecCredential");
    return wrong.kind == ERR_NONE || err_set(err, wrong.kind, "%s", wrong.text);
}

static bool check_kind(const struct answer *answer, struct str api_version, struct err *err)
{
    if (!str_eq(answer->kind, STR("ExecCredential")))
        return err_set(err, ERR_INVALID, "kind: not ExecCredential");
    if (str_eq(answer->api_version, api_version))
        return true;
    bool ours = str_starts_with(answer->api_version, STR("client.authentication.k8s.io/"));
    return err_set(err, ERR_INVALID, "apiVersion: " STR_FMT " was asked for, the answer is %s" STR_FMT,
                   STR_ARG(api_version), ours ? "" : "another",
                   STR_ARG(ours ? str_slice(answer->api_version, 0, 40) : STR_NULL));
}

static bool take_status(const struct status *status, struct exec_credential *ret, struct err *err)
{
    *ret = (struct exec_credential){
        .token = str_trim(status->token),
        .cert_pem = status->cert,
        .key_pem = status->key,
        .expires = !str_empty(status->expiry),
    };
    if (str_empty(ret->cert_pem) != str_empty(ret->key_pem))
        return err_set(err, ERR_INVALID, "status: clientCertificateData and clientKeyData belong together");
    if (str_empty(ret->token) && str_empty(ret->cert_pem))
        return err_set(err, ERR_INVALID, "status: neither token nor certificate");
    if (!str_empty(ret->token) && !token_is_valid(ret->token))
        return err_set(err, ERR_INVALID, "status.token: holds something else than one token");
    if (ret->expires && !rfc3339_parse(status->expiry, &ret->expiry, NULL))
        return err_set(err, ERR_INVALID, "status.expirationTimestamp: not a time");
    return true;
}

bool exec_credential_parse(struct arena *arena, struct str output, struct str api_version,
                           struct exec_credential *ret, struct err *err)
{
    struct answer answer = { 0 };
    if (!decode(arena, output, &answer, err) || !check_kind(&answer, api_version, err))
        return false;
    if (!answer.status)
        return err_set(err, ERR_INVALID, "status: missing");
    return take_status(answer.status, ret, err);
}
