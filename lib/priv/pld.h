/* The privacy loss distribution of T laps of the Poisson-sampled Gaussian: delta(epsilon) and epsilon(delta)
 * between two bounds, tighter than Rényi DP.
 *
 * z is the noise multiplier (standard deviation / L2 sensitivity), q the Poisson rate, epsilon in nats;
 * adjacency null-record. In u = x/z, μ = 1/z, one lap compares A = (1−q) N(0,1) + q N(μ,1) with B = N(0,1):
 *   L(u) = ln(1 + g(u)),  g(u) = q (e^{uμ − μ²/2} − 1),  increasing in u.
 * Remove draws from A and loses L, add draws from B and loses −L. With S the sum of T losses
 *   δ(ε) = E[(1 − e^{ε−S})₊],  the larger of the two directions.
 *
 * Discretisation ([D] connect the dots). The u between two grid points of the loss, ih and (i+1)h, are split
 * between them keeping both their A mass p and B mass r: (p − r e^{ih})/(1 − e^{−h}) goes up, the rest of p
 * down. The same cells, times e^{−ih} and mirrored, serve the add direction. Masses are Gauss-Legendre sums
 * in u, not differences of distribution functions: they have a small relative error each, and only how a mass
 * is split cancels, which moves a loss by rounding of L and no more.
 *
 * Composition ([K] with the tilting of [G]): masses are weighted by e^{sl − K(s)}, K(s) = ln E e^{sL}, s near
 * the saddle point K'(s) = ε/T, so that what is asked for is the bulk of the weighted distribution and errors
 * of the FFT count relative to δ and not to 1. FFT, T-th power by squaring, back, and
 *   δ(ε) = Σ_{l>ε} (1 − e^{ε−l}) e^{T K(s) − sl} c(l)   over the window [bottom, top).
 *
 * What is added to it (upper) or taken off (lower):
 *   truncation   u outside [−d, μ+d] counts as infinite loss: 2 T Φ(−d) (upper); is dropped (lower)
 *   above top    e^{T K(s₂) − s₂ top} for an s₂ > s, Chernoff (upper)
 *   wrap-around  adds mass inside the window, never removes any (upper: nothing to do); Chernoff on both ends
 *                under the weighted law, times the largest weight sup (1−e^{−y}) e^{−sy} (lower)
 *   FFT          with e = 24·2^-53·log2 N per transform and output (every output of an FFT is a tree of log2
 * N sums of the inputs, whose absolute values add up to 1; a twiddle factor of GSL's tables is off by at most
 * 14·2^-53): |error of c| <= mean over the frequencies of T (|f|+e)^{T−1} e + (8 T 2^-53 + e) |f|^T, times
 * the sum of the weights exp, log     a factor e^{Tκ}, κ = 1e-13 + 2^-49 s max|l|, and an absolute T·2^-48·(1
 * + max|l|) on epsilon The lower bound is proved from the same numbers: discretisation adds to each loss an
 * independent ξ of width h with E[e^{−ξ}|L] = 1, so E[ξ|L] <= h² e^h/8, and with Hoeffding's inequality δ(ε)
 * >= δ̃(ε + Δ) − δ/10⁴,   Δ = T h² e^h/8 + h √(T/2 · ln(10⁴/δ)),  or T h with no loss at all. h is made
 * smaller until the bounds are close, up to 2^22 points.
 *
 * The figures for e, κ and the rounding of libm (exp, expm1, log within 2 units in the last place) are
 * reasoned by hand, with room, and not machine-checked. All functions are pure and may run in any thread.
 *
 * [D] Doroshenko, Ghazi, Kamath, Kumar, Manurangsi, Connect the Dots: Tighter Discrete Approximations of
 *     Privacy Loss Distributions (2022).
 * [K] Koskela, Jälkö, Honkela, Computing Tight Differential Privacy Guarantees Using FFT (2020).
 * [G] Gopi, Lee, Wutschitz, Numerical Composition of Differential Privacy (2021); the tilting is the usual
 *     exponential change of measure. */
#ifndef DP_PRIV_PLD_H
#define DP_PRIV_PLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct dp_pld_answer {
    double upper; /* what may be claimed */
    double lower; /* the truth is not below it */
    bool tight;   /* upper − lower <= 1 % of upper */
};

/* The smallest ε >= 0 with (ε, delta)-DP after `laps` laps. Where the grid does not reach (losses beyond 500,
 * delta / laps below 1e-24), upper is the Rényi bound and lower 0; tight says so. Tenths of a
 * second, about 2 s at worst. DP_E_RUN: 0 < rate <= 1, multiplier > 0 and finite, laps >= 1 or 0 < delta < 1
 * does not hold; nothing bounds the loss; no memory. */
int dp_pld_epsilon(double rate, double multiplier, int64_t laps, double delta, struct dp_pld_answer *answer,
                   struct dp_err *err);

/* δ(epsilon), epsilon >= 0, as above. Where the grid does not reach, upper is the Rényi bound on δ and
   lower 0. */
int dp_pld_delta(double rate, double multiplier, int64_t laps, double epsilon, struct dp_pld_answer *answer,
                 struct dp_err *err);

#endif
