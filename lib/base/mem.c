#include "base/mem.h"

#include <gmp.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <unistd.h>

void dp_mem_out(size_t count, size_t size)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    char line[200], how_many[80] = "";
    while (atomic_flag_test_and_set(&said))
        pause(); /* another thread is about to end the program */
    if (count > 0)
        snprintf(how_many, sizeof how_many, " (%zu × %zu bytes)", count, size);
    int length = snprintf(line, sizeof line, "%.80s: out of memory%s\n", program_invocation_short_name, how_many);
    const ssize_t unused = write(STDERR_FILENO, line, (size_t)length);
    (void)unused;
    _exit(dp_exit_status(DP_E_RUN));
}

void *dp_got(void *block)
{
    if (block == NULL)
        dp_mem_out(0, 0);
    return block;
}

void *dp_new(size_t count, size_t size)
{
    size_t bytes;
    bool fits = !__builtin_mul_overflow(count, size, &bytes) && bytes <= PTRDIFF_MAX;
    void *block = fits ? calloc(1, bytes > 0 ? bytes : 1) : NULL;
    if (block == NULL)
        dp_mem_out(count, size);
    return block;
}

void dp_extend(void *block, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity)
        return;
    size_t wanted = *capacity > SIZE_MAX / 2 ? need : 2 * *capacity;
    if (wanted < need)
        wanted = need;
    void *old;
    memcpy(&old, block, sizeof old);
    size_t bytes;
    bool fits = !__builtin_mul_overflow(wanted, size, &bytes) && bytes <= PTRDIFF_MAX;
    void *grown = fits ? realloc(old, bytes) : NULL;
    if (grown == NULL)
        dp_mem_out(wanted, size);
    memcpy(block, &grown, sizeof grown);
    *capacity = wanted;
}

char *dp_format(const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        dp_mem_out(0, 0);
    va_end(args);
    return text;
}

void dp_close_text(FILE *stream)
{
    if ((ferror(stream) | fclose(stream)) != 0)
        dp_mem_out(0, 0);
}

static void *allocate(size_t size)
{
    return dp_got(malloc(size));
}

static void *reallocate(void *block, size_t old, size_t size)
{
    (void)old;
    return dp_got(realloc(block, size));
}

static void release(void *block, size_t size)
{
    (void)size;
    free(block);
}

void dp_mem_open(void)
{
    json_set_alloc_funcs(allocate, free);
    mp_set_memory_functions(allocate, reallocate, release);
}
