#include "priv/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define DIGITS 9
#define LEAST 1e-3
#define MOST 1e9

double dp_round_up(double value, int digits)
{
    if (!(value > 0) || !isfinite(value))
        return value;
    char text[40];
    snprintf(text, sizeof text, "%.*e", digits - 1, value);
    double rounded = strtod(text, NULL);
    if (rounded >= value)
        return rounded;
    double unit = pow(10, floor(log10(value)) - (digits - 1));
    snprintf(text, sizeof text, "%.*e", digits - 1, rounded + unit);
    return strtod(text, NULL);
}

/* 1 when z meets the target, 0 when not, or a negative status. */
static int meets(enum dp_accountant_kind kind, const struct dp_event *event, int64_t laps, double epsilon, double delta,
                 double z, struct dp_err *err)
{
    struct dp_accountant *accountant;
    struct dp_event tried = *event;
    tried.multiplier = z;
    int rc = dp_accountant_new(&accountant, kind, &tried, delta, err);
    if (rc != DP_OK)
        return rc;
    int met = dp_accountant_epsilon(accountant, laps) <= epsilon;
    dp_accountant_free(accountant);
    return met;
}

int dp_calibrate_multiplier(enum dp_accountant_kind kind, const struct dp_event *event, int64_t laps, double epsilon,
                            double delta, double *multiplier, struct dp_err *err)
{
    double low = LEAST, high = 1;
    int rc;
    while ((rc = meets(kind, event, laps, epsilon, delta, high, err)) == 0) {
        low = high;
        high *= 4;
        if (high > MOST)
            return dp_fail(err, DP_E_RUN, "no noise multiplier up to %g meets epsilon = %g at delta = %g in %lld laps",
                           MOST, epsilon, delta, (long long)laps);
    }
    while (rc >= 0 && high - low > 1e-7 * high) {
        double middle = 0.5 * (low + high);
        rc = meets(kind, event, laps, epsilon, delta, middle, err);
        if (rc == 1)
            high = middle;
        else
            low = middle;
    }
    /* The printed value is the one that has to meet the target. */
    for (int i = 0; rc >= 0 && i < 100; i++) {
        *multiplier = dp_round_up(high, DIGITS);
        rc = meets(kind, event, laps, epsilon, delta, *multiplier, err);
        if (rc == 1)
            return DP_OK;
        high = *multiplier * (1 + 1e-8);
    }
    return rc < 0 ? rc : dp_fail(err, DP_E_RUN, "the accountant is not monotone near a multiplier of %g", high);
}
