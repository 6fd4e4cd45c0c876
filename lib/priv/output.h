/* Output perturbation: by how much one person moves the result of gradient descent. */
#ifndef DP_PRIV_OUTPUT_H
#define DP_PRIV_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

/* L2 sensitivity of the T-th iterate of full gradient descent on a mean of n losses, each beta-smooth and mu-strongly convex
 * with its regulariser, where the gradient of one person's data term has norm at most L:
 *   (2 eta L / n) (1 − rho^T) / (1 − rho),   rho = max(|1 − eta mu|, |1 − eta beta|) <= 1,
 * where a row is exchanged for another, and half of it where a row is present or contributes nothing: each lap contracts what
 * the laps before have moved by rho, and adds at most that much. The regulariser is the same on both sides and cancels.
 * Rounded up. rows n >= 1, 0 <= mu <= beta, 0 < eta <= 2/beta, L > 0, laps T >= 1; else NaN. */
double dp_descent_sensitivity(int64_t rows, double mu, double beta, double lipschitz, double eta, int64_t laps,
                              bool replace_one);

#endif
