#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_PATHS 32

static char scratch[PATH_MAX / 2];

void fuzz_fail(const char *what, const char *file, int line)
{
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
    abort();
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

void fuzz_remove(const char *path)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return;
    if (S_ISDIR(st.st_mode))
        nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    else
        unlink(path);
}

static void remove_scratch(void)
{
    fuzz_remove(scratch);
}

const char *fuzz_path(const char *name)
{
    static char *paths[MOST_PATHS];
    int at = 0;
    if (scratch[0] == '\0') {
        const char *tmp = getenv("TMPDIR");
        snprintf(scratch, sizeof scratch, "%s/fuzz.XXXXXX", tmp != NULL ? tmp : "/tmp");
        fuzz_assert(mkdtemp(scratch) != NULL);
        atexit(remove_scratch);
    }
    for (; at < MOST_PATHS && paths[at] != NULL; at++)
        if (strcmp(paths[at] + strlen(scratch) + 1, name) == 0)
            return paths[at];
    fuzz_assert(at < MOST_PATHS && asprintf(&paths[at], "%s/%s", scratch, name) > 0);
    return paths[at];
}

const char *fuzz_file(const char *name, const void *bytes, size_t size)
{
    const char *path = fuzz_path(name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    fuzz_assert(fd >= 0);
    fuzz_assert(write(fd, bytes, size) == (ssize_t)size);
    close(fd);
    return path;
}

/* The length of the line that begins here if it is "%% NAME" with a name of the list, and its index; else 0. */
static size_t heading(const uint8_t *at, size_t left, const char *const *names, int *index)
{
    if (left < 4 || memcmp(at, "%% ", 3) != 0)
        return 0;
    const uint8_t *end = memchr(at, '\n', left);
    if (end == NULL)
        return 0;
    size_t length = (size_t)(end - at) - 3;
    for (int i = 0; names[i] != NULL; i++)
        if (strlen(names[i]) == length && memcmp(names[i], at + 3, length) == 0) {
            *index = i;
            return length + 4;
        }
    return 0;
}

void fuzz_unpack(const uint8_t *data, size_t size, const char *const *names)
{
    for (int i = 0; names[i] != NULL; i++)
        fuzz_file(names[i], "", 0);
    int current = 0, next = 0;
    size_t from = 0, at = 0;
    while (at <= size) {
        size_t length = at < size ? heading(data + at, size - at, names, &next) : 0;
        if (length > 0 || at == size) {
            /* the line feed before a heading belongs to the heading */
            size_t end = length > 0 && at > from ? at - 1 : at;
            if (end > from)
                fuzz_file(names[current], data + from, end - from);
            if (at == size)
                return;
            current = next;
            from = at += length;
            if (at < size && heading(data + at, size - at, names, &next) > 0)
                continue;
        }
        const uint8_t *feed = at < size ? memchr(data + at, '\n', size - at) : NULL;
        at = feed != NULL ? (size_t)(feed - data) + 1 : size;
    }
}

char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    fuzz_assert(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

const char *fuzz_need(const char *variable)
{
    const char *value = getenv(variable);
    if (value == NULL) {
        fprintf(stderr, "%s is not set: tests/fuzz/run sets it\n", variable);
        abort();
    }
    return value;
}

void fuzz_said(int rc, const struct dp_err *err)
{
    if (rc >= 0)
        return;
    fuzz_assert(err->message[0] != '\0');
    fuzz_assert((int)err->status == rc);
    fuzz_assert(memchr(err->message, '\0', sizeof err->message) != NULL);
}
