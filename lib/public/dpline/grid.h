/* Sums that one person moves by at most a bound, and noise on them, both as whole numbers in units of a grid: the bound holds
 * as for real numbers, and the noise has no floating-point gaps. */
#ifndef DPLINE_GRID_H
#define DPLINE_GRID_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The grid for a bound: the largest power of two that is at most bound × 2^-20. bound is positive and finite. */
DPLINE_PUBLIC double dpline_grid_for(double bound);

/* Adds one person's vector to a sum in units of dpline_grid_for(bound):
 *     sum_j += trunc(v_j × min(1, bound / ‖v‖₂) / grid)
 * so that what is added, times the grid, has L2 norm at most bound, whatever v is; a v with an entry that is not finite adds
 * nothing. At most 2^40 vectors fit a sum. */
DPLINE_PUBLIC void dpline_grid_add(const double *v, size_t count, double bound, int64_t *sum);

/* Noise whose draws are addressed by a secret key, the number of a lap and a place in the sum. */
struct dpline_noise;

/* With a key from the kernel; or with a key that anyone can compute from the seed, which is not private and for tests. */
DPLINE_PUBLIC int dpline_noise_new(struct dpline_noise **noise, struct dpline_error *error);
DPLINE_PUBLIC int dpline_noise_new_seeded(struct dpline_noise **noise, int64_t seed, struct dpline_error *error);
DPLINE_PUBLIC void dpline_noise_free(struct dpline_noise *noise); /* NULL is fine */

/* Adds to sum_j, in units of grid, a Gaussian of that standard deviation (in the units of sum × grid), rounded to the grid,
   drawn exactly. lap: 1, 2, … below 2^40; each serves once, and they ascend. DPLINE_E_UNSAFE: the lap is not after the last
   one. DPLINE_E_RUN: the noise does not fit the grid (at most 2^48 steps), or the sum 64 bits; the sum is spoilt then. */
DPLINE_PUBLIC int dpline_noise_gaussian(struct dpline_noise *noise, int64_t lap, double deviation, double grid, int64_t *sum,
                                        size_t count, struct dpline_error *error);

#ifdef __cplusplus
}
#endif

#endif
