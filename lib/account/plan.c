#include "account/plan.h"

#include "base/hash.h"
#include "base/mem.h"

enum { PER_OCTAVE = 64, BUCKETS = 256 };

void dp_plan_free(struct dp_plan *plan)
{
    free(plan->event);
    free(plan->span);
    *plan = (struct dp_plan){0};
}

/* Index of the event, which is appended if it is new. */
static int find_event(struct dp_plan *plan, const struct dp_event *event, uint32_t *index, struct dp_err *err)
{
    size_t i = 0;
    while (i < plan->events && !dp_event_same(&plan->event[i], event))
        i++;
    *index = (uint32_t)i;
    if (i < plan->events)
        return DP_OK;
    int rc = dp_event_check(event, err);
    if (rc == DP_OK)
        dp_extend(&plan->event, &plan->event_capacity, plan->events + 1, sizeof *plan->event);
    if (rc == DP_OK)
        plan->event[plan->events++] = *event;
    return rc;
}

static int64_t begin_of(const struct dp_plan *plan, size_t span)
{
    return span > 0 ? plan->span[span - 1].end + 1 : 1;
}

static int add(struct dp_plan *plan, const struct dp_event *event, int64_t laps, bool rounded, struct dp_err *err)
{
    struct dp_plan_span *last = plan->spans > 0 ? &plan->span[plan->spans - 1] : NULL;
    uint32_t index;
    if (laps < 1 || plan->laps == DP_PLAN_OPEN || (laps != DP_PLAN_OPEN && laps > DP_EVENT_MOST_LAPS - plan->laps))
        return dp_fail(err, DP_E_RUN, "a plan cannot have %lld laps after %lld", (long long)laps, (long long)plan->laps);
    int rc = DP_OK;
    if (last == NULL || last->rounded != rounded || !dp_event_same(&plan->event[last->event], event)) {
        if (last != NULL &&
            !dp_event_may_follow(event, &plan->event[last->event], last->end + 1 - begin_of(plan, plan->spans - 1)))
            return dp_fail(err, DP_E_UNSAFE, "lap %lld has another mechanism in the middle of %s", (long long)plan->laps + 1,
                           dp_event_epoch_name(&plan->event[last->event]));
        rc = find_event(plan, event, &index, err);
        if (rc != DP_OK)
            return rc;
        dp_extend(&plan->span, &plan->span_capacity, plan->spans + 1, sizeof *plan->span);
        last = &plan->span[plan->spans++];
        *last = (struct dp_plan_span){.event = index, .rounded = rounded};
    }
    plan->laps = laps == DP_PLAN_OPEN ? laps : plan->laps + laps;
    last->end = plan->laps;
    return DP_OK;
}

int dp_plan_add(struct dp_plan *plan, const struct dp_event *event, int64_t laps, struct dp_err *err)
{
    return add(plan, event, laps, false, err);
}

/* Buckets in an octave: fewer if the multipliers are far apart, because work grows with their number. */
static double buckets_per_octave(double ratio)
{
    return fmin(PER_OCTAVE, BUCKETS / fmax(log2(ratio), 1));
}

/* Scaled multipliers must fall into the same buckets: a ratio that rounding puts just below a boundary counts as on it. */
static size_t step_of(double ratio, double per_octave)
{
    return (size_t)floor(per_octave * log2(ratio) + 1e-9);
}

static int check_multipliers(const double *multiplier, int64_t laps, double *least, double *ratio, struct dp_err *err)
{
    double most = 0;
    *least = INFINITY;
    for (int64_t t = 0; t < laps; t++) {
        if (!(multiplier[t] > 0 && isfinite(multiplier[t])))
            return dp_fail(err, DP_E_RUN, "the noise planned for lap %lld has a multiplier of %g", (long long)(t + 1),
                           multiplier[t]);
        *least = fmin(*least, multiplier[t]);
        most = fmax(most, multiplier[t]);
    }
    *ratio = most / *least;
    if (!(*ratio < 0x1p40))
        return dp_fail(err, DP_E_RUN, "the noise of a plan goes from %g to %g", *least, most);
    return DP_OK;
}

int dp_plan_round(const struct dp_event *event, double *multiplier, int64_t laps, struct dp_err *err)
{
    double least, ratio = 1, bucket[BUCKETS + 2];
    if (laps < 1)
        return dp_fail(err, DP_E_RUN, "a plan of no laps");
    if (event->query[0].kind != DP_QUERY_GAUSSIAN)
        return dp_fail(err, DP_E_UNSAFE, "only Gaussian noise may follow a schedule");
    int rc = check_multipliers(multiplier, laps, &least, &ratio, err);
    if (rc != DP_OK)
        return rc;
    double per_octave = buckets_per_octave(ratio);
    for (size_t i = 0; i < sizeof bucket / sizeof *bucket; i++)
        bucket[i] = INFINITY;
    int64_t together = dp_event_epoch(event);
    for (int64_t from = 0, to; from < laps; from = to) {
        double smallest = multiplier[from];
        to = together < laps - from ? from + together : laps;
        for (int64_t t = from; t < to; t++)
            smallest = fmin(smallest, multiplier[t]);
        for (int64_t t = from; t < to; t++)
            multiplier[t] = smallest;
        size_t step = step_of(smallest / least, per_octave);
        bucket[step] = fmin(bucket[step], smallest);
    }
    for (int64_t t = 0; t < laps; t++)
        multiplier[t] = bucket[step_of(multiplier[t] / least, per_octave)];
    return DP_OK;
}

