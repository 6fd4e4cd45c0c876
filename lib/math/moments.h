/* Second moments (the Gram matrix): the exact sum of x xᵀ over rows, on a grid. The L2 norm of a row's part is the square of the
 * row's norm, so a bound on the norms of rows bounds it. */
#pragma once

#include "math/pairs.h"
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

/* The grid of moments, h²: h is the smallest power of two ≥ √(2 bound) 2^-15 (and ≥ 2^-500), so an entry of a row, and √2 times
 * an entry, has 14 to 15 bits in units of h. */
double dp_moments_grid(double bound);

/* State of one thread that adds moments. */
struct dp_moments {
    size_t cols;            /* columns of a row with its tail */
    double bound, units;    /* units: 1 / h */
    size_t panels, waiting; /* dense rows to be added together */
    int16_t *left, *right;  /* panels of r and of q (math/pairs.h) */
    int16_t *most;          /* for each panel its largest |r|, then its largest |q| */
    dp_pairs_product *multiply;
    float *floats;            /* of a narrow row */
    int16_t *r, *q;           /* of a row */
    int16_t *even_r, *even_q; /* of the row that waits for the other one of its pair */
    int32_t *column;          /* of a sparse row */
};

/* bound: the largest L2 norm of a row's part, which is the square of the row's norm. The caller frees with dp_moments_close,
   even after a failure. */
void dp_moments_open(struct dp_moments *moments, size_t cols, double bound);
void dp_moments_close(struct dp_moments *moments);

/* Adds the moments of z, the row with `tails` columns after its own. With x = z min(1, √bound / ‖z‖) and the whole numbers

     q_i = trunc(x_i / h),   r_i = trunc(√2 x_i / h),

   sum += q_i² on the diagonal and r_i q_j, i < j, off it.

   PROOF that the added vector, times the grid h², has L2 norm at most the bound: |q_i h| ≤ |x_i| and |r_i h| ≤ √2 |x_i|, so the
   sum of its squared entries is at most Σ_i x_i⁴ + Σ_i<j 2 x_i² x_j² = ‖x‖⁴ ≤ bound².

   No product is rounded, so the order of rows, blocks and threads changes nothing. A row with an entry that is not finite adds
   nothing. A row adds the same numbers whether it is dense, sparse or narrow. sum: dp_moments_size(cols). The moments of dense
   rows may be added as late as dp_moments_flush. */
void dp_moments_add(struct dp_moments *moments, struct dp_row row, const float *tail, size_t tails, int64_t *sum);

/* Several rows z_i of one person: each adds the same as above, with x_i = s z_i and

     s = min(1, √(bound / Σ_i ‖z_i‖²)).

   PROOF that the L2 norm of what they add together is at most the bound: row i adds a vector of norm at most ‖s z_i‖². By the
   triangle inequality the norm of their sum is at most Σ_i ‖s z_i‖² = s² Σ_i ‖z_i‖² ≤ bound.

   by: s, from dp_moments_shrink with norm2 = Σ_i dp_moments_norm2. Leave rows whose norm is not finite out of both. */
double dp_moments_norm2(struct dp_row row, const float *tail, size_t tails);
double dp_moments_shrink(const struct dp_moments *moments, double norm2, size_t rows);
void dp_moments_add_by(struct dp_moments *moments, double by, struct dp_row row, const float *tail, size_t tails, int64_t *sum);
void dp_moments_flush(struct dp_moments *moments, int64_t *sum);

/* zᵀ M z, in units of the grid, for the matrix M that a sum represents; z has `count` columns, the first of cols. */
double dp_moments_along(const int64_t *sum, size_t cols, const double *z, size_t count);
