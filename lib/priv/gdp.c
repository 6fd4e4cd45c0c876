#include "priv/gdp.h"

#include <float.h>
#include <math.h>

#include "priv/bracket.h"
#include "priv/round.h"
#include "priv/mixture.h"

static const double LARGEST_EPSILON = 1e9;
static const double LARGEST_MULTIPLIER = 1e15;

double dp_gaussian_mu(const double *multipliers, const int64_t *times, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(multipliers[i] > 0) || times[i] < 0)
            return INFINITY;
        double z = fmin(multipliers[i], 1e100); /* 1/z² must not vanish */
        sum += (double)times[i] / z / z;
    }
    return sqrt(sum) * (1 + (double)(n + 4) * DBL_EPSILON);
}

struct question {
    double mu, epsilon, log_delta;
};

static double excess_of_epsilon(double epsilon, void *context)
{
    const struct question *q = context;
    return fmax(dp_gaussian_log_delta(epsilon, q->mu), -1e300) - q->log_delta;
}

static double excess_of_multiplier(double multiplier, void *context)
{
    const struct question *q = context;
    return fmax(dp_gaussian_log_delta(q->epsilon, 1 / multiplier), -1e300) - q->log_delta;
}

double dp_gaussian_epsilon(double mu, double delta)
{
    if (!(mu >= 0 && mu < INFINITY && delta > 0 && delta < 1))
        return INFINITY;
    struct question q = {.mu = mu, .log_delta = log(delta) * (1 + DBL_EPSILON)};
    if (excess_of_epsilon(0, &q) <= 0)
        return 0;
    double low = 0, high = 0.01;
    while (excess_of_epsilon(high, &q) > 0) {
        low = high;
        high *= 4;
        if (high > LARGEST_EPSILON)
            return INFINITY;
    }
    double root = dp_bracket_falling(excess_of_epsilon, &q, low, high, 1e-12 * high);

    int exponent;
    double step = ceil(ldexp(frexp(root, &exponent), 33));
    double unit = ldexp(1, exponent - 33);
    while (excess_of_epsilon(step * unit, &q) > 0)
        step++;
    while (step > 1 && excess_of_epsilon((step - 1) * unit, &q) <= 0)
        step--;
    return step * unit;
}

double dp_gaussian_multiplier(double epsilon, double delta, int digits)
{
    if (!(epsilon >= 0 && delta > 0 && delta < 1))
        return INFINITY;
    struct question q = {.epsilon = epsilon, .log_delta = log(delta) * (1 + DBL_EPSILON)};
    double low = 1e-6, high = 1;
    while (excess_of_multiplier(high, &q) > 0) {
        low = high;
        high *= 4;
        if (high > LARGEST_MULTIPLIER)
            return INFINITY;
    }
    if (excess_of_multiplier(low, &q) <= 0)
        return dp_round_up(low, digits);
    double root = dp_bracket_falling(excess_of_multiplier, &q, low, high, 1e-14 * high);
    /* the bracket's upper end is enough noise, and more is enough too; but the last digit must be as well */
    double rounded = dp_round_up(root, digits);
    while (excess_of_multiplier(rounded, &q) > 0)
        rounded = dp_round_up(nextafter(rounded, INFINITY), digits);
    return rounded;
}
