/* The privacy of releasing a person's noised state together with the noised sum, if only the batch's coordinates of the state
 * are touched. The output then shows who was in the batch, so sampling does not amplify. But a person takes part in only Bin(T,
 * q) of the T laps:
 *
 *   δ(ε) = Σ_j Bin(j; T, q) δ_G(ε; √j/z),   δ_G(ε; μ) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ)
 *
 * (joint convexity of the hockey-stick divergence over the number of participations; Balle and Wang, Improving the Gaussian
 * Mechanism (2018), Theorem 8, for δ_G; Gaussians of j laps compose to one of μ = √j/z). z is the standard deviation of the
 * noise divided by the L2 sensitivity of everything released in one lap; epsilon in nats; adjacency null-record. Check: q =
 * .01, z = 1, T = 1000, δ = 1e-5 gives ε = 23.39. */
#pragma once

#include "base/c.h"

/* ln δ_G(ε; μ), raised by its rounding error; ε >= 0, μ >= 0; -infinity for μ = 0. */
double dp_gaussian_log_delta(double epsilon, double mu);

/* δ(ε), an upper bound good to about 1e-12 of itself or of `resolution`, whichever is larger: it includes the binomial mass
   that is not summed. If the number of a person's laps has a deviation of 64 or more, several numbers count as the largest of
   them, which is up to 1e-5 too much. From a deviation of 1e4 on only one number is left, about 1e-3 too much, so that the time
   is bounded. laps >= 1, 0 < rate <= 1, multiplier > 0, epsilon >= 0, resolution > 0. */
double dp_mixture_delta(int64_t laps, double rate, double multiplier, double epsilon, double resolution);

/* The smallest ε on a grid of relative spacing 2^-33 with δ(ε) <= delta: every search finds the same ε. Infinite if no ε below
   1e9 will do. 0 < delta < 1. */
double dp_mixture_epsilon(int64_t laps, double rate, double multiplier, double delta);
