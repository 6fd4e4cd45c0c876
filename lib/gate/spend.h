/* Spending at the gate: the laps that a budget affords, and the cost of the laps released so far. */
#pragma once

#include "priv/filter.h"
#include "account/meter.h"
#include "account/plan.h"

#define DP_SPEND_POINTS 32
#define DP_SPEND_PRICES 8
#define DP_SPEND_SEARCHED 200000 /* in a plan with more laps, the best accountant would delay the run */

/* The cost of a lap of an event at the order of a filter. Most laps are like a recent one, and computing the cost of a search
   takes milliseconds, so recent prices are kept. */
struct dp_price {
    struct dp_event event;
    double r; /* r(order), an upper bound; infinite if the event has no curve */
};

/* Public facts decide before the first lap how a run is charged:
 *   by a plan    every lap is the event that the plan has for it, and the budget affords so many of them. The last lap is known
 *                in advance, so Rényi DP at any order is sound, and the best accountant may be asked about the whole run.
 *   by a filter  events may depend on released values: ONE order is fixed before the run (Feldman & Zrnic 2021).
 */
struct dp_spend {
    double budget, delta;
    bool adaptive;          /* by the filter */
    int prices, next_price; /* adaptive: the number of kept prices, and the place of the next */
    struct dp_price price[DP_SPEND_PRICES];
    const struct dp_plan *plan; /* NULL if adaptive */
    struct dp_meter *meter;     /* counts charges, unless adaptive */
    double whole;               /* epsilon of the whole run by the best accountant; infinite: not computed */
    int64_t limit;              /* laps that the budget affords; DP_PLAN_OPEN if adaptive */
    int points;                 /* number of computed points: epsilon after some laps; the last is limit */
    int64_t point[DP_SPEND_POINTS];
    double along[DP_SPEND_POINTS];
    struct dp_filter filter; /* adaptive */
    int64_t laps;            /* released */
    double epsilon;          /* their cost */
};

/* Opens a budget for the run with that plan, which stays the caller's and must not change. NULL: an adaptive run. */
int dp_spend_open(struct dp_spend *spend, double epsilon, double delta, const struct dp_plan *plan, struct dp_err *err);
void dp_spend_close(struct dp_spend *spend);

/* The budget does not afford another lap; this is not a failure. */
enum { DP_SPENT = 1 };

/* Charges the next lap. event: of the lap of an adaptive run. 0: the lap may be released, and spend->epsilon includes it.
   DP_SPENT: the budget does not afford it, and nothing was charged. DP_E_UNSAFE: an adaptive run has an event without an
   accountant. */
int dp_spend_lap(struct dp_spend *spend, const struct dp_event *event, struct dp_err *err);

/* Continues a resumed run after `laps` charged laps. spent: what an adaptive run has spent, at the order of its filter. */
int dp_spend_resume(struct dp_spend *spend, int64_t laps, double spent, struct dp_err *err);

/* Adds laps of a resumed run that may have been released in addition; the budget then affords fewer. */
int dp_spend_lost(struct dp_spend *spend, const struct dp_charges *lost, struct dp_err *err);
