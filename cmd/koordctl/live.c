#include "live.h"

#include "kube/client.h"
#include "kube/listwatch.h"
#include "loop/loop.h"

#define PAGE_SIZE 500
/* Where upstream and we keep the policy when nobody says otherwise, in this order. */
static const struct str usual_namespaces[] = { STR_INIT("kube-system"), STR_INIT("koordinator-system") };

/* One request at a time; the loop runs until it is answered. */
struct session {
    struct loop *loop;
    struct kube_client *client;
    struct snapshot *snapshot;
    enum snapshot_kind kind;
    struct list_decoder *list;
    struct arena arena;
    enum kube_failure failure;
    struct str rv;
    struct str token;
    struct err err;
};

static void answered(struct session *session, const struct kube_response *response)
{
    session->failure = response->failure;
    session->err = response->err;
    loop_stop(session->loop);
}

static bool wait_for(struct session *session, struct kube_call *call, struct err *err)
{
    return call && loop_run(session->loop, err);
}

/* --- lists ----------------------------------------------------------------------- */

static void on_object(void *self, struct kube_object *object)
{
    struct session *session = self;
    snapshot_add(session->snapshot, session->kind, object);
}

static void on_bad(void *self, const struct err *err)
{
    struct session *session = self;
    snapshot_warn(session->snapshot, str_c(snapshot_kinds[session->kind]->kind), STR_NULL, STR_NULL,
                  str_c(err->text));
}

static bool on_data(void *self, struct str chunk, struct err *err)
{
    struct session *session = self;
    return list_decoder_feed(session->list, chunk, err);
}

static void on_page(void *self, const struct kube_response *response)
{
    struct session *session = self;
    answered(session, response);
    struct str rv, token;
    if (response->failure != KUBE_OK)
        return;
    if (!list_decoder_finish(session->list, &rv, &token, &session->err))
        session->failure = KUBE_PROTOCOL;
    else
        session->token = arena_str(&session->arena, token);
}

static bool fetch_page(struct session *session, const struct kube_request *request, struct err *err)
{
    struct list_decoder_options options = { .kind = request->kind,
                                            .pool = session->snapshot->pool,
                                            .on_object = on_object,
                                            .on_bad = on_bad,
                                            .self = session };
    struct kube_stream stream = { .on_data = on_data, .done = on_page, .self = session };
    session->list = list_decoder_new(&options);
    session->token = STR_NULL;
    bool ok = wait_for(session, kube_send_stream(session->client, request, &stream, err), err);
    list_decoder_free(session->list);
    session->list = NULL;
    if (ok && session->failure != KUBE_OK) {
        *err = session->err;
        return err_wrap(err, "list %s", request->kind->plural);
    }
    return ok;
}

static bool fetch_list(struct session *session, enum snapshot_kind kind, struct err *err)
{
    session->kind = kind;
    struct kube_request request = { .verb = KUBE_LIST, .kind = snapshot_kinds[kind], .limit = PAGE_SIZE };
    do {
        if (!fetch_page(session, &request, err))
            return false;
        request.continue_token = session->token;
    } while (!str_empty(session->token));
    return true;
}

/* Of a CRD that a cluster may lack. */
static bool fetch_optional(struct session *session, enum snapshot_kind kind, struct err *err)
{
    return fetch_list(session, kind, err) || session->failure == KUBE_NOT_FOUND;
}

/* --- the ConfigMap --------------------------------------------------------------- */

static void on_configmap(void *self, const struct kube_response *response)
{
    struct session *session = self;
    answered(session, response);
    if (response->failure != KUBE_OK)
        return;
    void *decoded = arena_alloc(&session->arena, configmap_kind.table->size);
    if (!json_decode(&session->arena, response->body, configmap_kind.table, decoded, NULL, &session->err)) {
        session->failure = KUBE_PROTOCOL;
        return;
    }
    struct kube_object *object =
        configmap_kind.project(decoded, session->snapshot->pool, NULL, &session->err);
    if (object)
        snapshot_add(session->snapshot, SNAPSHOT_CONFIGMAP, object);
    else
        session->failure = KUBE_PROTOCOL;
}

/* *found false when there is none of that name; any other trouble is an error, because an
 * unreadable policy is not an absent one. */
static bool fetch_configmap(struct session *session, struct str ns, struct str name, bool *found,
                            struct err *err)
{
    struct kube_request request = { .verb = KUBE_GET, .kind = &configmap_kind, .ns = ns, .name = name };
    if (!wait_for(session, kube_send(session->client, &request, on_configmap, session, err), err))
        return false;
    *found = session->failure == KUBE_OK;
    if (*found || session->failure == KUBE_NOT_FOUND)
        return true;
    *err = session->err;
    return err_wrap(err, "get ConfigMap " STR_FMT "/" STR_FMT, STR_ARG(ns), STR_ARG(name));
}

static bool find_policy(struct session *session, struct source_choice *choice, struct strbuf *err_text,
                        struct err *err)
{
    bool found = false;
    if (!str_empty(choice->ns)) {
        if (!fetch_configmap(session, choice->ns, choice->name, &found, err))
            return false;
    } else {
        for (size_t i = 0; i < ARRAY_LEN(usual_namespaces) && !found; i++) {
            if (!fetch_configmap(session, usual_namespaces[i], choice->name, &found, err))
                return false;
            if (found)
                choice->ns = usual_namespaces[i];
        }
    }
    if (found)
        strbuf_addf(err_text, "policy: ConfigMap " STR_FMT "/" STR_FMT "\n", STR_ARG(choice->ns),
                    STR_ARG(choice->name));
    else
        strbuf_addf(err_text, "policy: there is no ConfigMap " STR_FMT " in %s" STR_FMT "\n",
                    STR_ARG(choice->name), str_empty(choice->ns) ? "kube-system or koordinator-system" : "",
                    STR_ARG(choice->ns));
    return true;
}

/* --- all of it ------------------------------------------------------------------- */

static bool connect_client(struct session *session, const struct koordctl_live *live, struct err *err)
{
    struct kube_config config;
    struct kube_config_options load = { .kubeconfig = live->kubeconfig, .context = live->context };
    if (!kube_config_load(&session->arena, &load, &config, err))
        return false;
    struct kube_client_options options = { .config = &config,
                                           .user_agent = "koordctl/" KOORD_VERSION " (linux)" };
    session->client = kube_client_new(session->loop, &options, err);
    return session->client != NULL;
}

bool live_load(struct koordctl_live *live, struct snapshot *snapshot, struct strbuf *err_text,
               struct err *err)
{
    struct session session = { .snapshot = snapshot, .loop = loop_new(err) };
    bool ok = session.loop && connect_client(&session, live, err) &&
              find_policy(&session, &live->config, err_text, err) &&
              fetch_list(&session, SNAPSHOT_NODE, err) && fetch_list(&session, SNAPSHOT_NODEMETRIC, err) &&
              fetch_list(&session, SNAPSHOT_POD, err) && fetch_optional(&session, SNAPSHOT_DEVICE, err) &&
              fetch_optional(&session, SNAPSHOT_TOPOLOGY, err) &&
              fetch_optional(&session, SNAPSHOT_NODESLO, err);
    snapshot->no_nodeslos = session.failure == KUBE_NOT_FOUND;
    kube_client_free(session.client);
    loop_free(session.loop);
    arena_done(&session.arena);
    return ok;
}
