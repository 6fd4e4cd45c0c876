/* The sampled Gaussian mechanism if one person's row is REPLACED by another. q is the sampling rate. The multiplier is the
 * standard deviation of the noise divided by the sensitivity of the sum, which for rows clipped to C is 2C.
 *
 * A batch of fixed size without replacement: with μ = 1/multiplier and x(u) = 1 + q(e^{uμ − μ²/2} − 1), the dominating pair is
 * as follows: above ratio 1 it has ratio x, as N(0,1) mixed with q of N(μ,1) over N(0,1); below 1 it has ratio 1/x as the
 * reverse; the rest of its mass has ratio 1 ([ZDW] Theorem 11 and its remark on replace-one).
 * Coins: with μ = 1/(2 multiplier) the pair is N(0,1) mixed with q of N(μ,1) over N(0,1) mixed with q of N(−μ,1): densities
 * φ a and φ b, a(u) = 1 − q + q e^{uμ − μ²/2}, b(u) = a(−u), x = a/b (PROOF in priv/pld_cells.h). It bounds the hockey-stick
 * divergence at every γ, so both neighbours are a post-processing of it, and Rényi divergences are bounded as well.
 * The moment without the mass at 1 is one integral without cancellation, b = 1 and from μ/2 for a fixed size, from 0 for coins:
 *   E[t^α] − 1 = ∫ φ(u) b(u) (x^α − 1)(1 − x^{1−α}) du,      r(α) = ln E[t^α] / (α − 1).
 *
 * [ZDW] Zhu, Dong, Wang, Optimal Accounting of Differential Privacy via Characteristic Function (2022). */
#pragma once

#include "base/c.h"

/* out[i] = r(orders[i]), orders: n values > 1. Panels of 20 Gauss-Legendre points. The result includes an error bound of each
   panel, by the largest modulus of the integrand on a complex ellipse around it, and bounds on the tail and on the rounding.
   Never above the unsampled α/(2 multiplier²), which replaces it where α/multiplier > 200. q = 1 or more is
   dp_rdp_gaussian(multiplier), q = 0 is 0; q < 0, multiplier <= 0 and NaN give +infinity. */
void dp_rdp_replaced_gaussian(double q, double multiplier, const double *orders, size_t n, double *out);

/* The same for coins. */
void dp_rdp_exchanged_gaussian(double q, double multiplier, const double *orders, size_t n, double *out);
