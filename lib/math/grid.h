/* The grid of sums and noise, and the clip that bounds one row's part of a sum on the grid. */
#pragma once

#include "math/gaussian.h"
#include "math/rng.h"
#include "math/vec.h"

/* The largest power of two ≤ bound × 2^-20, and at least 2^-1000, so that its inverse is finite for any bound. Scaling by it is
   exact. */
double dp_grid_for(double bound);

/* The float nearest to x towards zero: the nearest float, or the one before it, whose bits as a number are one less. */
static inline float dp_float_toward_zero(double x)
{
    float f = (float)x;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    bits -= fabs((double)f) > fabs(x);
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* Clips the coefficients of one row jointly and rounds them toward zero:  out = zeta × min(1, C_x/‖zeta‖₂), with C_x = C /
   max(1, ‖x‖₂), so that ‖out‖₂ ‖x‖₂ ≤ C as real numbers for any row. norm2 is dp_row_norm2 of a row with `count` entries. All
   zeros if a coefficient or the row's norm is not finite. */
void dp_grid_clip(const double *zeta, size_t classes, double bound, double norm2, size_t count, float *out);

/* The same bits for several rows, at most DP_GRID_ROWS: zeta and out are rows × classes, norm2 and count have an entry for each
   row. */
#define DP_GRID_ROWS 8
void dp_grid_clip_rows(const double *zeta, size_t classes, double bound, const double *norm2, const size_t *count, size_t rows,
                       float *out);

/* Clips one whole vector and adds it to a sum:  sum_j += trunc(v_j × min(1, C/‖v‖₂) / grid), so that the added vector times the
   grid has L2 norm at most C as real numbers. A v with an entry that is not finite adds nothing. */
void dp_grid_add(const double *v, size_t count, double bound, double grid, int64_t *sum);

/* The same for a vector of `length` numbers, of which `count` are given: v_j has the index at[j], or j if at is NULL; all
 * others are 0. The same vector gives the same whole numbers, whichever of its zeros are given. Returns 1 if ‖v‖ was at most
 * the bound, −1 if it was above, 0 if an entry was not finite. */
int dp_grid_add_at(const double *v, const size_t *at, size_t count, size_t length, double bound, double grid, int64_t *sum);

/* Adds Gaussian noise of standard deviation `scale` (units of the grid) to count whole numbers: correctly rounded draws first …
   first + count − 1 of (purpose, lap), see math/gaussian.h. Returns nonzero unless 0 < scale ≤ DP_GRID_MOST_NOISE, or if a sum
   would overflow; the sums are then invalid. */
#define DP_GRID_MOST_NOISE DP_GAUSSIAN_MOST
int dp_grid_add_gaussian(const struct dp_key *key, enum dp_purpose purpose, uint64_t lap, uint64_t first, double scale,
                         int64_t *sum, size_t count);
