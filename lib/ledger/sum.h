/* What runs of a ledger have cost together. For reports, certificates and budgets. */
#ifndef DP_LEDGER_SUM_H
#define DP_LEDGER_SUM_H

#include "account/account.h"
#include "ledger/book.h"

/* What a run is stated at, by every reader. Somebody may have ended it because of what it had released, and then the laps that
 * it released are no number that was known beforehand: it has cost what it was going to do.
 *   LAPS    all laps of its plan, or a run without a plan that has ended by itself: what it has spent
 *   PLAN    it has spent less than its plan, so far or for ever: the plan, with what it had lost when it was resumed
 *   BUDGET  a filter watched it: its whole budget, whatever of that it used
 *   ORDER   no plan, and not ended by itself: what it has spent, at one Rényi order that follows from its own budget. At one
 *           order that is a bound whenever the run is stopped (dp-privacy(7), THE LEDGER)
 * A run that has reserved nothing has cost nothing. */
enum dp_ledger_basis { DP_LEDGER_BY_LAPS, DP_LEDGER_BY_PLAN, DP_LEDGER_BY_BUDGET, DP_LEDGER_BY_ORDER };
extern const char *const dp_ledger_basis_names[]; /* "laps", "plan", "budget", "order" */
enum dp_ledger_basis dp_ledger_basis(const struct dp_ledger_entry *entry);

/* "done", "budget", "interrupted", or "going or killed" where there is no close line. */
const char *dp_ledger_status(const struct dp_ledger_entry *entry);

/* Runs by a filter or at an order: such a run was (a, rho)-RDP, with rho = its epsilon less the penalty(a, its delta) for a
 * filter, and what its laps have spent at a for the others. They make the total
 *   Σ fixed times(laps) r(order) + Σ rho + penalty(order, delta),  order the smallest of their orders. */
struct dp_ledger_sum {
    struct dp_charges all;   /* to be shown */
    struct dp_charges fixed; /* those of runs by laps and by plan */
    double order, rho;       /* order: 0 while there are no others */
    struct dp_err why;       /* no accountant has a number for one of the others: what dp_ledger_sum_epsilon says */
};

/* Adds what the run is stated at. */
int dp_ledger_sum_add(struct dp_ledger_sum *sum, const struct dp_ledger_entry *entry, struct dp_err *err);
void dp_ledger_sum_free(struct dp_ledger_sum *sum);

/* The epsilon at delta: that of the best accountant; by DP_ACCOUNTANT_FILTER where there is an order (lower: 0); 0 by
   DP_ACCOUNTANT_NONE for nothing. */
int dp_ledger_sum_epsilon(const struct dp_ledger_sum *sum, double delta, struct dp_answer *answer, struct dp_err *err);

/* What a run has cost by itself, at its own delta, as it is stated everywhere: reports, certificates, budgets that come after
   it, runs that start from its model. */
int dp_ledger_run_epsilon(const struct dp_ledger_entry *entry, struct dp_answer *answer, struct dp_err *err);

/* The epsilon that the close line of a run has, against that. They agree where
 *   the same accountant gave both: to 1e-6 relative, since another version may have rounded differently;
 *   another one gave the recorded one: it is not below the lower bound of the reader's;
 *   there was a filter: both are the budget of the run, and what its laps have spent at the order of the filter is not above.
 * What a paper claims (as_published) no reader computes: then compared is false. */
struct dp_ledger_recorded {
    double recomputed;
    bool compared, agrees;
};
int dp_ledger_run_check(const struct dp_ledger_entry *entry, struct dp_ledger_recorded *recorded, struct dp_err *err);

/* What the charges of a run cost, of which nobody knew beforehand when it would end: at one order that follows from its budget.
   By DP_ACCOUNTANT_FILTER; 0 by DP_ACCOUNTANT_NONE for nothing. */
int dp_ledger_at_order(const struct dp_charges *charges, double epsilon, double delta, struct dp_answer *answer,
                       struct dp_err *err);

/* Σ times(laps) r(order) of the charges, rounded up. */
int dp_ledger_rdp(const struct dp_charges *charges, double order, double *rho, struct dp_err *err);

/* Each event of the plan has at least so many laps in the list then. */
int dp_ledger_add_plan(const struct dp_ledger_entry *entry, struct dp_charges *charges, struct dp_err *err);

/* Adds what the run has spent to a list. */
int dp_ledger_add_spent(const struct dp_ledger_entry *entry, struct dp_charges *charges, struct dp_err *err);

/* An array of charges, and a number that may be infinite ("Infinity"); NULL when memory is short. */
json_t *dp_ledger_charges_json(const struct dp_charges *charges);
json_t *dp_ledger_real_json(double value);

#endif
