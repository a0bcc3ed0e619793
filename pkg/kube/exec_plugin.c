#include "kube/exec_plugin.h"

#include <stdlib.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "http/pem.h"
#include "kube/backoff.h"
#include "kube/exec_run.h"

#define RUN_MS (60 * 1000)
#define MAX_OUTPUT_BYTES ((size_t)1 << 20)
#define MAX_INFO_BYTES ((size_t)4 << 20)
#define RETRY_START_MS 1000
#define RETRY_CAP_MS (60 * 1000)
#define SHORTEST_LIFE_MS 1000
/* Credentials refused at longer intervals are no series. */
#define REFUSAL_MEMORY_MS (5 * 60 * 1000)

struct exec_plugin {
    struct loop *loop;
    struct arena arena; /* of what is copied from the configuration */
    struct str name;
    struct str api_version;
    struct str install_hint;
    const char **argv;
    const char **envp;
    int64_t timeout_ms;
    bool (*use)(void *self, const struct exec_credential *credential, struct err *err);
    void (*ended)(void *self, const struct err *err);
    void *self;

    struct exec_run *run;    /* NULL: none */
    bool due;                /* one begins on the next turn */
    struct loop_timer timer; /* the next run */
    struct random random;
    struct backoff retry;
    struct err trouble;

    /* The credential in use. */
    bool any;
    bool expires;
    struct wall_time expiry;
    struct mono_time deadline; /* the same by a clock that does not jump */
    uint64_t fingerprint;
    uint64_t generation;

    struct backoff refusals;
    struct mono_time refused;   /* last time a run was forced; ns 0: never */
    struct mono_time not_again; /* until then a refusal forces nothing */

    struct metric *calls, *expires_at;
};

/* --- what it is run with ---------------------------------------------------------- */

static void take_argv(struct exec_plugin *plugin, const struct kube_exec *exec)
{
    plugin->argv = arena_array(&plugin->arena, const char *, exec->arg_count + 2);
    plugin->argv[0] = arena_str(&plugin->arena, exec->command).ptr;
    for (size_t i = 0; i < exec->arg_count; i++)
        plugin->argv[i + 1] = arena_str(&plugin->arena, exec->args[i]).ptr;
}

static bool is_set_anew(const struct kube_exec *exec, struct str entry)
{
    struct str name, value;
    str_cut(entry, '=', &name, &value);
    if (str_eq(name, STR("KUBERNETES_EXEC_INFO")))
        return true;
    for (size_t i = 0; i < exec->env_count; i++) {
        if (str_eq(name, exec->env[i].name))
            return true;
    }
    return false;
}

static size_t count_environ(void)
{
    size_t count = 0;
    while (environ && environ[count])
        count++;
    return count;
}

/* Ours, the kubeconfig's on top, and what the protocol adds. */
static void take_envp(struct exec_plugin *plugin, const struct kube_config *config)
{
    const struct kube_exec *exec = config->exec;
    struct arena *arena = &plugin->arena;
    size_t inherited = count_environ(), count = 0;
    plugin->envp = arena_array(arena, const char *, inherited + exec->env_count + 2);
    for (size_t i = 0; i < inherited; i++) {
        if (!is_set_anew(exec, str_c(environ[i])))
            plugin->envp[count++] = arena_str(arena, str_c(environ[i])).ptr;
    }
    for (size_t i = 0; i < exec->env_count; i++) {
        const struct kube_exec_env *env = &exec->env[i];
        plugin->envp[count++] =
            arena_strf(arena, STR_FMT "=" STR_FMT, STR_ARG(env->name), STR_ARG(env->value)).ptr;
    }
    CLEANUP(strbuf_done) struct strbuf info = STRBUF_INIT(MAX_INFO_BYTES);
    exec_info_write(&info, config);
    plugin->envp[count] = arena_strf(arena, "KUBERNETES_EXEC_INFO=%s", strbuf_cstr(&info)).ptr;
}

/* --- a run's end ------------------------------------------------------------------ */

static uint64_t fingerprint_of(const struct exec_credential *credential)
{
    uint64_t parts[] = { str_hash(credential->token), str_hash(credential->cert_pem),
                         str_hash(credential->key_pem) };
    return str_hash((struct str){ .ptr = (const char *)parts, .len = sizeof parts });
}

