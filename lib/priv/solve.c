#include "priv/solve.h"

#include <math.h>

#include "priv/calibrate.h"

#define DELTA_DIGITS 6
#define RATE_DIGITS 9
#define MOST_LAPS 1000000000000

double dp_round_down(double value, int digits)
{
    double up = dp_round_up(value, digits);
    if (up <= value)
        return up;
    /* One unit of the last digit lower is a decimal that rounding up leaves alone. */
    double unit = pow(10, floor(log10(up)) - (digits - 1));
    double down = dp_round_up(up - 1.5 * unit, digits);
    return down <= value ? down : dp_round_up(up - 2.5 * unit, digits);
}

/* Epsilon of `laps` events at delta, or a negative status in *rc. */
static double cost(enum dp_accountant_kind kind, const struct dp_event *event, int64_t laps, double delta, int *rc,
                   struct dp_err *err)
{
    struct dp_accountant *accountant;
    *rc = dp_accountant_new(&accountant, kind, event, delta, err);
    if (*rc != DP_OK)
        return INFINITY;
    double epsilon = dp_accountant_epsilon(accountant, laps);
    dp_accountant_free(accountant);
    return epsilon;
}

int dp_solve_delta(enum dp_accountant_kind kind, const struct dp_event *event, int64_t laps, double epsilon,
                   double *delta, struct dp_err *err)
{
    double low = log(1e-300), high = log(0.5);
    int rc;
    if (cost(kind, event, laps, exp(high), &rc, err) > epsilon)
        return rc != DP_OK ? rc : dp_fail(err, DP_E_RUN, "epsilon %g does not hold at any delta up to 1/2", epsilon);
    while (high - low > 1e-8) {
        double middle = 0.5 * (low + high), spent = cost(kind, event, laps, exp(middle), &rc, err);
        if (rc != DP_OK)
            return rc;
        if (spent <= epsilon)
            high = middle;
        else
            low = middle;
    }
    *delta = dp_round_up(exp(high), DELTA_DIGITS);
    if (cost(kind, event, laps, *delta, &rc, err) > epsilon)
        return rc != DP_OK ? rc : dp_fail(err, DP_E_RUN, "the search for a delta for epsilon %g did not settle", epsilon);
    return DP_OK;
}

int dp_solve_laps(enum dp_accountant_kind kind, const struct dp_event *event, double epsilon, double delta,
                  int64_t *laps, struct dp_err *err)
{
    struct dp_accountant *accountant;
    int64_t low = 0, high = 1;
    int rc = dp_accountant_new(&accountant, kind, event, delta, err);
    if (rc != DP_OK)
        return rc;
    while (high < MOST_LAPS && dp_accountant_epsilon(accountant, high) <= epsilon) {
        low = high;
        high = 2 * high < MOST_LAPS ? 2 * high : MOST_LAPS;
    }
    if (high == MOST_LAPS && dp_accountant_epsilon(accountant, high) <= epsilon)
        low = high;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (dp_accountant_epsilon(accountant, middle) <= epsilon)
            low = middle;
        else
            high = middle;
    }
    dp_accountant_free(accountant);
    *laps = low;
    return DP_OK;
}

int dp_solve_rate(enum dp_accountant_kind kind, const struct dp_event *event, int64_t laps, double epsilon, double delta,
                  double *rate, struct dp_err *err)
{
    struct dp_event tried = *event;
    double low = log(1e-12), high = 0;
    int rc;
    tried.rate = 1;
    if (cost(kind, &tried, laps, delta, &rc, err) <= epsilon) {
        *rate = 1;
        return DP_OK;
    }
    if (rc != DP_OK)
        return rc;
    tried.rate = exp(low);
    if (cost(kind, &tried, laps, delta, &rc, err) > epsilon)
        return rc != DP_OK ? rc : dp_fail(err, DP_E_RUN, "no sampling rate reaches epsilon %g at delta %g over %lld laps",
                                          epsilon, delta, (long long)laps);
    while (high - low > 1e-10) {
        tried.rate = exp(0.5 * (low + high));
        double spent = cost(kind, &tried, laps, delta, &rc, err);
        if (rc != DP_OK)
            return rc;
        if (spent <= epsilon)
            low = 0.5 * (low + high);
        else
            high = 0.5 * (low + high);
    }
    *rate = tried.rate = dp_round_down(exp(low), RATE_DIGITS);
    if (cost(kind, &tried, laps, delta, &rc, err) > epsilon)
        return rc != DP_OK ? rc : dp_fail(err, DP_E_RUN, "the search for a rate for epsilon %g did not settle", epsilon);
    return DP_OK;
}
