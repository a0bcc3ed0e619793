/* One kubeconfig file's text as a struct. */
#include "kube/kubeconfig_file.h"

#include "kube/exec_credential.h"
#include "yaml/yaml.h"

/* Of one list; far beyond what people keep, and little enough to compare all names. */
#define MAX_ENTRIES 5000

static const struct json_field cluster_fields[] = {
    JSON_FIELD_STR(struct kubeconfig_cluster, server, "server"),
    JSON_FIELD_SCALAR(struct kubeconfig_cluster, ca_path, "certificate-authority", api_into_text),
    JSON_FIELD_SCALAR(struct kubeconfig_cluster, ca_data, "certificate-authority-data", api_into_text),
    JSON_FIELD_BOOL(struct kubeconfig_cluster, insecure_skip_tls_verify, "insecure-skip-tls-verify"),
    JSON_FIELD_STR(struct kubeconfig_cluster, tls_server_name, "tls-server-name"),
    JSON_FIELD_STR(struct kubeconfig_cluster, proxy_url, "proxy-url"),
    JSON_FIELD_TREE(struct kubeconfig_cluster, extensions, "extensions"),
};
static const struct json_table cluster_table = JSON_TABLE(struct kubeconfig_cluster, cluster_fields);

static const struct json_field env_fields[] = {
    JSON_FIELD_STR(struct kube_exec_env, name, "name"),
    JSON_FIELD_STR(struct kube_exec_env, value, "value"),
};
static const struct json_table env_table = JSON_TABLE(struct kube_exec_env, env_fields);

static const struct json_field exec_fields[] = {
    JSON_FIELD_STR(struct kubeconfig_exec, api_version, "apiVersion"),
    JSON_FIELD_STR(struct kubeconfig_exec, command, "command"),
    JSON_FIELD_STR_ARRAY(struct kubeconfig_exec, args, "args"),
    JSON_FIELD_ARRAY(struct kubeconfig_exec, env, "env", &env_table),
    JSON_FIELD_STR(struct kubeconfig_exec, install_hint, "installHint"),
    JSON_FIELD_BOOL(struct kubeconfig_exec, provide_cluster_info, "provideClusterInfo"),
    JSON_FIELD_STR(struct kubeconfig_exec, interactive_mode, "interactiveMode"),
};
static const struct json_table exec_table = JSON_TABLE(struct kubeconfig_exec, exec_fields);

static const struct json_field user_fields[] = {
    JSON_FIELD_STR(struct kubeconfig_user, client_cert_path, "client-certificate"),
    JSON_FIELD_STR(struct kubeconfig_user, client_cert_data, "client-certificate-data"),
    JSON_FIELD_STR(struct kubeconfig_user, client_key_path, "client-key"),
    JSON_FIELD_STR(struct kubeconfig_user, client_key_data, "client-key-data"),
    JSON_FIELD_STR(struct kubeconfig_user, token, "token"),
    JSON_FIELD_STR(struct kubeconfig_user, token_path, "tokenFile"),
    JSON_FIELD_STR(struct kubeconfig_user, username, "username"),
    JSON_FIELD_STR(struct kubeconfig_user, password, "password"),
    JSON_FIELD_STR(struct kubeconfig_user, impersonate_user, "as"),
    JSON_FIELD_STR(struct kubeconfig_user, impersonate_uid, "as-uid"),
    JSON_FIELD_STR_ARRAY(struct kubeconfig_user, impersonate_groups, "as-groups"),
    JSON_FIELD_TREE(struct kubeconfig_user, impersonate_extra, "as-user-extra"),
    JSON_FIELD_OBJECT_PTR(struct kubeconfig_user, exec, "exec", &exec_table),
    JSON_FIELD_TREE(struct kubeconfig_user, auth_provider, "auth-provider"),
};
static const struct json_table user_table = JSON_TABLE(struct kubeconfig_user, user_fields);

static const struct json_field context_fields[] = {
    JSON_FIELD_STR(struct kubeconfig_context, cluster, "cluster"),
    JSON_FIELD_STR(struct kubeconfig_context, user, "user"),
    JSON_FIELD_STR(struct kubeconfig_context, ns, "namespace"),
};
static const struct json_table context_table = JSON_TABLE(struct kubeconfig_context, context_fields);

static const struct json_field cluster_entry_fields[] = {
    JSON_FIELD_STR(struct kubeconfig_entry, name, "name"),
    JSON_FIELD_OBJECT_PTR(struct kubeconfig_entry, cluster, "cluster", &cluster_table),
};
static const struct json_table cluster_entry_table =
    JSON_TABLE(struct kubeconfig_entry, cluster_entry_fields);

static const struct json_field user_entry_fields[] = {
    JSON_FIELD_STR(struct kubeconfig_entry, name, "name"),
    JSON_FIELD_OBJECT_PTR(struct kubeconfig_entry, user, "user", &user_table),
};
static const struct json_table user_entry_table = JSON_TABLE(struct kubeconfig_entry, user_entry_fields);

static const struct json_field context_entry_fields[] = {
    JSON_FIELD_STR(struct kubeconfig_entry, name, "name"),
    JSON_FIELD_OBJECT_PTR(struct kubeconfig_entry, context, "context", &context_table),
};
static const struct json_table context_entry_table =
    JSON_TABLE(struct kubeconfig_entry, context_entry_fields);

