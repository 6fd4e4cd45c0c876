#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int dp_alloc(void *out, size_t count, size_t size, struct dp_err *err)
{
    void *block = calloc(count > 0 ? count : 1, size > 0 ? size : 1);
    if (block == NULL)
        return dp_fail(err, DP_E_RUN, "out of memory (%zu × %zu bytes)", count, size);
    memcpy(out, &block, sizeof block);
    return DP_OK;
}

int dp_grow(void *block, size_t *capacity, size_t need, size_t size, struct dp_err *err)
{
    if (need <= *capacity)
        return DP_OK;
    size_t wanted = *capacity > SIZE_MAX / 2 ? need : 2 * *capacity;
    if (wanted < need)
        wanted = need;
    void *old;
    memcpy(&old, block, sizeof old);
    void *grown = reallocarray(old, wanted, size);
    if (grown == NULL)
        return dp_fail(err, DP_E_RUN, "out of memory (%zu × %zu bytes)", wanted, size);
    memcpy(block, &grown, sizeof grown);
    *capacity = wanted;
    return DP_OK;
}
