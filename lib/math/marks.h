/* A set of whole numbers below a limit, which gives them in order: filling and emptying it costs what it holds, whatever the
 * limit. */
#ifndef DP_MATH_MARKS_H
#define DP_MATH_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* A bit for each number, and one for each word of the level below that is not 0. Starts zeroed. */
#define DP_MARKS_LEVELS 11
struct dp_marks {
    unsigned levels;
    uint64_t *level[DP_MARKS_LEVELS];
};

/* For numbers below limit >= 1. DP_E_RUN: no memory. Close it in either case. */
int dp_marks_open(struct dp_marks *marks, uint64_t limit, struct dp_err *err);
void dp_marks_close(struct dp_marks *marks);

/* Puts in a number; false where it was there. */
bool dp_marks_put(struct dp_marks *marks, uint64_t number);

/* Takes all numbers out, ascending, into `out`, which has room for them; returns how many. */
size_t dp_marks_take(struct dp_marks *marks, int64_t *out);

#endif
