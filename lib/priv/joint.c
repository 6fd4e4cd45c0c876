#include "priv/joint.h"

#include "math/upward.h"

/* What every order of one call shares. */
struct sampled {
    double log_q, log_1q; /* ln q, ln(1 − q) */
    const double *unsampled;
    int largest;
    double factor; /* of the terms from l = 3 */
};

/* ln A at an integer order. Σ C(α,l) (1−q)^{α−l} q^l = 1 is taken off term by term, so that nothing cancels.
 */
static double log_a_integer(const void *mechanism, int order)
{
    const struct sampled *s = mechanism;
    double bound = dp_upward((order - 1) * s->unsampled[order]);
    if (s->log_1q == -INFINITY) /* q = 1 */
        return bound;
    struct dp_log_sum sum = {.largest = -INFINITY};
    /* in extended precision thousands of rounded logarithms add up to no more than the last rounding */
    long double choices = logl((long double)order);
    for (int l = 2; l <= order; l++) {
        choices += logl((long double)(order - l + 1) / l);
        double growth = (l - 1) * s->unsampled[l];
        if (!(growth < INFINITY))
            return INFINITY;
        double log_growth = growth > 0 ? dp_log_expm1(growth) : -INFINITY;
        if (l > 2 && s->factor > 1) /* 3e^x − 1 */
            log_growth = growth > 40 ? growth + log(s->factor) : log(s->factor - 1 + s->factor * expm1(growth));
        if (log_growth == -INFINITY)
            continue;
        double out = (order - l) * s->log_1q, in = l * s->log_q;
        double magnitude = (double)choices - out - in + fabs(log_growth) + 4;
        dp_log_sum_add(&sum, (double)choices + out + in + log_growth + DP_SLACK * magnitude);
    }
    return fmin(dp_log_one_plus_exp(dp_log_sum_value(&sum, order)), bound);
}

static void sampled(double q, const double *unsampled, int largest, double factor, const double *orders, size_t n, double *out)
{
    struct sampled s = {log(q), log1p(-q), unsampled, largest, factor};
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
    sampled(q, unsampled, largest, 3, orders, n, out);
}

void dp_rdp_sampled_symmetric(double q, const double *unsampled, int largest, const double *orders, size_t n, double *out)
{
    sampled(q, unsampled, largest, 1, orders, n, out);
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
