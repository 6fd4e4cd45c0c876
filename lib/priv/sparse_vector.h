/* AboveThreshold as a Rényi curve: the first of at most m queries whose noised value reaches a noised threshold. The halting
 * index is part of the output, and is charged:
 *
 *   r(α) = R_threshold(α) + ln V_m / (α − 1),   V_0 = 1,
 *   V_j = sup over t and s in [0, 2] of  h^α h'^{1−α} + (1−h)^α (1−h')^{1−α} V_{j−1},
 *   h = Pr[ν >= t],  h' = Pr[ν >= t + s],  ν the noise of one query:
 * given the threshold's noise (its shift by one sensitivity costs R_threshold), each query is a coin of probability h against
 * h', chosen adaptively, and the run ends with the first head.
 *
 * The supremum is certified, not searched. The summand is jointly convex in (h, h'). The pairs (h, h') of all t and s lie
 * between the diagonal and the convex curve of s = 2, where it is largest. A polygon of tangents around that curve holds them
 * all, and a convex function on a polygon is largest at a corner. So V_j is bounded by the upper envelope of the lines a + b
 * V_{j−1}, one for each corner. Corners come from a grid of 1/128 standard deviations (Gaussian) or 2048 tangents (Laplace),
 * which exceeds the true supremum by a relative 1e-5 at worst. The same polygon serves every order and every m.
 *
 * The threshold is public; the sensitivity of every query is 1, in either direction, and the unit of the noise. So the
 * threshold's noise is shifted by 1 on one side and each s lies in [0, 2]. A threshold that one person moves as well would need
 * a shift of 2, which is not covered. orders: n values > 1. queries >= 1. Arguments out of range or NaN give +infinity. Pure
 * functions. */
#pragma once

#include "base/err.h"

/* Laplace noise of scale 1/threshold on the threshold and 1/query on every query (ε₁, ε₂ > 0). steps: points of the noise's
   grid per unit of sensitivity for discrete Laplace, 0 for real Laplace. The minimum of the bound above, of R_threshold(α) + 2
   ε₂ and of dp_rdp_pure(ε₁ + 2ε₂). The bound also holds for every finer grid, with a whole number of
   points or not, and for the reals. Queries: the points (1 − h, h') of k steps lie on the hyperbola of product e^{−2ε₂}
   θ/(1+θ)², θ = e^{−ε₂/k}, which rises with k towards the diagonal, between the same straight ends. Threshold:
   dp_rdp_discrete_laplace falls with k (priv/pure.h). */
void dp_rdp_sparse_vector_laplace(double threshold, double query, int64_t steps, int64_t queries, const double *orders,
                                  size_t n, double *out);

/* Gaussian noise of standard deviations `threshold` and `query`. A budget of ρ-zCDP for the pair, split as 1:2, is threshold =
   √(3/(2ρ)), query = √(3/ρ) (a query's shift is 2); it does not make the whole ρ-zCDP. Never above m compositions of one query. */
void dp_rdp_sparse_vector_gaussian(double threshold, double query, int64_t queries, const double *orders, size_t n,
                                   double *out);
