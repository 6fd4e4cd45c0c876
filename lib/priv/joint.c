#include "priv/joint.h"

#include "math/upward.h"

/* What every order of one call shares. */
struct sampled {
    double log_q, log_1q; /* ln q, ln(1 − q) */
    const double *unsampled;
    int largest;
    double factor; /* of the terms from l = 3 */
    int cached_order[2];
    double cached[2];
};

/* ln A at an integer order. Σ C(α,l) (1−q)^{α−l} q^l = 1 is taken off term by term, so that nothing cancels.
 */
static double log_a_integer(const struct sampled *s, int order)
{
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

static double log_a(struct sampled *s, int order)
{
    if (order == 1)
        return 0;
    int slot = order & 1;
    if (s->cached_order[slot] != order) {
        s->cached[slot] = log_a_integer(s, order);
        s->cached_order[slot] = order;
    }
    return s->cached[slot];
}

static double sampled_rdp(struct sampled *s, double order)
{
    if (!(order > 1 && order <= s->largest))
        return INFINITY;
    int below = (int)floor(order);
    double share = order - below;
    double at = log_a(s, below);
    if (share > 0)
        at = dp_upward((1 - share) * at + share * log_a(s, below + 1));
    return dp_upward(at / (order - 1));
}

static void sampled(double q, const double *unsampled, int largest, double factor, const double *orders, size_t n, double *out)
{
    struct sampled s = {log(q), log1p(-q), unsampled, largest, factor, {0, 0}, {0, 0}};
    for (size_t i = 0; i < n; i++)
        out[i] = q >= 0 && q <= 1 ? (q > 0 ? sampled_rdp(&s, orders[i]) : 0) : INFINITY;
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
