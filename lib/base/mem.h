/* Allocation with overflow checks. Everything here is released with free(). */
#pragma once

#include "base/err.h"

/* *out = count × size zeroed bytes. DP_E_RUN, and *out is NULL, when the product overflows or memory is short. */
int dp_alloc(void *out, size_t count, size_t size, struct dp_err *err);

/* Several arrays at once: rc = DP_ALLOC_ALL(err, DP_ARRAY(x, rows), DP_ARRAY(y, cols)). After a failure those that were made are
 * still there to be freed, and the others are NULL. */
struct dp_wanted_array {
    void *out;
    size_t count, size;
};
#define DP_ARRAY(pointer, count_) ((struct dp_wanted_array){&(pointer), (count_), sizeof *(pointer)})
#define DP_ALLOC_ALL(err, ...)                                                                                                 \
    dp_alloc_all((struct dp_wanted_array[]){__VA_ARGS__},                                                                      \
                 sizeof((struct dp_wanted_array[]){__VA_ARGS__}) / sizeof(struct dp_wanted_array), err)
int dp_alloc_all(const struct dp_wanted_array *arrays, size_t count, struct dp_err *err);

/* Grows *block so that it holds `need` elements (doubling); *capacity is in elements. Contents are kept. */
int dp_grow(void *block, size_t *capacity, size_t need, size_t size, struct dp_err *err);

/* Distance in elements between the parts of two threads, if each part has `count` elements: rounded up, so that no two threads
 * write to one cache line. size divides 64. */
static inline size_t dp_apart(size_t count, size_t size)
{
    return ((count * size + 63) / 64 + 1) * (64 / size);
}
