/* A privacy filter: a budget for mechanisms that are chosen during the run, from released values.
 *
 * One Rényi order is fixed before the run. The filter adds up the r(α) of what is about to run at that order
 * and refuses what would pass ε − penalty(α, δ): then the whole run, stopping included, has a Rényi
 * divergence of at most that and is (ε, δ)-DP ([FZ] Theorem 4.3 and [CKS] Proposition 12). Watching all
 * orders and stopping when the last of them is exceeded is not sound: different branches of a run may exhaust
 * δ at different orders each.
 *
 * Ask and spend BEFORE the mechanism runs. r is in nats, at filter.order, an upper bound for both directions.
 *
 * [FZ] Feldman, Zrnic, Individual Privacy Accounting via a Rényi Filter (2021).
 * [CKS] Canonne, Kamath, Steinke, The Discrete Gaussian for Differential Privacy (2020). */
#ifndef DP_PRIV_FILTER_H
#define DP_PRIV_FILTER_H

#include <stdbool.h>

struct dp_filter {
    double order;     /* α; NaN where no order has any allowance: then nothing can be spent */
    double allowance; /* ε − dp_rdp_penalty(α, δ), rounded down */
    double spent;     /* Σ r(α) so far, rounded up */
};

/* The one order for a budget: of dp_rdp_orders, the α with the largest (ε − penalty(α, δ))/α, which is the ρ
 * of Gaussian releases it has room for. NaN where no α has any, epsilon is not >= 0 or delta not in (0, 1).
 */
double dp_filter_order(double epsilon, double delta);

/* A filter that has spent nothing, at dp_filter_order. */
struct dp_filter dp_filter_new(double epsilon, double delta);

/* Whether a mechanism of r >= 0 at filter->order fits into what is left. False for NaN and r < 0. */
bool dp_filter_can_spend(const struct dp_filter *filter, double r);

/* Spends r if it fits; otherwise leaves the filter as it was and returns false: the mechanism must not run.
 */
bool dp_filter_spend(struct dp_filter *filter, double r);

#endif
