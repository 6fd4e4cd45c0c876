/* Pure ε-DP mechanisms and the Laplace mechanism as Rényi curves. Epsilon in nats; orders: n values > 1, also fractional. Every
 * result is an upper bound, raised by a bound on its own rounding error. Pure functions, any thread.
 *
 * [M17] Mironov, Rényi Differential Privacy (2017).
 * [BBG] Balle, Barthe, Gaboardi, Privacy Amplification by Subsampling (2018). */
#pragma once

#include "base/c.h"

/* out[i] = ln((e^{αε} + e^{(1−α)ε}) / (1 + e^ε)) / (α − 1): the curve of randomised response, which dominates
   every ε-DP mechanism. At most ε, about αε²/2 for a small ε. epsilon < 0 and NaN give +infinity. */
void dp_rdp_pure(double epsilon, const double *orders, size_t n, double *out);

/* out[i] = min(α ε²/8, dp_rdp_pure): the exponential mechanism, whose answers i have probabilities ∝ e^{−γ u_i}. One person
   adds a vector s to the scores u; the largest and least entries of s differ by at most ε/γ. The privacy losses γ s_i +
   ln(Z'/Z) of its answers then lie in an interval of length ε that holds 0, in either direction: bounded range (Durfee and
   Rogers 2019). Let X = ln P/Q be the loss and K(α) = ln E_Q e^{αX}. K'' is the variance of X under some law on that interval,
   at most ε²/4, and K(0) = K(1) = 0. So K(α) − α (α − 1) ε²/8 is concave and 0 at 0 and 1, hence at most 0 for α > 1, and r(α)
   = K(α)/(α − 1) (Cesar and Rogers 2021 have the constant). Other ε-DP mechanisms have 1/2 in place of 1/8. epsilon < 0 and NaN
   give +infinity. */
void dp_rdp_exponential(double epsilon, const double *orders, size_t n, double *out);

/* out[i] = ln(α/(2α−1) e^{(α−1)/b} + (α−1)/(2α−1) e^{−α/b}) / (α − 1), exact for real Laplace noise on one
   number ([M17] Table II). multiplier b > 0 is the scale of the noise divided by the L1 sensitivity, so that
   ε = 1/b; else +infinity. Discrete Laplace noise costs more: dp_rdp_discrete_laplace. */
void dp_rdp_laplace(double multiplier, const double *orders, size_t n, double *out);

/* Discrete Laplace noise on one number of a grid, Pr[x] = (1−θ)/(1+θ) θ^|x|, θ = e^{−ε/k}, where the
   sensitivity is k = steps points of the grid, exact up to rounding: with r = θ^{2α−1}, out[i] = ε + ln[(1 +
   r^k)/(1+θ) + (1−θ)/(1+θ) (r − r^k)/(1−r)] / (α − 1). k = 1 is dp_rdp_pure, k → infinity
   dp_rdp_laplace(1/ε). It falls with k: the bracket is r^k + (1 − r^k) (1 + tanh s / tanh((2α−1) s)) / 2, s = ε/2k, where
   r^k does not depend on k, and the quotient rises with s. steps < 1, epsilon < 0 and NaN give +infinity. */
void dp_rdp_discrete_laplace(double epsilon, int64_t steps, const double *orders, size_t n, double *out);

/* The ε of an ε-DP mechanism on a Poisson batch of rate q: ln(1 + q(e^ε − 1)), at most ε ([BBG] Theorem 8).
   Null-record adjacency. q outside [0, 1] and NaN give +infinity. */
double dp_pure_sampled(double q, double epsilon);
