#include "priv/joint.h"

#include <gsl/gsl_math.h>

#include "math/upward.h"

/* Values that all orders of one call share. */
struct sampled {
    double log_q, log_1q; /* ln q, ln(1 − q) */
    const double *unsampled;
    int largest;
    enum bound { SMALLER, SYMMETRIC, LEMMA } which; /* of the bounds in joint.h, in its order */
};

/* Adds e^(choices + out + in + log_growth), raised. */
static void add_term(struct dp_log_sum *sum, double choices, double out, double in, double log_growth)
{
    double magnitude = choices - out - in + fabs(log_growth) + 4;
    if (log_growth > -INFINITY)
        dp_log_sum_add(sum, choices + out + in + log_growth + DP_SLACK * magnitude);
}

/* ln A at an integer order. Σ C(α,l) (1−q)^{α−l} q^l = 1 is subtracted term by term, so that nothing cancels. */
static double log_a_integer(const void *mechanism, int order)
{
    const struct sampled *s = mechanism;
    double bound = dp_upward((order - 1) * s->unsampled[order]);
    if (s->log_1q == -INFINITY) /* q = 1 */
        return bound;
    struct dp_log_sum sum = {.largest = -INFINITY}, three = sum;
    /* extended precision: thousands of rounded logarithms add up to no more than the last rounding */
    long double choices = logl((long double)order);
    for (int l = 2; l <= order; l++) {
        choices += logl((long double)(order - l + 1) / l);
        double growth = (l - 1) * s->unsampled[l];
        if (!(growth < INFINITY))
            return INFINITY;
        double out = (order - l) * s->log_1q, in = l * s->log_q;
        add_term(&sum, (double)choices, out, in, growth > 0 ? dp_log_expm1(growth) : -INFINITY);
        /* 3e^x − 1 */
        double tripled = growth > 40 ? growth + log(3) : log(2 + 3 * expm1(growth));
        add_term(&three, (double)choices, out, in, l > 2 ? tripled : growth > 0 ? dp_log_expm1(growth) : -INFINITY);
    }
    double excess = dp_log_sum_value(&sum, order);
    if (s->which == SYMMETRIC)
        return fmin(dp_log_one_plus_exp(excess), bound);
    double log_a = dp_log_one_plus_exp(dp_log_sum_value(&three, order));
    if (s->which == SMALLER)
        log_a = fmin(log_a, dp_log_one_plus_exp(excess + M_LN2));
    return fmin(log_a, bound);
}

static void sampled(double q, const double *unsampled, int largest, enum bound which, const double *orders, size_t n,
                    double *out)
{
    struct sampled s = {log(q), log1p(-q), unsampled, largest, which};
    struct dp_log_a log_a = {.of = log_a_integer, .mechanism = &s};
    for (size_t i = 0; i < n; i++) {
        if (!(q >= 0 && q <= 1))
            out[i] = INFINITY;
        else if (q == 0)
            out[i] = 0;
        else if (!(orders[i] > 1 && orders[i] <= largest))
            out[i] = INFINITY;
        else
            out[i] = dp_upward(dp_log_a_chord(&log_a, orders[i]) / (orders[i] - 1));
    }
}

void dp_rdp_sampled(double q, const double *unsampled, int largest, const double *orders, size_t n, double *out)
{
    sampled(q, unsampled, largest, SMALLER, orders, n, out);
}

void dp_rdp_sampled_symmetric(double q, const double *unsampled, int largest, const double *orders, size_t n, double *out)
{
    sampled(q, unsampled, largest, SYMMETRIC, orders, n, out);
}

void dp_rdp_sampled_lemma(double q, const double *unsampled, int largest, const double *orders, size_t n, double *out)
{
    sampled(q, unsampled, largest, LEMMA, orders, n, out);
}

double dp_gaussian_joint(const double *multipliers, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(multipliers[i] > 0))
            return 0;
        double z = fmin(multipliers[i], 1e100);
        sum += 1 / (z * z);
    }
    return 1 / sqrt(sum) * (1 - (double)(n + 4) * DBL_EPSILON);
}
