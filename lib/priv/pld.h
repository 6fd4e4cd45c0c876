/* Privacy loss distributions: δ(ε) and ε(δ) of a run known in advance, between two bounds, tighter than Rényi DP.
 *
 * A run is a list of parts, each so many laps of one mechanism; ε in nats. What one lap is, and how its loss gets
 * onto a grid of step h, is in priv/pld_cells.h. Laps with a Gaussian, where they are many or rare ones are what matters, need
 * no grid: see priv/pld_invert.h, which is asked first. Grids are for the others: parts without a Gaussian, whose losses have
 * atoms that no frequency smooths, and some runs of few laps. What follows is about grids.
 * With S the sum of all losses
 *   δ(ε) = E[(1 − e^{ε−S})₊],  the larger of the two directions (remove and add; one where they are the same).
 *
 * Composition ([K] with the tilting of [G]): masses are weighted by e^{sl − K(s)}, K(s) = ln E e^{sL}, with one s
 * for all parts near the saddle point Σ T K'(s) = ε, so that what is asked for is the bulk of the weighted
 * distribution and errors of the FFT count relative to δ and not to 1. FFT of each part, T-th power by squaring,
 * product, back, and
 *   δ(ε) = Σ_{l>ε} (1 − e^{ε−l}) e^{Σ T K(s) − sl} c(l)   over the window [bottom, top).
 *
 * What is added to it (upper) or taken off (lower):
 *   truncation   u outside [−d, μ+d], of add outside [−d, d], counts as infinite loss: Σ 2 T Φ(−d) (upper); is dropped
 *                (lower)
 *   above top    e^{Σ T K(s₂) − s₂ top} for an s₂ > s, Chernoff (upper)
 *   wrap-around  adds mass inside the window, never removes any (upper: nothing to do); Chernoff on both ends
 *                under the weighted law, times the largest weight sup (1−e^{−y}) e^{−sy} (lower)
 *   FFT          with e = 24·2^-53·log2 N per transform and output (every output of an FFT is a tree of log2 N
 *                sums of the inputs, whose absolute values add up to 1; a twiddle factor of GSL's tables is off
 *                by at most 14·2^-53): a power has error T (|f|+e)^{T−1} e + 8 T 2^-53 (|f|+e)^T, a product
 *                those of its factors times the other, the way back e |product|; |error of c| is at most the
 *                mean over the frequencies, and counts times the sum of the weights
 *   exp, log     a factor e^{Σ T κ}, κ = 1e-13 + 2^-49 (s+1) max|l|, and an absolute Σ T·2^-48·ρ on ε, with ρ
 *                the rounding of dp_pld_range
 *
 *   rare laps    where rounding would count, one part is cut in small and rare losses (priv/pld_compose.h); runs without
 *                a rare lap: Chernoff (upper), dropped (lower)
 *
 * The lower bound is proved from the same numbers. Discretisation turns S into S̃ = S + Ξ; given the losses, Ξ is a
 * sum of T independent ξ (T laps in all), each within an interval of length h around 0 and with E[e^{−ξ}] = 1, so
 * that 0 <= E[ξ] <= h² e^h/8. With σ = h √T / 2, m = T h² e^h/8 and f(x) = (1 − e^{ε−x})₊:
 *   for x < ε    E[f(x+Ξ)] − f(x) <= E[(Ξ − (ε−x))₊]
 *   for x >= ε   it is E[(e^{−Ξ−(x−ε)} − 1)₊] = e^{−(x−ε)} E′[(1 − e^{(x−ε)+Ξ})₊] <= E′[(−Ξ − (x−ε))₊] under the
 *                weights e^{−Ξ}, where −ξ is what ξ was before: within h, E′[e^{ξ}] = 1
 * so it is at most G(|x−ε|), G(a) a bound on E[(Ξ − a)₊] from E[Ξ] <= m and Hoeffding's lemma (σ² for the variance:
 * min over λ of e^{λ(m−a)+λ²σ²/2−1}/λ; for a < m and at most, σ/2 + (m−a)₊). Also by Hoeffding |Ξ| <= r but for
 * p <= 2e^{−2}, r = 2σ + m (p = 0 with r = T h), and G falls, so that
 *   δ(ε) >= δ̃(ε) − E[G((|S̃ − ε| − r)₊)]/(1 − p),
 * which gives up about a dozen times what δ̃ is too high by, T h² s (s+1)/12 of δ.
 * s, the window and h come from a saddle-point estimate of the answer (normal approximation of S under the weights;
 * any s and window are valid) and from a coarse grid at it, so that one fine grid mostly does; h is made smaller
 * where the bounds are not close.
 *
 * The figures for e, κ, ρ and the rounding of libm (exp, expm1, log within 2 units in the last place) are
 * reasoned by hand, with room, and not machine-checked. All functions are pure and may run in any thread.
 *
 * [K] Koskela, Jälkö, Honkela, Computing Tight Differential Privacy Guarantees Using FFT (2020).
 * [G] Gopi, Lee, Wutschitz, Numerical Composition of Differential Privacy (2021); the tilting is the usual
 *     exponential change of measure. */
