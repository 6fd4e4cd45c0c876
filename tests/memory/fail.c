/* Preloaded: the allocation with the number FAIL_AT fails, and so do all later ones. */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);

static atomic_long calls;

static bool fails(void)
{
    static long at = -1;
    long n = ++calls;
    if (at < 0) { /* the first of all; no thread has been started */
        const char *text = getenv("FAIL_AT");
        at = text != NULL ? atol(text) : 0;
    }
    if (at == 0 || n < at)
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return fails() ? NULL : __libc_realloc(block, size);
}
