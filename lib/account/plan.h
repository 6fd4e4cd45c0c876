/* A run whose laps are fixed before it starts: the event of each lap, for accountants. There are few different events, because
 * an accountant's work grows with their number. Laps are stored in spans, because most laps are like the one before. */
#pragma once

#include "account/event.h"

#define DP_PLAN_OPEN INT64_MAX /* laps of a run of unknown length: all further laps are of the last event */

struct dp_plan_span {
    int64_t end;    /* the last lap of the span; the first one follows the end of the span before */
    uint32_t event; /* index of the event */
    bool rounded;   /* the multiplier of the event was rounded down: the laps have at least its noise */
};

/* The caller starts it zeroed and frees it. */
struct dp_plan {
    int64_t laps;
    size_t events, event_capacity;
    struct dp_event *event; /* no two are the same */
    size_t spans, span_capacity;
    struct dp_plan_span *span; /* no two neighbours are of the same event */
};

/* The next `laps` (1 or more, or DP_PLAN_OPEN) laps of the run are of this event. DP_E_UNSAFE: they would come in the middle
   of a shuffled epoch of another event (dp_event_may_follow). DP_E_RUN: no laps, or laps after an open end. */
int dp_plan_add(struct dp_plan *plan, const struct dp_event *event, int64_t laps, struct dp_err *err);
void dp_plan_free(struct dp_plan *plan);

/* Rounds multipliers down, so that noise which changes from lap to lap makes only few events. Multipliers whose ratio to the
   smallest one lies between the same two powers of 2^(1/64) share a bucket and become the smallest of the bucket: at most 1.1 %
   less noise. There are at most about 256 buckets: they are wider if the largest multiplier is more than 16 times the smallest.
   If all laps have one multiplier, it does not change. Shuffled epochs of the event begin with the first of these laps. The lap
   of an epoch that a person is in is random, and may have the least noise, so all laps of an epoch are in the bucket of its
   smallest multiplier. A bucket then holds whole epochs, except for the last one, and dp_event_times of its laps counts them.
   DP_E_RUN: a multiplier that is not positive and finite; more than 2^40 between largest and smallest; no laps. DP_E_UNSAFE:
   the noise of *event, whose laps these are, is not Gaussian. */
int dp_plan_round(const struct dp_event *event, double *multiplier, int64_t laps, struct dp_err *err);

/* Adds laps of *event with these multipliers in its first query; they must be rounded. */
int dp_plan_add_rounded(struct dp_plan *plan, const struct dp_event *event, const double *rounded, int64_t laps,
                        struct dp_err *err);

/* The same for the first laps of a plan, with multipliers that are not rounded yet. */
int dp_plan_add_scheduled(struct dp_plan *plan, const struct dp_event *event, const double *multiplier, int64_t laps,
                          struct dp_err *err);

/* The span that a lap is in, 1 ≤ lap ≤ plan->laps, and the event of that lap. */
const struct dp_plan_span *dp_plan_at(const struct dp_plan *plan, int64_t lap);
static inline const struct dp_event *dp_plan_event(const struct dp_plan *plan, int64_t lap)
{
    return &plan->event[dp_plan_at(plan, lap)->event];
}

/* count[i]: the number of laps of event i among laps 1 … laps. */
void dp_plan_count(const struct dp_plan *plan, int64_t laps, int64_t *count);

/* Adds the first `laps` laps to charges. If the last of them cuts a shuffled epoch, the epoch counts whole. */
int dp_plan_charges(const struct dp_plan *plan, int64_t laps, struct dp_charges *charges, struct dp_err *err);

/* Adds laps done + 1 … laps to the charges of the run that has done the laps before: they continue its shuffled epochs. An event
   has at most DP_EVENT_MOST_LAPS laps. */
int dp_plan_continue(const struct dp_plan *plan, int64_t done, int64_t laps, struct dp_charges *charges, struct dp_err *err);

#define DP_PLAN_DIGEST 32
void dp_plan_digest(const struct dp_plan *plan, unsigned char digest[DP_PLAN_DIGEST]);
