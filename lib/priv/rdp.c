#include "priv/rdp.h"

#include <float.h>
#include <pthread.h>

#include <gsl/gsl_math.h>
#include <gsl/gsl_sf_erf.h>

#include "math/upward.h"

enum { LARGEST_ORDER = 8192, TAIL_TERMS = 24 };

const double dp_rdp_orders[DP_RDP_ORDER_COUNT] = {
    1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.08, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9,  2,    2.1,  2.2,  2.3,
    2.4,  2.5,  2.6,  2.7,  2.8,  2.9,  3,    3.1, 3.2, 3.3, 3.4, 3.5, 3.6, 3.7, 3.8, 3.9,  4,    4.1,  4.2,  4.3,
    4.4,  4.5,  4.6,  4.7,  4.8,  4.9,  5,    5.1, 5.2, 5.3, 5.4, 5.5, 5.6, 5.7, 5.8, 5.9,  6,    6.1,  6.2,  6.3,
    6.4,  6.5,  6.6,  6.7,  6.8,  6.9,  7,    7.1, 7.2, 7.3, 7.4, 7.5, 7.6, 7.7, 7.8, 7.9,  8,    8.1,  8.2,  8.3,
    8.4,  8.5,  8.6,  8.7,  8.8,  8.9,  9,    9.1, 9.2, 9.3, 9.4, 9.5, 9.6, 9.7, 9.8, 9.9,  10,   10.1, 10.2, 10.3,
    10.4, 10.5, 10.6, 10.7, 10.8, 10.9, 11,   12,  13,  14,  15,  16,  17,  18,  19,  20,   21,   22,   23,   24,
    25,   26,   27,   28,   29,   30,   31,   32,  33,  34,  35,  36,  37,  38,  39,  40,   41,   42,   43,   44,
    45,   46,   47,   48,   49,   50,   51,   52,  53,  54,  55,  56,  57,  58,  59,  60,   61,   62,   63,   64,
    66,   68,   70,   72,   74,   76,   78,   80,  82,  84,  86,  88,  90,  92,  94,  96,   98,   100,  102,  104,
    106,  108,  110,  112,  114,  116,  118,  120, 122, 124, 126, 128, 132, 136, 140, 144,  148,  152,  156,  160,
    164,  168,  172,  176,  180,  184,  188,  192, 196, 200, 204, 208, 212, 216, 220, 224,  228,  232,  236,  240,
    244,  248,  252,  256,  272,  288,  304,  320, 336, 352, 368, 384, 400, 416, 432, 448,  464,  480,  496,  512,
    544,  576,  608,  640,  672,  704,  736,  768, 800, 832, 864, 896, 928, 960, 992, 1024, 1152, 1280, 1536, 1792,
    2048, 2560, 3072, 4096, 5120, 6144, 8192,
};

static double gaussian(double z, double order)
{
    return z > 0 ? dp_upward(order / (2 * z * z)) : INFINITY;
}

/* Values that all orders of one (q, z) share. */
struct sampled {
    double z;
    double log_q, log_1q;  /* ln q, ln(1 − q) */
    double half_precision; /* 1/(2 z²) */
    double crossing;       /* z0: where the mixture component and the base have equal weight */
};

static double log_factorial[LARGEST_ORDER + 1];
static pthread_once_t factorials_once = PTHREAD_ONCE_INIT;

/* Extended precision: thousands of rounded logarithms add up to no more than the last rounding. */
static void factorials_init(void)
{
    long double sum = 0;
    for (int k = 1; k <= LARGEST_ORDER; k++) {
        sum += logl((long double)k);
        log_factorial[k] = (double)sum;
    }
}

static void sampled_init(struct sampled *s, double q, double z)
{
    pthread_once(&factorials_once, factorials_init);
    s->z = fmin(z, 1e9); /* less noise is an upper bound, and keeps 1/z² above 0 */
    s->log_q = log(q);
    s->log_1q = log1p(-q);
    s->half_precision = 1 / (2 * s->z * s->z);
    s->crossing = s->z * s->z * (s->log_1q - s->log_q) + 0.5;
}

/* ln A at an integer order. */
static double log_a_integer(const void *mechanism, int order)
{
    const struct sampled *s = mechanism;
    const double *lf = log_factorial;
    struct dp_log_sum sum = {.largest = -INFINITY};
    for (int k = 2; k <= order; k++) {
        double growth = (double)k * (double)(k - 1) * s->half_precision;
        double log_growth = dp_log_expm1(growth);
        double out = (order - k) * s->log_1q;
        double in = k * s->log_q;
        double choices = lf[order] - lf[k] - lf[order - k];
        double magnitude = lf[order] + lf[k] + lf[order - k] - out - in + fabs(log_growth) + 2;
        dp_log_sum_add(&sum, choices + out + in + log_growth + DP_SLACK * magnitude);
    }
    double log_excess = sum.largest + log(sum.sum) + DBL_EPSILON * (2 * order + 16); /* ln(A − 1) */
    return log_excess > 0 ? log_excess + log1p(exp(-log_excess)) : log1p(exp(log_excess));
}

/* ln of one term of a series of [MTZ] section 3.3 and a bound on its error: the mixture to the power `power`, integrated over a
   half line; x is the scaled distance from the half line to its mean in the other half. */
static double half_line(const struct sampled *s, double log_weight, double power, double x, double *error)
{
    gsl_sf_result tail;
    gsl_sf_log_erfc_e(x, &tail); /* no domain or range error for any finite x */
    double rise = power * (power - 1) * s->half_precision;
    double moved = x > -6 ? (fabs(x) + 1) * (fabs(s->crossing) + fabs(power)) / s->z : 0;
    *error = DP_SLACK * (fabs(log_weight) + power * power * s->half_precision + fabs(tail.val) + moved + 4) + tail.err;
    return log_weight + rise + tail.val - M_LN2;
}

