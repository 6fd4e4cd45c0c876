#include "priv/mixture.h"

#include <float.h>

#include <gsl/gsl_math.h>
#include <gsl/gsl_sf_erf.h>

#include "math/bracket.h"

static const double LARGEST_EPSILON = 1e9;
static const double MOST_DEVIATION = 1e4; /* standard deviation of the number of laps that a person is in */

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
    /* δ = e^plus (1 − e^ratio). For a small μ the ratio is a small difference of large logarithms. */
    double ratio = epsilon + minus - plus - 4 * DBL_EPSILON * (epsilon + fabs(minus) + fabs(plus) + 1);
    double share = ratio < 0 ? log(-expm1(ratio)) : -INFINITY;
    return plus + share + 8 * DBL_EPSILON * (fabs(plus) + fabs(share) + 1);
}

/* δ if the sum over the number of laps of a person would take too long. It takes δ at a number of laps that
   is exceeded with probability `missed`, and adds `missed`. */
static double many(double mean, double deviation, double missed, double total, double multiplier, double epsilon)
{
    double surprise = -log(missed);
    double more = surprise / 3 + sqrt(surprise * surprise / 9 + 2 * deviation * deviation * surprise);
    double laps = fmin(ceil((mean + more) * (1 + 1e-12)), total);
    return exp(dp_gaussian_log_delta(epsilon, sqrt(laps) / multiplier)) * (1 + 1e-12) + missed;
}

double dp_mixture_delta(int64_t laps, double rate, double multiplier, double epsilon, double resolution)
{
    double total = (double)laps;
    double mode = fmin(floor((total + 1) * rate), total);
    if (rate >= 1)
        return exp(dp_gaussian_log_delta(epsilon, sqrt(total) / multiplier));

    double deviation = sqrt(total * rate * (1 - rate));
    if (deviation > MOST_DEVIATION) /* Bernstein: more laps have a probability below a millionth of the resolution */
        return many(total * rate, deviation, fmax(resolution * 1e-6, DBL_MIN), total, multiplier, epsilon);
    /* Weights relative to the mode, by their ratios. Terms that the sum leaves out make each share larger. δ grows with j, so
       several j at once get the δ of the last one. */
    double odds = rate / (1 - rate);
    double weights = 0, lost = 0, rest = 0;
    double weight = 1, together = 0;
    int64_t block = 1 + (int64_t)(deviation / 64), left = block;
    for (double j = mode; j <= total; j++) {
        weights += weight;
        together += weight;
        double ratio = (total - j) / (j + 1) * odds;
        double tail = ratio < 1 ? weight * ratio / (1 - ratio) : INFINITY; /* bounds all terms above j */
        bool last = tail < 1e-13 * fmin(resolution, 1e-3);
        if (last || --left == 0) {
            lost += together * exp(dp_gaussian_log_delta(epsilon, sqrt(j) / multiplier));
            together = 0;
            left = block;
        }
        if (last) {
            rest += tail;
            break;
        }
        weight *= ratio;
    }
    weight = 1;
    left = 0;
    for (double j = mode, delta = 0; j > 0;) {
        double ratio = j / (total - j + 1) / odds;
        weight *= ratio;
        j--;
        if (left-- == 0) {
            delta = exp(dp_gaussian_log_delta(epsilon, sqrt(j) / multiplier));
            left = block - 1;
        }
        weights += weight;
        lost += weight * delta;
        ratio = j / (total - j + 1) / odds;
        double tail = ratio < 1 ? weight * ratio / (1 - ratio) : INFINITY; /* bounds all weights below j, where δ is smaller
                                                                            * than here */
        if (tail < 1e-16 && tail * delta < 1e-13 * resolution) {
            rest += tail * delta;
            break;
        }
    }
    double delta = (lost + rest) / weights;
    /* each weight is a product of ratios that are good to four units in the last place */
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
    return dp_bracket_smallest(excess, &q, LARGEST_EPSILON);
}
