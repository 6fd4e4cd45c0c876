/* A run whose noise changes by a schedule fixed before it starts: the multiplier of every lap, gathered in few buckets, because
 * an accountant's work grows with the number of different events. */
#ifndef DP_PRIV_PLAN_H
#define DP_PRIV_PLAN_H

#include "priv/event.h"

struct dp_plan {
    int64_t laps;
    size_t buckets;
    double *multiplier; /* of each bucket */
    uint16_t *bucket;   /* of each lap */
};

/* Multipliers whose ratio to the smallest one lies between the same two powers of 2^(1/64) share a bucket, which is
   charged as the smallest of them: at most 1.1 % less noise than there is. There are about 256 buckets at most: where the
   largest multiplier is more than 16 times the smallest, they are wider. One multiplier for all laps stays itself.
   epoch_laps: laps per shuffled epoch, counted from the first lap, or 0 where epochs are not shuffled. Which lap of a
   shuffled epoch a person is in is random, and that lap may be the one with the least noise; so all laps of an epoch are
   in the bucket of its smallest multiplier. A bucket then holds whole epochs, but for the last one, and dp_event_times of
   its laps counts them. The caller starts *plan zeroed and frees it. DP_E_RUN: a multiplier that is not positive and
   finite; more than 2^40 between largest and smallest. */
int dp_plan_new(struct dp_plan *plan, const double *multipliers, int64_t laps, int64_t epoch_laps, struct dp_err *err);
void dp_plan_free(struct dp_plan *plan);

/* The event of a lap (from 1 on): *first with the multiplier of the lap's bucket in its first query. */
struct dp_event dp_plan_event(const struct dp_plan *plan, const struct dp_event *first, int64_t lap);

/* Adds the first `laps` laps to charges. A shuffled epoch that those laps end in counts as a whole one. */
int dp_plan_charges(const struct dp_plan *plan, const struct dp_event *first, int64_t laps, struct dp_charges *charges,
                    struct dp_err *err);

#endif
