#include "test/apiserver/patch.h"
#include "test/apiserver/tree.h"

#define MAX_OPERATIONS 10000
#define MAX_COPIED_BYTES 3145728 /* 3 MiB */
#define MAX_TOKENS 1000          /* as deep as a document may be */

struct pointer {
    struct str *tokens;
    size_t count;
};

struct operation {
    struct str op;
    struct str path_text;
    struct pointer path;
    struct pointer from;
    const struct json *value;
    size_t index; /* in the patch, for messages */
};

struct patcher {
    struct arena *arena;
    size_t copied_bytes;
    const struct operation *now;
    struct api_error *error;
};

/* The patch is well-formed but does not fit the object. */
static bool cannot_apply(struct patcher *patcher, const char *why)
{
    const struct operation *now = patcher->now;
    return api_fail(patcher->error, patcher->arena, 422,
                    "the server rejected our request due to an error in our request: operation %zu (" STR_FMT
                    " \"" STR_FMT "\"): %s",
                    now->index, STR_ARG(now->op), STR_ARG(now->path_text), why);
}

/* ---- pointers ---- */

static bool unescape(struct arena *arena, struct str token, struct str *ret)
{
    char *out = arena_array(arena, char, token.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < token.len; i++) {
        char byte = token.ptr[i];
        if (byte == '~') {
            if (++i >= token.len || (token.ptr[i] != '0' && token.ptr[i] != '1'))
                return false;
            if (token.ptr[i] == '1')
                byte = '/';
        }
        out[len++] = byte;
    }
    *ret = (struct str){ .ptr = out, .len = len };
    return true;
}

static bool parse_pointer(struct arena *arena, struct str text, struct pointer *ret)
{
    size_t slashes = 0;
    for (size_t i = 0; i < text.len; i++)
        slashes += text.ptr[i] == '/';
    *ret = (struct pointer){ .tokens = arena_array(arena, struct str, slashes) };
    if (text.len == 0)
        return true;
    if (text.ptr[0] != '/' || slashes > MAX_TOKENS)
        return false;
    struct str rest = str_slice(text, 1, text.len);
    for (size_t i = 0; i < slashes; i++) {
        struct str token;
        str_cut(rest, '/', &token, &rest);
        if (!unescape(arena, token, &ret->tokens[ret->count++]))
            return false;
    }
    return true;
}

/* An array index below `limit`; no sign, no leading zero. */
static bool parse_index(struct str token, size_t limit, size_t *ret)
{
    int64_t index;
    if (token.len == 0 || token.ptr[0] < '0' || token.ptr[0] > '9' ||
        (token.len > 1 && token.ptr[0] == '0') || !str_to_i64(token, &index) || (uint64_t)index >= limit)
        return false;
    *ret = (size_t)index;
    return true;
}

static const struct json *child(const struct json *node, struct str token)
{
    size_t index;
    if (json_is(node, JSON_ARRAY))
        return parse_index(token, node->array.count, &index) ? node->array.items[index] : NULL;
    return json_get(node, token);
}

static const struct json *lookup(const struct json *root, const struct pointer *pointer)
{
    for (size_t i = 0; root && i < pointer->count; i++)
        root = child(root, pointer->tokens[i]);
    return root;
}

/* ---- edits: the path to the change is copied, the rest is shared ---- */

enum edit { EDIT_ADD, EDIT_REPLACE, EDIT_REMOVE };

static const struct json *array_with(struct arena *arena, const struct json *array, enum edit edit, size_t at,
                                     const struct json *value)
{
    struct json *out = json_new(arena, JSON_ARRAY);
    for (size_t i = 0; i < array->array.count; i++) {
        if (i == at && edit != EDIT_REMOVE)
            json_push(arena, out, value);
        if (i != at || edit == EDIT_ADD)
            json_push(arena, out, array->array.items[i]);
    }
    if (at == array->array.count && edit == EDIT_ADD)
        json_push(arena, out, value);
    return out;
}

static const struct json *edit_array_leaf(struct patcher *patcher, const struct json *array, struct str token,
                                          enum edit edit, const struct json *value)
{
    size_t at = array->array.count;
    bool append = edit == EDIT_ADD && str_eq(token, STR("-"));
    if (!append && !parse_index(token, array->array.count + (edit == EDIT_ADD), &at)) {
        cannot_apply(patcher, "no such array element");
        return NULL;
    }
    return array_with(patcher->arena, array, edit, at, value);
}

static const struct json *edit_object_leaf(struct patcher *patcher, const struct json *object, struct str key,
                                           enum edit edit, const struct json *value)
{
    if (edit != EDIT_ADD && !json_get(object, key)) {
        cannot_apply(patcher, "no such field");
        return NULL;
    }
    struct json *copy = json_copy(patcher->arena, object);
    if (edit == EDIT_REMOVE)
        json_remove(copy, key);
    else
        json_set(patcher->arena, copy, key, value);
    return copy;
}

/* The node with the change below it; NULL after reporting why there is none. */
static const struct json *edit_at(struct patcher *patcher, const struct json *node, const struct str *tokens,
                                  size_t count, enum edit edit, const struct json *value)
{
    bool is_array = json_is(node, JSON_ARRAY);
    if (!is_array && !json_is(node, JSON_OBJECT)) {
        cannot_apply(patcher, "the path leads through a scalar");
        return NULL;
    }
    if (count == 1)
        return is_array ? edit_array_leaf(patcher, node, tokens[0], edit, value)
                        : edit_object_leaf(patcher, node, tokens[0], edit, value);
    const struct json *next = child(node, tokens[0]);
    if (!next) {
        cannot_apply(patcher, "the path does not exist");
        return NULL;
    }
    const struct json *below = edit_at(patcher, next, tokens + 1, count - 1, edit, value);
    if (!below)
        return NULL;
    return is_array ? edit_array_leaf(patcher, node, tokens[0], EDIT_REPLACE, below)
                    : edit_object_leaf(patcher, node, tokens[0], EDIT_REPLACE, below);
}

