#include "base/spare.h"

#include <gmp.h>
#include <pthread.h>

#include "base/c.h"

#define SPARE 65536
#define ROUND 16

/* A stack of blocks. A block that is freed in the middle keeps its place until the blocks above it are freed. */
static struct {
    _Alignas(ROUND) unsigned char bytes[SPARE];
    size_t used, blocks;
    pthread_mutex_t lock;
} spare = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t rounded(size_t size)
{
    return (size + ROUND - 1) / ROUND * ROUND;
}

static bool is_spare(const void *block)
{
    uintptr_t at = (uintptr_t)block, start = (uintptr_t)spare.bytes;
    return at >= start && at < start + SPARE;
}

static void *take(size_t size)
{
    void *block = NULL;
    pthread_mutex_lock(&spare.lock);
    if (size <= SPARE && rounded(size) <= SPARE - spare.used) {
        block = spare.bytes + spare.used;
        spare.used += rounded(size);
        spare.blocks++;
    }
    pthread_mutex_unlock(&spare.lock);
    if (block == NULL)
        abort();
    return block;
}

static void *allocate(size_t size)
{
    void *block = malloc(size);
    return block != NULL ? block : take(size);
}

static void release(void *block, size_t size)
{
    if (!is_spare(block)) {
        free(block);
        return;
    }
    pthread_mutex_lock(&spare.lock);
    if ((unsigned char *)block + rounded(size) == spare.bytes + spare.used)
        spare.used -= rounded(size);
    if (--spare.blocks == 0)
        spare.used = 0;
    pthread_mutex_unlock(&spare.lock);
}

static void *reallocate(void *block, size_t old, size_t size)
{
    void *grown = is_spare(block) ? NULL : realloc(block, size);
    if (grown != NULL)
        return grown;
    grown = take(size);
    memcpy(grown, block, old < size ? old : size);
    release(block, old);
    return grown;
}

void dp_spare_open(void)
{
    mp_set_memory_functions(allocate, reallocate, release);
}
