/* Computes the noise that a budget needs. */
#pragma once

#include "account/account.h"

/* The smallest factor of the noise with which the charges cost at most epsilon at delta. The factor stretches the multipliers
 * of all Gaussian and Laplace queries of the charges, the noise on the objective of objective perturbation (dp_query_noise)
 * and, in a selection, the multipliers of its settings, but not the multiplier of its score. With one charge of multiplier 1 it
 * is the multiplier itself. The search is good to 1e-6 of the factor (1e-4 by privacy loss distributions, 1e-2 where they are
 * slow). The factor is a decimal of nine significant digits, rounded up. It is the same double when its text is read back. For
 * this factor the same accountant never answers more than epsilon. By Rényi DP that also holds for every factor within 1e-12 of
 * it. At least 0.001. DP_E_RUN if no factor up to 1e9 will do, and as dp_account_epsilon. */
int dp_calibrate_noise(enum dp_accountant accountant, const struct dp_charges *charges, double epsilon, double delta,
                       double *factor, struct dp_err *err);

/* The charges with those multipliers stretched; *to starts zeroed or holds charges of an earlier call. */
int dp_charges_stretch(const struct dp_charges *charges, double factor, struct dp_charges *to, struct dp_err *err);
