/* What a kubeconfig says about a credential plugin, checked. */
#include "kube/exec_credential.h"
#include "kube/kubeconfig_file.h"

/* What goes into an argument vector ends at its first NUL. */
static bool check_c_text(struct str text, const char *field, struct err *err)
{
    return str_find_byte(text, '\0') < 0 || err_set(err, ERR_INVALID, "%s: holds a NUL", field);
}

static bool check_interactive(const struct kubeconfig_exec *exec, struct err *err)
{
    struct str mode = exec->interactive_mode;
    bool may_be_missing = str_eq(exec->api_version, STR("client.authentication.k8s.io/v1beta1"));
    if (str_empty(mode))
        return may_be_missing || err_set(err, ERR_INVALID, "interactiveMode: missing");
    if (str_eq(mode, STR("Always")))
        return err_set(err, ERR_INVALID, "interactiveMode: Always, but nobody is there to be asked");
    return str_eq(mode, STR("Never")) || str_eq(mode, STR("IfAvailable")) ||
           err_set(err, ERR_INVALID, "interactiveMode: neither Never, IfAvailable nor Always");
}

static bool check_exec(const struct kubeconfig_exec *exec, struct err *err)
{
    if (!str_eq(exec->api_version, STR("client.authentication.k8s.io/v1")) &&
        !str_eq(exec->api_version, STR("client.authentication.k8s.io/v1beta1")))
        return err_set(err, ERR_INVALID, "apiVersion: not client.authentication.k8s.io/v1 or v1beta1");
    if (str_empty(exec->command))
        return err_set(err, ERR_INVALID, "command: missing");
    if (!check_c_text(exec->command, "command", err))
        return false;
    const struct str *args = exec->args.items;
    for (size_t i = 0; i < exec->args.count; i++) {
        if (!check_c_text(args[i], "args", err))
            return false;
    }
    const struct kube_exec_env *env = exec->env.items;
    for (size_t i = 0; i < exec->env.count; i++) {
        if (str_empty(env[i].name) || str_find_byte(env[i].name, '=') >= 0)
            return err_set(err, ERR_INVALID, "env: entry %zu has no usable name", i);
        if (!check_c_text(env[i].name, "env", err) || !check_c_text(env[i].value, "env", err))
            return false;
    }
    return check_interactive(exec, err);
}

/* What the cluster's entry says to plugins. */
static const struct json *plugin_config(const struct kubeconfig_cluster *cluster)
{
    const struct json *extensions = cluster ? cluster->extensions : NULL;
    for (size_t i = 0; json_is(extensions, JSON_ARRAY) && i < extensions->array.count; i++) {
        const struct json *entry = extensions->array.items[i];
        if (str_eq(json_str(json_get(entry, STR("name"))), STR("client.authentication.k8s.io/exec")))
            return json_get(entry, STR("extension"));
    }
    return NULL;
}

bool kubeconfig_take_exec(struct arena *arena, const struct kubeconfig_exec *exec,
                          const struct kubeconfig_cluster *cluster, const struct kube_exec **ret,
                          struct err *err)
{
    if (!check_exec(exec, err))
        return false;
    struct kube_exec *taken = arena_new(arena, struct kube_exec);
    *taken = (struct kube_exec){
        .api_version = exec->api_version,
        .command = exec->command,
        .args = exec->args.items,
        .arg_count = exec->args.count,
        .env = exec->env.items,
        .env_count = exec->env.count,
        .install_hint = exec->install_hint,
        .provide_cluster_info = exec->provide_cluster_info,
        .cluster_config = plugin_config(cluster),
    };
    *ret = taken;
    return true;
}
