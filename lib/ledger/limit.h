/* How much room a budget of a population has left.
 *
 * A budget of (ε, δ) is held in two ways at once, each with its share of δ. What has been spent is within the budget as long as
 * one of the two says so, and a lap may run if it is so with that lap.
 *
 *   the filter   orders α_i with δ_i. There is an order i with
 *                  Σ over runs and events  times(laps) r_event(α_i)  <=  ε − ε_before − penalty(α_i, δ_i)
 *                What was run in the end is then what the filter at that order alone would have let run, so that
 *                E[(1 − e^{ε−L})+] <= Σ δ_i, whichever order it was.
 *   addition     Of all runs that have spent anything, each with its own whole budget (ε_j, δ_j), whatever of it it has used:
 *                  Σ ε_j <= ε − ε_before,  Σ δ_j <= δ − δ_before − Σ δ_i
 *                What the orders have not of δ is the share of addition. A run that is charged as published has no sound budget,
 *                and nothing adds up with it.
 *
 * The first run may choose, by its open line and before anything has been spent, that the budget goes by addition alone, with
 * all of δ: so one run of exactly (ε, δ) fits. The choice follows from public numbers. The proofs are in dp-privacy(7), THE
 * LEDGER. */
#ifndef DP_LEDGER_LIMIT_H
#define DP_LEDGER_LIMIT_H

#include "ledger/book.h"

/* r of an event at an order, once asked. The caller starts it zeroed and frees it. */
struct dp_ledger_costs {
    struct {
        struct dp_event event;
        double order, r;
    } * cost;
    size_t count, capacity;
};
void dp_ledger_costs_free(struct dp_ledger_costs *costs);

/* Whether the limit is one on the run: the run is on its population, and the limit did not begin with what that has cost. */
bool dp_ledger_limit_binds(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit,
                           const struct dp_ledger_entry *entry);

/* Whether the runs on the limit's population, those that it began with too, are about persons with several rows (1) or about
   rows (0): costs of the one and of the other do not add up. −1: there are none yet. */
int dp_ledger_limit_persons(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit);

/* Whether no run that the limit binds has spent a lap that it did not give back. */
bool dp_ledger_limit_unused(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit);

/* Runs and their own budgets, added up. */
struct dp_ledger_added {
    size_t runs;
    double epsilon, delta;
};

/* What addition counts: all runs that the limit binds and that have spent something, and self (may be NULL) in any case. */
struct dp_ledger_added dp_ledger_limit_added(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit,
                                             const struct dp_ledger_entry *self);

/* Whether it is within the limit: then addition admits all of self. */
bool dp_ledger_limit_adds(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit,
                          const struct dp_ledger_entry *self);

/* What the budget counts as spent, the less of the two ways: at an order (0: by addition), with so much of delta. */
struct dp_ledger_counted {
    double epsilon, order, delta;
};
int dp_ledger_limit_epsilon(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit,
                            struct dp_ledger_costs *costs, struct dp_ledger_counted *counted, struct dp_err *err);

/* *affords: how many more laps of the event `self` may reserve, at most laps, by the one way or the other. */
int dp_ledger_limit_laps(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit, struct dp_ledger_costs *costs,
                         const struct dp_ledger_entry *self, const struct dp_event *event, int64_t laps, int64_t *affords,
                         struct dp_err *err);

/* *affords: how many of the laps that a run has announced, from its first on, by the filter. */
int dp_ledger_limit_run(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit, struct dp_ledger_costs *costs,
                        const struct dp_ledger_entry *self, const struct dp_ledger_run *run, int64_t *affords,
                        struct dp_err *err);

/* *epsilon: the largest, to three digits, at which a run with the delta and the laps of this one fits, be it with more noise; 0
   where none does. */
int dp_ledger_limit_fitting(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit,
                            const struct dp_ledger_entry *self, const struct dp_ledger_run *run, double *epsilon,
                            struct dp_err *err);

#endif
