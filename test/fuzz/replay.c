/* Stands in for libFuzzer: feeds every file named on the command line, or found below
 * a directory named there, to the target once. Finding none at all is an error, so a
 * misspelt corpus cannot pass for a clean one. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t replayed;

static void fail(const char *doing, const char *path)
{
    fprintf(stderr, "replay: %s ", doing);
    perror(path);
    exit(EXIT_FAILURE);
}

static void replay_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    /* Exactly as large as the input, so that the sanitizer sees one byte too far. */
    uint8_t *data = malloc(size ? size : 1);
    if (!file || !data || fread(data, 1, size, file) != size)
        fail("read", path);
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    replayed++;
}

static void replay(const char *path);

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void replay_directory(const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, visible, alphasort);
    if (count < 0)
        fail("list", path);
    for (int i = 0; i < count; i++) {
        char *inner;
        if (asprintf(&inner, "%s/%s", path, entries[i]->d_name) < 0)
            fail("list", path);
        replay(inner);
        free(inner);
        free(entries[i]);
    }
    free(entries);
}

static void replay(const char *path)
{
    struct stat status;
    if (stat(path, &status) < 0)
        fail("find", path);
    if (S_ISDIR(status.st_mode))
        replay_directory(path);
    else
        replay_file(path, (size_t)status.st_size);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        size_t before = replayed;
        replay(argv[i]);
        if (replayed == before) {
            fprintf(stderr, "replay: %s holds no inputs\n", argv[i]);
            return EXIT_FAILURE;
        }
    }
    printf("%zu inputs replayed\n", replayed);
    return replayed ? EXIT_SUCCESS : EXIT_FAILURE;
}
