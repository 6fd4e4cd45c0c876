/* What the gate may still release: which laps a budget affords, and what those released so far have cost. */
#ifndef DP_GATE_SPEND_H
#define DP_GATE_SPEND_H

#include <stdbool.h>

#include "priv/filter.h"
#include "account/meter.h"
#include "account/plan.h"

#define DP_SPEND_POINTS 32
#define DP_SPEND_PRICES 8
#define DP_SPEND_SEARCHED 200000 /* laps of a plan beyond which the search for its last one would keep a run waiting */

/* What a lap of an event costs at the order of a filter. Most laps are like one of the few before them, and a search takes
   milliseconds to charge, so prices are kept. */
struct dp_price {
    struct dp_event event;
    double r; /* r(order), an upper bound; infinite where the event has no curve */
};

/* How a run is charged is decided before its first lap, from what is public then:
 *   by a plan    every lap is the event that the plan has for it. Rényi DP at any order is sound because which lap is the last
 *                one is known in advance, and for the same reason the best accountant may be asked about the whole run.
 *   by a filter  events may change with what was released: ONE order is fixed before the run (Feldman & Zrnic 2021).
 */
struct dp_spend {
    double budget, delta;
    bool held;              /* to the plan alone: somebody else charges for it */
    bool adaptive;          /* by the filter */
    int prices, next_price; /* adaptive: how many are kept, and which place the next one takes */
    struct dp_price price[DP_SPEND_PRICES];
    struct dp_plan plan;
    int64_t *left; /* laps of each event of the plan that the run will still have; DP_PLAN_OPEN where that is not known */
    struct dp_meter *meter; /* what is charged against the budget, unless adaptive */
    double whole;           /* epsilon of the whole run by the best accountant; infinite where it was not asked */
    int64_t limit;          /* laps that the budget affords; DP_PLAN_OPEN where that shows along the way */
    int points;             /* epsilon after some laps of the run, the last of which is limit; 0 where it was not asked */
    int64_t point[DP_SPEND_POINTS];
    double along[DP_SPEND_POINTS];
    struct dp_filter filter; /* adaptive */
    int64_t laps;            /* released */
    double epsilon;          /* what they cost */
};

/* The plan is moved: spend owns it, also after a failure. An adaptive run has none, and *plan is empty. */
struct dp_spend_start {
    double epsilon, delta;
    bool held; /* no budget is asked: whoever started the run has charged for the plan */
    bool adaptive;
    struct dp_plan *plan;
};
int dp_spend_open(struct dp_spend *spend, const struct dp_spend_start *start, struct dp_err *err);
void dp_spend_close(struct dp_spend *spend);

/* More is not afforded: no failure. */
enum { DP_SPENT = 1 };

/* Charges one more lap. 0: it may be released, and spend->epsilon is the cost with it. DP_SPENT: the budget does not
   afford it, nothing was charged. DP_E_UNSAFE: not the event that was planned; more noise than that does no harm. */
int dp_spend_lap(struct dp_spend *spend, const struct dp_event *event, struct dp_err *err);

/* The event that the next lap is charged as: the plan's, or the event itself. */
struct dp_event dp_spend_charged(const struct dp_spend *spend, const struct dp_event *event);

/* The next lap of a run that has a plan, as it was announced. */
const struct dp_event *dp_spend_next(const struct dp_spend *spend);

/* A run that is resumed begins where it was: `laps` laps have been charged; of an adaptive run, `spent` at the order of its
   filter. */
int dp_spend_resume(struct dp_spend *spend, int64_t laps, double spent, struct dp_err *err);

/* Laps of such a run that were paid for after its checkpoint and may be out: they count beside those to come. */
int dp_spend_lost(struct dp_spend *spend, const struct dp_charges *lost, struct dp_err *err);

/* Of the next lap's event: how many laps, itself included, come in one piece, and how many the run will still have, as far as
   that is known; DP_PLAN_OPEN where it is not. */
void dp_spend_ahead(const struct dp_spend *spend, int64_t *together, int64_t *left);

/* What charges the run, as ledgers call it. */
const char *dp_spend_accountant(const struct dp_spend *spend);

#endif
