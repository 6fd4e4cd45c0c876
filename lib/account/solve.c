#include "account/solve.h"

#include "priv/gdp.h"
#include "priv/pld_solve.h"
#include "base/round.h"

#define DELTA_DIGITS 6
#define RATE_DIGITS 9
#define MOST_LAPS 1000000000000

/* Epsilon of the charges at delta; infinite after a failure. */
static double cost_of(enum dp_accountant accountant, const struct dp_charges *charges, double delta, int *rc,
                      struct dp_err *err)
{
    struct dp_answer answer;
    *rc = dp_account_epsilon(accountant, charges, delta, &answer, err);
    return *rc == DP_OK ? answer.upper : (double)INFINITY;
}

static double cost(enum dp_accountant accountant, const struct dp_event *event, int64_t laps, double delta, int *rc,
                   struct dp_err *err)
{
    struct dp_charge charge = {*event, laps};
    struct dp_charges charges = {.count = 1, .capacity = 1, .charge = &charge};
    return cost_of(accountant, &charges, delta, rc, err);
}

/* Epsilon at one of many δ: a meter does not compute its curves again. */
static double cost_at(enum dp_accountant accountant, const struct dp_charges *charges, struct dp_meter *meter, double delta,
                      int *rc, struct dp_err *err)
{
    if (meter == NULL)
        return cost_of(accountant, charges, delta, rc, err);
    *rc = DP_OK;
    dp_meter_at(meter, delta);
    return dp_meter_epsilon(meter);
}

/* Searches by asking for epsilon. 1 if nothing less is known. */
static int search_delta(enum dp_accountant accountant, const struct dp_charges *charges, struct dp_meter *meter, double epsilon,
                        double *delta, struct dp_err *err)
{
    double low = log(1e-300), high = log(1 - 1e-9);
    int rc;
    *delta = 1;
    if (cost_at(accountant, charges, meter, exp(high), &rc, err) > epsilon)
        return rc;
    while (high - low > 1e-8) {
        double middle = 0.5 * (low + high), spent = cost_at(accountant, charges, meter, exp(middle), &rc, err);
        if (rc != DP_OK)
            return rc;
        if (spent <= epsilon)
            high = middle;
        else
            low = middle;
    }
    *delta = dp_round_up(exp(high), DELTA_DIGITS);
    if (*delta < 1 && cost_at(accountant, charges, meter, *delta, &rc, err) > epsilon)
        return rc != DP_OK ? rc : dp_fail(err, DP_E_RUN, "the search for a delta for epsilon %g did not settle", epsilon);
    *delta = fmin(*delta, 1);
    return DP_OK;
}

/* Whether the accountant, or one of the best, answers. */
static bool asks(enum dp_accountant accountant, enum dp_accountant one, const struct dp_charges *charges)
{
    return accountant == one || (accountant == DP_ACCOUNTANT_BEST && dp_account_covers(one, charges));
}

static int delta_of_plain(enum dp_accountant accountant, const struct dp_charges *charges, double epsilon,
                          struct dp_answer *answer, struct dp_err *err)
{
    *answer = (struct dp_answer){.upper = 1, .by = accountant};
    struct dp_answer pure;
    bool best = accountant == DP_ACCOUNTANT_BEST;
    int rc = DP_OK;
    if (asks(accountant, DP_ACCOUNTANT_PURE, charges)) {
        rc = dp_account_epsilon(DP_ACCOUNTANT_PURE, charges, 0, &pure, err);
        if (rc != DP_OK || pure.upper <= epsilon || !best) {
            *answer = (struct dp_answer){.upper = rc == DP_OK && pure.upper > epsilon, .tight = true, .by = DP_ACCOUNTANT_PURE};
            return rc;
        }
    }
    if (asks(accountant, DP_ACCOUNTANT_PROFILE, charges)) {
        rc = dp_account_profile_delta(charges, epsilon, answer, err);
        answer->upper = fmin(dp_round_up(answer->upper, DELTA_DIGITS), 1);
        return rc;
    }
    if (asks(accountant, DP_ACCOUNTANT_PLD, charges)) {
        rc = dp_account_pld_delta(charges, epsilon, answer, err);
        answer->upper = fmin(dp_round_up(answer->upper, DELTA_DIGITS), 1);
        if (rc != DP_OK || !best || answer->tight)
            return rc;
    }
    double delta;
    enum dp_accountant other = best ? DP_ACCOUNTANT_RDP : accountant;
    struct dp_meter *meter = NULL;
    rc = other == DP_ACCOUNTANT_RDP ? dp_account_meter(charges, 0.5, &meter, err) : DP_OK;
    rc = rc ?: search_delta(other, charges, meter, epsilon, &delta, err);
    dp_meter_free(meter);
    if (rc == DP_OK && delta < answer->upper) {
        answer->upper = delta;
        answer->by = other;
        answer->tight = answer->upper - answer->lower <= 0.01 * answer->upper;
    }
    return rc;
}

