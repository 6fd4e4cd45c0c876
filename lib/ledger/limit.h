/* How much room a budget of a population has left.
 *
 * A limit has orders α_i with δ_i, Σ δ_i <= δ. A lap may run as long as there is an order i with
 *   Σ over runs and events  times(laps) r_event(α_i)  <=  ε − ε_before − penalty(α_i, δ_i)
 * the lap included. What was run in the end is what the filter at that order alone would have let run, so that
 * E[(1 − e^{ε−L})+] <= Σ δ_i, whichever order it was (dp-privacy(7), THE LEDGER). */
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

/* spent[i]: what all runs that the limit binds have spent at its order i, rounded up; of `except` (may be NULL) without that
   event, or without all of them where event is NULL. */
int dp_ledger_limit_spent(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit, struct dp_ledger_costs *costs,
                          const struct dp_ledger_entry *except, const struct dp_event *event, double spent[DP_LEDGER_ORDERS],
                          struct dp_err *err);

/* What the runs may spend at order i. */
double dp_ledger_limit_room(const struct dp_ledger_limit *limit, size_t i);

/* The epsilon spent at the limit's delta, of its epsilon: at the order that has most left. *order: which. */
int dp_ledger_limit_epsilon(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit,
                            struct dp_ledger_costs *costs, double *epsilon, double *order, struct dp_err *err);

/* *affords: how many more laps of the event `self` may reserve, at most laps. */
int dp_ledger_limit_laps(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit, struct dp_ledger_costs *costs,
                         const struct dp_ledger_entry *self, const struct dp_event *event, int64_t laps, int64_t *affords,
                         struct dp_err *err);

/* *affords: how many of the laps that a run has announced, from its first on. */
int dp_ledger_limit_run(const struct dp_ledger_book *book, const struct dp_ledger_limit *limit, struct dp_ledger_costs *costs,
                        const struct dp_ledger_entry *self, const struct dp_ledger_run *run, int64_t *affords,
                        struct dp_err *err);

#endif
