#include "gate/spend.h"

#include "account/account.h"
#include "account/curve.h"
#include "account/prefixes.h"
#include "account/solve.h"

/* Epsilon of the first `laps` laps and of the lost ones by the best accountant. */
static int best_of(const struct dp_spend *s, int64_t laps, const struct dp_charges *lost, double *epsilon, struct dp_err *err)
{
    struct dp_charges charges = {0};
    struct dp_answer answer = {.upper = (double)INFINITY};
    int rc = dp_plan_charges(s->plan, laps, &charges, err);
    rc = rc ?: dp_charges_add_all(&charges, dp_charges_add, lost, err);
    rc = rc ?: dp_account_epsilon(DP_ACCOUNTANT_BEST, &charges, s->delta, &answer, err);
    dp_charges_free(&charges);
    *epsilon = answer.upper;
    return rc;
}

/* The same by Rényi DP, which takes no time for any number of laps. The meter is empty afterwards. */
static int metered(const struct dp_spend *s, int64_t laps, const struct dp_charges *lost, double *epsilon, struct dp_err *err)
{
    struct dp_charges charges = {0};
    int rc = dp_plan_charges(s->plan, laps, &charges, err);
    dp_meter_clear(s->meter);
    for (size_t i = 0; rc == DP_OK && i < charges.count; i++)
        rc = dp_meter_charge(s->meter, &charges.charge[i].event, charges.charge[i].laps, err);
    for (size_t i = 0; rc == DP_OK && i < lost->count; i++)
        rc = dp_meter_charge(s->meter, &lost->charge[i].event, lost->charge[i].laps, err);
    *epsilon = dp_meter_epsilon(s->meter);
    dp_meter_clear(s->meter);
    dp_charges_free(&charges);
    return rc;
}

/* The last lap of the shuffled epoch of lap `at`, but at most `laps`. Without epochs it is `at`. */
static int64_t end_of_epoch(const struct dp_plan *plan, int64_t at, int64_t laps)
{
    const struct dp_plan_span *span = dp_plan_at(plan, at);
    int64_t epoch = dp_event_epoch(&plan->event[span->event]), before = span > plan->span ? span[-1].end : 0;
    int64_t end = before + (at - before + epoch - 1) / epoch * epoch;
    return end < laps ? end : laps;
}

/* Epsilon at some numbers of laps up to `laps`, chosen so that epsilon, which grows about as their root, grows by equal steps.
   With shuffled epochs the points are ends of epochs, because the first lap of an epoch pays for all of it. */
static int set_course(struct dp_spend *s, int64_t laps, struct dp_err *err)
{
    s->limit = laps;
    s->points = 0;
    for (int i = 1; i <= DP_SPEND_POINTS; i++) {
        double part = (double)i / DP_SPEND_POINTS;
        int64_t at = i == DP_SPEND_POINTS ? laps : (int64_t)ceil((double)laps * part * part);
        at = end_of_epoch(s->plan, at, laps);
        if (s->points == 0 || at > s->point[s->points - 1])
            s->point[s->points++] = at;
    }
    int rc = dp_account_prefixes(s->plan, s->point, (size_t)s->points, s->delta, s->along, err);
    s->whole = rc == DP_OK ? s->along[s->points - 1] : (double)INFINITY;
    return rc;
}

/* A bound on the cost of the first `laps` laps: the cost at the next computed point. */
static double course_at(const struct dp_spend *s, int64_t laps)
{
    for (int i = 0; i < s->points; i++)
        if (laps <= s->point[i])
            return s->along[i];
    return (double)INFINITY;
}

/* The most laps, from `low` to `high`, that the budget affords with the lost ones; low if it does not afford them either. */
static int search(struct dp_spend *s, int64_t low, int64_t high, const struct dp_charges *lost, struct dp_err *err)
{
    bool best = s->plan->laps <= DP_SPEND_SEARCHED;
    int64_t step = 1;
    high++; /* low is affordable, high is not */
    while (high - low > 1) {
        /* Doubled steps first: the end of an open run is far away. */
        int64_t middle = step < (high - low) / 2 && !best ? low + step : low + (high - low) / 2;
        double after;
        int rc = best ? best_of(s, middle, lost, &after, err) : metered(s, middle, lost, &after, err);
        if (rc != DP_OK)
            return rc;
        *(after <= s->budget ? &low : &high) = middle;
        step *= 2;
    }
    s->limit = low;
    return DP_OK;
}

/* How many of the run's laps the budget affords, and what they cost along the way. */
static int set_limit(struct dp_spend *s, struct dp_err *err)
{
    const struct dp_charges none = {0};
    int64_t most = s->plan->laps < DP_EVENT_MOST_LAPS ? s->plan->laps : DP_EVENT_MOST_LAPS;
    int rc = s->plan->laps != DP_PLAN_OPEN ? set_course(s, most, err) : DP_OK;
    if (rc != DP_OK || s->whole <= s->budget)
        return rc;
    s->points = 0;
    s->whole = (double)INFINITY;
    if (most <= DP_SPEND_SEARCHED && s->plan->events == 1)
        rc = dp_solve_laps(DP_ACCOUNTANT_BEST, &s->plan->event[0], s->budget, s->delta, &s->limit, err);
    else
        rc = search(s, 0, most, &none, err);
    return rc == DP_OK && s->limit > 0 && most <= DP_SPEND_SEARCHED ? set_course(s, s->limit, err) : rc;
}

