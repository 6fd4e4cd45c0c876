/* From a noised second moment of rows to a transform. After the transform, all directions that stand out of the noise are about
 * equally long, and most rows have a norm of at most 1.
 *
 *   M    = Σ x xᵀ + noise, d × d and symmetric, of N rows: M = Σ_i μ_i v_i v_iᵀ; μ_i below 0 counts as 0
 *   D_e  = Σ μ_i / (μ_i + floor), the effective dimension: the mean squared length of the rows √N (M + floor)^(−1/2) x
 *   T    = √N (M + floor)^(−1/2) / (R √D_e), d × d and symmetric, or with only the leading m directions, m × d:
 *          row i is v_iᵀ √N (μ_i + floor)^(−1/2) / (R √D_e), and D_e is of these
 *   h    = 1 / (R² D_e), an upper bound on the largest eigenvalue of the mean of T x (T x)ᵀ, as far as M shows
 *
 * T follows from M, so it costs nothing more than M. Related: Ganesh et al. 2023 (second order), Wang 2018 (AdaSSP), whose
 * floor is of this kind too. */
#pragma once

#include "base/err.h"

struct dp_whitening {
    double rows;   /* N > 0 */
    double floor;  /* > 0, in the unit of M */
    double radius; /* R > 0 */
    size_t keep;   /* m; 0: the symmetric transform of all directions */
};

/* moments: d × d, overwritten. transform: (keep, or d) × d. DP_E_RUN: an entry of
   M that is not finite; no eigenvalue above 0. */
int dp_whiten(const struct dp_whitening *how, double *moments, size_t d, double *transform, double *effective,
              double *curvature, struct dp_err *err);

/* The largest d with d (d + 1)/2 ≤ count: the number of columns whose moments are `count` numbers. */
size_t dp_whiten_columns(size_t count);

/* M from the upper triangle row by row, the entries off the diagonal times √2, as dp-moments writes them. */
void dp_whiten_unpack(const double *packed, size_t d, double *moments);
