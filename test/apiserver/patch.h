#pragma once
/* PATCH bodies applied to objects. Server-side apply lives in apply.h. */
#include "test/apiserver/status.h"

enum api_patch_type { API_PATCH_JSON, API_PATCH_MERGE, API_PATCH_STRATEGIC, API_PATCH_APPLY };

/* By the media type in front of any parameter; only the first of a list counts. 415 for
 * other types, and for strategic patches to custom resources. */
bool api_patch_type_parse(struct arena *arena, const struct api_resource *resource, struct str content_type,
                          enum api_patch_type *ret, struct api_error *error) MUST_CHECK;

/* JSON, merge or strategic patch of `current`; the result is not validated. A
 * metadata.resourceVersion or uid that the patch sets is a precondition (409); a patch
 * that blanks them leaves them as they were. Refuses renaming with 400. */
bool api_patch(struct arena *arena, const struct api_resource *resource, enum api_patch_type type,
               const struct json *current, const struct json *patch, const struct json **ret,
               struct api_error *error) MUST_CHECK;

/* RFC 6902. 400 for a malformed patch, 422 for one that cannot be applied (including a
 * failed `test`), 413 beyond 10,000 operations. */
bool api_patch_json(struct arena *arena, const struct json *current, const struct json *operations,
                    const struct json **ret, struct api_error *error) MUST_CHECK;

/* Lists with a merge key are merged element by element, $patch, $setElementOrder,
 * $deleteFromPrimitiveList and $retainKeys are honoured. */
bool api_patch_strategic(struct arena *arena, const struct api_resource *resource, const struct json *current,
                         const struct json *patch, const struct json **ret,
                         struct api_error *error) MUST_CHECK;
