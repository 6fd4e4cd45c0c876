#include "priv/plan.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

enum { PER_OCTAVE = 64, BUCKETS = 256 };

/* How many buckets an octave has: fewer where the multipliers are far apart, because work grows with their number. */
static double buckets_per_octave(double ratio)
{
    return fmin(PER_OCTAVE, BUCKETS / fmax(log2(ratio), 1));
}

/* A scaled plan must fall in the same buckets: a ratio a rounding error below a boundary counts as on it. */
static size_t step_of(double ratio, double per_octave)
{
    return (size_t)floor(per_octave * log2(ratio) + 1e-9);
}

static int check_multipliers(const double *multipliers, int64_t laps, double *least, double *ratio, struct dp_err *err)
{
    double most = 0;
    *least = INFINITY;
    for (int64_t t = 0; t < laps; t++) {
        if (!(multipliers[t] > 0 && isfinite(multipliers[t])))
            return dp_fail(err, DP_E_RUN, "the noise planned for lap %lld has a multiplier of %g", (long long)(t + 1),
                           multipliers[t]);
        *least = fmin(*least, multipliers[t]);
        most = fmax(most, multipliers[t]);
    }
    if (laps < 1)
        return dp_fail(err, DP_E_RUN, "a plan of no laps");
    *ratio = most / *least;
    if (!(*ratio < 0x1p40))
        return dp_fail(err, DP_E_RUN, "the noise of a plan goes from %g to %g", *least, most);
    return DP_OK;
}

int dp_plan_new(struct dp_plan *plan, const double *multipliers, int64_t laps, int64_t epoch_laps, struct dp_err *err)
{
    double least, ratio = 1;
    uint16_t at[BUCKETS + 2];
    int rc = check_multipliers(multipliers, laps, &least, &ratio, err);
    if (rc == DP_OK)
        rc = dp_alloc(&plan->bucket, (size_t)laps, sizeof *plan->bucket, err);
    if (rc == DP_OK)
        rc = dp_alloc(&plan->multiplier, sizeof at / sizeof *at, sizeof *plan->multiplier, err);
    if (rc != DP_OK)
        return rc;
    plan->laps = laps;
    double per_octave = buckets_per_octave(ratio);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        at[i] = UINT16_MAX;
    int64_t together = epoch_laps > 0 ? epoch_laps : 1;
    for (int64_t from = 0, to; from < laps; from = to) {
        double smallest = multipliers[from];
        to = together < laps - from ? from + together : laps;
        for (int64_t t = from; t < to; t++)
            smallest = fmin(smallest, multipliers[t]);
        size_t step = step_of(smallest / least, per_octave);
        if (at[step] == UINT16_MAX) {
            at[step] = (uint16_t)plan->buckets++;
            plan->multiplier[at[step]] = smallest;
        }
        plan->multiplier[at[step]] = fmin(plan->multiplier[at[step]], smallest);
        for (int64_t t = from; t < to; t++)
            plan->bucket[t] = at[step];
    }
    return DP_OK;
}

void dp_plan_free(struct dp_plan *plan)
{
    free(plan->multiplier);
    free(plan->bucket);
    *plan = (struct dp_plan){0};
}

struct dp_event dp_plan_event(const struct dp_plan *plan, const struct dp_event *first, int64_t lap)
{
    struct dp_event event = *first;
    event.query[0].multiplier = plan->multiplier[plan->bucket[lap - 1]];
    return event;
}

int dp_plan_charges(const struct dp_plan *plan, const struct dp_event *first, int64_t laps, struct dp_charges *charges,
                    struct dp_err *err)
{
    int64_t *count;
    int rc = dp_alloc(&count, plan->buckets, sizeof *count, err);
    if (rc != DP_OK)
        return rc;
    for (int64_t t = 0; t < laps; t++)
        count[plan->bucket[t]]++;
    for (size_t b = 0; rc == DP_OK && b < plan->buckets; b++) {
        struct dp_event event = *first;
        event.query[0].multiplier = plan->multiplier[b];
        if (count[b] > 0)
            rc = dp_charges_add(charges, &event, count[b], err);
    }
    free(count);
    return rc;
}
