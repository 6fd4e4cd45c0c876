/* Objective perturbation, released as an approximate minimum: the privacy cost of one such release. The mechanism draws b ~
 * N(0, σ² I), finds a point w~ within e of the minimiser w of
 *
 *     J(w; b) = Σ_i l_i(w) + (Λ/2) ‖w‖² + bᵀw,   l_i(w) = f_i(x_iᵀw) convex,
 *
 * and releases w~ + N(0, σ'² I). With L ≥ ‖∇l_i‖, B ≥ ‖∇² l_i‖ of any one row:
 *   noise      z = σ/L; σ/(2L) if a row is exchanged for another
 *   slack      σ'/(2e): noise on the result, over the largest distance of two results that have the same w
 *   curvature  B/Λ
 *   vertices   k: 1 if f_i' has one sign, 2 if it may have either; 3 and 4 if a row is exchanged
 *
 * Loss. Every w is the minimiser for one b, b_D(w) = −(Σ ∇l_i + Λw), so that w has the density φ_σ(b_D(w)) |Σ ∇²l_i + ΛI|. Let
 * D have the row and D' not, and a(w) ∈ [−1, 1], ∇l(w) = a L x/‖x‖. Under D, N = xᵀb_D(w)/(‖x‖σ) is a standard normal, and
 *
 *     ln p_D/p_D' = ln(1 + f'' xᵀ(H + ΛI)⁻¹x) + a²/(2z²) + aN/z  ≤  c + max over the ends of a,   c = ln(1 + B/Λ),
 *
 * because the middle is convex in a. An end that is not 0 is the loss of a Gaussian of shift μ = 1/z. In the other direction
 * the logarithm of the determinants is not above 0, and the rest is the same. If a row is exchanged, the two rows have a and
 * a': a shift of ‖a x/‖x‖ − a' x'/‖x'‖‖ L ≤ 2L at each end of both. The determinant is again at most
 * e^c times the determinant without both rows, and so times the determinant with the other row. Given w, the result is a
 * Gaussian of shift at most m = 1/slack, whose loss is added: end and result together have the loss of shift √(μ² + m²), or of
 * m at the end 0.
 *
 * With δ_G of priv/mixture.h, (E[max])₊ ≤ Σ E[·]₊ gives
 *     δ(ε) ≤ k δ_G(ε − c; √(μ² + m²)) + δ_G(ε − c; m)      ε ≥ c
 *     δ(ε) ≤ 1 − e^{ε−c} (1 − δ(c))                        ε < c
 *     r(α) ≤ c + αm²/2 + ln(1 + k(A − 1))/(α − 1),  A = E[max(e^{(α−1)Y}, 1)] = e^{α(α−1)μ²/2} Φ(μ(α − 1/2)) + Φ(−μ/2),
 * Y ~ N(μ²/2, μ²). It is never below c. dp-privacy(7) has the steps in words. It is from Redberg, Koskela, Wang, Improving
 * the Privacy and Practicality of Objective Perturbation (2023), that b_D(w) is Gaussian.
 *
 * Everything is rounded up. All numbers positive and finite, vertices ≥ 1. Pure functions. */
#pragma once

#include "base/c.h"

struct dp_objective {
    double noise, slack, curvature;
    int64_t vertices;
};

/* k, where slopes have either sign or one, and where a row is exchanged or contributes nothing. */
static inline int64_t dp_objective_vertices(bool either_sign, bool exchanged)
{
    return (exchanged ? 3 : 1) + (either_sign ? 1 : 0);
}

/* δ(epsilon), at most 1. epsilon ≥ 0. */
double dp_objective_delta(const struct dp_objective *of, double epsilon);

/* out[i] = r(orders[i]) in both directions. orders > 1. */
void dp_objective_curve(const struct dp_objective *of, const double *orders, size_t n, double *out);
