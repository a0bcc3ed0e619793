#pragma once
/* Asks a server whose history may have gone back behind ours (REF-16). A server restored
 * from a backup, or another one behind the same address, takes a watch from a version it
 * has not reached yet, and then withholds everything up to there, without a word. One
 * consistent list of a single object tells its present version.
 *
 *     rewind_probe_start(probe, resume_point);    // when a watch opens after trouble
 *     ... found(self, "90") if the server is behind it, nothing otherwise
 *
 * An unanswered question is dropped: the next trouble asks again. */
#include "kube/client.h"

struct rewind_probe;

struct rewind_probe_options {
    struct kube_client *client;
    const struct kube_kind *kind;
    const char *ns;             /* borrowed, as the next one */
    const char *field_selector; /* those of the list the resume point comes from */
    /* From the loop; the probe may be cancelled or freed in it. */
    void (*found)(void *self, struct str server_rv);
    void *self;
};

struct rewind_probe *rewind_probe_new(const struct rewind_probe_options *options);
void rewind_probe_free(struct rewind_probe *probe); /* NULL is fine */
/* `seen` is copied: what the server says now must not be older than what it said before. */
void rewind_probe_start(struct rewind_probe *probe, struct str seen);
void rewind_probe_cancel(struct rewind_probe *probe);
