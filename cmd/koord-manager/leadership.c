#include "leadership.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "kube/leader.h"

/* Where upstream's manager keeps its Lease, whatever namespace it runs in. */
#define FOREIGN_NAMESPACE STR("koordinator-system")

struct leadership {
    struct leadership_options options;
    struct leader *leader;   /* NULL: election is off */
    struct loop_timer timer; /* then the callbacks come from here */
    bool leads, releasing;
    struct arena arena;
};

/* --- without an election ------------------------------------------------------------- */

static void on_timer(void *self)
{
    struct leadership *leadership = self;
    leadership->leads = !leadership->releasing;
    if (leadership->leads)
        leadership->options.started(leadership->options.self);
    else
        leadership->options.stopped(leadership->options.self, false);
}

/* --- with one ------------------------------------------------------------------------- */

static struct str random_uuid(struct arena *arena)
{
    unsigned char bytes[16];
    CLEANUP(strbuf_done) struct strbuf text = STRBUF_INIT(64);
    if (getentropy(bytes, sizeof bytes) < 0)
        abort(); /* a name that others may have as well would be worse */
    bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40);
    bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80);
    for (size_t i = 0; i < sizeof bytes; i++)
        strbuf_addf(&text, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
    return arena_str(arena, strbuf_str(&text));
}

/* Unique per start: a process must not take what its predecessor on this host held for its own. */
static struct str make_identity(struct arena *arena)
{
    char host[256] = "unknown";
    gethostname(host, sizeof host - 1);
    return arena_strf(arena, "%s_" STR_FMT, host, STR_ARG(random_uuid(arena)));
}

static struct str choose_namespace(const struct leadership_options *options)
{
    const struct kube_config *kube = options->kube;
    if (*options->options->lease_namespace)
        return str_c(options->options->lease_namespace);
    return kube->in_cluster && !str_empty(kube->ns) ? kube->ns : STR("kube-system");
}

static bool make_leader(struct leadership *leadership, struct err *err)
{
    const struct leadership_options *options = &leadership->options;
    const struct options *flags = options->options;
    struct leader_options leader = {
        .config = options->kube,
        .ns = choose_namespace(options),
        .name = str_c(flags->lease_name),
        .foreign_ns = flags->ignore_foreign_lease ? STR_NULL : FOREIGN_NAMESPACE,
        .identity = make_identity(&leadership->arena),
        .lease_ms = flags->lease_duration_ns / NS_PER_MS,
        .renew_ms = flags->renew_deadline_ns / NS_PER_MS,
        .retry_ms = flags->retry_period_ns / NS_PER_MS,
        .seed = (uint64_t)loop_wall(options->loop).us,
        .metrics = options->registry,
        .events = options->events,
        .started = options->started,
        .stopped = options->stopped,
        .self = options->self,
    };
    leadership->leader = leader_new(options->loop, &leader, err);
    if (!leadership->leader)
        return err_wrap(err, "leader election");
    LOG_INFO("electing a leader", LOG_S("identity", leader.identity), LOG_S("namespace", leader.ns),
             LOG_S("lease", leader.name));
    return true;
}

/* --- either --------------------------------------------------------------------------- */

struct leadership *leadership_new(const struct leadership_options *options, struct err *err)
{
    struct leadership *leadership = mem_zalloc(sizeof *leadership);
    leadership->options = *options;
    loop_timer_init(&leadership->timer, options->loop, on_timer, leadership);
    if (!options->options->leader_election || make_leader(leadership, err))
        return leadership;
    leadership_free(leadership);
    return NULL;
}

void leadership_free(struct leadership *leadership)
{
    if (!leadership)
        return;
    leader_free(leadership->leader);
    loop_timer_done(&leadership->timer);
    arena_done(&leadership->arena);
    free(leadership);
}

void leadership_start(struct leadership *leadership)
{
    if (leadership->leader)
        leader_start(leadership->leader);
    else
        loop_timer_set(&leadership->timer, 0);
}

void leadership_release(struct leadership *leadership)
{
    leadership->releasing = true;
    if (leadership->leader)
        leader_release(leadership->leader);
    else
        loop_timer_set(&leadership->timer, 0);
}

bool leadership_may_write(const struct leadership *leadership)
{
    if (!leadership || leadership->releasing)
        return false;
    return leadership->leader ? leader_may_write(leadership->leader) : leadership->leads;
}

bool leadership_may_tell(const struct leadership *leadership)
{
    if (!leadership)
        return false;
    return leadership->leader ? leader_may_tell(leadership->leader) : leadership->leads;
}
