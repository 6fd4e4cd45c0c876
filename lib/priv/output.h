/* Output perturbation: by how much one person moves the result of gradient descent, over all rows or over a permutation of
 * them, and what the rounding of its arithmetic adds to that.
 *
 * A step is  w ← G_B(w) = w − η ((1/|B|) Σ_{i in B} ∇l_i(w) + mu w)  on a batch B, the same on both sides but for one person's
 * row: its gradient is zero where the row is absent. Each l_i is convex and (beta − mu)-smooth with ‖∇l_i‖ ≤ L, so the
 * objective of each batch is mu-strongly convex and beta-smooth, and for η ≤ 2/beta a step brings two points nearer to each
 * other by the factor rho = max(|1 − η mu|, |1 − η beta|) ≤ 1 at least (the eigenvalues of I − η ∇²F along the way are between
 * the two). The regulariser cancels. So the distance of the two descents goes  d ← rho d  in a step without the person, and d ←
 * rho d + η L/|B|  in one with. */
#ifndef DP_PRIV_OUTPUT_H
#define DP_PRIV_OUTPUT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* The objective and the step; the functions below give NAN where these make no sense or eta > 2/beta. */
struct dp_descent {
    double mu;        /* strong convexity: of the regulariser; 0 or more */
    double beta;      /* smoothness with the regulariser, ≥ mu */
    double lipschitz; /* L, of one row's data term */
    double eta;       /* step size */
    bool inverse;     /* step t is min(eta, 1/(mu t)), else eta; then mu > 0 */
};

/* rho: by how much at least a step of eta brings two points nearer, rounded up; at most 1. */
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

/* The same after `passes` passes over a permutation of the rows that is the same in each, in floor(rows/batch) batches of as
 many
 * rows each, or one more (Wu, Li, Kumar, Chaudhuri, Jha, Naughton, SIGMOD 2017, Algorithm 1 and 2). The person is in one batch
 of
 * each pass, at a position that the permutation decides. For each permutation the same permutation of the other side is as
 likely;
 * both sides with noise are mixtures over them with the same weights, so what holds for each of them, at the worst position,
 holds
 * for the mixtures (joint convexity). With step t = k M + m, m the position,

     Δ = max_m Σ_k η_t (L/b) Π_{s > t} rho_s ≤ Σ_k max_m …,  b = floor(rows/M).

 * The right hand side is given. It is the left one wherever each term is the largest in the last batch of a pass: with a
 constant
 * step, and with min(eta, 1/(mu t)) where eta ≤ 2/(mu + beta), since then rho_t = 1 − η_t mu and η_{t−1} rho_t ≤ η_t. */
double dp_permutation_sensitivity(const struct dp_descent *d, int64_t rows, int64_t batch, int64_t passes, bool replace_one);

/* How many batches of a pass. 1 ≤ batch ≤ rows. Batch m is of the rows [rows m/M, rows (m + 1)/M) of the permutation. */
static inline int64_t dp_permutation_batches(int64_t rows, int64_t batch)
{
    return rows / batch;
}

/* How a step is evaluated in floating point. */
struct dp_arithmetic {
    double cols;  /* terms of a score: columns of the model */
    double chain; /* additions, at most, that a row's term goes through until it is in the sum over its batch */
    double slope; /* error of a row's slopes at given scores, as part of the largest norm they have */
    double start; /* norm of the model to start from */
};

/* By how much the gradient at a model of that norm, as a step evaluates it, may be off in norm: of E below what eta multiplies.
 */
double dp_gradient_rounding(const struct dp_descent *d, const struct dp_arithmetic *a, double norm);

/* By how much rounding can move the results of two descents of `steps` steps apart, beyond their sensitivity: the error of each
 * step is at most E, so the distances obey d ← rho d + … + 2E, and this is 2 E Σ_t Π_{s > t} rho_s and the rounding of the last
 * difference w_T − w_0. With u = 2^-53, ‖W‖ ≤ w = start + eta L min(T, 1/(1 − |1 − eta mu|)), or start + L/mu for the inverse
 steps, to
 * first order in u

     scores    cols u ‖x_i‖ ‖W‖, whatever the order of their sum; the slopes follow, times ‖x_i‖: (beta − mu) cols u w
     slopes    `slope` L
     sums      products and chain additions: Σ_i (chain + 1) u ‖s_i‖ ‖x_i‖, so (chain + 1) u L of their mean
     step      quotient, product with mu, sum, product with eta: 4 u eta (L + mu w); the difference: u w
     E = u (eta ((beta − mu) cols w + L (slope/u + chain + 5) + 4 mu w) + 2 w),

 * of which 2 % more is taken, and 1 % more of w, for what is of higher order and for the errors in w itself: both hold for
 * T u (2 cols + chain + slope/u + 16) ≤ 1e-3. INFINITY beyond. */
double dp_descent_rounding(const struct dp_descent *d, int64_t steps, const struct dp_arithmetic *a);

#endif
