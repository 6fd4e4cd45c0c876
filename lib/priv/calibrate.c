#include "priv/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "priv/bracket.h"

static const double LEAST = 1e-3, MOST = 1e9;
enum { DIGITS = 9 };

double dp_round_up(double value, int digits)
{
    /* Through text: only the decimal itself says what will be printed. */
    char text[40];
    if (!(value > 0) || !isfinite(value))
        return value;
    snprintf(text, sizeof text, "%.*e", digits - 1, value);
    double rounded;
    char *e = strchr(text, 'e');
    if (!dp_number_real(text, &rounded) || rounded >= value || e == NULL)
        return rounded;
    long exponent = 0;
    long long mantissa = 0;
    sscanf(e + 1, "%ld", &exponent);
    for (const char *p = text; p < e; p++)
        if (*p >= '0' && *p <= '9')
            mantissa = mantissa * 10 + (*p - '0');
    snprintf(text, sizeof text, "%llde%ld", mantissa + 1, exponent - (digits - 1));
    dp_number_real(text, &rounded);
    return rounded;
}

struct question {
    enum dp_accountant_kind kind;
    struct dp_event event;
    int64_t laps;
    double epsilon, delta;
    int rc; /* the first failure */
    struct dp_err *err;
};

/* The epsilon of multiplier z; infinite after a failure. */
static double spent(struct question *q, double z)
{
    struct dp_accountant *accountant;
    q->event.multiplier = z;
    if (q->rc == DP_OK)
        q->rc = dp_accountant_new(&accountant, q->kind, &q->event, q->delta, q->err);
    if (q->rc != DP_OK)
        return INFINITY;
    double epsilon = dp_accountant_epsilon(accountant, q->laps);
    dp_accountant_free(accountant);
    return epsilon;
}

/* ln(spent/target) against ln z is close to a straight line; kept within bounds where it is not. */
static double excess(double log_z, void *context)
{
    struct question *q = context;
    return log(fmin(fmax(spent(q, exp(log_z)) / q->epsilon, 1e-6), 1e12));
}

static bool meets(struct question *q, double z)
{
    return spent(q, z) <= q->epsilon && spent(q, z * (1 - 1e-12)) <= q->epsilon;
}

int dp_calibrate_multiplier(enum dp_accountant_kind kind, const struct dp_event *event, int64_t laps,
                            double epsilon, double delta, double *multiplier, struct dp_err *err)
{
    struct question q = {kind, *event, laps, epsilon, delta, DP_OK, err};
    if (!(epsilon > 0) || laps < 1)
        return dp_fail(err, DP_E_RUN, "cannot calibrate to epsilon = %g in %lld laps", epsilon,
                       (long long)laps);
    double low = 1, high = 1;
    double at_one = spent(&q, 1);
    if (q.rc != DP_OK)
        return q.rc;
    if (at_one > epsilon) {
        do {
            low = high;
            high *= 4;
            if (high > MOST)
                return dp_fail(err, DP_E_RUN,
                               "no noise multiplier up to %g reaches epsilon %g at delta %g over %lld laps",
                               MOST, epsilon, delta, (long long)laps);
        } while (spent(&q, high) > epsilon);
    } else {
        do {
            high = low;
            if (high <= LEAST)
                break;
            low = fmax(low / 2, LEAST);
        } while (spent(&q, low) <= epsilon);
    }
    double z = high;
    if (high > low)
        z = exp(dp_bracket_falling(excess, &q, log(low), log(high), 1e-8));

    for (int tries = 0; tries < 1000 && q.rc == DP_OK; tries++) {
        z = dp_round_up(z, DIGITS);
        if (meets(&q, z)) {
            *multiplier = z;
            return DP_OK;
        }
        z = nextafter(z, INFINITY);
    }
    return q.rc != DP_OK
               ? q.rc
               : dp_fail(err, DP_E_RUN, "the search for a noise multiplier for epsilon %g did not settle",
                         epsilon);
}
