/* One lap as a pair of distributions, and its privacy loss on a grid. priv/pld.h composes these.
 *
 * The pair of one lap is A = (1−q) Q + q P against B = Q, P and Q the dominating pair of the mechanism without sampling. With v
 * = ln dP/dQ,
 *   L = ln dA/dB = ln(1 + g),  g = q (e^v − 1).
 *   Gaussian   Q = N(0,1), P = N(μ,1), μ = 1/multiplier:  v(u) = uμ − μ²/2
 *   Laplace    Q = Lap(0,1), P = Lap(μ,1):  v(u) = 2u − μ on (0, μ), atoms at v = −μ and v = μ
 *   pure       randomised response: v = ±ε with Q masses e^ε/(1+e^ε) at −ε, 1/(1+e^ε) at ε
 *   joint      the product of the Gaussian and randomised response: v(u) = uμ − μ²/2 ± ε, each sign with its Q mass.
 *              Mechanisms on one batch, each chosen after the ones before, are dominated by the product of the pairs that
 *              dominate each, and only then sampled; u → μ − u with the answers swapped exchanges P and Q, so that
 *              the one pair serves a row left out and a row added.
 * Remove draws from A and loses L; add draws from B and loses −L. With q = 1 both are the same.
 *
 * Replaced: the curve H_a(A‖B) for a >= 1 and H_a(B‖A) for a < 1 ([Z] Theorem 11, without replacement). As a loss distribution:
 * losses above 0 are from remove, losses below 0 from add, and the rest of A's mass, (1−q)(1−2Φ(−μ/2)), is at 0. Swapping the
 * two distributions maps A's mass on L > 0 to the mass at −L, where B has the same: the pair is its own mirror, so one
 * direction serves.
 *
 * Coins: each row is drawn by itself, and one is exchanged. A = φ(u) a(u) and B = φ(u) b(u), where φ is the density of N(0,1),
 *   a(u) = 1 − q + q e^{uμ − μ²/2},  b(u) = a(−u),  L = ln a/b,  μ = 1/(2 multiplier):
 * μ belongs to one bound C, multiplier to 2C. u → −u exchanges A and B. Losses above 0 are computed, the others are their
 * mirror images, as for replaced.
 *   PROOF that H_γ(A‖B) bounds both neighbours. With the coins of the others fixed, the two are (1−q) P_0 + q P_g and
 * (1−q) P_0 + q P_g′, where P_x = N(x, I), |g|, |g′| <= μ. Let γ >= 1, S a set, β = P_g(S), and H = {u > h} with N(μ,1)(H) = β.
 * By Neyman and Pearson P_0(S) >= Φ(Φ⁻¹(β) − |g|) >= N(0,1)(H), and P_g′(S) >= Φ(Φ⁻¹(β) − |g − g′|) >= N(−μ,1)(H). Both enter
 *   q P_g(S) − γ q P_g′(S) − (γ − 1)(1 − q) P_0(S)
 * with a minus sign, so its value is at most the same for the pair at H. γ < 1 is γ >= 1 of the mirrored pair. The coins of
 * the others, and what g and g′ depend on, are a mixture: H_γ is jointly convex. The same holds for several Gaussians on one
 * batch, which are chosen one after the other: both inequalities hold for their composition [R].
 *
 * [Z] Zhu, Dong, Wang, Optimal Accounting of Differential Privacy via Characteristic Function (2022).
 * [R] Dong, Roth, Su, Gaussian Differential Privacy (2022). */
#pragma once

#include "priv/pld.h"

/* Whether losses are unbounded: tails are then cut. */
bool dp_pld_has_gaussian(const struct dp_pld_part *part);

/* Whether both directions are the same. */
bool dp_pld_symmetric(const struct dp_pld_part *part);

/* Whether a row is exchanged for another: replaced, or coins. */
bool dp_pld_exchanges(const struct dp_pld_part *part);

/* μ of a part with a Gaussian, as above. */
double dp_pld_shift(const struct dp_pld_part *part);

/* The range of the losses ln dA/dB of one lap under A, or, with `add`, under B. Gaussian tails are cut `deviations` from the
 * centres. */
struct dp_pld_range {
    double low, high;
    double rounding; /* a loss is known to within 16·2^-53 times this */
};
struct dp_pld_range dp_pld_range(const struct dp_pld_part *part, bool add, double deviations);

/* The remove direction by quadrature, for first guesses: log_mass[k] at loss[k]. */
struct dp_pld_nodes {
    size_t count;
    double *loss, *log_mass;
    double all[2]; /* E e^0 of remove and add: about 1 */
};

