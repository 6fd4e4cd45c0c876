/* The cost of releasing v together with a noised alpha whose noise sits on the batch's coordinates only: who took part
 * shows, so sampling amplifies nothing, and a person pays for each of the j ~ Bin(T, q) laps they are in:
 *
 *   delta(epsilon) = Σ_j Bin(j; T, q) δ_G(epsilon; √j/z),   δ_G(ε; μ) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ).
 *
 * (Participation does not depend on the data; given it, j adaptive Gaussians compose to one of μ = √j/z.) */
#ifndef DP_PRIV_MIXTURE_H
#define DP_PRIV_MIXTURE_H

#include <stdint.h>

/* delta of one Gaussian of mu = sensitivity / standard deviation (Balle & Wang 2018, Theorem 8). */
double dp_gaussian_delta(double epsilon, double mu);

/* delta of the mixture above; binomial terms that are left out are counted in full. */
double dp_mixture_delta(int64_t laps, double rate, double multiplier, double epsilon);

/* The smallest epsilon with delta(epsilon) ≤ delta, rounded up. */
double dp_mixture_epsilon(int64_t laps, double rate, double multiplier, double delta);

#endif
