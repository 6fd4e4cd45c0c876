/* Upper bound on the norm of a shard's sum. A worker with a larger sum has not added bounded rows. */
#pragma once

#include "base/err.h"
#include "wire/frame.h"

/* dp_reach_check(answer, rows, parts, shard, err): check the sums and counts of a shard's (from 1) answer to a lap, or of the
 * total of `parts` masked answers (shard: 0).
 *
 *   |sum| <= rows B + √parts s (√d + DP_REACH_SIGMAS) + parts √d / 2,   B = bound / grid,
 *                                                                        s = scale of its Gaussian noise / grid, or 0
 *
 * sum    d whole numbers, in steps of the grid: the frame's grid for a sum, 1/2 for a count. |·| is the L2 norm.
 * rows   number of rows: each adds a vector of norm at most B.
 * s      if noise is in shares, s of one share. The norm of d such numbers is above s (√d + t) with a probability of at most
 *        exp(−t² / 2): an honest worker is refused in less than 2 of 10^22 laps. Rounding to the grid adds 1/2 to each number.
 *
 * Not checked: noise that is not Gaussian, and arrays without a record, a bound or a grid, which the gate refuses.
 * DP_E_UNSAFE: the sum is too large. */
#define DP_REACH_SIGMAS 10.0
int dp_reach_check(const struct dp_frame *answer, int64_t rows, int parts, int shard, struct dp_err *err);
