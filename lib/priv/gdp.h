/* The Gaussian mechanism in closed form. Releases without sampling, of any number and kind, are together one Gaussian pair,
 * N(0,1) against N(μ,1), whose δ(ε) is known exactly (dp_gaussian_log_delta in priv/mixture.h).
 *
 * z is a noise multiplier, standard deviation over L2 sensitivity; μ = 1/z for one release. Every answer errs on the side of
 * more noise or more ε. Pure functions.
 *
 * [BW] Balle, Wang, Improving the Gaussian Mechanism for Differential Privacy (2018), Theorem 8.
 * [DRS] Dong, Roth, Su, Gaussian Differential Privacy (2019), Corollary 3.3. */
#pragma once

#include "base/c.h"

/* μ = √(Σ times[i] / multipliers[i]²), exact for the (adaptive) composition of n kinds of release; rounded
   up. A multiplier <= 0, a negative count or NaN gives +infinity. */
double dp_gaussian_mu(const double *multipliers, const int64_t *times, size_t n);

/* The smallest ε >= 0 on a grid of relative spacing 2^-33 with δ_G(ε; μ) <= delta. 0 <= μ, 0 < delta < 1. Infinite if no ε
   below 1e9 will do, or an argument is out of range. */
double dp_gaussian_epsilon(double mu, double delta);
