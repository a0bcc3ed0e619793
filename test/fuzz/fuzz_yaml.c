/* YAML: whatever is read can be written as YAML and as JSON and reads back the same;
 * errors are one line. */
#include "yaml/yaml.h"
#include <stdlib.h>

#define OUT_BYTES ((size_t)64 * 1024 * 1024)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static const struct kyaml_limits wide = { .max_bytes = OUT_BYTES, .max_nodes = 10000, .max_depth = 100 };

static void reads_back(struct arena *arena, const struct json *root, struct str text)
{
    const struct json *again = NULL;
    struct err err = ERR_INIT;
    check(kyaml_parse(arena, text, &wide, &again, &err));
    check(json_equal(root, again));
}

static bool on_document(void *self, size_t document, const struct json *root, struct err *err)
{
    (void)document;
    (void)err;
    struct arena *arena = self;
    CLEANUP(strbuf_done) struct strbuf out = STRBUF_INIT(OUT_BYTES);
    kyaml_write(&out, root);
    if (!out.overflow)
        reads_back(arena, root, strbuf_str(&out));
    strbuf_clear(&out);
    json_write(&out, root);
    const struct json *again = NULL;
    const struct json_limits limits = { .max_value_bytes = SIZE_MAX };
    if (!out.overflow)
        check(json_parse(arena, strbuf_str(&out), &limits, &again, NULL) && json_equal(root, again));
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct kyaml_limits limits = { .max_bytes = 1u << 20, .max_nodes = 10000, .max_depth = 50 };
    struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    if (!kyaml_each(&arena, (struct str){ (const char *)data, size }, &limits, on_document, &arena, &err))
        check(err.kind == ERR_INVALID && err.text[0] != '\0');
    arena_done(&arena);
    return 0;
}
