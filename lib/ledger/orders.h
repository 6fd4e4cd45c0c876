/* The orders that a budget watches, and the shares of delta that they have. */
#ifndef DP_LEDGER_ORDERS_H
#define DP_LEDGER_ORDERS_H

#include "ledger/ledger.h"

/* Fills order and orders of *budget for its epsilon and delta, less what `before` says. run: the charges of the runs that
 * are planned, or NULL: then Gaussian noise. The order with most room for them has half of delta, or so much more that
 * sharing costs no whole run of them (of many, not one in twenty); orders a factor of up to 2 below and above share the rest,
 * for runs of another kind. *fit (may be
 * NULL): how many such runs the budget affords.
 * DP_E_RUN: no order has any room. */
int dp_ledger_orders_pick(struct dp_ledger_budget *budget, const struct dp_ledger_before *before, const struct dp_charges *run,
                          int64_t *fit, struct dp_err *err);

/* How many runs of these charges the orders of the budget have room for. */
int dp_ledger_orders_fit(const struct dp_ledger_budget *budget, const struct dp_ledger_before *before,
                         const struct dp_charges *run, int64_t *fit, struct dp_err *err);

#endif
