#pragma once
/* Where in an object something is, as field errors spell it: spec.containers[0].name,
 * status.capacity[kubernetes.io/mid-cpu]. A chain of stack frames from leaf to root:
 *
 *     struct api_path spec = API_FIELD(NULL, STR("spec"));
 *     struct api_path first = API_INDEX(&spec, 0);
 */
#include "base/arena.h"
#include "base/strbuf.h"

enum api_path_kind { API_PATH_FIELD, API_PATH_KEY, API_PATH_INDEX };

struct api_path {
    const struct api_path *parent; /* NULL at the top */
    enum api_path_kind kind;
    struct str name; /* field or map key */
    size_t index;
};

#define API_FIELD(parent_, name_)                                                                            \
    ((struct api_path){ .parent = (parent_), .kind = API_PATH_FIELD, .name = (name_) })
#define API_KEY(parent_, name_)                                                                              \
    ((struct api_path){ .parent = (parent_), .kind = API_PATH_KEY, .name = (name_) })
#define API_INDEX(parent_, index_)                                                                           \
    ((struct api_path){ .parent = (parent_), .kind = API_PATH_INDEX, .index = (index_) })

/* Empty for NULL. */
void api_path_write(struct strbuf *out, const struct api_path *path);
struct str api_path_str(struct arena *arena, const struct api_path *path);
