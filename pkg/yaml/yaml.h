#pragma once
/* YAML text to JSON trees (prefix kyaml_: libyaml owns yaml_), the way Kubernetes reads
 * YAML: the core schema (true/false, null/~, integers, floats are typed when plain;
 * everything quoted is a string; yes/no/on/off are strings), duplicate keys are errors,
 * merge keys (<<) and non-string keys are errors. A leading zero makes an integer octal,
 * as in YAML 1.1: 0644 is 420. Anchors are followed; what aliases expand to is bounded.
 * JSON is YAML, so JSON files work, several values in a row included. */
#include "base/arena.h"
#include "json/json.h"

struct kyaml_limits {
    size_t max_bytes; /* of the text, and of what aliases add to it; 0: 10 MiB */
    size_t max_nodes; /* values (not keys) after alias expansion; 0: 1 million */
    size_t max_depth; /* 0: 200 */
};

/* Each document of a stream in turn, `document` counted from 0; empty documents are
 * passed over and not counted. Numbers become valid JSON number texts (0x10, 0o7 are
 * converted; .inf and .nan are errors). `on_document` may be called before a later
 * document fails. */
bool kyaml_each(struct arena *arena, struct str text, const struct kyaml_limits *limits,
                bool (*on_document)(void *self, size_t document, const struct json *root, struct err *err),
                void *self, struct err *err) MUST_CHECK;

/* Exactly one document. Errors in the text carry line and column, counted from 1. */
bool kyaml_parse(struct arena *arena, struct str text, const struct kyaml_limits *limits,
                 const struct json **ret, struct err *err) MUST_CHECK;

/* The tree as block YAML, members in their order, strings quoted where a reader would
 * otherwise type them differently. */
void kyaml_write(struct strbuf *out, const struct json *value);
