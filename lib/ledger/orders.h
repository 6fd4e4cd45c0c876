/* Chooses the Rényi orders of a budget and their shares of delta. */
#pragma once

#include "ledger/ledger.h"

/* Fills order and orders of *budget for its epsilon and delta, less the cost in `before`. run: the charges of a planned run, or
 * NULL: Gaussian noise. The order with most room for such runs gets half of delta, or more: so much that sharing delta does not
 * cost a whole run (if many runs fit, less than one in twenty). Orders up to a factor of 2 below and above share the rest, for
 * runs of another kind. *fit (may be NULL): the number of such runs that fit. DP_E_RUN: no order has any room. */
int dp_ledger_orders_pick(struct dp_ledger_budget *budget, const struct dp_ledger_before *before, const struct dp_charges *run,
                          int64_t *fit, struct dp_err *err);

/* The number of runs of these charges that fit at the orders of the budget. */
int dp_ledger_orders_fit(const struct dp_ledger_budget *budget, const struct dp_ledger_before *before,
                         const struct dp_charges *run, int64_t *fit, struct dp_err *err);
