/* Output perturbation: how far one person moves the result of gradient descent, over all rows or over a permutation of them,
 * and how much the rounding of its arithmetic adds.
 *
 * A step is  w ← G_B(w) = w − η ((1/|B|) Σ_{i in B} ∇l_i(w) + mu w)  on a batch B. Both sides have the same batch except for
 * one person's row, whose gradient is zero if the row is absent. Each l_i is convex and (beta − mu)-smooth with ‖∇l_i‖ ≤ L, so
 * the objective of each batch is mu-strongly convex and beta-smooth. For η ≤ 2/beta a step therefore contracts the distance of
 * two points by the factor rho = max(|1 − η mu|, |1 − η beta|) ≤ 1 or better (the eigenvalues of I − η ∇²F along the way are
 * between the two). The regulariser cancels. So the distance of the two descents changes by  d ← rho d  in a step without the
 * person, and by  d ← rho d + η L/|B|  in a step with the person. */
#pragma once

#include "base/c.h"

/* The objective and the step. The functions below return NAN if these make no sense or eta > 2/beta. */
struct dp_descent {
    double mu;        /* strong convexity, from the regulariser; 0 or more */
    double beta;      /* smoothness with the regulariser, ≥ mu */
    double lipschitz; /* L, of one row's data term */
    double eta;       /* step size */
    bool inverse;     /* step t is min(eta, 1/(mu t)), else eta; then mu > 0 */
};

/* rho: a step of eta contracts the distance of two points by this factor or better. Rounded up; at most 1. */
double dp_descent_contraction(const struct dp_descent *d, double eta);

/* Step t, from 1 on. */
static inline double dp_descent_step(const struct dp_descent *d, int64_t t)
{
    return d->inverse ? fmin(d->eta, 1 / (d->mu * (double)t)) : d->eta;
}

/* The L2 sensitivity after T = laps steps of eta over all of n = rows rows:

     Δ = (eta L/n) (1 − rho^T)/(1 − rho)  for null record,  twice that for replace-one; eta L T/n where rho = 1. */
double dp_descent_sensitivity(int64_t rows, double mu, double beta, double lipschitz, double eta, int64_t laps,
                              bool replace_one);

/* The same after `passes` passes over one permutation of the rows, in M = floor(rows/batch) batches of as many rows each, or
 * one more (Wu, Li, Kumar, Chaudhuri, Jha, Naughton, SIGMOD 2017, Algorithm 1 and 2). The person is in one batch of each pass,
 * at a position that the permutation decides. For each permutation the same permutation of the other side is as likely. With
 * noise, both sides are mixtures over the permutations with the same weights. So a bound that holds for each permutation, at
 * the worst position, holds for the mixtures (joint convexity). With step t = k M + m, m the position,
 *
 *   Δ = max_m Σ_k η_t (L/b) Π_{s > t} rho_s ≤ Σ_k max_m …,  b = floor(rows/M).
 *
 * The result is the right hand side. It equals the left one if each term is largest in the last batch of a pass: with a
 * constant step, and with min(eta, 1/(mu t)) where eta ≤ 2/(mu + beta), because then rho_t = 1 − η_t mu and η_{t−1} rho_t ≤
 * η_t. */
double dp_permutation_sensitivity(const struct dp_descent *d, int64_t rows, int64_t batch, int64_t passes, bool replace_one);

/* Batches in a pass. 1 ≤ batch ≤ rows. Batch m has the rows [rows m/M, rows (m + 1)/M) of the permutation. */
static inline int64_t dp_permutation_batches(int64_t rows, int64_t batch)
{
    return rows / batch;
}

/* How a step is evaluated in floating point. */
struct dp_arithmetic {
    double cols;  /* terms of a score: columns of the model */
    double chain; /* an upper bound on the additions between a row's term and the sum over its batch */
    double slope; /* error of a row's slopes at given scores, relative to the largest norm they have */
    double start; /* norm of the model at the start */
};

/* The norm of the error of the gradient that a step evaluates at a model of that norm: those terms of E (see below) that are
   multiplied by eta. */
double dp_gradient_rounding(const struct dp_descent *d, const struct dp_arithmetic *a, double norm);

/* How far rounding can move the results of two descents of `steps` steps apart, beyond their sensitivity. The error of each
 * step is at most E, so the distances obey d ← rho d + … + 2E. The result is 2 E Σ_t Π_{s > t} rho_s and the rounding of the
 * last difference w_T − w_0. With u = 2^-53, ‖W‖ ≤ w = start + eta L min(T, 1/(1 − |1 − eta mu|)), or start + L/mu for the
 * inverse steps, to first order in u
 *
 *   scores    cols u ‖x_i‖ ‖W‖, whatever the order of their sum; the slopes follow, times ‖x_i‖: (beta − mu) cols u w
 *   slopes    `slope` L
 *   sums      products and chain additions: Σ_i (chain + 1) u ‖s_i‖ ‖x_i‖, so (chain + 1) u L of their mean
 *   step      quotient, product with mu, sum, product with eta: 4 u eta (L + mu w); the difference: u w
 *   E = u (eta ((beta − mu) cols w + L (slope/u + chain + 5) + 4 mu w) + 2 w).
 *
 * The function adds 2 % to E and 1 % to w for terms of higher order and for the errors in w itself. Both hold for T u (2 cols +
 * chain + slope/u + 16) ≤ 1e-3. INFINITY beyond. */
double dp_descent_rounding(const struct dp_descent *d, int64_t steps, const struct dp_arithmetic *a);
