/* The grid that sums and noise live on, and the clip that bounds one row's part of a sum on it. */
#ifndef DP_MATH_GRID_H
#define DP_MATH_GRID_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "math/gaussian.h"
#include "math/rng.h"
#include "math/vec.h"

/* The largest power of two ≤ bound × 2^-20, and at least 2^-1000: its inverse is finite, whatever the bound. Scaling by it is
   exact. */
double dp_grid_for(double bound);

/* The float nearest to x on the side of zero: the nearest, or the one before it, whose bits as a number are one less. */
static inline float dp_float_toward_zero(double x)
{
    float f = (float)x;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    bits -= fabs((double)f) > fabs(x);
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* Clips the coefficients of one row jointly and rounds them toward zero:  out = zeta × min(1, C_x/‖zeta‖₂), with
   C_x = C / max(1, ‖x‖₂), so that ‖out‖₂ ‖x‖₂ ≤ C as real numbers, whatever the row. norm2 is dp_row_norm2 of a row with
   `count` entries. A coefficient that is not finite, or a row whose norm is not, gives all zeros. */
void dp_grid_clip(const double *zeta, size_t classes, double bound, double norm2, size_t count, float *out);

/* The same to the bit of rows ≤ DP_GRID_ROWS: zeta and out are rows × classes, norm2 and count have an entry a row. */
#define DP_GRID_ROWS 8
void dp_grid_clip_rows(const double *zeta, size_t classes, double bound, const double *norm2, const size_t *count, size_t rows,
                       float *out);

/* Clips one whole vector and adds it to a sum:  sum_j += trunc(v_j × min(1, C/‖v‖₂) / grid), so that what is added has, times
   the grid, L2 norm at most C as real numbers. A v with an entry that is not finite adds nothing. */
void dp_grid_add(const double *v, size_t count, double bound, double grid, int64_t *sum);

/* The same of a vector of `length` numbers, of which `count` are given: v_j has the index at[j], or j if at is NULL; all others
 * are 0. So the same vector gives the same whole numbers, whichever of its zeros are given. Returns 1 if ‖v‖ was at most the
 * bound, −1 if it was above, 0 if an entry was not finite. */
int dp_grid_add_at(const double *v, const size_t *at, size_t count, size_t length, double bound, double grid, int64_t *sum);

/* Adds Gaussian noise of standard deviation `scale` (units of the grid) to count whole numbers: correctly rounded draws
   first … first + count − 1 of (purpose, lap), see math/gaussian.h. Returns nonzero unless 0 < scale ≤
   DP_GRID_MOST_NOISE, or if a sum would overflow; the sums are spoilt then. */
#define DP_GRID_MOST_NOISE DP_GAUSSIAN_MOST
int dp_grid_add_gaussian(const struct dp_key *key, enum dp_purpose purpose, uint64_t lap, uint64_t first, double scale,
                         int64_t *sum, size_t count);

#endif
