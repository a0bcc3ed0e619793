#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

void fd_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static bool read_all(int fd, const char *path, struct strbuf *out, struct err *err)
{
    char chunk[16 * 1024];
    for (;;) {
        ssize_t n = read(fd, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(err, "read %s", path);
        if (n == 0)
            return true;
        strbuf_add(out, (struct str){ .ptr = chunk, .len = (size_t)n });
        if (out->overflow)
            return err_set(err, ERR_INVALID, "%s is larger than %zu bytes", path, out->limit);
    }
}

static bool read_path(const char *path, struct strbuf *out, struct err *err)
{
    if (strcmp(path, "-") == 0)
        return read_all(STDIN_FILENO, "standard input", out, err);
    CLEANUP(fd_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, "open %s", path);
    return read_all(fd, path, out, err);
}

bool file_read(const char *path, struct strbuf *out, struct err *err)
{
    size_t before = out->len;
    bool overflow_before = out->overflow;
    if (read_path(path, out, err))
        return true;
    out->len = before;
    out->overflow = overflow_before;
    if (out->ptr)
        out->ptr[before] = '\0';
    return false;
}
