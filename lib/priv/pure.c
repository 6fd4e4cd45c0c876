#include "priv/pure.h"

#include <gsl/gsl_math.h>

#include "math/upward.h"

static double pure(double epsilon, double order)
{
    if (!(epsilon >= 0))
        return INFINITY;
    /* The quotient is cosh((α − ½)ε) / cosh(ε/2) = 1 + 2 sinh(αε/2) sinh((α−1)ε/2) / cosh(ε/2). */
    double log_a;
    if (order * epsilon < 40)
        log_a =
            log1p(2 * sinh(order * epsilon / 2) * sinh((order - 1) * epsilon / 2) / cosh(epsilon / 2)) * (1 + 64 * DP_SLACK);
    else /* e^{(α−1)ε} (1 + e^{−(2α−1)ε}) / (1 + e^{−ε}) */
        log_a = (order - 1) * epsilon + log1p(exp(-(2 * order - 1) * epsilon)) - log1p(exp(-epsilon)) + DP_SLACK;
    return fmin(epsilon, dp_upward(log_a / (order - 1)));
}

void dp_rdp_pure(double epsilon, const double *orders, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = pure(epsilon, orders[i]);
}

void dp_rdp_exponential(double epsilon, const double *orders, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = epsilon >= 0 ? fmin(pure(epsilon, orders[i]), dp_upward(orders[i] * epsilon * epsilon / 8)) : (double)INFINITY;
}

/* e^x − 1 − x, to a few units in the last place */
static double expm1_rest(double x)
{
    if (fabs(x) > 0.5)
        return expm1(x) - x;
    double term = x * x / 2, sum = 0;
    for (int k = 3; k < 20; k++) {
        sum += term;
        term *= x / k;
    }
    return sum;
}

static double laplace(double multiplier, double order)
{
    if (!(multiplier > 0))
        return INFINITY;
    double epsilon = 1 / multiplier, rise = (order - 1) * epsilon;
    double log_a;
    if (rise < 40) /* the first moments of both sides cancel; what remains is positive */
        log_a = log1p((order * expm1_rest(rise) + (order - 1) * expm1_rest(-order * epsilon)) / (2 * order - 1)) *
                (1 + 64 * DP_SLACK);
    else
        log_a = rise + log1p(-(order - 1) / (2 * order - 1)) + /* α/(2α−1) */
                log1p((order - 1) / order * exp(-(2 * order - 1) * epsilon)) + DP_SLACK;
    return fmin(dp_upward(epsilon), dp_upward(log_a / (order - 1)));
}

void dp_rdp_laplace(double multiplier, const double *orders, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = laplace(multiplier, orders[i]);
}

static double discrete_laplace(double epsilon, double steps, double order)
{
    double bound = pure(epsilon, order);
    if (!(steps > 1) || !(bound > 0) || isinf(bound))
        return steps >= 1 ? bound : INFINITY;
    double step = epsilon / steps, twice = 2 * order - 1;
    double theta = exp(-step), rest = exp(-twice * epsilon);
    double inner = -expm1(-step) * (exp(-twice * step) - rest) / -expm1(-twice * step);
    double share = log((1 + rest + inner) / (1 + theta));
    /* every term is positive: some twenty roundings of S, and of (α−1)ε, which ln S subtracts again */
    double slack = DP_SLACK * (16 + 2 * fabs(share) + (order - 1) * epsilon);
    return fmin(bound, dp_upward(fmax(0, epsilon + (share + slack) / (order - 1))));
}

void dp_rdp_discrete_laplace(double epsilon, int64_t steps, const double *orders, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = discrete_laplace(epsilon, (double)steps, orders[i]);
}

double dp_pure_sampled(double q, double epsilon)
{
    if (!(q >= 0 && q <= 1 && epsilon >= 0))
        return INFINITY;
    double sampled = epsilon < 40 ? log1p(q * expm1(epsilon)) * (1 + 2 * DP_SLACK)
                                  : epsilon + log(q + (1 - q) * exp(-epsilon)) + DP_SLACK * (1 + fabs(log(q)));
    return q == 0 ? 0 : fmin(epsilon, dp_upward(sampled));
}
