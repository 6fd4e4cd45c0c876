/* First-order steps from a gradient g to the next weights w: plain or heavy-ball descent, AdaGrad-norm, Adam.
 *
 *   sgd            m ← momentum m + g,   w ← w − eta m
 *   adagrad-norm   b² ← b² + max(beta_t (‖g‖² − d s²), floor),   then as sgd with eta/b
 *                  s²: variance of the noise in each of the d coordinates of g; d s² is its share of ‖g‖²
 *                  beta_t = beta, or with epochs of K steps max(beta/k, 1) in step k of each
 *   adam           m ← beta1 m + (1 − beta1) g,   v ← beta2 v + (1 − beta2) g²,
 *                  w ← w − eta (m/(1 − beta1^t)) / (√(v/(1 − beta2^t)) + epsilon)
 *
 * Papers: Wu et al. (ADP-SGD), 2021, Algorithm 1 with b_{t+1} as above, beta_t of section 6.2, on released gradients; Kingma
 * & Ba, 2015. */
#pragma once

#include "base/err.h"

enum dp_optimiser_kind { DP_OPTIMISER_SGD, DP_OPTIMISER_ADAGRAD_NORM, DP_OPTIMISER_ADAM };

#define DP_OPTIMISER_CHOICES "sgd|adagrad-norm|adam" /* in the order of enum dp_optimiser_kind */

struct dp_optimiser {
    enum dp_optimiser_kind kind;
    double momentum;              /* sgd, adagrad-norm: 0 ≤ momentum < 1 */
    double b2, beta, floor;       /* adagrad-norm: b², to begin with b_0² > 0; beta > 0; floor ≥ 0 */
    int64_t epoch;                /* adagrad-norm: K steps, or 0 */
    double beta1, beta2, epsilon; /* adam */
    size_t size;                  /* of w and g */
    int64_t steps;                /* taken so far */
    double *first, *second;       /* m and v, owned; NULL where not needed */
};

/* Allocates the state for `size` weights; the caller has set the parameters. Close frees it. */
void dp_optimiser_open(struct dp_optimiser *optimiser, size_t size);
void dp_optimiser_close(struct dp_optimiser *optimiser);

/* One step with step size eta. variance: s² above, 0 for exact gradients. */
void dp_optimiser_step(struct dp_optimiser *optimiser, double eta, double variance, const double *gradient, double *w);

/* w ← w min(1, radius/‖w‖₂) */
void dp_project_ball(double radius, double *w, size_t size);
