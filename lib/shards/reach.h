/* How far the sum of a shard can be from zero: a worker whose sum is farther has not added up bounded rows. */
#ifndef DP_SHARDS_REACH_H
#define DP_SHARDS_REACH_H

#include <stdint.h>

#include "base/err.h"
#include "wire/frame.h"

/* dp_reach_check(answer, rows, shard, err): look at the sums and counts of the answer of that shard (from 1) to a lap.
 *
 *   |sum| <= rows B + s (√d + DP_REACH_SIGMAS) + √d / 2,   B = bound / grid,   s = scale of its Gaussian noise / grid, or 0
 *
 * sum    d whole numbers, in steps of the grid: of a sum the grid of the frame, of a count 1/2. |·| is the L2 norm.
 * rows   of the shard: each of them adds a vector of norm B at most.
 * s      of noise in shares that of one share. The norm of d such numbers is above s (√d + t) with a probability of at most
 *        exp(−t² / 2): an honest worker is refused in less than 2 of 10^22 laps. Rounding to the grid adds 1/2 to each number.
 *
 * Not looked at: noise that is not Gaussian, and what has no record, no bound or no grid, which the gate refuses.
 * DP_E_UNSAFE: the sum is too large. */
#define DP_REACH_SIGMAS 10.0
int dp_reach_check(const struct dp_frame *answer, int64_t rows, int shard, struct dp_err *err);

#endif
