#include "priv/gdp.h"

#include <float.h>

#include "math/bracket.h"
#include "priv/mixture.h"

static const double LARGEST_EPSILON = 1e9;

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
    double mu, log_delta;
};

static double excess_of_epsilon(double epsilon, void *context)
{
    const struct question *q = context;
    return fmax(dp_gaussian_log_delta(epsilon, q->mu), -1e300) - q->log_delta;
}

double dp_gaussian_epsilon(double mu, double delta)
{
    if (!(mu >= 0 && mu < INFINITY && delta > 0 && delta < 1))
        return INFINITY;
    struct question q = {.mu = mu, .log_delta = log(delta) * (1 + DBL_EPSILON)};
    return dp_bracket_smallest(excess_of_epsilon, &q, LARGEST_EPSILON);
}
