/* A privacy filter: a budget for mechanisms that are chosen during the run from released values.
 *
 * One Rényi order is fixed before the run. The filter adds up r(α) of the next mechanism at this order and refuses a mechanism
 * that would exceed ε − penalty(α, δ). Then the whole run, its stopping included, has a Rényi divergence of at most ε −
 * penalty(α, δ) and is (ε, δ)-DP ([FZ] Theorem 4.3 and [CKS] Proposition 12). It would not be sound to watch all orders and to
 * stop when the last one is exceeded: different branches of a run may each exhaust δ at a different order.
 *
 * Ask and spend BEFORE the mechanism runs. r is in nats, at filter.order, an upper bound for both directions.
 *
 * [FZ] Feldman, Zrnic, Individual Privacy Accounting via a Rényi Filter (2021).
 * [CKS] Canonne, Kamath, Steinke, The Discrete Gaussian for Differential Privacy (2020). */
#pragma once

#include "base/c.h"

struct dp_filter {
    double order;     /* α; NaN if no order has any allowance: then nothing can be spent */
    double allowance; /* ε − dp_rdp_penalty(α, δ), rounded down */
    double spent;     /* Σ r(α) so far, rounded up */
};

/* The order for a budget: the α of dp_rdp_orders with the largest (ε − penalty(α, δ))/α. That ratio is the ρ of Gaussian
 * releases that the budget has room for. NaN if no α has any, epsilon is not >= 0 or delta is not in (0, 1). */
double dp_filter_order(double epsilon, double delta);

/* A filter that has spent nothing, at dp_filter_order. */
struct dp_filter dp_filter_new(double epsilon, double delta);

/* Whether a mechanism of r >= 0 at filter->order fits into the rest. False for NaN and r < 0. */
bool dp_filter_can_spend(const struct dp_filter *filter, double r);

/* Spends r if it fits. Otherwise leaves the filter unchanged and returns false: the mechanism must not run. */
bool dp_filter_spend(struct dp_filter *filter, double r);