/* A release that has a delta of its own is a plain one except with that probability, unless a formula knows better. */
int dp_solve_delta(enum dp_accountant accountant, const struct dp_charges *charges, double epsilon, struct dp_answer *answer,
                   struct dp_err *err)
{
    struct dp_charges plain = {0};
    double own = 0;
    int rc = asks(accountant, DP_ACCOUNTANT_PROFILE, charges) ? DP_OK : dp_charges_without_delta(charges, &plain, &own, err);
    rc = rc ?: delta_of_plain(accountant, own > 0 ? &plain : charges, epsilon, answer, err);
    if (rc == DP_OK && own > 0) {
        answer->upper = fmin(dp_round_up(answer->upper + own, DELTA_DIGITS), 1);
        answer->lower = 0;
        answer->tight = false;
    }
    dp_charges_free(&plain);
    return rc;
}

double dp_group_growth(double epsilon, int64_t people)
{
    double k = (double)people;
    double growth = epsilon > 0 ? (k - 1) * epsilon + log(expm1(-k * epsilon) / expm1(-epsilon)) : log(k);
    return growth + 1e-12 * (1 + k * epsilon);
}

/* k x, rounded up, by the accountant of x. */
static struct dp_answer times(int64_t people, double x, enum dp_accountant by)
{
    double k = (double)people, product = k * x;
    if (fma(k, x, -product) > 0)
        product = nextafter(product, (double)INFINITY);
    return (struct dp_answer){.upper = product, .by = by};
}

int dp_solve_group(const struct dp_charges *charges, int64_t people, double delta, struct dp_answer *answer, bool *exact,
                   struct dp_err *err)
{
    enum { TRIES = 60 };
    double mu, epsilon = 0;
    struct dp_answer pure = {.upper = (double)INFINITY};
    *exact = dp_account_gaussian_mu(charges, &mu);
    if (*exact || people == 1) {
        int rc = dp_account_epsilon(DP_ACCOUNTANT_BEST, charges, delta, answer, err);
        if (rc == DP_OK && *exact) /* k shifts of at most μ are one of at most kμ */
            *answer =
                (struct dp_answer){dp_gaussian_epsilon((double)people * mu * (1 + 1e-15), delta), 0, false, DP_ACCOUNTANT_GDP};
        return rc;
    }
    if (delta == 0 || dp_account_covers(DP_ACCOUNTANT_PURE, charges)) {
        int rc = dp_account_epsilon(DP_ACCOUNTANT_PURE, charges, 0, &pure, err);
        *answer = times(people, pure.upper, DP_ACCOUNTANT_PURE);
        if (rc != DP_OK || delta == 0)
            return rc;
    }
    for (int i = 0; i < TRIES; i++) {
        double share = delta * exp(-dp_group_growth(epsilon, people));
        *answer = (struct dp_answer){.upper = (double)INFINITY};
        int rc = share > 1e-300 ? dp_account_epsilon(DP_ACCOUNTANT_BEST, charges, share, answer, err) : DP_OK;
        if (rc != DP_OK)
            return rc;
        if (!isfinite(answer->upper) || answer->upper <= epsilon || epsilon >= pure.upper) {
            double x = isfinite(answer->upper) ? epsilon : answer->upper;
            *answer = x < pure.upper ? times(people, x, answer->by) : times(people, pure.upper, DP_ACCOUNTANT_PURE);
            return DP_OK;
        }
        epsilon = answer->upper * (1 + 1e-7 * i);
    }
    return dp_fail(err, DP_E_RUN, "the search for the epsilon of %lld people did not settle", (long long)people);
}