static const struct json_field file_fields[] = {
    JSON_FIELD_STR(struct kubeconfig_file, api_version, "apiVersion"),
    JSON_FIELD_STR(struct kubeconfig_file, kind, "kind"),
    JSON_FIELD_STR(struct kubeconfig_file, current_context, "current-context"),
    JSON_FIELD_ARRAY(struct kubeconfig_file, clusters, "clusters", &cluster_entry_table),
    JSON_FIELD_ARRAY(struct kubeconfig_file, users, "users", &user_entry_table),
    JSON_FIELD_ARRAY(struct kubeconfig_file, contexts, "contexts", &context_entry_table),
};
static const struct json_table file_table = JSON_TABLE(struct kubeconfig_file, file_fields);

/* A field of the wrong type is an error. Its value stays out of the text: it may be a
 * password that looks like a number. */
static void on_mismatch(void *self, struct str path, struct str value, const char *message)
{
    (void)value, (void)message;
    struct err *first = self;
    if (first->kind == ERR_NONE)
        err_set(first, ERR_INVALID, STR_FMT ": value has the wrong type", STR_ARG(path));
}

static bool on_document(void *self, size_t document, const struct json *root, struct err *err)
{
    (void)document; /* empty ones in front do not count */
    const struct json **ret = self;
    if (*ret)
        return err_set(err, ERR_INVALID, "more than one YAML document");
    *ret = root;
    return true;
}

static bool check_names(const struct json_items *entries, const char *list, struct err *err)
{
    const struct kubeconfig_entry *items = entries->items;
    if (entries->count > MAX_ENTRIES)
        return err_set(err, ERR_INVALID, "%s: more than %d", list, MAX_ENTRIES);
    for (size_t i = 0; i < entries->count; i++) {
        if (str_empty(items[i].name))
            return err_set(err, ERR_INVALID, "%s[%zu].name: missing", list, i);
        for (size_t j = 0; j < i; j++) {
            if (str_eq(items[i].name, items[j].name))
                return err_set(err, ERR_INVALID, "%s[%zu].name: " STR_FMT " is there twice", list, i,
                               STR_ARG(items[i].name));
        }
    }
    return true;
}

static bool check_file(const struct kubeconfig_file *file, struct err *err)
{
    if (!str_empty(file->kind) && !str_eq(file->kind, STR("Config")))
        return err_set(err, ERR_INVALID, "kind: not Config");
    if (!str_empty(file->api_version) && !str_eq(file->api_version, STR("v1")))
        return err_set(err, ERR_INVALID, "apiVersion: not v1");
    return check_names(&file->clusters, "clusters", err) && check_names(&file->users, "users", err) &&
           check_names(&file->contexts, "contexts", err);
}

static void join(struct arena *arena, struct str dir, struct str *path)
{
    if (str_empty(*path) || path->ptr[0] == '/' || str_empty(dir))
        return;
    *path = arena_strf(arena, STR_FMT "/" STR_FMT, STR_ARG(dir), STR_ARG(*path));
}

static void join_paths(struct arena *arena, struct str dir, struct kubeconfig_file *file)
{
    /* The decoder made these structs here; only readers see them as const. */
    const struct kubeconfig_entry *clusters = file->clusters.items;
    for (size_t i = 0; i < file->clusters.count; i++) {
        struct kubeconfig_cluster *cluster = (struct kubeconfig_cluster *)(uintptr_t)clusters[i].cluster;
        if (cluster)
            join(arena, dir, &cluster->ca_path.text);
    }
    const struct kubeconfig_entry *users = file->users.items;
    for (size_t i = 0; i < file->users.count; i++) {
        struct kubeconfig_user *user = (struct kubeconfig_user *)(uintptr_t)users[i].user;
        if (!user)
            continue;
        join(arena, dir, &user->client_cert_path);
        join(arena, dir, &user->client_key_path);
        join(arena, dir, &user->token_path);
        /* A bare name is looked up in PATH. */
        struct kubeconfig_exec *exec = (struct kubeconfig_exec *)(uintptr_t)user->exec;
        if (exec && str_find_byte(exec->command, '/') >= 0)
            join(arena, dir, &exec->command);
    }
}

bool kubeconfig_parse(struct arena *arena, struct str text, struct str dir,
                      const struct kubeconfig_file **ret, struct err *err)
{
    const struct json *root = NULL;
    if (!kyaml_each(arena, text, NULL, on_document, &root, err))
        return false;
    struct kubeconfig_file *file = arena_new(arena, struct kubeconfig_file);
    *ret = file;
    if (!root || json_is(root, JSON_NULL))
        return true; /* an empty file is one that names nothing */
    struct err wrong = ERR_INIT;
    struct json_decode_options options = { .report = { .mismatch = on_mismatch, .self = &wrong } };
    if (!json_decode_tree(arena, root, &file_table, file, &options, err))
        return false;
    if (wrong.kind != ERR_NONE)
        return err_set(err, wrong.kind, "%s", wrong.text);
    join_paths(arena, dir, file);
    return check_file(file, err);
}