/* The two terms with binomial coefficient C(α, i), whose logarithm is log_choices. */
static void fractional_terms(const struct sampled *s, double order, int i, double log_choices, double term[2], double error[2])
{
    double rest = order - i;
    double width = M_SQRT2 * s->z;
    double slack = DP_SLACK * (i + 1) * (fabs(log_choices) + 8);
    term[0] = log_choices + half_line(s, i * s->log_q + rest * s->log_1q, i, (i - s->crossing) / width, &error[0]);
    term[1] = log_choices + half_line(s, rest * s->log_q + i * s->log_1q, rest, (s->crossing - rest) / width, &error[1]);
    error[0] += slack;
    error[1] += slack;
}

/* ln A at a fractional order, by the two series. */
static double log_a_series(const struct sampled *s, double order)
{
    int head = (int)ceil(order);
    double log_choices = 0;
    double term[2], error[2];
    struct dp_log_sum sum = {.largest = -INFINITY};
    for (int i = 0; i < head; i++) {
        fractional_terms(s, order, i, log_choices, term, error);
        dp_log_sum_add(&sum, term[0] + error[0]);
        dp_log_sum_add(&sum, term[1] + error[1]);
        log_choices += log((order - i) / (i + 1));
    }

    double d = pow(3 + sqrt(8.0), TAIL_TERMS);
    d = (d + 1 / d) / 2;
    double b = -1, c = -d, tail = 0, slack = 0, first = 0;
    for (int k = 0; k < TAIL_TERMS; k++) {
        int i = head + k;
        fractional_terms(s, order, i, log_choices, term, error);
        double low = exp(term[0] - sum.largest), high = exp(term[1] - sum.largest);
        if (k == 0)
            first = low + high;
        slack += low * expm1(error[0]) + high * expm1(error[1]);
        c = b - c;
        tail += c / d * (low + high);
        b *= (double)(k + TAIL_TERMS) * (double)(k - TAIL_TERMS) / ((k + 0.5) * (k + 1));
        log_choices += log(fabs(order - i) / (i + 1));
    }
    slack += first * (2 / d + 64 * DBL_EPSILON);
    double total = (sum.sum + tail + slack) * (1 + DBL_EPSILON * (2 * head + 16));
    double log_a = sum.largest + log(total);
    return log_a + 2 * DBL_EPSILON * (fabs(sum.largest) + fabs(log(total)) + 1);
}

static double log_a_fractional(const struct sampled *s, struct dp_log_a *a, double order)
{
    double chord = dp_log_a_chord(a, order), series = log_a_series(s, order);
    return series >= 0 && series < chord ? series : chord;
}

void dp_rdp_gaussian(double z, const double *orders, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = gaussian(z, orders[i]);
}

void dp_rdp_visible_batch(double q, double z, const double *orders, size_t n, double *out)
{
    dp_rdp_gaussian(z, orders, n, out);
    if (!(q >= 0) || !(z > 0)) {
        for (size_t i = 0; i < n; i++)
            out[i] = INFINITY;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        double order = orders[i], log_a = (order - 1) * out[i];
        if (q >= 1 || isinf(log_a))
            continue;
        if (log_a > 40)
            log_a += log(q + (1 - q) * exp(-log_a)) + DP_SLACK * (2 + fabs(log(q)));
        else
            log_a = log1p(q * expm1(log_a)) * (1 + DP_SLACK * 2 * (1 + log_a));
        double rdp = dp_upward(fmax(log_a, 0) / (order - 1));
        if (rdp < out[i])
            out[i] = q > 0 ? fmax(rdp, DBL_MIN) : 0;
    }
}

void dp_rdp_sampled_gaussian(double q, double z, const double *orders, size_t n, double *out)
{
    if (q == 0 && z > 0) {
        for (size_t i = 0; i < n; i++)
            out[i] = 0;
        return;
    }
    dp_rdp_gaussian(z, orders, n, out);
    if (!(q > 0) || !(z > 0)) {
        for (size_t i = 0; i < n; i++)
            out[i] = INFINITY;
        return;
    }
    if (q >= 1 || z < 1e-6)
        return;

    struct sampled s;
    sampled_init(&s, q, z);
    struct dp_log_a a = {.of = log_a_integer, .mechanism = &s};
    for (size_t i = 0; i < n; i++) {
        double order = orders[i];
        if (!(order > 1 && order <= LARGEST_ORDER))
            continue;
        double log_a = order == floor(order) ? dp_log_a_whole(&a, (int)order) : log_a_fractional(&s, &a, order);
        double rdp = dp_upward(log_a / (order - 1));
        if (rdp < out[i])
            out[i] = fmax(rdp, DBL_MIN); /* an underflow to 0 would claim that there is no loss */
    }
}

double dp_rdp_penalty(double order, double delta)
{
    double share = log1p(-1 / order);
    double tail = -(log(delta) + log(order)) / (order - 1);
    return share + tail + 2 * DP_SLACK * (fabs(share) + (fabs(log(delta)) + log(order)) / (order - 1));
}

double dp_rdp_epsilon(const double *orders, const double *rdp, size_t n, double delta, double *order)
{
    double best = INFINITY, at = NAN;
    for (size_t i = 0; i < n; i++) {
        double epsilon = rdp[i] + dp_rdp_penalty(orders[i], delta);
        if (epsilon < best) {
            best = epsilon;
            at = orders[i];
        }
    }
    if (order != NULL)
        *order = at;
    return best > 0 ? dp_upward(best) : 0;
}
