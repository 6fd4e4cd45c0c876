#include "base/mem.h"

int dp_alloc(void *out, size_t count, size_t size, struct dp_err *err)
{
    size_t bytes;
    bool fits = !__builtin_mul_overflow(count, size, &bytes) && bytes <= PTRDIFF_MAX;
    void *block = fits ? calloc(1, bytes > 0 ? bytes : 1) : NULL;
    memcpy(out, &block, sizeof block);
    return block != NULL ? DP_OK : dp_fail(err, DP_E_RUN, "out of memory (%zu × %zu bytes)", count, size);
}

int dp_alloc_all(const struct dp_wanted_array *arrays, size_t count, struct dp_err *err)
{
    const void *none = NULL;
    int rc = DP_OK;
    for (size_t i = 0; i < count; i++)
        if (rc == DP_OK)
            rc = dp_alloc(arrays[i].out, arrays[i].count, arrays[i].size, err);
        else
            memcpy(arrays[i].out, &none, sizeof none);
    return rc;
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
    size_t bytes;
    bool fits = !__builtin_mul_overflow(wanted, size, &bytes) && bytes <= PTRDIFF_MAX;
    void *grown = fits ? realloc(old, bytes) : NULL;
    if (grown == NULL)
        return dp_fail(err, DP_E_RUN, "out of memory (%zu × %zu bytes)", wanted, size);
    memcpy(block, &grown, sizeof grown);
    *capacity = wanted;
    return DP_OK;
}