int dp_plan_add_rounded(struct dp_plan *plan, const struct dp_event *event, const double *rounded, int64_t laps,
                        struct dp_err *err)
{
    struct dp_event one = *event;
    int rc = DP_OK;
    for (int64_t t = 0; rc == DP_OK && t < laps; t++) {
        one.query[0].multiplier = rounded[t];
        rc = add(plan, &one, 1, true, err);
    }
    return rc;
}

int dp_plan_add_scheduled(struct dp_plan *plan, const struct dp_event *event, const double *multiplier, int64_t laps,
                          struct dp_err *err)
{
    double *rounded = dp_new(laps > 0 ? (size_t)laps : 1, sizeof *rounded);
    for (int64_t t = 0; t < laps; t++)
        rounded[t] = multiplier[t];
    int rc = dp_plan_round(event, rounded, laps, err);
    rc = rc ?: dp_plan_add_rounded(plan, event, rounded, laps, err);
    free(rounded);
    return rc;
}

const struct dp_plan_span *dp_plan_at(const struct dp_plan *plan, int64_t lap)
{
    size_t low = 0, high = plan->spans - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (plan->span[middle].end < lap)
            low = middle + 1;
        else
            high = middle;
    }
    return &plan->span[low];
}

void dp_plan_count(const struct dp_plan *plan, int64_t laps, int64_t *count)
{
    for (size_t i = 0; i < plan->events; i++)
        count[i] = 0;
    for (size_t i = 0; i < plan->spans && begin_of(plan, i) <= laps; i++) {
        int64_t end = plan->span[i].end < laps ? plan->span[i].end : laps;
        count[plan->span[i].event] += end + 1 - begin_of(plan, i);
    }
}

int dp_plan_charges(const struct dp_plan *plan, int64_t laps, struct dp_charges *charges, struct dp_err *err)
{
    int64_t *count = dp_new(plan->events, sizeof *count);
    int rc = DP_OK;
    dp_plan_count(plan, laps, count);
    for (size_t i = 0; rc == DP_OK && i < plan->events; i++)
        if (count[i] > 0)
            rc = dp_charges_add(charges, &plan->event[i], count[i], err);
    free(count);
    return rc;
}

int dp_plan_continue(const struct dp_plan *plan, int64_t done, int64_t laps, struct dp_charges *charges, struct dp_err *err)
{
    int rc = DP_OK;
    int64_t *count = dp_new(2 * plan->events, sizeof *count);
    dp_plan_count(plan, laps, count);
    dp_plan_count(plan, done, count + plan->events);
    for (size_t i = 0; rc == DP_OK && i < plan->events; i++) {
        int64_t more = count[i] - count[plan->events + i],
                room = DP_EVENT_MOST_LAPS - dp_charges_laps(charges, &plan->event[i]);
        if (more > 0 && room > 0)
            rc = dp_charges_continue(charges, &plan->event[i], more < room ? more : room, err);
    }
    free(count);
    return rc;
}

#define HASH(state, value) dp_hash_add(state, &(value), sizeof(value))

static void hash_event(struct dp_hash *state, const struct dp_event *event)
{
    HASH(state, event->sampling);
    HASH(state, event->rate);
    HASH(state, event->epoch_laps);
    if (event->sampling == DP_SAMPLING_REPEATED) {
        HASH(state, event->draws);
        HASH(state, event->contraction);
    }
    HASH(state, event->queries);
    for (int i = 0; i < event->queries; i++) {
        const struct dp_query *query = &event->query[i];
        HASH(state, query->kind);
        for (int m = 0; m < DP_QUERY_MEMBER_COUNT; m++)
            if (dp_query_has(query->kind, (enum dp_query_member)m))
                dp_hash_add(state, dp_query_at(query, (enum dp_query_member)m), 8);
    }
}

void dp_plan_digest(const struct dp_plan *plan, unsigned char digest[DP_PLAN_DIGEST])
{
    struct dp_hash state;
    dp_hash_start(&state, NULL, 0, DP_PLAN_DIGEST);
    for (size_t i = 0; i < plan->spans; i++) {
        HASH(&state, plan->span[i].end);
        hash_event(&state, &plan->event[plan->span[i].event]);
    }
    dp_hash_end(&state, digest, DP_PLAN_DIGEST);
}
