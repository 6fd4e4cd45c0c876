/* Second moments (the Gram matrix): the exact sum of x xᵀ over rows, on a grid. The L2 norm of a row's part is the square of the
 * row's norm, so a bound on the norms of rows bounds it. */
#ifndef DP_MATH_MOMENTS_H
#define DP_MATH_MOMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "math/vec.h"

#define DP_MOMENTS_MOST 8192 /* columns: a frame has room for moments, a transform made from them, and the rest */

/* The size of the moments of `cols` columns: the upper triangle of the matrix, row by row. An entry off the diagonal represents
 * two entries of the matrix, and is √2 times either. Entry (i, j), i ≤ j < cols, is at dp_moments_at(cols, i) + j − i. */
static inline size_t dp_moments_size(size_t cols)
{
    return cols * (cols + 1) / 2;
}
static inline size_t dp_moments_at(size_t cols, size_t i)
{
    return i * cols - i * (i + 1) / 2 + i;
}

/* State of one thread that adds moments. */
struct dp_moments {
    size_t cols; /* columns of a row with its tail */
    double bound, inverse_grid;
    size_t stride, waiting; /* dense rows to be added together: waiting × stride, each padded with zeros */
    float *rows;
    double *tile;  /* some columns of these rows */
    float *factor; /* for each column, the entries of these rows that are not 0, and their rows */
    uint8_t *whose, *factors;
    float *value; /* of a sparse row */
    int32_t *column;
};

/* bound: the largest L2 norm of a row's part, which is the square of the row's norm; grid: dp_grid_for(bound). The caller frees
   with dp_moments_close, even after a failure. */
int dp_moments_open(struct dp_moments *moments, size_t cols, double bound, double grid, struct dp_err *err);
void dp_moments_close(struct dp_moments *moments);

/* Adds the moments of z, the row with `tails` columns after its own. With x = z min(1, √bound/‖z‖), rounded toward zero to
   floats, sum += trunc(x_i² / grid) on the diagonal and trunc(r_i x_j / grid) off it; r_i = √2 x_i, rounded toward zero to a
   float, so that r_i x_j is exact in double. The added vector, times the grid, has L2 norm at most ‖x‖² ≤ bound in real
   arithmetic. A row with an entry that is not finite adds nothing. A row adds the same numbers whether it is dense or sparse.
   sum: dp_moments_size(cols). The moments of dense rows may be added as late as dp_moments_flush. */
void dp_moments_add(struct dp_moments *moments, struct dp_row row, const float *tail, size_t tails, int64_t *sum);

/* Several rows of one person, each rounded as above:

     sum += Σ_i trunc((s z_i)(s z_i)ᵀ / grid),   s = min(1, √(bound / Σ_i ‖z_i‖²))

   PROOF that the L2 norm of what they add together is at most the bound: row i adds a vector of norm at most ‖s z_i‖². By the
   triangle inequality the norm of their sum is at most Σ_i ‖s z_i‖² = s² Σ_i ‖z_i‖² ≤ bound.

   by: s, from dp_moments_shrink with norm2 = Σ_i dp_moments_norm2. Leave rows whose norm is not finite out of both. */
double dp_moments_norm2(struct dp_row row, const float *tail, size_t tails);
double dp_moments_shrink(const struct dp_moments *moments, double norm2, size_t rows);
void dp_moments_add_by(struct dp_moments *moments, double by, struct dp_row row, const float *tail, size_t tails, int64_t *sum);
void dp_moments_flush(struct dp_moments *moments, int64_t *sum);

/* zᵀ M z, in units of the grid, for the matrix M that a sum represents; z has `count` columns, the first of cols. */
double dp_moments_along(const int64_t *sum, size_t cols, const double *z, size_t count);

#endif
