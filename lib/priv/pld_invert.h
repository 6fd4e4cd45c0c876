/* All laps of one direction by inversion of their characteristic function: no grid of losses, and bounds as close as rounding
 * permits, in a millisecond. The run must have so many laps that no frequency beyond a few dozen is left.
 *
 * With f(ω) = E e^{iωS} under the weights e^{sS − K(s)}, K(s) = Σ T ln E e^{sL}, and any s > 0,
 *   δ(ε) = e^{K(s) − sε} (1/2π) ∫ f(ω) e^{−iωε} / ((s + iω)(s + 1 + iω)) dω:
 * the factor of f in the integral is the transform of g(x) = (1 − e^{−x})₊ e^{−sx}. As a sum over ω = 2πk/P this is δ(ε) and,
 * by Poisson's formula, also e^{K(s) − sε} E g(S − ε + mP) for all m ≠ 0. Terms added (upper bound) or subtracted (lower
 * bound):
 *   truncation   as for grids: tails of Gaussians count as infinite loss (upper), are dropped (lower)
 *   period       the terms of m ≠ 0 are not negative (upper: nothing to do). For m > 0 and 0 < t <= s, g(x) <= e^{−tx}, so that
 *                together they are at most e^{K(s−t) − (s−t)ε − tP} / (1 − e^{−tP}); for m < 0 and t > 0, g(x) <= e^{tx}, and
 *                they are at most e^{K(s+t) − (s+t)ε − tP} / (1 − e^{−tP}) (lower)
 *   rounding     e is the error of f of one lap. The error of Σ T ln f is relative, Σ T (e/|f| + 4 · 2^-53 (5 + |ln f|)); each
 *                frequency counts by 1 / |(s + iω)(s + 1 + iω)|. e has 2κ, k (8 + ω max|l|) 2^-53 for k rotations of the
 *                nodes, ω times the error of a loss, and the rounding of sums
 *   exp, log     a factor e^{Σ T κ}, as for grids
 *   frequencies  beyond the last, ω₁: in octaves [a, 2a] of them, where |f|^T <= F, at most F / (π (a − 2π/P)), because
 *                |(s + iω)(s + 1 + iω)| >= ω²; likewise beyond all octaves
 *
 * If few laps lose much, and the others next to nothing, |f| does not fall: the runs without a lossy lap are nearly an atom.
 * With a cut one lap is f = g + r: g is the measure of the losses that are not rare, r the measure of the rare ones. Instead of
 * f^T
 *   f^T − g^T = g^T ((1 + r/g)^T − 1)
 * is inverted, the runs with at least one rare lap. It is a measure, too, and at most f, so the terms of `period` are as above.
 * The other terms are:
 *   others       the runs of g^T, upper only (lower: dropped). A loss of one lap above `most` counts as infinite,
 *                Σ T g(L > most); the rest is at most e^{Σ T ln ∫ e^{xL} g − xε} x^x/(x+1)^{x+1}, for any x > 0
 *   rounding     g^T has the error of f^T above. (1 + r/g)^T has the error of Σ T ln(1 + r/g), where the error of one lap is
 *                e (r(0) + |r/g|) / |g + r|: relative to the rare part, and not to 1
 *   frequencies  |f^T − g^T| <= T |r|, and r falls as fast as it is smooth. The path of its integral over u, of
 *                density · Φ(x) · e^{(s+1+iω)L}, is moved to u + iτ, 0 < μτ < π. Compared with τ = 0,
 *                  |density|   is at most e^{τ²/2} times as large
 *                  |Φ|         is at most e^{(τ/w)²/2} times as large
 *                  |e^L|       is at most as large
 *                  |e^{iωL}|   is e^{−ωθ}, θ = arg(1 − q + q e^{v + iμτ}), which grows with u
 *                For coins |b(u + iτ)|^{−s} is at most (1 − 4 p (1 − p) sin²(μτ/2))^{−s/2} times as large, where p is the
 *                largest share q e^{−uμ − μ²/2}/b(u) up to 1/2; arg e^L is at least θ, because the angle of 1/b adds to it
 *                The two ends of the path, from u to u + iτ, add at most τ times this product without e^{−ωθ}
 *
 * |f| of one lap in an octave is the least of two bounds:
 *   spread       |f|² = E cos ω(L − L′) for independent L and L′. If both are in one of disjoint sets I whose losses differ
 *                by at most π/2a, 1 − cos x >= 2x²/π², so that |f|² <= 1 − (4a²/π²) Σ w_I² v_I, of the weight w_I and variance
 *                v_I of L in I
 *   smoothness   a density of variation V has |f| <= V/ω, apart from atoms. The density of L rises and falls at most twice,
 *                because the derivative of its logarithm in u, −u²/2 + c L(u) − μu for some c, has at most three zeros (L′ is
 *                a sigmoid in u). So V is at most four times its largest value. For coins it is one density over all u. With
 *                A = e^{uμ} it is −u + μ R(A), where −1/μ² + A R′(A) has a numerator of degree 8: at most nine zeros, at
 *                most six peaks with the ends, and V is at most twelve times the largest value */
#pragma once

#include "priv/pld_cells.h"

/* Which s and which frequencies. */
struct dp_pld_contour {
    double s, above, below; /* above > s > below >= 0: s + t and s − t of the terms of m < 0 and m > 0 */
    double period;          /* P */
    size_t frequencies;     /* ω = 2πk/P for all k below this */
    struct dp_pld_cut cut;  /* for remove, and if rows are replaced */
    double most, x;         /* of the others, with a cut */
    double deviations;      /* Gaussian tails are cut here or farther out: e^{sL} makes the rest of them large */
};

struct dp_pld_inverse;

/* One lap of each part (the parts' laps are not read). Parts with a Gaussian (dp_pld_has_gaussian). NULL if a
   lap would take too many panels. */
struct dp_pld_inverse *dp_pld_inverse_new(const struct dp_pld_part *parts, size_t count, bool add, double deviations,
                                          const struct dp_pld_contour *contour);
void dp_pld_inverse_free(struct dp_pld_inverse *inverse);

/* Sets the run: each part has as many laps as in `parts`. Otherwise the parts must be the same. */
void dp_pld_inverse_take(struct dp_pld_inverse *inverse, const struct dp_pld_part *parts);

/* The least number of frequencies for an error of at most `error` in the sum, if the bounds on the frequencies beyond stay the
   same; SIZE_MAX if rounding exceeds `error`. */
size_t dp_pld_inverse_needs(const struct dp_pld_inverse *inverse, double error);

/* Bounds on δ(epsilon) of the run; lower may be negative. */
void dp_pld_inverse_delta(const struct dp_pld_inverse *inverse, double epsilon, double *upper, double *lower);

/* A bound on δ(epsilon) in one direction without any frequency, e^{K(s) − s·epsilon} sup g and the tails, for s >= 0. Infinite
   if a lap would take too many panels. */
double dp_pld_chernoff(const struct dp_pld_part *parts, size_t count, bool add, double deviations, double s, double epsilon);

/* Where the bounds fall to delta, searched near `guess`: epsilon is at most upper (infinite if not found) and at least lower (0
   if not found). */
void dp_pld_inverse_epsilon(const struct dp_pld_inverse *inverse, double delta, double guess, double *upper, double *lower);
