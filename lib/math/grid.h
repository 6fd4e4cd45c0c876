/* The grid that sums and noise live on, and the clip that bounds one row's part of a sum on it. */
#ifndef DP_MATH_GRID_H
#define DP_MATH_GRID_H

#include <stddef.h>
#include <stdint.h>

#include "math/rng.h"
#include "math/vec.h"

/* The largest power of two ≤ bound × 2^-20. Scaling by it is exact. */
double dp_grid_for(double bound);

/* Clips the coefficients of one row jointly and rounds them toward zero:  out = zeta × min(1, C_x/‖zeta‖₂), with
   C_x = C / max(1, ‖x‖₂), so that ‖out‖₂ ‖x‖₂ ≤ C as real numbers, whatever the row. norm2 is dp_row_norm2 of a row with
   `count` entries. A coefficient that is not finite, or a row whose norm is not, gives all zeros. */
void dp_grid_clip(const double *zeta, size_t classes, double bound, double norm2, size_t count, float *out);

/* Adds Gaussian noise of standard deviation `scale` (units of the grid) to count whole numbers: each draw is the inverse
   CDF of 128 addressed bits, times scale, rounded to nearest. first is the address of sum[0] in (purpose, lap).
   Returns nonzero if scale is above DP_GRID_MOST_NOISE or a sum would overflow. */
#define DP_GRID_MOST_NOISE 0x1p48 /* beyond, doubles would leave out grid points, and the sum's low bits would show */
int dp_grid_add_gaussian(const struct dp_key *key, enum dp_purpose purpose, uint64_t lap, uint64_t first, double scale,
                         int64_t *sum, size_t count);

/* One standard normal from 128 bits: sign from the lowest, magnitude by the inverse CDF of the others. So many that in the
   tail, too, neighbouring values are closer than a grid point. */
double dp_gaussian_from_bits(const uint64_t bits[2]);

#endif
