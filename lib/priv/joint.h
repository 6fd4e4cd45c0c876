/* Poisson sampling of any mechanism from its Rényi curve. This covers several mechanisms on the SAME batch: add their unsampled
 * curves and amplify the sum. Amplifying each and adding the results is not a bound.
 *
 * q is the Poisson rate, adjacency null-record. unsampled: largest + 1 values, indexed by order. unsampled[l], l = 2 … largest,
 * bounds the Rényi divergence of order l between neighbours, in both directions, of everything that is done with the batch.
 * Entries 0 and 1 are not read; +infinity is allowed. orders: n values > 1. Orders between integers take the chord of (α − 1)
 * r(α), which is convex in α and 0 at α = 1; orders above `largest` give +infinity. No result is above the unsampled bound.
 * Results are raised by a bound on their rounding error. q = 1 gives the unsampled curve; q outside [0, 1] and NaN give
 * +infinity. O(largest²) at worst. Pure functions.
 *
 * [ZW] Zhu, Wang, Poisson Subsampled Rényi Differential Privacy (2019).
 * [MTZ] Mironov, Talwar, Zhang, Rényi Differential Privacy of the Sampled Gaussian Mechanism (2019). */
#pragma once

#include "base/c.h"

/* For any mechanism: the smaller of two bounds. The first is [ZW] Theorem 6, (α − 1) r(α) = ln of
     (1−q)^{α−1} (αq−q+1) + C(α,2) q² (1−q)^{α−2} e^{r(2)} + 3 Σ_{l=3}^α C(α,l) (1−q)^{α−l} q^l e^{(l−1) r(l)}.
   The second is ln(2B − 1), where ln B is the formula with 1 instead of 3; it is smaller if curves are small. Leaving the
   person out costs at most ln B, because E_Q[(1−q+qx)^α] with x = P/Q is that sum. Adding the person may cost more, but not
   both ways: for any pair, and M = (1−q) Q + qP, M' = (1−q) P + qQ,
     E_M[(Q/M)^α] + E_M'[(P/M')^α] <= E_Q[(M/Q)^α] + E_P[(M'/P)^α] <= 2B,   and both on the left are at least 1.
   Proof of the first step. Each of the four is 1 + ∫_1^∞ α(α−1) (γ^{α−2} H_γ + γ^{−α−1} H'_γ) dγ: H_γ is the hockey-stick
   divergence of its two distributions, H'_γ the divergence of the exchanged ones. Because γ^{α−2} >= γ^{−α−1}, it is enough
   that H_γ(Q‖M) + H_γ(P‖M') <= H_γ(M‖Q) + H_γ(M'‖P) for γ >= 1. At every point this is (1 − γu)+ + (x − γs)+ <= (u − γ)+ + (s −
   γx)+ with u = 1−q+qx, s = (1−q) x + q, u + s = 1 + x. For x >= 1, where u and s lie between 1 and x, it says (x − γs)+ <= (u
   − γ)+, and u − γ − (x − γs) = (γ − 1)(s − 1) >= 0. For x < 1 the roles change. */
void dp_rdp_sampled(double q, const double *unsampled, int largest, const double *orders, size_t n, double *out);

/* The first bound with 1 in place of the factor 3. It is exact, but holds only if ONE pair of distributions dominates the
   mechanism, the curve is (a bound on) the curve of this pair, and an involution exchanges its members ([MTZ] Theorem 5).
   Products of Gaussian, Laplace and randomised response pairs are such pairs. So any composition of Gaussian, Laplace (real
   or discrete) and pure ε-DP mechanisms qualifies, each by its curve. AboveThreshold by its own Rényi bound does not. */
void dp_rdp_sampled_symmetric(double q, const double *unsampled, int largest, const double *orders, size_t n, double *out);

/* Gaussians of multipliers z_1 … z_n on one batch are exactly one Gaussian of multiplier 1/√(Σ 1/z_i²). Rounded down. n = 0
   gives +infinity, a z <= 0 or NaN gives 0. */
double dp_gaussian_joint(const double *multipliers, size_t n);

/* The first bound by itself, as papers print it. */
void dp_rdp_sampled_lemma(double q, const double *unsampled, int largest, const double *orders, size_t n, double *out);