int dp_spend_open(struct dp_spend *s, double epsilon, double delta, const struct dp_plan *plan, struct dp_err *err)
{
    *s = (struct dp_spend){.budget = epsilon,
                           .delta = delta,
                           .adaptive = plan == NULL,
                           .plan = plan,
                           .limit = DP_PLAN_OPEN,
                           .whole = (double)INFINITY};
    if (plan == NULL) {
        s->filter = dp_filter_new(epsilon, delta);
        return DP_OK;
    }
    int rc = dp_meter_new(&s->meter, delta, err);
    return rc ?: set_limit(s, err);
}

void dp_spend_close(struct dp_spend *s)
{
    dp_meter_free(s->meter);
}

/* *r: the cost of a lap of the event at the order of the filter. */
static int price_of(struct dp_spend *s, const struct dp_event *event, double *r, struct dp_err *err)
{
    struct dp_price *new = &s->price[s->next_price];
    for (int i = 0; i < s->prices; i++)
        if (dp_event_same(&s->price[i].event, event)) {
            *r = s->price[i].r;
            return DP_OK;
        }
    int rc = dp_event_curve(event, &s->filter.order, 1, r, err);
    if (rc != DP_OK)
        return rc;
    *new = (struct dp_price){*event, *r};
    s->next_price = (s->next_price + 1) % DP_SPEND_PRICES;
    s->prices += s->prices < DP_SPEND_PRICES;
    return DP_OK;
}

static int lap_of_filter(struct dp_spend *s, const struct dp_event *event, struct dp_err *err)
{
    double r;
    if (dp_event_in_epochs(event))
        return dp_fail(err, DP_E_UNSAFE, "--adaptive: noise that changes has no accountant with %s",
                       event->sampling == DP_SAMPLING_STREAM ? "a stream" : "shuffled epochs");
    int rc = price_of(s, event, &r, err);
    if (rc != DP_OK)
        return rc;
    if (!dp_filter_spend(&s->filter, r))
        return DP_SPENT;
    /* The sum of the laps depends on released values, so only the budget may be stated. */
    s->epsilon = s->budget;
    s->laps++;
    return DP_OK;
}

int dp_spend_lap(struct dp_spend *s, const struct dp_event *event, struct dp_err *err)
{
    if (s->adaptive)
        return lap_of_filter(s, event, err);
    if (s->laps >= s->limit)
        return DP_SPENT;
    double planned = course_at(s, s->laps + 1);
    int rc = dp_meter_charge(s->meter, dp_plan_event(s->plan, s->laps + 1), 1, err);
    if (rc != DP_OK)
        return rc;
    /* Both numbers bound the first laps of a run that ends as planned, and neither decreases. */
    s->laps++;
    s->epsilon = fmin(dp_meter_epsilon(s->meter), planned);
    return DP_OK;
}

int dp_spend_resume(struct dp_spend *s, int64_t laps, double spent, struct dp_err *err)
{
    int rc = DP_OK;
    if (s->adaptive) {
        s->filter.spent = spent;
        s->laps = laps;
        if (laps > 0)
            s->epsilon = s->budget;
        return DP_OK;
    }
    if (laps > s->plan->laps)
        return dp_fail(err, DP_E_UNSAFE, "the checkpoint is of a longer run");
    /* Charges lap by lap, as the run did, so that the cost is the same to the last bit. */
    while (rc == DP_OK && s->laps < laps)
        rc = dp_meter_charge(s->meter, dp_plan_event(s->plan, ++s->laps), 1, err);
    if (rc == DP_OK && laps > 0)
        s->epsilon = fmin(dp_meter_epsilon(s->meter), course_at(s, laps));
    return rc;
}

/* The laps that the budget affords with the lost ones, and the cost of the end, which bounds earlier laps, too. */
static int lower_limit(struct dp_spend *s, const struct dp_charges *lost, struct dp_err *err)
{
    bool best = s->plan->laps <= DP_SPEND_SEARCHED || s->points > 0;
    int rc = best ? best_of(s, s->limit, lost, &s->whole, err) : metered(s, s->limit, lost, &s->whole, err);
    if (rc == DP_OK && s->whole > s->budget) {
        rc = search(s, s->laps, s->limit, lost, err);
        rc = rc ?: best ? best_of(s, s->limit, lost, &s->whole, err) : metered(s, s->limit, lost, &s->whole, err);
    }
    s->points = best;
    s->point[0] = s->limit;
    s->along[0] = s->whole;
    return rc;
}

int dp_spend_lost(struct dp_spend *s, const struct dp_charges *lost, struct dp_err *err)
{
    int rc = DP_OK;
    if (lost->count == 0)
        return DP_OK;
    if (!s->adaptive)
        rc = lower_limit(s, lost, err);
    for (int64_t lap = 1; rc == DP_OK && !s->adaptive && lap <= s->laps; lap++)
        rc = dp_meter_charge(s->meter, dp_plan_event(s->plan, lap), 1, err);
    for (size_t i = 0; rc == DP_OK && i < lost->count; i++) {
        const struct dp_charge *paid = &lost->charge[i];
        double r;
        if (!s->adaptive) {
            rc = dp_meter_charge(s->meter, &paid->event, paid->laps, err);
            continue;
        }
        rc = price_of(s, &paid->event, &r, err);
        if (rc == DP_OK && !dp_filter_spend(&s->filter, nextafter(r * (double)paid->laps, (double)INFINITY)))
            s->filter.spent = s->filter.allowance;
    }
    return rc;
}
