#include "account/profile.h"

#include "account/curve.h"
#include "account/kinds.h"
#include "math/bracket.h"
#include "priv/repeated.h"

static const double LARGEST_EPSILON = 1e9;

static bool has_profile(const struct dp_event *event)
{
    if (event->sampling == DP_SAMPLING_REPEATED)
        return true;
    bool whole = event->sampling == DP_SAMPLING_NONE || dp_event_in_epochs(event);
    return whole && event->queries == 1 && dp_kinds[event->query[0].kind].delta != NULL;
}

const struct dp_event *dp_profile_event(const struct dp_charges *charges)
{
    const struct dp_event *event = NULL;
    for (size_t i = 0; i < charges->count; i++) {
        int64_t times = dp_event_times(&charges->charge[i].event, charges->charge[i].laps);
        if (times == 0)
            continue;
        if (times > 1 || event != NULL)
            return NULL;
        event = &charges->charge[i].event;
    }
    return event != NULL && has_profile(event) ? event : NULL;
}

/* The law of the sum over draws; returns the multiplier of the noise on it. */
static double repeated(const struct dp_event *event, struct dp_repeated_law *law)
{
    double z = 0;
    dp_repeated_law(&(struct dp_repeated){event->rate, event->draws, event->contraction}, law);
    dp_event_is_gaussian(event, &z);
    return z;
}

double dp_profile_delta(const struct dp_event *event, double epsilon)
{
    struct dp_repeated_law law;
    if (event->sampling == DP_SAMPLING_REPEATED) {
        double z = repeated(event, &law);
        return dp_repeated_delta(&law, z, epsilon);
    }
    const struct dp_query *query = &event->query[0];
    return dp_kinds[query->kind].delta(query, epsilon);
}

struct question {
    const struct dp_event *event;
    double delta;
};

static double excess(double epsilon, void *context)
{
    const struct question *q = context;
    return log(dp_profile_delta(q->event, epsilon) / q->delta);
}

double dp_profile_epsilon(const struct dp_event *event, double delta)
{
    struct dp_repeated_law law;
    if (event->sampling == DP_SAMPLING_REPEATED) {
        double z = repeated(event, &law);
        return dp_repeated_epsilon(&law, z, delta);
    }
    struct question q = {event, delta};
    return dp_bracket_smallest(excess, &q, LARGEST_EPSILON);
}

double dp_profile_query_epsilon(const struct dp_query *query, double delta)
{
    struct dp_event event = {.sampling = DP_SAMPLING_NONE, .rate = 1, .queries = 1, .query = {*query}};
    return dp_profile_epsilon(&event, delta);
}