#ifndef DP_PRIV_PLD_H
#define DP_PRIV_PLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum dp_pld_kind {
    DP_PLD_GAUSSIAN,          /* Poisson-sampled Gaussian, null-record; rate 1: plain */
    DP_PLD_GAUSSIAN_REPLACED, /* replace-one, sampled at `rate`: of fixed size without replacement, or Poisson;
                                 multiplier = σ/(2C), the whole L2 sensitivity under replacement */
    DP_PLD_LAPLACE,           /* Poisson-sampled scalar Laplace, null-record; multiplier = scale/sensitivity */
    DP_PLD_PURE,              /* any mechanism of pure `epsilon`, Poisson-sampled, null-record */
    DP_PLD_JOINT,             /* a Gaussian of `multiplier` and anything of pure `epsilon` on one Poisson sample,
                                 null-record; several pure ones count as one of the sum of their epsilons */
};

struct dp_pld_part {
    enum dp_pld_kind kind;
    double rate;       /* 0 < q <= 1 */
    double multiplier; /* all but pure */
    double epsilon;    /* pure, joint */
    int64_t laps;
};

struct dp_pld_answer {
    double upper; /* what may be claimed */
    double lower; /* the truth is not below it */
    bool tight;   /* upper − lower <= 1 % of upper */
    double work;  /* points of all grids that it took: none for most runs of many laps, see priv/pld_invert.h */
};

/* The smallest ε >= 0 with (ε, delta)-DP after all parts, in whatever order they ran. Time is linear in the number
 * of parts: merge equal ones; one takes a few milliseconds by inversion, some hundredths of a second by grids, and .1 s at
 * worst. The bounds are mostly within 1e-6 of each other, by grids 1e-4. Where the grid does not reach (an answer or a single
 * loss above 500, delta / laps below 1e-24, more than 2^21 points, rounding of the FFT where large losses are neither rare nor
 * frequent), upper is the best of the grids' bounds, Rényi's (of all orders where the grids say nothing, of a few where they
 * say something) and, without a Gaussian, the sum of the largest losses, and lower may be 0; tight says so. The Rényi curves
 * are dp_rdp_sampled_gaussian; for a pure or Laplace part that of randomised response with ln(1 + q(e^ε − 1)); for a joint one
 * dp_rdp_sampled_symmetric of the sum; for a replaced one dp_rdp_replaced_gaussian. DP_E_RUN: no part, or one without 0 < rate
 * <= 1, laps >= 1 and a positive and finite multiplier or epsilon; a replaced part together with a sampled one of another kind
 * (the adjacencies differ; rate 1 is fine, with sensitivities under replacement); 0 < delta < 1 does not hold; no memory. upper
 * is infinite where nothing bounds the loss. */
int dp_pld_epsilon(const struct dp_pld_part *parts, size_t count, double delta, struct dp_pld_answer *answer,
                   struct dp_err *err);

/* δ(epsilon), epsilon >= 0, as above. Where the grid does not reach, upper is the Rényi bound on δ and
   lower 0. */
int dp_pld_delta(const struct dp_pld_part *parts, size_t count, double epsilon, struct dp_pld_answer *answer,
                 struct dp_err *err);

/* upper[i] bounds the ε of row i at delta. parts: n rows of `count` parts, alike but for their laps (0 or more), which no
   later row has fewer of; the last row is the whole run, with laps in each part. By inversion a row's bound is within 1e-4 of
   itself. The first rows, *rough of them, may be of laps too few for that: these share one grid, on which a bound is about 2e-3
   of the ε of the last of them too high, and the transform of one lap, so that a row costs a power and a transform back. Where
   parts take turns along the rows so often that this would take long, a row gets the bound of a later one. Infinite where the
   grid does not reach. Errors as dp_pld_epsilon. */
int dp_pld_prefixes(const struct dp_pld_part *parts, size_t count, size_t n, double delta, double *upper, size_t *rough,
                    struct dp_err *err);

/* About what dp_pld_epsilon answers, mostly within a hundredth, at the price of few digits; upper is no bound, as one
   direction is left out, and lower and tight say nothing. Errors as dp_pld_epsilon. */
int dp_pld_rough(const struct dp_pld_part *parts, size_t count, double delta, struct dp_pld_answer *answer, struct dp_err *err);

/* The saddle-point estimate of ε, in a millisecond: mostly within a few per cent, and no bound at all. NaN where
   the grid does not reach. Errors as dp_pld_epsilon. */
int dp_pld_estimate(const struct dp_pld_part *parts, size_t count, double delta, double *epsilon, struct dp_err *err);

#endif
