#include "gate/spend.h"

#include "base/mem.h"
#include "account/account.h"
#include "account/curve.h"
#include "account/prefixes.h"
#include "account/solve.h"

/* Epsilon of the first `laps` laps by the best accountant; infinite after a failure. */
static double best_of_prefix(const struct dp_spend *s, int64_t laps, int *rc, struct dp_err *err)
{
    struct dp_charges charges = {0};
    struct dp_answer answer = {.upper = (double)INFINITY};
    *rc = dp_plan_charges(s->plan, laps, &charges, err);
    if (*rc == DP_OK)
        *rc = dp_account_epsilon(DP_ACCOUNTANT_BEST, &charges, s->delta, &answer, err);
    dp_charges_free(&charges);
    return answer.upper;
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

/* How many of the run's laps the budget affords, and what they cost along the way. For a very long run this search
   is too expensive: Rényi accounting then finds the last affordable lap while the run continues. */
static int set_limit(struct dp_spend *s, int64_t laps, struct dp_err *err)
{
    int rc = set_course(s, laps, err);
    if (s->whole <= s->budget || rc != DP_OK)
        return rc;
    s->points = 0;
    s->whole = (double)INFINITY;
    if (laps > DP_SPEND_SEARCHED)
        return DP_OK;
    int64_t low = 0, high = laps; /* low is affordable, high is not */
    if (s->plan->events == 1) {
        rc = dp_solve_laps(DP_ACCOUNTANT_BEST, &s->plan->event[0], s->budget, s->delta, &low, err);
        high = low + 1;
        if (rc != DP_OK)
            return rc;
    }
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        double after = best_of_prefix(s, middle, &rc, err);
        if (rc != DP_OK)
            return rc;
        if (after <= s->budget)
            low = middle;
        else
            high = middle;
    }
    s->limit = low;
    return low > 0 ? set_course(s, low, err) : DP_OK;
}

/* Opens the meter, and asks the best accountant about the plan. */
static int open_plan(struct dp_spend *s, struct dp_err *err)
{
    int rc = dp_meter_new(&s->meter, DP_METER_RDP, s->delta, err);
    if (rc == DP_OK && s->plan->laps != DP_PLAN_OPEN)
        rc = set_limit(s, s->plan->laps, err);
    rc = rc ?: dp_alloc(&s->left, s->plan->events, sizeof *s->left, err);
    if (rc == DP_OK && s->limit != DP_PLAN_OPEN)
        dp_plan_count(s->plan, s->limit, s->left);
    return rc;
}

int dp_spend_open(struct dp_spend *s, double epsilon, double delta, const struct dp_plan *plan, struct dp_err *err)
{
    *s = (struct dp_spend){.budget = epsilon,
                           .delta = delta,
                           .adaptive = plan == NULL,
                           .plan = plan,
                           .limit = DP_PLAN_OPEN,
                           .whole = (double)INFINITY};
    if (plan != NULL)
        return open_plan(s, err);
    s->filter = dp_filter_new(epsilon, delta);
    return DP_OK;
}

void dp_spend_close(struct dp_spend *s)
{
    dp_meter_free(s->meter);
    free(s->left);
}

struct dp_spend_next dp_spend_next(const struct dp_spend *s, const struct dp_event *own)
{
    struct dp_spend_next next = {own, 1, DP_PLAN_OPEN};
    if (s->adaptive)
        return next;
    const struct dp_plan_span *span = dp_plan_at(s->plan, s->laps + 1);
    next.event = &s->plan->event[span->event];
    if (s->limit == DP_PLAN_OPEN)
        return next;
    next.left = s->left[span->event];
    next.together = (span->end < s->limit ? span->end : s->limit) - s->laps;
    return next;
}

const char *dp_spend_accountant(const struct dp_spend *s)
{
    return dp_accountant_names[s->adaptive ? DP_ACCOUNTANT_FILTER : DP_ACCOUNTANT_RDP];
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

/* Counts a lap of an event of the plan. */
static void note_lap(struct dp_spend *s, const struct dp_event *event)
{
    s->laps++;
    if (s->limit != DP_PLAN_OPEN)
        s->left[event - s->plan->event]--;
}

int dp_spend_lap(struct dp_spend *s, const struct dp_event *event, struct dp_err *err)
{
    if (s->adaptive)
        return lap_of_filter(s, event, err);
    double course = course_at(s, s->laps + 1);
    int rc = dp_meter_charge(s->meter, event, 0, err);
    if (rc != DP_OK)
        return rc;
    /* Both numbers bound the first laps of a run that ends as planned, and neither decreases. */
    double after = fmin(dp_meter_epsilon_after(s->meter, 1), course);
    if (s->laps >= s->limit || !(after <= s->budget))
        return DP_SPENT;
    rc = dp_meter_charge(s->meter, event, 1, err);
    if (rc == DP_OK)
        note_lap(s, event);
    s->epsilon = after;
    return rc;
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
    while (rc == DP_OK && s->laps < laps) {
        const struct dp_event *event = dp_plan_event(s->plan, s->laps + 1);
        rc = dp_meter_charge(s->meter, event, 1, err);
        note_lap(s, event);
    }
    if (rc == DP_OK && laps > 0)
        s->epsilon = fmin(dp_meter_epsilon(s->meter), course_at(s, laps));
    return rc;
}

/* Computes the cost of the whole run with the lost laps: by the best accountant, or by the meter if that is too slow. */
static int whole_with(struct dp_spend *s, const struct dp_charges *lost, struct dp_err *err)
{
    struct dp_charges charges = {0};
    struct dp_answer answer = {.upper = (double)INFINITY};
    int rc = dp_plan_charges(s->plan, s->limit, &charges, err);
    for (size_t i = 0; rc == DP_OK && i < lost->count; i++)
        rc = dp_charges_add(&charges, &lost->charge[i].event, lost->charge[i].laps, err);
    rc = rc ?: dp_account_epsilon(DP_ACCOUNTANT_BEST, &charges, s->delta, &answer, err);
    dp_charges_free(&charges);
    s->whole = answer.upper <= s->budget ? answer.upper : (double)INFINITY;
    s->points = isfinite(s->whole) ? 1 : 0; /* the epsilon of the end bounds earlier laps, too */
    s->point[0] = s->limit;
    s->along[0] = s->whole;
    return rc;
}

int dp_spend_lost(struct dp_spend *s, const struct dp_charges *lost, struct dp_err *err)
{
    int rc = DP_OK;
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
    if (rc == DP_OK && lost->count > 0 && s->points > 0)
        rc = whole_with(s, lost, err);
    return rc;
}