static bool edit_document(struct patcher *patcher, const struct json **root, const struct pointer *at,
                          enum edit edit, const struct json *value)
{
    if (at->count == 0) {
        if (edit == EDIT_REMOVE)
            return cannot_apply(patcher, "the whole document cannot be removed");
        *root = value;
        return true;
    }
    const struct json *edited = edit_at(patcher, *root, at->tokens, at->count, edit, value);
    if (!edited)
        return false;
    *root = edited;
    return true;
}

/* ---- operations ---- */

static bool do_add(struct patcher *patcher, const struct json **root)
{
    return edit_document(patcher, root, &patcher->now->path, EDIT_ADD, patcher->now->value);
}

static bool do_replace(struct patcher *patcher, const struct json **root)
{
    return edit_document(patcher, root, &patcher->now->path, EDIT_REPLACE, patcher->now->value);
}

static bool do_remove(struct patcher *patcher, const struct json **root)
{
    return edit_document(patcher, root, &patcher->now->path, EDIT_REMOVE, NULL);
}

static bool do_test(struct patcher *patcher, const struct json **root)
{
    const struct json *found = lookup(*root, &patcher->now->path);
    if (!found || !json_equal(found, patcher->now->value))
        return cannot_apply(patcher, "testing path value failed");
    return true;
}

static bool do_move(struct patcher *patcher, const struct json **root)
{
    const struct pointer *from = &patcher->now->from, *to = &patcher->now->path;
    const struct json *moved = lookup(*root, from);
    if (!moved)
        return cannot_apply(patcher, "nothing at \"from\"");
    bool inside = to->count > from->count;
    for (size_t i = 0; inside && i < from->count; i++)
        inside = str_eq(from->tokens[i], to->tokens[i]);
    if (inside)
        return cannot_apply(patcher, "a value cannot move into itself");
    return edit_document(patcher, root, from, EDIT_REMOVE, NULL) &&
           edit_document(patcher, root, to, EDIT_ADD, moved);
}

static bool do_copy(struct patcher *patcher, const struct json **root)
{
    const struct json *copied = lookup(*root, &patcher->now->from);
    if (!copied)
        return cannot_apply(patcher, "nothing at \"from\"");
    /* Shared subtrees cost nothing here, but the document must still be written out. */
    CLEANUP(strbuf_done) struct strbuf size = STRBUF_INIT(MAX_COPIED_BYTES - patcher->copied_bytes);
    json_write(&size, copied);
    if (size.overflow)
        return api_fail(
            patcher->error, patcher->arena, 413,
            "Unable to complete, the accumulated size increase of copy operations exceeds %d bytes",
            MAX_COPIED_BYTES);
    patcher->copied_bytes += size.len;
    return edit_document(patcher, root, &patcher->now->path, EDIT_ADD, copied);
}

static const struct {
    struct str name;
    bool needs_value;
    bool needs_from;
    bool (*run)(struct patcher *patcher, const struct json **root);
} kinds[] = {
    { STR_INIT("add"), true, false, do_add },         { STR_INIT("remove"), false, false, do_remove },
    { STR_INIT("replace"), true, false, do_replace }, { STR_INIT("move"), false, true, do_move },
    { STR_INIT("copy"), false, true, do_copy },       { STR_INIT("test"), true, false, do_test },
};

static bool malformed(struct patcher *patcher, size_t index, const char *why)
{
    return api_fail(patcher->error, patcher->arena, 400, "error decoding patch: operation %zu: %s", index,
                    why);
}

static bool run_operation(struct patcher *patcher, const struct json *source, size_t index,
                          const struct json **root)
{
    const struct json *path = api_get(source, "path"), *from = api_get(source, "from");
    struct operation now = {
        .op = api_get_str(source, "op"),
        .path_text = json_str(path),
        .value = api_get(source, "value"),
        .index = index,
    };
    if (!json_is(path, JSON_STRING) || !parse_pointer(patcher->arena, now.path_text, &now.path))
        return malformed(patcher, index, "\"path\" must be a JSON pointer");
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (!str_eq(kinds[i].name, now.op))
            continue;
        if (kinds[i].needs_value && !now.value)
            return malformed(patcher, index, "\"value\" is missing");
        if (kinds[i].needs_from &&
            (!json_is(from, JSON_STRING) || !parse_pointer(patcher->arena, json_str(from), &now.from)))
            return malformed(patcher, index, "\"from\" must be a JSON pointer");
        patcher->now = &now;
        return kinds[i].run(patcher, root);
    }
    patcher->now = &now;
    return cannot_apply(patcher, "unknown operation");
}

bool api_patch_json(struct arena *arena, const struct json *current, const struct json *operations,
                    const struct json **ret, struct api_error *error)
{
    if (!json_is(operations, JSON_ARRAY))
        return api_fail(error, arena, 400, "error decoding patch: a JSON patch is an array of operations");
    if (operations->array.count > MAX_OPERATIONS)
        return api_fail(error, arena, 413, "The allowed maximum operations in a JSON patch is %d, got %zu",
                        MAX_OPERATIONS, operations->array.count);
    struct patcher patcher = { .arena = arena, .error = error };
    const struct json *root = current;
    for (size_t i = 0; i < operations->array.count; i++)
        if (!run_operation(&patcher, operations->array.items[i], i, &root))
            return false;
    *ret = root;
    return true;
}
