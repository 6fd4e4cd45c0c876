/* What runs of a ledger have cost together. For reports, certificates and budgets. */
#ifndef DP_LEDGER_SUM_H
#define DP_LEDGER_SUM_H

#include "account/account.h"
#include "ledger/book.h"

/* A run under a filter at order a was (a, rho)-RDP with rho = its epsilon less the penalty(a, its delta), whatever of that
 * it used: what was left when it ended depends on what it had seen. Such runs make the total
 *   Σ fixed times(laps) r(order) + Σ rho + penalty(order, delta),  order the smallest of their orders. */
struct dp_ledger_sum {
    struct dp_charges all;   /* to be shown */
    struct dp_charges fixed; /* those of runs without a filter */
    double order, rho;       /* order: 0 while there is no filter */
};

/* Adds what the run has spent: of a run with one event and no filter at most `most` laps. */
int dp_ledger_sum_add(struct dp_ledger_sum *sum, const struct dp_ledger_entry *entry, int64_t most, struct dp_err *err);
void dp_ledger_sum_free(struct dp_ledger_sum *sum);

/* The epsilon at delta: that of the best accountant; by DP_ACCOUNTANT_FILTER where there was a filter (lower: 0); 0 by
   DP_ACCOUNTANT_NONE for nothing. */
int dp_ledger_sum_epsilon(const struct dp_ledger_sum *sum, double delta, struct dp_answer *answer, struct dp_err *err);

/* What a run has cost by itself, at its own delta: as dp_ledger_sum_epsilon of it alone. */
int dp_ledger_run_epsilon(const struct dp_ledger_entry *entry, struct dp_answer *answer, struct dp_err *err);

/* The epsilon that the close line of a run has, against the one that every reader of the ledger computes. They agree where
 *   the same accountant gave both: to 1e-6 relative, since another version may have rounded differently;
 *   another one gave the recorded one: it is not below the lower bound of the reader's;
 *   there was a filter: both are the budget of the run, and what its laps have spent at the order of the filter is not above.
 * What a paper claims (as_published) no reader computes: then compared is false. */
struct dp_ledger_recorded {
    double recomputed;
    bool compared, agrees;
};
int dp_ledger_run_check(const struct dp_ledger_entry *entry, struct dp_ledger_recorded *recorded, struct dp_err *err);

/* Σ times(laps) r(order) of the charges, rounded up. */
int dp_ledger_rdp(const struct dp_charges *charges, double order, double *rho, struct dp_err *err);

/* Adds what the run has spent to a list. */
int dp_ledger_add_spent(const struct dp_ledger_entry *entry, struct dp_charges *charges, struct dp_err *err);

/* An array of charges, and a number that may be infinite ("Infinity"); NULL when memory is short. */
json_t *dp_ledger_charges_json(const struct dp_charges *charges);
json_t *dp_ledger_real_json(double value);

#endif