/* The certificate's end counts too: it may come before the time that was given. */
static bool take_expiry(struct exec_credential *credential, struct err *err)
{
    struct wall_time end;
    if (str_empty(credential->cert_pem))
        return true;
    if (!pem_pair_check(credential->cert_pem, credential->key_pem, err) ||
        !pem_not_after(credential->cert_pem, &end, err))
        return err_wrap(err, "status.clientCertificateData");
    if (!credential->expires || end.us < credential->expiry.us)
        credential->expiry = end;
    credential->expires = true;
    return true;
}

static int64_t life_ms(const struct exec_plugin *plugin, const struct exec_credential *credential)
{
    return (credential->expiry.us - loop_wall(plugin->loop).us) / 1000;
}

static void keep(struct exec_plugin *plugin, const struct exec_credential *credential)
{
    uint64_t fingerprint = fingerprint_of(credential);
    if (!plugin->any || plugin->fingerprint != fingerprint)
        plugin->generation++;
    plugin->fingerprint = fingerprint;
    plugin->any = true;
    plugin->expires = credential->expires;
    plugin->expiry = credential->expiry;
    if (credential->expires)
        plugin->deadline = mono_add_ms(loop_mono(plugin->loop), life_ms(plugin, credential));
    metric_set(plugin->expires_at, plugin->expires ? (double)credential->expiry.us / (double)US_PER_S : 0);
}

static void wipe(struct str secret)
{
    if (!str_empty(secret))
        OPENSSL_cleanse((char *)(uintptr_t)secret.ptr, secret.len);
}

static bool take_output(struct exec_plugin *plugin, struct str output, struct err *err)
{
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    struct exec_credential credential;
    if (!exec_credential_parse(&arena, output, plugin->api_version, &credential, err))
        return false;
    bool ok = take_expiry(&credential, err);
    if (ok && credential.expires && life_ms(plugin, &credential) < SHORTEST_LIFE_MS)
        ok = err_set(err, ERR_TRANSIENT, "what it gave has expired already, or the clock is wrong");
    ok = ok && plugin->use(plugin->self, &credential, err);
    if (ok)
        keep(plugin, &credential);
    wipe(credential.token);
    wipe(credential.key_pem);
    return ok;
}

/* 80 to 90 % of a life in, so that no request ever meets an expired credential. */
static void schedule_refresh(struct exec_plugin *plugin)
{
    backoff_reset(&plugin->retry);
    if (!plugin->expires)
        return;
    int64_t life = mono_ms_between(loop_mono(plugin->loop), plugin->deadline);
    loop_timer_set(&plugin->timer, life / 1000 * random_between(&plugin->random, 800, 900));
}

static void explain(const struct exec_plugin *plugin, struct err *err)
{
    struct str hint = str_trim(plugin->install_hint);
    err_wrap(err, "credential plugin " STR_FMT, STR_ARG(plugin->name));
    if (!str_empty(hint))
        err_set(err, err->kind, "%s (" STR_FMT ")", err->text, STR_ARG(hint));
}

static void end(struct exec_plugin *plugin, struct err *err)
{
    if (err->kind == ERR_NONE) {
        plugin->trouble = ERR_INIT;
        schedule_refresh(plugin);
        plugin->ended(plugin->self, NULL);
        return;
    }
    explain(plugin, err);
    plugin->trouble = *err;
    loop_timer_set(&plugin->timer, backoff_next(&plugin->retry, &plugin->random));
    plugin->ended(plugin->self, err); /* the plugin may be gone after it */
}

static void on_run_done(void *self, struct str output, const struct err *failed)
{
    struct exec_plugin *plugin = self;
    struct err err = failed ? *failed : ERR_INIT;
    plugin->run = NULL;
    if (!failed)
        take_output(plugin, output, &err);
    bool ok = err.kind == ERR_NONE;
    metric_add(plugin->calls, 1, ok ? STR("0") : STR("1"),
               ok       ? STR("no_error")
               : failed ? STR("plugin_execution_error")
                        : STR("client_internal_error"));
    end(plugin, &err);
}

static void run_at_once(struct exec_plugin *plugin)
{
    plugin->due = true;
    loop_timer_set(&plugin->timer, 0);
}

