/* The cost that the DP-BLSGD paper claims for a run whose laps depend on released values. It is NOT SOUND: each query is
 * amplified by itself although several share a batch; sparse vectors cost what Theorems 2 and 3 say (the column `claimed` of
 * account/kinds.h); and a run continues while the budget holds at any order. For the
 * errors see examples/dp-blsgd/README.md.
 *
 * [CL] Chen, Lee, Differentially private line search (DP-BLSGD, 2022): orders 2 … 500, and its Proposition 1,
 *   ε = min over α of Σ r(α) + ln(1/δ)/(α − 1). */
#pragma once

#include "account/event.h"

enum { DP_CLAIMED_ORDERS = 499, DP_CLAIMED_LARGEST = DP_CLAIMED_ORDERS + 1 };

/* r[i] of one lap of the event at order i + 2. Any sampling counts as Poisson sampling; without sampling, every row is in the
 * lap. About 10 ms for a query. Errors as dp_event_check, and if a query has no curve. */
int dp_claimed_curve(const struct dp_event *event, double r[DP_CLAIMED_ORDERS], struct dp_err *err);

/* Epsilon at delta, from the cost at each order; 0 if every cost is 0. 0 < delta < 1. */
double dp_claimed_epsilon(const double spent[DP_CLAIMED_ORDERS], double delta);
