#include "gate/least.h"

#include "account/account.h"
#include "account/curve.h"
#include "base/round.h"

enum { DIGITS = 3 };
static const double most_budget = 1e9;

/* *pays: a filter with that budget admits all charges. */
static int filter_pays(double epsilon, double delta, const struct dp_charges *once, bool *pays, struct dp_err *err)
{
    struct dp_filter filter = dp_filter_new(epsilon, delta);
    int rc = DP_OK;
    *pays = filter.allowance > 0;
    for (size_t i = 0; rc == DP_OK && *pays && i < once->count; i++) {
        double r;
        rc = dp_event_curve(&once->charge[i].event, &filter.order, 1, &r, err);
        for (int64_t lap = 0; rc == DP_OK && *pays && lap < once->charge[i].laps; lap++)
            *pays = dp_filter_spend(&filter, r);
    }
    return rc;
}

/* *least: the smallest budget whose filter admits all charges, infinite if no budget does. The order follows from the budget,
   so the rounded number is tried again. */
static int least_of_filter(double delta, const struct dp_charges *once, double *least, struct dp_err *err)
{
    double low = 0, high = 1;
    bool pays;
    int rc = filter_pays(high, delta, once, &pays, err);
    while (rc == DP_OK && !pays && high < most_budget) {
        low = high;
        high *= 2;
        rc = filter_pays(high, delta, once, &pays, err);
    }
    *least = (double)INFINITY;
    if (rc != DP_OK || !pays)
        return rc;
    while (rc == DP_OK && high - low > 1e-4 * high) {
        double middle = (low + high) / 2;
        rc = filter_pays(middle, delta, once, &pays, err);
        *(pays ? &high : &low) = middle;
    }
    *least = dp_round_up(high, DIGITS);
    for (pays = false; rc == DP_OK && !pays;) {
        rc = filter_pays(*least, delta, once, &pays, err);
        if (rc == DP_OK && !pays)
            *least = dp_round_up(nextafter(*least, (double)INFINITY), DIGITS);
    }
    return rc;
}

static int metered(const struct dp_charges *once, double delta, double *epsilon, struct dp_err *err)
{
    struct dp_meter *meter;
    int rc = dp_meter_new(&meter, delta, err);
    if (rc != DP_OK)
        return rc;
    for (size_t i = 0; rc == DP_OK && i < once->count; i++)
        rc = dp_meter_charge(meter, &once->charge[i].event, once->charge[i].laps, err);
    *epsilon = dp_meter_epsilon(meter);
    dp_meter_free(meter);
    return rc;
}

/* Epsilon of the charges, by the accountant that charges the run. */
static int cost_of(const struct dp_spend *s, const struct dp_charges *once, double *epsilon, struct dp_err *err)
{
    bool searched = s->plan->laps <= DP_SPEND_SEARCHED;
    struct dp_answer answer = {.upper = (double)INFINITY};
    if (!searched)
        return metered(once, s->delta, epsilon, err);
    int rc = dp_account_epsilon(DP_ACCOUNTANT_BEST, once, s->delta, &answer, err);
    *epsilon = answer.upper;
    return rc;
}

int dp_least_check(const struct dp_spend *s, const struct dp_charges *once, int kinds, struct dp_err *err)
{
    const char *laps = kinds > 1 ? "one lap of each kind" : "one lap";
    bool filtered = s->adaptive, pays = false;
    double least = (double)INFINITY;
    if (s->limit != DP_PLAN_OPEN && s->limit == s->plan->laps) /* all of them */
        return DP_OK;
    int rc = filtered ? filter_pays(s->budget, s->delta, once, &pays, err) : cost_of(s, once, &least, err);
    if (rc != DP_OK || pays || (!filtered && least <= s->budget))
        return rc;
    if (filtered)
        rc = least_of_filter(s->delta, once, &least, err);
    else
        least = dp_round_up(least, DIGITS);
    if (rc != DP_OK)
        return rc;
    return isfinite(least) ? dp_fail(err, DP_E_BUDGET, "the budget of epsilon = %g does not pay for %s; epsilon = %g would",
                                     s->budget, laps, least)
                           : dp_fail(err, DP_E_BUDGET, "no budget pays for %s", laps);
}