/* Turns one event into one part of a privacy loss distribution, for the accountants that use such parts. */
static bool one_part(enum dp_accountant accountant, const struct dp_event *event, int64_t laps, struct dp_pld_part *part)
{
    struct dp_charge charge = {*event, laps};
    struct dp_charges charges = {.count = 1, .capacity = 1, .charge = &charge};
    size_t count;
    if (dp_event_in_epochs(event) || !(accountant == DP_ACCOUNTANT_PLD ||
                                       (accountant == DP_ACCOUNTANT_BEST && !dp_account_covers(DP_ACCOUNTANT_GDP, &charges))))
        return false;
    struct dp_pld_part *parts = dp_account_pld_parts(&charges, &count);
    /* A part with a sampled epsilon cannot be asked about another rate. */
    bool one = parts != NULL && count == 1 && parts[0].rate == event->rate;
    if (one)
        *part = parts[0];
    free(parts);
    return one;
}

int dp_solve_laps(enum dp_accountant accountant, const struct dp_event *event, double epsilon, double delta, int64_t *laps,
                  struct dp_err *err)
{
    int64_t low = 0, high = 1; /* low is affordable */
    struct dp_pld_part part;
    int rc = DP_OK;
    if (delta > 0 && one_part(accountant, event, 1, &part)) {
        rc = dp_pld_laps(&part, epsilon, delta, &low, err);
        *laps = low;
        if (rc != DP_OK || cost(accountant, event, low, delta, &rc, err) <= epsilon)
            return rc;
        low = 0;
    }
    while (high < MOST_LAPS && cost(accountant, event, high, delta, &rc, err) <= epsilon) {
        low = high;
        high = 2 * high < MOST_LAPS ? 2 * high : MOST_LAPS;
    }
    if (rc == DP_OK && high == MOST_LAPS && cost(accountant, event, high, delta, &rc, err) <= epsilon)
        low = high;
    while (rc == DP_OK && high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (cost(accountant, event, middle, delta, &rc, err) <= epsilon)
            low = middle;
        else
            high = middle;
    }
    *laps = low;
    return rc;
}

int dp_solve_rate(enum dp_accountant accountant, const struct dp_event *event, int64_t laps, double epsilon, double delta,
                  double *rate, struct dp_err *err)
{
    struct dp_event tried = *event;
    double low = log(1e-12), high = 0;
    int rc;
    struct dp_pld_part part;
    tried.rate = 0.5;
    if (delta > 0 && one_part(accountant, &tried, laps, &part)) {
        rc = dp_pld_rate(&part, epsilon, delta, &tried.rate, err);
        *rate = tried.rate;
        if (rc != DP_OK || cost(accountant, &tried, laps, delta, &rc, err) <= epsilon)
            return rc;
    }
    tried.rate = 1;
    if (cost(accountant, &tried, laps, delta, &rc, err) <= epsilon) {
        *rate = 1;
        return DP_OK;
    }
    if (rc != DP_OK)
        return rc;
    tried.rate = exp(low);
    if (cost(accountant, &tried, laps, delta, &rc, err) > epsilon)
        return rc != DP_OK ? rc
                           : dp_fail(err, DP_E_RUN, "no sampling rate reaches epsilon %g at delta %g over %lld laps", epsilon,
                                     delta, (long long)laps);
    while (high - low > 1e-10) {
        tried.rate = exp(0.5 * (low + high));
        double spent = cost(accountant, &tried, laps, delta, &rc, err);
        if (rc != DP_OK)
            return rc;
        if (spent <= epsilon)
            low = 0.5 * (low + high);
        else
            high = 0.5 * (low + high);
    }
    *rate = tried.rate = dp_round_down(exp(low), RATE_DIGITS);
    if (cost(accountant, &tried, laps, delta, &rc, err) > epsilon)
        return rc != DP_OK ? rc : dp_fail(err, DP_E_RUN, "the search for a rate for epsilon %g did not settle", epsilon);
    return DP_OK;
}
