/* A set of whole numbers below a limit, which returns them in order. The cost of filling and emptying depends on its contents,
 * not on the limit. */
#ifndef DP_MATH_MARKS_H
#define DP_MATH_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Level 0 has a bit for each number; each higher level has a bit for each word below that is not 0. Starts zeroed. */
#define DP_MARKS_LEVELS 11
struct dp_marks {
    unsigned levels;
    uint64_t *level[DP_MARKS_LEVELS];
};

/* For numbers below limit >= 1. DP_E_RUN: no memory. Close it in either case. */
int dp_marks_open(struct dp_marks *marks, uint64_t limit, struct dp_err *err);
void dp_marks_close(struct dp_marks *marks);

/* Adds a number; false if the set has it already. */
bool dp_marks_put(struct dp_marks *marks, uint64_t number);

/* Removes all numbers, in ascending order, into `out`, which has room for them; returns their number. */
size_t dp_marks_take(struct dp_marks *marks, int64_t *out);

#endif
