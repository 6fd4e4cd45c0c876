/* The cost of several runs of a ledger together, for reports, certificates and budgets. */
#pragma once

#include <jansson.h>

#include "account/account.h"
#include "ledger/book.h"

/* The basis of a run's stated cost, the same for every reader. A run may have ended because of what it had released. Then its
 * number of laps depends on the data, and the run costs as much as it had planned.
 *   LAPS    it has ended by itself: the laps that it has used
 *   PLAN    it was interrupted, or has not ended: the plan, and the laps lost when it was resumed
 *   BUDGET  it ran under a filter: its whole budget, even if it used less
 *   ORDER   no plan, and not ended by itself: the laps that it has paid for, at one Rényi order that follows from its own
 *           budget. At one order this is a bound whenever the run is stopped (dp-privacy(7), THE LEDGER)
 * A run that has reserved nothing has cost nothing. */
enum dp_ledger_basis { DP_LEDGER_BY_LAPS, DP_LEDGER_BY_PLAN, DP_LEDGER_BY_BUDGET, DP_LEDGER_BY_ORDER };
extern const char *const dp_ledger_basis_names[]; /* "laps", "plan", "budget", "order" */
enum dp_ledger_basis dp_ledger_basis(const struct dp_ledger_entry *entry);

/* The delta that a release of another tool has of its own, in addition to the largest delta of the runs. 0 for a run. */
double dp_ledger_own_delta(const struct dp_ledger_entry *entry);

/* "done", "budget", "interrupted", or "going or killed" if there is no close line. */
const char *dp_ledger_status(const struct dp_ledger_entry *entry);

/* Sum of costs. A run under a filter, or stated at an order a, is (a, rho)-RDP: under a filter, rho = its epsilon − penalty(a,
 * its delta); at an order, rho is what its laps have spent at a. With such runs the total is Σ fixed times(laps) r(order) + Σ
 * rho + penalty(order, delta), order the smallest of their orders. */
struct dp_ledger_sum {
    struct dp_charges all;   /* all charges, to be shown */
    struct dp_charges fixed; /* charges of runs stated by laps or by plan */
    double order, rho;       /* order: 0 if there are no other runs */
    struct dp_err why;       /* the error for dp_ledger_sum_epsilon, if no accountant covers a run */
};

int dp_ledger_sum_add(struct dp_ledger_sum *sum, const struct dp_ledger_entry *entry, struct dp_err *err);
void dp_ledger_sum_free(struct dp_ledger_sum *sum);

/* The epsilon at delta by the best accountant; by DP_ACCOUNTANT_FILTER if there is an order (lower: 0); 0 by DP_ACCOUNTANT_NONE
 * without charges. */
int dp_ledger_sum_epsilon(const struct dp_ledger_sum *sum, double delta, struct dp_answer *answer, struct dp_err *err);

/* Adds "curve": [[epsilon, delta], …], "mu" and "mu_delta" (account/tradeoff.h) of the one run in the sum; nothing if it is not
 * stated by its laps or its plan. */
int dp_ledger_sum_curve(const struct dp_ledger_sum *sum, double delta, json_t *members, struct dp_err *err);

/* The stated cost of a single run at its own delta. Reports, certificates, budgets set after it, and runs that start from its
 * model use this number. */
int dp_ledger_run_epsilon(const struct dp_ledger_entry *entry, struct dp_answer *answer, struct dp_err *err);

/* Compares the epsilon of a run's close line with the stated one. They agree
 *   - if the same accountant gave both: to 1e-6 relative, because another version may have rounded differently;
 *   - if another accountant gave the recorded one: it is not below the reader's lower bound;
 *   - if the run had a filter: both are the run's budget, and its laps have spent no more than that at the filter's order.
 * The cost of a run of an earlier version may be what a paper claims: then compared is false. */
struct dp_ledger_recorded {
    double recomputed;
    bool compared, agrees;
};
int dp_ledger_run_check(const struct dp_ledger_entry *entry, struct dp_ledger_recorded *recorded, struct dp_err *err);

/* Σ times(laps) r(order) of the charges, rounded up. */
int dp_ledger_rdp(const struct dp_charges *charges, double order, double *rho, struct dp_err *err);

/* Adds the laps that the run has spent to a list. */
int dp_ledger_add_spent(const struct dp_ledger_entry *entry, struct dp_charges *charges, struct dp_err *err);

/* JSON for a list of charges, and for a number that may be infinite ("Infinity"). */
json_t *dp_ledger_charges_json(const struct dp_charges *charges);
json_t *dp_ledger_real_json(double value);

/* Adds a text to a list that does not have it. */
void dp_ledger_add_text(json_t *list, const char *text);
