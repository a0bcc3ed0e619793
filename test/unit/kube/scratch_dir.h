#pragma once
/* A directory of a test's own, gone with it. */
#include "base/str.h"

struct scratch_dir {
    char path[64];
};

void scratch_dir_init(struct scratch_dir *dir);
void scratch_dir_done(struct scratch_dir *dir);
/* The path of `name` in it; valid until the fourth next call. */
const char *scratch_path(const struct scratch_dir *dir, const char *name);
/* Creates or replaces a file; directories in `name` are made. Returns its path. */
const char *scratch_write(const struct scratch_dir *dir, const char *name, struct str text);
