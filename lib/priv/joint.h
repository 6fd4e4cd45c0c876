/* Poisson sampling of any mechanism from its Rényi curve, and so of several mechanisms run on the SAME batch:
 * add their unsampled curves and amplify the sum. Amplifying each and adding the results is not a bound.
 *
 * q is the Poisson rate, adjacency null-record. unsampled: largest + 1 values, indexed by order: unsampled[l]
 * bounds the Rényi divergence of order l = 2 … largest between neighbours, in both directions, of everything
 * that is done with the batch; entries 0 and 1 are not read, +infinity is allowed. orders: n values > 1.
 * Orders between integers take the chord of (α − 1) r(α), which is convex in α and 0 at α = 1; orders above
 * `largest` give +infinity. Nothing is above the unsampled bound. Results are raised by a bound on their
 * rounding error. q = 1 is the unsampled curve; q outside [0, 1] and NaN give +infinity. O(largest²) at
 * worst. Pure functions.
 *
 * [ZW] Zhu, Wang, Poisson Subsampled Rényi Differential Privacy (2019).
 * [MTZ] Mironov, Talwar, Zhang, Rényi Differential Privacy of the Sampled Gaussian Mechanism (2019). */
#ifndef DP_PRIV_JOINT_H
#define DP_PRIV_JOINT_H

#include <stddef.h>

/* Whatever the mechanism: the smaller of two bounds. The one is [ZW] Theorem 6, (α − 1) r(α) = ln of
     (1−q)^{α−1} (αq−q+1) + C(α,2) q² (1−q)^{α−2} e^{r(2)} + 3 Σ_{l=3}^α C(α,l) (1−q)^{α−l} q^l e^{(l−1) r(l)}.
   The other is ln(2B − 1), where ln B is the formula with 1 for 3; it is smaller where curves are small. Leaving the person out
   costs at most ln B, since E_Q[(1−q+qx)^α] with x = P/Q is that sum. Adding them may cost more, but not both ways: for any
   pair, and M = (1−q) Q + qP, M' = (1−q) P + qQ,
     E_M[(Q/M)^α] + E_M'[(P/M')^α] <= E_Q[(M/Q)^α] + E_P[(M'/P)^α] <= 2B,   and both on the left are at least 1.
   Proof of the first step. As each of the four is 1 + ∫_1^∞ α(α−1) (γ^{α−2} H_γ + γ^{−α−1} H'_γ) dγ, with H_γ the hockey-stick
   divergence of its two distributions and H'_γ that of the exchanged ones, and γ^{α−2} >= γ^{−α−1}, it is enough that
   H_γ(Q‖M) + H_γ(P‖M') <= H_γ(M‖Q) + H_γ(M'‖P) for γ >= 1, that is, at every point,
   (1 − γu)+ + (x − γs)+ <= (u − γ)+ + (s − γx)+ with u = 1−q+qx, s = (1−q) x + q, u + s = 1 + x. For x >= 1, where u and s lie
   between 1 and x, that is (x − γs)+ <= (u − γ)+, and u − γ − (x − γs) = (γ − 1)(s − 1) >= 0; for x < 1 the roles change. */
void dp_rdp_sampled(double q, const double *unsampled, int largest, const double *orders, size_t n, double *out);

/* The same with 1 for 3, exact: only where the curve is (a bound on) that of ONE pair of distributions that
   dominates the mechanism, and whose two members an involution exchanges ([MTZ] Theorem 5): products of
   Gaussian, Laplace and randomised response pairs, and so any composition of Gaussian, Laplace (real or
   discrete) and pure ε-DP mechanisms, each by its curve. Not AboveThreshold by its own Rényi bound. */
void dp_rdp_sampled_symmetric(double q, const double *unsampled, int largest, const double *orders, size_t n, double *out);

/* Gaussians of multipliers z_1 … z_n on one batch are one Gaussian of multiplier 1/√(Σ 1/z_i²), exactly;
   rounded down. n = 0 gives +infinity, a z <= 0 or NaN gives 0. */
double dp_gaussian_joint(const double *multipliers, size_t n);

#endif