static void start_run(void *self)
{
    struct exec_plugin *plugin = self;
    struct exec_run_options options = { .argv = plugin->argv,
                                        .envp = plugin->envp,
                                        .timeout_ms = plugin->timeout_ms,
                                        .max_output = MAX_OUTPUT_BYTES,
                                        .done = on_run_done,
                                        .self = plugin };
    struct err err = ERR_INIT;
    plugin->due = false;
    if (plugin->run)
        return;
    plugin->run = exec_run_start(plugin->loop, &options, &err);
    if (plugin->run)
        return;
    metric_add(plugin->calls, 1, STR("1"),
               err.kind == ERR_NOT_FOUND ? STR("plugin_not_found_error") : STR("plugin_execution_error"));
    end(plugin, &err);
}

/* --- outside ---------------------------------------------------------------------- */

static void register_metrics(struct exec_plugin *plugin, struct metric_registry *registry)
{
    if (!registry)
        return;
    plugin->calls = metric_counter(registry, "rest_client_exec_plugin_call_total",
                                   "Runs of the credential plugin by exit code (0 or 1) and outcome.", "code",
                                   "call_status", NULL);
    plugin->expires_at =
        metric_gauge(registry, "rest_client_exec_plugin_expiration_timestamp_seconds",
                     "When the credential plugin's credential expires; 0: never, or none.", NULL);
}

struct exec_plugin *exec_plugin_new(struct loop *loop, const struct exec_plugin_options *options)
{
    struct exec_plugin *plugin = mem_zalloc(sizeof *plugin);
    const struct kube_exec *exec = options->config->exec;
    *plugin = (struct exec_plugin){
        .loop = loop,
        .timeout_ms = options->timeout_ms ? options->timeout_ms : RUN_MS,
        .use = options->use,
        .ended = options->ended,
        .self = options->self,
        .random = { .state = options->seed },
        .retry = { .start_ms = RETRY_START_MS, .cap_ms = RETRY_CAP_MS },
        .refusals = { .start_ms = RETRY_START_MS, .cap_ms = RETRY_CAP_MS },
    };
    plugin->name = arena_str(&plugin->arena, exec->command);
    plugin->api_version = arena_str(&plugin->arena, exec->api_version);
    plugin->install_hint = arena_str(&plugin->arena, exec->install_hint);
    take_argv(plugin, exec);
    take_envp(plugin, options->config);
    register_metrics(plugin, options->metrics);
    loop_timer_init(&plugin->timer, loop, start_run, plugin);
    run_at_once(plugin);
    return plugin;
}

void exec_plugin_free(struct exec_plugin *plugin)
{
    if (!plugin)
        return;
    exec_run_cancel(plugin->run);
    loop_timer_done(&plugin->timer);
    arena_done(&plugin->arena);
    free(plugin);
}

bool exec_plugin_valid(const struct exec_plugin *plugin)
{
    return plugin->any && (!plugin->expires || (mono_before(loop_mono(plugin->loop), plugin->deadline) &&
                                                loop_wall(plugin->loop).us < plugin->expiry.us));
}

uint64_t exec_plugin_generation(const struct exec_plugin *plugin)
{
    return plugin->generation;
}

/* A server that refuses everything must not make us start a program per request. */
static bool may_force(struct exec_plugin *plugin)
{
    struct mono_time now = loop_mono(plugin->loop);
    if (mono_before(now, plugin->not_again))
        return false;
    if (plugin->refused.ns == 0 || mono_ms_between(plugin->refused, now) > REFUSAL_MEMORY_MS)
        backoff_reset(&plugin->refusals);
    plugin->refused = now;
    plugin->not_again = mono_add_ms(now, backoff_next(&plugin->refusals, &plugin->random));
    return true;
}

enum exec_refusal exec_plugin_refused(struct exec_plugin *plugin, uint64_t used)
{
    if (used != plugin->generation)
        return EXEC_RENEWED;
    if (plugin->run || plugin->due)
        return EXEC_RUNS;
    if (!may_force(plugin))
        return EXEC_USELESS;
    run_at_once(plugin);
    return EXEC_RUNS;
}

const char *exec_plugin_trouble(const struct exec_plugin *plugin)
{
    return plugin->trouble.text;
}