void dp_pld_nodes_new(struct dp_pld_nodes *nodes, const struct dp_pld_part *part, double deviations);
void dp_pld_nodes_free(struct dp_pld_nodes *nodes);

/* K(s) = ln E e^{s loss}, less K(0); mean and variance of the loss under the weights e^{s loss}. */
double dp_pld_nodes_moment(const struct dp_pld_nodes *nodes, bool add, double s, double *mean, double *variance);

/* The loss of a lap, cut smoothly in two: of the density at a loss above 0 the part Φ((v − v_c)/width) is rare, where v_c has
 * the loss `level`. In units of u that is Φ(x). φ/Φ <= |x| + .8 and |Φ(x + iy)| <= e^{y²/2} Φ(x) limit the width of a panel.
 * Below x = −10 nothing is rare, above 10 all is. In remove, and if a row is replaced, rare losses are positive. */
struct dp_pld_cut {
    double level; /* 0: no cut */
    double width;
};

/* One direction by quadrature, to rounding. The integral of e^{(s + iω) loss} for |ω| <= frequency, and of e^{x loss} for |x|
 * <= power, s <= power, is the sum of e^{log_mass + … loss} over the nodes, plus `atom`, to 2^-50 of its value for ω = 0.
 * Gauss-Legendre of 32 points on a panel of half-width a errs by at most 64/15 · M · 4^-62/(1 − 4^-2) a, where M bounds the
 * integrand on an ellipse around the panel that reaches 2.125 a from its middle ([T] Theorem 19.3). There is no singularity
 * closer than π/μ, at v = ln((1−q)/q) ± iπ. Up to .7/μ the derivative of L is at most √2 times its value on the real line,
 * where it is at most μ and grows by e^{μΔ} at most. So |d ln(integrand)/du| <= |u| + |power + 1 + iω| |L′| is known there. a
 * is chosen so that M is at most e^39 times the value in the middle, and no value in the panel is less than e^-4 of that: an
 * error below 4^-32 of the panel's own part. If e^{s loss} has a weight below e^-46 in a panel, ω does not count for a: the
 * whole panel is less than rounding (E e^{s loss} >= 1 for s >= 0).
 *
 * [T] Trefethen, Approximation Theory and Approximation Practice (2013). */
enum { DP_PLD_PANEL = 32, DP_PLD_PANELS_MAX = 1024 };
struct dp_pld_panels {
    size_t count; /* panels */
    double *loss, *log_mass;
    double *log_density; /* of the loss, at the nodes; between them, and times e^{x loss}, within e^{±1/4} of that */
    double *rare;        /* with a cut, the rare part of each node, in [0, 1] */
    double edge;         /* ln of the rare density in u, times e^{s loss}, at its two ends, summed */
    double atom;         /* mass at loss 0 */
    int pieces;          /* number of densities, one for each answer or sign */
};

/* Not for parts without a Gaussian. If it would take more than DP_PLD_PANELS_MAX panels, all of panels is
 * zero. */
void dp_pld_panels_new(struct dp_pld_panels *panels, const struct dp_pld_part *part, bool add, double deviations, double s,
                       double power, double frequency, struct dp_pld_cut cut);
void dp_pld_panels_free(struct dp_pld_panels *panels);

/* One direction on the grid: log_mass[k] at loss (first + k) h. Mass between two grid points ih and (i+1)h is split between
 * them so that its A mass p and its B mass r stay: (p − r e^{ih})/(1 − e^{−h}) is moved up, the rest of p down ([D] connect the
 * dots). The same cells, times e^{−ih} and mirrored, are the add direction. Gaussian tails beyond the cut are left out.
 * Continuous masses are Gauss-Legendre sums in u, not differences of distribution functions: each has a small relative error.
 * Digits cancel only where a mass is split, and this moves a loss by no more than its rounding.
 *
 * [D] Doroshenko, Ghazi, Kamath, Kumar, Manurangsi, Connect the Dots: Tighter Discrete Approximations of
 *     Privacy Loss Distributions (2022). */
struct dp_pld_cells {
    double h;
    int64_t first;
    size_t count;
    double *log_mass;
};

void dp_pld_cells_new(struct dp_pld_cells *cells, const struct dp_pld_part *part, bool add, double deviations, double h);
void dp_pld_cells_free(struct dp_pld_cells *cells);

double dp_pld_cells_loss(const struct dp_pld_cells *cells, size_t k);

/* K(s) of the grid, to a relative e^{1e-13 + 2^-49 (|s|+1) max|loss|}. */
double dp_pld_cells_moment(const struct dp_pld_cells *cells, double s);
