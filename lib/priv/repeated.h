/* Output perturbation of an iteration that draws its own batch in each of T steps: its sensitivity is random.
 *
 * A step contracts the distance of two runs on neighbouring data by ρ, the contraction, and adds at most one bound to it if the
 * person's row was drawn. With B_t the person's coin, which comes up with probability q, the distance of the results is at most
 * this bound times
 *   S(J) = Σ_t B_t ρ^(T−t),   J the steps that drew the row,
 * plus the rounding of their computation, which is at most 2^-10 of the bound. Then comes one Gaussian release, of standard
 * deviation z times the bound. The coins do not depend on the data, so both runs are the same mixture over the coins, of pairs
 * of Gaussians with means at that distance. The hockey-stick divergence is jointly convex, and between two Gaussians it is the
 * same in both directions and grows with their distance:
 *   δ(ε) ≤ E_J δ_G(ε; (S(J) + 2^-10)/z).
 * The Rényi moment is jointly convex as well:
 *   e^((α−1) r(α)) ≤ E_J e^(α(α−1) (S(J) + 2^-10)²/(2z²)).
 * Both hold if a row is present or contributes nothing, because its coin is tossed in either case. They also hold if a row is
 * exchanged for another with the same coins; the bound of one draw is then twice as large, and z is relative to it.
 *
 * The law of S(J) is built by doubling the number of draws: S_(a+b) = S_a + ρ^a S_b, with independent S_a and S_b. Each law is
 * on a grid. The weight of a number between two points is divided among them so that the mean stays. This never makes the mean
 * of a convex function smaller. δ_G(ε; μ) has the slope φ(μ/2 − ε/μ) in μ: it is convex up to μ = √(2ε) and below its tangent
 * from there on. So the mean of the function that follows the tangent bounds δ, and the error is of second order in the grid.
 * Weights that are too small to be kept are added to the weight of the largest possible S, (1 − ρ^T)/(1 − ρ). Everything is
 * rounded up. Chen, Lee, Kifer, Renyi Differentially Private ERM for Smooth Objectives (2019), has the mechanism; the law is
 * ours. Epsilon in nats; pure functions. */
#pragma once

#include "base/c.h"

struct dp_repeated {
    double rate;        /* q in (0, 1] */
    int64_t draws;      /* T >= 1 */
    double contraction; /* ρ in (0, 1] */
};

/* The largest rounding of the result's computation, relative to the bound of one draw. */
#define DP_REPEATED_ROUNDING 0x1p-10

/* A law on a grid that bounds S(J). */
enum { DP_REPEATED_CELLS = 2048 };
struct dp_repeated_law {
    struct dp_repeated of;
    double low, step;
    double weight[DP_REPEATED_CELLS]; /* of low + i × step */
    double most, above;               /* the largest S, and its weight */
};

/* The law; 0 < rate <= 1, draws >= 1, 0 < contraction <= 1. Some milliseconds, for any number of draws. */
void dp_repeated_law(const struct dp_repeated *repeated, struct dp_repeated_law *law);

/* δ(ε) for a noise multiplier z > 0 and ε >= 0, at most 1. */
double dp_repeated_delta(const struct dp_repeated_law *law, double multiplier, double epsilon);

/* The smallest ε on a grid of relative spacing 2^-33 with δ(ε) <= delta. Infinite if no ε below 1e9 will do. 0 < delta < 1. */
double dp_repeated_epsilon(const struct dp_repeated_law *law, double multiplier, double delta);

/* out[i] = r(orders[i]), n orders > 1. Bennett's inequality bounds the tail of S beyond the grid. Never more than the curve of
   the largest S, α (S + 2^-10)²/(2z²). */
void dp_rdp_repeated(const struct dp_repeated_law *law, double multiplier, const double *orders, size_t n, double *out);
