/* Rényi differential privacy of the Gaussian mechanism, plain and Poisson-sampled, and its conversion to (ε, δ).
 *
 * Every result is an upper bound: it is raised by a bound on its own rounding error (a relative 1e-12 for ordinary parameters).
 * Epsilon and RDP are in nats; z is the noise multiplier, the standard deviation of the noise divided by the L2 sensitivity; q
 * is the Poisson sampling rate; adjacency is "one person's row is present or contributes nothing". All functions are pure, need
 * no workspace and may run in any thread.
 *
 * [M17] Mironov, Rényi Differential Privacy (2017).
 * [MTZ] Mironov, Talwar, Zhang, Rényi Differential Privacy of the Sampled Gaussian Mechanism (2019).
 * [CKS] Canonne, Kamath, Steinke, The Discrete Gaussian for Differential Privacy (2020).
 * [CRZ] Cohen, Rodriguez Villegas, Zagier, Convergence Acceleration of Alternating Series (2000). */
#pragma once

#include "base/c.h"

/* The orders of every accountant of this library, ascending: fractional to 11 (steps of .1, finer near 1, where large budgets
   have their optimum), every integer to 64, then ever sparser to 8192: epsilon = .01 at delta = 1e-12 needs orders above
   4096. */
enum { DP_RDP_ORDER_COUNT = 267 };
extern const double dp_rdp_orders[DP_RDP_ORDER_COUNT];

/* out[i] = α / (2 z²) at α = orders[i] ([M17] Corollary 3). orders: n values > 1. z > 0, else +infinity. */
void dp_rdp_gaussian(double z, const double *orders, size_t n, double *out);

/* out[i] = ln A_α / (α − 1) for the Poisson-sampled Gaussian ([MTZ] Theorems 4 and 5).
 *   integer α:  A_α − 1 = Σ_{k=2}^α C(α,k) (1−q)^{α−k} q^k (e^{k(k−1)/2z²} − 1), which has no cancellation,
 * in log space ([MTZ] section 3.3 less its first moments, which cancel). Fractional α: both series of [MTZ] section 3.3. From
 * the term ⌈α⌉ on they alternate and the terms are the moments of a positive measure on [0,1], so that [CRZ] Proposition 1
 * bounds the error of 24 accelerated terms by 1e-18 of the tail. If A_α − 1 would be lost in rounding, the convexity of ln A in
 * α gives a better bound from the neighbouring integers, and the smaller of the two is returned. q = 0 gives 0. q = 1 (or more)
 * gives dp_rdp_gaussian, which also bounds the result for every q, and replaces the sampled bound above order 8192 and for z <
 * 1e-6. NaN gives +infinity. */
void dp_rdp_sampled_gaussian(double q, double z, const double *orders, size_t n, double *out);

/* out[i] = ln(1 − q + q e^{α(α−1)/2z²}) / (α − 1): one lap of the Gaussian mechanism on a Poisson batch whose members its
   output shows, for example because noise is added to the batch's coordinates only. Sampling does not amplify it, but a person
   takes part only with probability q (joint convexity of e^{(α−1)D_α} over the coin, which is part of the output). q = 1 or
   more is dp_rdp_gaussian; q < 0, z <= 0 and NaN give +infinity. For a composition known in advance, dp_mixture_epsilon
   (priv/mixture.h) is never more than this. */
void dp_rdp_visible_batch(double q, double z, const double *orders, size_t n, double *out);

/* The smallest ε with (ε, δ)-DP over all orders:
 *   ε = min_α  r(α) + ln(1 − 1/α) − (ln δ + ln α)/(α − 1), at least 0          ([CKS] Proposition 12).
 * 0 < delta < 1. *order (may be NULL) is the α of the minimum. Infinite if every rdp[i] is. */
double dp_rdp_epsilon(const double *orders, const double *rdp, size_t n, double delta, double *order);

/* The term that dp_rdp_epsilon adds to r(α); precompute it for many questions about one δ. Rounded up. */
double dp_rdp_penalty(double order, double delta);
