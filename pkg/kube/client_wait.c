/* Where credentials come from, and calls that wait for them. */
#include "client_internal.h"

#include <utlist.h>

/* --- waiting ---------------------------------------------------------------------- */

static void on_impatient(void *self)
{
    struct kube_call *call = self;
    struct err err = ERR_INIT;
    const char *trouble = kube_client_trouble(call->client);
    err_set(&err, ERR_TRANSIENT, "no credentials after %lld ms%s%s", (long long)kube_call_patience_ms(call),
            *trouble ? ": " : "", trouble);
    kube_call_wait_done(call);
    kube_call_end(call, 0, KUBE_UNREACHABLE, &err);
}

void kube_call_wait(struct kube_call *call, const struct err *refusal)
{
    struct kube_client *client = call->client;
    int64_t patience_ms = kube_call_patience_ms(call);
    call->waits = true;
    call->wave = client->waves;
    call->waits_since = loop_mono(client->loop);
    call->refusal = refusal ? *refusal : ERR_INIT;
    if (patience_ms == 0)
        return; /* a run of the plugin is limited, so this is too */
    loop_timer_init(&call->patience, client->loop, on_impatient, call);
    loop_timer_set(&call->patience, patience_ms);
}

void kube_call_wait_done(struct kube_call *call)
{
    if (call->waits)
        call->waited_ms += mono_ms_between(call->waits_since, loop_mono(call->client->loop));
    call->waits = false;
    loop_timer_done(&call->patience);
}

/* The plugin's run did not help this call. */
static void give_up(struct kube_call *call, const struct err *reason)
{
    struct err err = call->refusal;
    if (err.kind == ERR_NONE) {
        kube_call_end(call, 0, KUBE_UNREACHABLE, reason);
        return;
    }
    if (reason)
        err_wrap(&err, "%s", reason->text);
    kube_call_end(call, 401, KUBE_UNAUTHORIZED, &err);
}

static void resume(struct kube_call *call, const struct err *failed)
{
    bool refused = call->refusal.kind != ERR_NONE;
    struct err err = ERR_INIT;
    kube_call_wait_done(call);
    if (failed || (refused && kube_client_credential(call->client) == call->credential))
        give_up(call, failed);
    else if (!kube_call_attempt(call, &err))
        kube_call_end(call, 0, KUBE_INVALID, &err);
}

/* Those that began to wait before the run ended: what a callback sends now waits for the
 * next one. */
static struct kube_call *next_waiting(const struct kube_client *client)
{
    struct kube_call *call;
    DL_FOREACH(client->calls, call)
    {
        if (call->waits && call->wave < client->waves)
            return call;
    }
    return NULL;
}

/* --- the plugin ------------------------------------------------------------------- */

static bool on_credential(void *self, const struct exec_credential *credential, struct err *err)
{
    struct kube_client *client = self;
    if (!transport_set_pair(client->transport, credential->cert_pem, credential->key_pem, err))
        return false;
    kube_auth_set_token(client->auth, credential->token);
    return true;
}

static void on_run_ended(void *self, const struct err *err)
{
    struct kube_client *client = self;
    struct kube_call *call;
    bool gone = false;
    client->gone = &gone;
    client->waves++;
    while (!gone && (call = next_waiting(client)))
        resume(call, err);
    if (!gone)
        client->gone = NULL;
}

void kube_client_wait_init(struct kube_client *client, const struct kube_client_options *options)
{
    const struct kube_config *config = options->config;
    if (!config->exec || !str_starts_with(config->server, STR("https://")))
        return; /* NET-8: plain HTTP carries no credentials */
    struct exec_plugin_options plugin = {
        .config = config,
        .metrics = options->metrics,
        .seed = (uint64_t)loop_mono(client->loop).ns,
        .use = on_credential,
        .ended = on_run_ended,
        .self = client,
    };
    client->plugin = exec_plugin_new(client->loop, &plugin);
}

bool kube_client_may_send(const struct kube_client *client)
{
    return !client->plugin || exec_plugin_valid(client->plugin);
}

uint64_t kube_client_credential(const struct kube_client *client)
{
    return client->plugin ? exec_plugin_generation(client->plugin) : kube_auth_generation(client->auth);
}

const char *kube_client_trouble(const struct kube_client *client)
{
    return client->plugin ? exec_plugin_trouble(client->plugin) : kube_auth_trouble(client->auth);
}

/* --- refusals --------------------------------------------------------------------- */

static bool renew(struct kube_call *call, const struct err *refusal)
{
    struct kube_client *client = call->client;
    if (!client->plugin)
        return kube_auth_refresh(client->auth, call->credential, loop_mono(client->loop));
    switch (exec_plugin_refused(client->plugin, call->credential)) {
    case EXEC_RENEWED:
        return true;
    case EXEC_RUNS:
        kube_call_wait(call, refusal);
        return true;
    case EXEC_USELESS:
        break;
    }
    return false;
}

/* Once: credentials that were replaced meanwhile, or can be, get one more try (AUT-2). */
bool kube_call_try_again(struct kube_call *call, const struct err *refusal)
{
    if (call->retried || !renew(call, refusal))
        return false;
    call->retried = true;
    return call->waits || kube_call_attempt(call, NULL);
}
