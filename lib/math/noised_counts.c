#include "math/noised_counts.h"

static double power(double x, size_t n)
{
    double result = 1;
    for (; n > 0; n >>= 1, x *= x)
        result *= n & 1 ? x : 1;
    return result;
}

double dp_noised_beyond(size_t first, double a, size_t second, double b, double x)
{
    const double pi = 3.14159265358979323846;
    double scale = fmax(first > 0 ? a : 0, second > 0 ? b : 0), reach = scale * (40 + 4 * (double)(first + second));
    double half = reach + x, inside = x / half, step = pi / half;
    double cosine = cos(step * x), sine = sin(step * x), c = cosine, s = sine; /* of k step x */
    if (x >= reach)
        return 0;
    for (int k = 1; k <= 20000; k++) {
        double t = step * k, phi = power(1 / (1 + a * a * t * t), first) * power(1 / (1 + b * b * t * t), second), next = c;
        inside += 2 * phi * s / (pi * k);
        if (phi < 1e-8 * k)
            break;
        c = c * cosine - s * sine;
        s = s * cosine + next * sine;
    }
    return fmin(fmax(1 - inside, 0), 1);
}

/* The x with P(|Z| > x) = outside. */
static double reach_of(size_t count, double scale, double outside)
{
    double low = 0, high = 40 + 4 * (double)count;
    while (high - low > 1e-9 * high) {
        double x = (low + high) / 2;
        if (dp_noised_beyond(count, 1, 0, 0, x) > outside)
            low = x;
        else
            high = x;
    }
    return high * scale;
}

double dp_noised_within(size_t count, double scale)
{
    return reach_of(count, scale, 1 - DP_NOISED_LEVEL);
}

static double cut(double value)
{
    return fmin(fmax(value, 0), 1);
}

static struct dp_estimate mean_within(double sum, double persons, double within)
{
    return (struct dp_estimate){cut(sum / persons), cut((sum - within) / persons), cut((sum + within) / persons)};
}

/* weight right / (weight right + wrong), or, of numbers apart, right / wrong. right is the sum of `hits` noised numbers, wrong
 * of `cells`. */
struct ratio {
    double right, wrong, weight, scale;
    size_t hits, cells;
    bool apart;
};

/* The probability that noise moves right − ρ all at least as far from 0 as it is. */
static double chance(const struct ratio *r, double rho)
{
    double part = r->apart ? 1 : (1 - rho) * r->weight, off = part * r->right - rho * r->wrong;
    return dp_noised_beyond(r->hits, part * r->scale, r->cells, rho * r->scale, fabs(off));
}

/* The end of the interval between the estimate and 0 or 1. */
static double end_of(const struct ratio *r, double estimate, double last, double outside)
{
    double in = estimate, out = last;
    if (chance(r, last) >= outside)
        return last;
    for (int i = 0; i < 30; i++) {
        double rho = (in + out) / 2;
        if (chance(r, rho) >= outside)
            in = rho;
        else
            out = rho;
    }
    return out;
}

static struct dp_estimate interval(const struct ratio *r, double outside)
{
    double part = r->weight * r->right, all = r->apart ? r->wrong : part + r->wrong;
    struct dp_estimate result = {(double)NAN, 0, 1};
    if (!(all > 0))
        return result;
    result.value = cut(part / all);
    if (chance(r, result.value) < outside) /* noise does not explain any rate near here */
        return result;
    result.low = end_of(r, result.value, 0, outside);
    result.high = end_of(r, result.value, 1, outside);
    return result;
}

static double sum_of(const double *counts, size_t classes, size_t step)
{
    double sum = 0;
    for (size_t i = 0; i < classes * classes; i += step)
        sum += counts[i];
    return sum;
}

/* The part of all counts that `right` is, a sum of `classes` of them. */
static struct dp_estimate part_of(double right, const double *counts, size_t classes, double persons, double scale,
                                  double outside)
{
    if (!isnan(persons))
        return mean_within(right, persons, reach_of(classes, scale, outside));
    const struct ratio r = {.right = right,
                            .wrong = sum_of(counts, classes, 1) - right,
                            .weight = 1,
                            .scale = scale,
                            .hits = classes,
                            .cells = classes * (classes - 1)};
    return interval(&r, outside);
}

struct dp_estimate dp_noised_accuracy(const double *counts, size_t classes, double persons, double scale)
{
    return part_of(sum_of(counts, classes, classes + 1), counts, classes, persons, scale, 1 - DP_NOISED_LEVEL);
}

struct dp_estimate dp_noised_majority(const double *counts, size_t classes, double persons, double scale)
{
    struct dp_estimate most = {(double)NAN, 0, 0};
    for (size_t k = 0; k < classes; k++) {
        double right = 0;
        for (size_t i = 0; i < classes; i++)
            right += counts[k * classes + i];
        struct dp_estimate one = part_of(right, counts, classes, persons, scale, (1 - DP_NOISED_LEVEL) / (double)classes);
        most = (struct dp_estimate){fmax(most.value, one.value), fmax(most.low, one.low), fmax(most.high, one.high)};
    }
    return most;
}

struct dp_estimate dp_noised_mean(double sum, const double *counts, size_t classes, double persons, double scale)
{
    if (!isnan(persons))
        return mean_within(sum, persons, dp_noised_within(1, scale));
    const struct ratio r = {.right = sum,
                            .wrong = sum_of(counts, classes, 1),
                            .weight = 1,
                            .scale = scale,
                            .hits = 1,
                            .cells = classes * classes,
                            .apart = true};
    return interval(&r, 1 - DP_NOISED_LEVEL);
}

static struct dp_estimate rate_of(enum dp_metric_rate rate, const double *counts, size_t classes, size_t k, double scale,
                                  double outside)
{
    struct ratio r = {.right = counts[k * classes + k], .weight = rate == DP_METRIC_F1 ? 2 : 1, .scale = scale, .hits = 1};
    for (size_t i = 0; i < classes; i++) {
        if (i == k)
            continue;
        r.wrong += rate != DP_METRIC_RECALL ? counts[i * classes + k] : 0;
        r.wrong += rate != DP_METRIC_PRECISION ? counts[k * classes + i] : 0;
    }
    r.cells = (classes - 1) * (rate == DP_METRIC_F1 ? 2 : 1);
    return interval(&r, outside);
}

struct dp_estimate dp_noised_rate(enum dp_metric_rate rate, const double *counts, size_t classes, double scale)
{
    struct dp_estimate mean = {0, 0, 0};
    if (classes == 2)
        return rate_of(rate, counts, classes, 1, scale, 1 - DP_NOISED_LEVEL);
    for (size_t k = 0; k < classes; k++) {
        struct dp_estimate one = rate_of(rate, counts, classes, k, scale, (1 - DP_NOISED_LEVEL) / (double)classes);
        mean.value += isnan(one.value) ? 0 : one.value / (double)classes;
        mean.low += one.low / (double)classes;
        mean.high += one.high / (double)classes;
    }
    return mean;
}
