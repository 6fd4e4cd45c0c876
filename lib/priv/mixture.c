#include "priv/mixture.h"

#include <float.h>
#include <math.h>

#include <gsl/gsl_math.h>
#include <gsl/gsl_sf_erf.h>

#include "priv/bracket.h"

static const double LARGEST_EPSILON = 1e9;

/* ln Φ(x) */
static double log_normal_cdf(double x)
{
    gsl_sf_result half;
    gsl_sf_log_erfc_e(-x / M_SQRT2, &half);
    return half.val - M_LN2;
}

double dp_gaussian_log_delta(double epsilon, double mu)
{
    if (!(mu > 0))
        return -INFINITY;
    double plus = log_normal_cdf(mu / 2 - epsilon / mu);
    double minus = log_normal_cdf(-mu / 2 - epsilon / mu);
    /* δ = e^plus (1 − e^ratio). For a small μ the ratio is the small difference of large logarithms. */
    double ratio = epsilon + minus - plus - 4 * DBL_EPSILON * (epsilon + fabs(minus) + fabs(plus) + 1);
    double share = ratio < 0 ? log(-expm1(ratio)) : -INFINITY;
    return plus + share + 8 * DBL_EPSILON * (fabs(plus) + fabs(share) + 1);
}

double dp_mixture_delta(int64_t laps, double rate, double multiplier, double epsilon, double resolution)
{
    double total = (double)laps;
    double mode = fmin(floor((total + 1) * rate), total);
    if (rate >= 1)
        return exp(dp_gaussian_log_delta(epsilon, sqrt(total) / multiplier));

    /* Weights relative to the mode, by their ratios: what is left out of their sum makes each share larger.
     */
    double odds = rate / (1 - rate);
    double weights = 0, lost = 0, rest = 0;
    double weight = 1;
    for (double j = mode; j <= total; j++) {
        weights += weight;
        lost += weight * exp(dp_gaussian_log_delta(epsilon, sqrt(j) / multiplier));
        double ratio = (total - j) / (j + 1) * odds;
        double tail = ratio < 1 ? weight * ratio / (1 - ratio) : INFINITY; /* bounds all terms above j */
        if (tail < 1e-13 * fmin(resolution, 1e-3)) {
            rest += tail;
            break;
        }
        weight *= ratio;
    }
    weight = 1;
    for (double j = mode; j > 0;) {
        double ratio = j / (total - j + 1) / odds;
        weight *= ratio;
        j--;
        double delta = exp(dp_gaussian_log_delta(epsilon, sqrt(j) / multiplier));
        weights += weight;
        lost += weight * delta;
        ratio = j / (total - j + 1) / odds;
        double tail =
            ratio < 1 ? weight * ratio / (1 - ratio) : INFINITY; /* below j, where δ is smaller still */
        if (tail < 1e-16 && tail * delta < 1e-13 * resolution) {
            rest += tail * delta;
            break;
        }
    }
    double delta = (lost + rest) / weights;
    /* each weight is a product of ratios, good to four units in the last place each */
    double steps = 4 * (16 + 10 * sqrt(total * rate * (1 - rate)));
    return delta * (1 + 4 * DBL_EPSILON * steps);
}

struct question {
    int64_t laps;
    double rate, multiplier, delta;
};

/* ln of δ(ε) over the target: nearly a straight line in ε. */
static double excess(double epsilon, void *context)
{
    const struct question *q = context;
    double delta = dp_mixture_delta(q->laps, q->rate, q->multiplier, epsilon, q->delta);
    return log(fmax(delta, DBL_MIN) / q->delta);
}

double dp_mixture_epsilon(int64_t laps, double rate, double multiplier, double delta)
{
    struct question q = {laps, rate, multiplier, delta};
    if (excess(0, &q) <= 0)
        return 0;
    double low = 0, high = 0.01;
    while (excess(high, &q) > 0) {
        low = high;
        high *= 4;
        if (high > LARGEST_EPSILON)
            return INFINITY;
    }
    double root = dp_bracket_falling(excess, &q, low, high, 1e-12 * high);

    int exponent;
    double step = ceil(ldexp(frexp(root, &exponent), 33));
    double unit = ldexp(1, exponent - 33);
    while (excess(step * unit, &q) > 0)
        step++;
    while (step > 1 && excess((step - 1) * unit, &q) <= 0)
        step--;
    return step * unit;
}
