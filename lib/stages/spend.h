/* What the gate may still release: which laps a budget affords, and what those released so far have cost. */
#ifndef DP_STAGES_SPEND_H
#define DP_STAGES_SPEND_H

#include <stdbool.h>

#include "priv/filter.h"
#include "priv/meter.h"
#include "priv/plan.h"

/* How a run is charged, decided at its first lap from what is public then:
 *   static      every lap the first lap's event, or the plan's. Rényi DP at any order is sound because which lap is the last
 *               one is known in advance, and for the same reason the best accountant may be asked about the whole run.
 *   adaptive    events may change with what was released: a filter at ONE order fixed before the run (Feldman & Zrnic 2021).
 *   published   as the DP-SCD paper, with the sound epsilon beside it. */
#define DP_SPEND_POINTS 32

struct dp_spend {
    double budget, delta;
    bool adaptive, published;
    struct dp_event first;
    struct dp_plan plan;    /* plan.laps = 0: there is none */
    int64_t planned;        /* laps that the run will have; 0: not known */
    struct dp_meter *meter; /* what is charged against the budget, unless adaptive */
    struct dp_meter *sound; /* published: the sound epsilon, or NULL */
    double whole;           /* epsilon of the whole run by the best accountant; infinite where it was not asked */
    int64_t limit;          /* laps that the budget affords; INT64_MAX where that shows along the way */
    int points;             /* epsilon after some laps of the run, the last of which is limit; 0 where it was not asked */
    int64_t point[DP_SPEND_POINTS];
    double along[DP_SPEND_POINTS];
    struct dp_filter filter; /* adaptive */
    int64_t laps;            /* released */
    double epsilon;          /* what they cost */
};

/* laps: how many the run will have, 0 if that is not known. plan: multipliers of `laps` laps, or NULL. `sound` is the event
   that stands beside a published one, or NULL; `published` says that *first is charged as the paper does. */
struct dp_spend_start {
    double epsilon, delta;
    bool adaptive, published;
    const struct dp_event *first, *sound;
    int64_t laps;
    const double *plan;
};
int dp_spend_open(struct dp_spend *spend, const struct dp_spend_start *start, struct dp_err *err);
void dp_spend_close(struct dp_spend *spend);

/* Charges one more lap. 0: it may be released, and spend->epsilon is the cost with it. DP_STAGE_STOP: the budget does not
   afford it, nothing was charged. DP_E_UNSAFE: not the event that was announced. */
int dp_spend_lap(struct dp_spend *spend, const struct dp_event *event, struct dp_err *err);

/* The event that the next lap is charged as (a plan's bucket, or the event itself). */
struct dp_event dp_spend_charged(const struct dp_spend *spend, const struct dp_event *event);

/* Adds the first `laps` laps of a run that is not adaptive, as the ledger charges them. */
int dp_spend_prefix(const struct dp_spend *spend, int64_t laps, struct dp_charges *charges, struct dp_err *err);

/* A run that is resumed begins where it was: `laps` laps of this event (with a plan, of what was planned) have been charged; of
   an adaptive run, `spent` at the order of its filter. */
int dp_spend_resume(struct dp_spend *spend, const struct dp_event *event, int64_t laps, double spent, struct dp_err *err);

/* Laps of such a run that were paid for after its checkpoint and may be out: they count beside those to come. */
int dp_spend_lost(struct dp_spend *spend, const struct dp_charges *lost, struct dp_err *err);

/* Laps of the next lap's event, itself included, that the run will have as far as that is known; INT64_MAX where it is
   not. */
int64_t dp_spend_left(const struct dp_spend *spend);

#endif
