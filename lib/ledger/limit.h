/* The room that is left in a budget of a population.
 *
 * A budget of (ε, δ) is counted in two ways at once, each with its share of δ. The spending is within the budget as long as one
 * of the two admits it, and a lap may run if one of them admits the spending with that lap.
 *
 *   the filter   orders α_i with δ_i. There is an order i with
 *                  Σ over runs and events  times(laps) r_event(α_i)  <=  ε − ε_before − penalty(α_i, δ_i)
 *                All laps that were run are then laps that the filter at that order would have admitted, so that
 *                E[(1 − e^{ε−L})+] <= Σ δ_i, for any order. Thresholds of the first run's plan are Gaussian noise, and each δ_i
 *                is smaller by what they may name; thresholds of other runs have r = ∞.
 *   addition     All runs that have spent anything, each with its own whole budget (ε_j, δ_j), even if it used less:
 *                  Σ ε_j <= ε − ε_before,  Σ δ_j <= δ − δ_before − Σ δ_i
 *                Addition has the share of δ that the orders do not have. It cannot count a run that was kept within
 *                what a paper claims, which bounds nothing.
 *
 * A run is admitted as a whole: until it has ended, both ways count it with its plan. A run under a filter of (ε, α) counts as
 * ε − penalty(α, δ) at that order α, and as ∞ at all others. No other run takes the room that one was admitted with. After its
 * end it counts with what it has used, which is never more.
 *
 * Before anything has been spent, the first run may choose in its open line that the budget counts only by addition, with all
 * of δ: so one run of exactly (ε, δ) fits. The choice depends only on public numbers. The proofs are in dp-privacy(7), THE
 * LEDGER. */
#pragma once

#include "ledger/book.h"

/* Cache of r for events and orders. The caller starts it zeroed and frees it. */
struct dp_ledger_costs {
    struct {
        struct dp_event event;
        double order, r;
    } * cost;
    size_t count, capacity;
};
void dp_ledger_costs_free(struct dp_ledger_costs *costs);

/* The number of runs, and the sum of their own budgets. */
struct dp_ledger_added {
    size_t runs;
    double epsilon, delta;
};

/* The sum that addition counts: all runs that the limit binds and that have spent something, and self (may be NULL) in any
   case. */
struct dp_ledger_added dp_ledger_limit_added(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit,
                                             const struct dp_ledger_entry *self);

/* The spending of the budget: the smaller of the two counts, at an order (0: by addition), with that share of delta. */
struct dp_ledger_counted {
    double epsilon, order, delta;
};
int dp_ledger_limit_epsilon(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit,
                            struct dp_ledger_costs *costs, struct dp_ledger_counted *counted, struct dp_err *err);

/* *yes: one of the counts has room for `self` with these charges in all, or with its filter. planned: they are its plan. */
int dp_ledger_limit_admits(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit,
                           struct dp_ledger_costs *costs, const struct dp_ledger_entry *self, const struct dp_charges *charges,
                           bool planned, bool *yes, struct dp_err *err);

/* Adds what a run will have released after that many of its announced laps, with what it had released before it was resumed. */
int dp_ledger_limit_whole(const struct dp_ledger_entry *self, const struct dp_ledger_run *run, int64_t laps,
                          struct dp_charges *charges, struct dp_err *err);

/* *affords: the number of a run's announced laps, from its first on, that one of the counts admits. */
int dp_ledger_limit_run(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit, struct dp_ledger_costs *costs,
                        const struct dp_ledger_entry *self, const struct dp_ledger_run *run, int64_t *affords,
                        struct dp_err *err);

/* *epsilon: the largest epsilon, to three digits, at which a run with this delta and these laps, but more noise, fits; 0 if
 * none does. */
int dp_ledger_limit_fitting(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit,
                            const struct dp_ledger_entry *self, const struct dp_ledger_run *run, double *epsilon,
                            struct dp_err *err);
