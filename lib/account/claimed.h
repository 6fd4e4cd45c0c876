/* The cost that two papers claim for a run; neither claim is sound.
 *
 * The DP-BLSGD paper, for a run whose laps depend on released values. Each query is amplified by itself, by Lemma 4 (and costs
 * no more than without sampling), although several share a batch; sparse vectors cost what Theorems 2 and 3 say (the column
 * `claimed` of account/kinds.h); and a run continues while the budget holds at any order. For the errors see
 * examples/dp-blsgd/README.md.
 *
 * [CL] Chen, Lee, Differentially private line search (DP-BLSGD, 2022): orders 2 … 500, and its Proposition 1,
 *   ε = min over α of Σ r(α) + ln(1/δ)/(α − 1).
 *
 * The ADP-SGD paper, for laps of one Gaussian query on a batch of m of n rows: equation (6), for batches Theorem C.1. Its proof
 * needs an ε_t of at most 1 for each lap, on the batch, and nothing here asks for that.
 * [W] Wu et al., Adaptive differentially private empirical risk minimization, 2021, with noise of standard deviation alpha_t σ
 * on the mean of gradients of norm G:
 *   σ² = (16 G)² B/(n ε)² Σ 1/alpha_t²,   B = ln(16 T m/(n δ)) ln(1.25/δ). */
#pragma once

#include "account/event.h"

enum { DP_CLAIMED_ORDERS = 499, DP_CLAIMED_LARGEST = DP_CLAIMED_ORDERS + 1 };

/* r[i] of one lap of the event at order i + 2. Any sampling counts as Poisson sampling; without sampling, every row is in the
 * lap. About 10 ms for a query. Errors as dp_event_check, and if a query has no curve. */
int dp_claimed_curve(const struct dp_event *event, double r[DP_CLAIMED_ORDERS], struct dp_err *err);

/* Epsilon at delta, from the cost at each order; 0 if every cost is 0. 0 < delta < 1. */
double dp_claimed_epsilon(const double spent[DP_CLAIMED_ORDERS], double delta);

/* Epsilon at delta by [W]: 8 √(B Σ (q/z)²) with q = m/n and z relative to its sensitivity 2G, as under replace-one adjacency;
 * under null-record adjacency z is relative to G, and the factor is 16. T m/n is Σ q, if laps differ. 0 where B is negative. The
 * charges: one Gaussian query each, Poisson or substituted sampling. 0 < delta < 1. */
double dp_claimed_adp_sgd(const struct dp_charges *charges, double delta);
