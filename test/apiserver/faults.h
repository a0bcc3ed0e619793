#pragma once
/* Scripted trouble: rows that match requests. What a row does to a request is in
 * request.c (bytes) and watch.c (events). */
#include <regex.h>

#include "test/apiserver/apiserver.h"

struct as_fault_row {
    int64_t id;
    struct apiserver_fault fault; /* texts in the arena */
    bool has_path;
    regex_t path;
    int64_t seen; /* matching requests so far */
    int64_t hits;
    struct as_fault_row *next;
    struct arena arena;
};

struct as_faults {
    struct as_fault_row *rows; /* oldest first; the first that matches wins */
    int64_t next_id;
};

/* ERR_INVALID for a bad expression. */
bool as_faults_add(struct as_faults *faults, const struct apiserver_fault *fault, int64_t *ret_id,
                   struct err *err) MUST_CHECK;
void as_faults_clear(struct as_faults *faults);
bool as_faults_remove(struct as_faults *faults, int64_t id);

/* The fault for this request, copied into `arena`, and counted; false: none. */
bool as_faults_match(struct as_faults *faults, struct arena *arena, struct str method, struct str path,
                     struct str query, struct apiserver_fault *ret);

/* A fault as the control endpoint takes it: the members of struct apiserver_fault in
 * camelCase (method, path, skip, count, delayMs, hang, code, ...). */
bool as_fault_from_json(struct arena *arena, struct str text, struct apiserver_fault *ret,
                        struct err *err) MUST_CHECK;
/* [{"id":1,"path":"...","seen":2,"hits":1}, ...] */
const struct json *as_faults_json(struct arena *arena, const struct as_faults *faults);
