#include "priv/compose.h"

#include <gsl/gsl_math.h>

#include "math/upward.h"

static bool valid(const struct dp_guarantee *steps, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(steps[i].epsilon >= 0 && steps[i].delta >= 0 && steps[i].delta < 1 && steps[i].times >= 0))
            return false;
    return true;
}

/* Raises a sum of n non-negative terms by more than its rounding errors. */
static double raised(double sum, size_t n)
{
    return sum * (1 + (double)(n + 8) * DBL_EPSILON);
}

double dp_compose_advanced(const struct dp_guarantee *steps, size_t n, double delta)
{
    if (!valid(steps, n) || !(delta >= 0 && delta < 1))
        return INFINITY;
    double linear = 0, mean = 0, squares = 0, kept = 0; /* kept: −ln Π (1 − δ_t) */
    for (size_t i = 0; i < n; i++) {
        double epsilon = steps[i].epsilon, times = (double)steps[i].times;
        if (steps[i].times == 0)
            continue;
        linear += times * epsilon;
        mean += times * epsilon * tanh(epsilon / 2);
        squares += times * epsilon * epsilon;
        kept -= times * log1p(-steps[i].delta);
    }
    linear = raised(linear, n);
    mean = raised(mean, n);
    squares = raised(squares, n);
    double spare = -log1p(-delta) * (1 - 2 * DBL_EPSILON) - raised(kept, n); /* −ln(1 − slack) */
    if (spare < 0)
        return INFINITY;
    double slack = -expm1(-spare) * (1 - 4 * DBL_EPSILON);
    if (slack == 0)
        return linear;
    double plain = mean + dp_upward(sqrt(2 * squares * -log(slack)));
    double other = mean + dp_upward(sqrt(2 * squares * log(M_E + sqrt(squares) / slack)));
    return fmin(linear, dp_upward(fmin(plain, other)));
}
