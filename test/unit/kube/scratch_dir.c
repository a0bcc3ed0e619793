#include "scratch_dir.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void scratch_dir_init(struct scratch_dir *dir)
{
    snprintf(dir->path, sizeof dir->path, "/tmp/koord-test-XXXXXX");
    if (!mkdtemp(dir->path))
        abort();
}

static int remove_one(const char *path, const struct stat *seen, int type, struct FTW *ftw)
{
    (void)seen, (void)type, (void)ftw;
    return remove(path);
}

void scratch_dir_done(struct scratch_dir *dir)
{
    nftw(dir->path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *scratch_path(const struct scratch_dir *dir, const char *name)
{
    static char paths[4][512];
    static size_t next;
    char *path = paths[next++ % ARRAY_LEN(paths)];
    snprintf(path, sizeof paths[0], "%s/%s", dir->path, name);
    return path;
}

const char *scratch_write(const struct scratch_dir *dir, const char *name, struct str text)
{
    for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
        char sub[256];
        snprintf(sub, sizeof sub, "%s/%.*s", dir->path, (int)(slash - name), name);
        mkdir(sub, 0700);
    }
    const char *path = scratch_path(dir, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, text.len ? text.ptr : "", text.len) != (ssize_t)text.len)
        abort();
    close(fd);
    return path;
}
