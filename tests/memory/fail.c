/* Preloaded by sweep.py: the allocation with the number FAIL_AT fails; with FAIL_ON, so do all later ones. At the end a line on
 * descriptor FAIL_FD has the number of allocations, and whether one has failed. FAIL_TRACE in the environment: the stack at
 * that allocation goes to standard error, for addr2line. */
#include <errno.h>
#include <execinfo.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_long calls;
static long at = -1;
static bool on;

static bool fails(void)
{
    long n = ++calls;
    if (at < 0) { /* the first of all; no thread has been started */
        const char *text = getenv("FAIL_AT");
        at = text != NULL ? atol(text) : 0;
        on = getenv("FAIL_ON") != NULL;
    }
    if (at == 0 || (on ? n < at : n != at))
        return false;
    if (n == at && getenv("FAIL_TRACE") != NULL) {
        void *frames[40];
        at = 0;
        backtrace_symbols_fd(frames, backtrace(frames, 40), STDERR_FILENO);
        at = n;
    }
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

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    void *got = fails() ? NULL : __libc_memalign(alignment, size);
    if (got == NULL)
        return ENOMEM;
    *block = got;
    return 0;
}

static void __attribute__((destructor)) report(void)
{
    const char *fd = getenv("FAIL_FD");
    if (fd != NULL)
        dprintf(atoi(fd), "%ld %d\n", (long)calls, at > 0 && calls >= at);
}
