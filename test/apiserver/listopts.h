#pragma once
/* The query parameters of list, watch and get, checked as the real server checks them,
 * and the continue token. Pure. */
#include "test/apiserver/route.h"

enum as_watch_list {
    AS_WATCH_LIST_ON,
    AS_WATCH_LIST_OFF,    /* refused with 422, as with the gate off */
    AS_WATCH_LIST_IGNORE, /* not understood: an ordinary watch, no end bookmark */
};

enum as_rv_match { AS_MATCH_UNSET, AS_MATCH_EXACT, AS_MATCH_NOT_OLDER };

struct as_list_options {
    bool watch;
    bool bookmarks;
    struct opt_bool send_initial_events;
    struct str label_selector, field_selector;
    struct opt_i64 rv; /* absent when empty */
    enum as_rv_match match;
    int64_t limit; /* 0: none */
    struct str continue_token;
    struct opt_i64 timeout_s;
};

/* `watch` is what the route or ?watch says. 400 and 422 as in the list parameter table. */
bool as_list_options_parse(struct arena *arena, const struct as_params *params, bool watch,
                           enum as_watch_list gate, struct as_list_options *ret,
                           struct api_error *error) MUST_CHECK;

/* What the list has to show. */
enum as_read_kind {
    AS_READ_LATEST,    /* now */
    AS_READ_NOT_OLDER, /* now, once `rv` is reached */
    AS_READ_EXACT,     /* as it stood at `rv`, else 410 */
};

struct as_read {
    enum as_read_kind kind;
    int64_t rv;
    struct str from; /* the key a continued list begins with */
};

/* Resolves rv, match, limit and continue. 400 for a bad token. */
bool as_list_options_read(struct arena *arena, const struct as_list_options *options, struct as_read *ret,
                          struct api_error *error) MUST_CHECK;

/* rv -1: an inconsistent continuation, from the newest data. */
struct str as_token_make(struct arena *arena, int64_t rv, struct str next_key);
bool as_token_read(struct arena *arena, struct str token, int64_t *ret_rv, struct str *ret_key) MUST_CHECK;

/* A resourceVersion parameter: empty gives unset. Anything but a plain number fails with
 * `code`: a real server finds lists to be bad requests, and stumbles over gets and watches. */
bool as_rv_parse(struct arena *arena, struct str text, int code, struct opt_i64 *ret,
                 struct api_error *error) MUST_CHECK;
