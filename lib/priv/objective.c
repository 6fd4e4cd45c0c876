#include "priv/objective.h"

#include <float.h>

#include "math/upward.h"
#include "priv/mixture.h"

/* c = ln(1 + curvature), and epsilon − c, which may be negative. */
static double shift_of_curvature(const struct dp_objective *of)
{
    return dp_upward(log1p(of->curvature));
}

static double above(double epsilon, double c)
{
    return epsilon - c - 2 * DBL_EPSILON * (epsilon + c);
}

/* 1/z, which must not underflow to 0. */
static double inverse(double z)
{
    return dp_upward(1 / fmin(z, 1e100));
}

/* For ε ≥ c. */
static double far_delta(const struct dp_objective *of, double rest)
{
    double m = inverse(of->slack), both = dp_upward(hypot(inverse(of->noise), m));
    double ends = (double)of->vertices * exp(dp_gaussian_log_delta(rest, both));
    return fmin(fmax(dp_upward(ends + exp(dp_gaussian_log_delta(rest, m))), DBL_MIN), 1);
}

double dp_objective_delta(const struct dp_objective *of, double epsilon)
{
    double rest = above(epsilon, shift_of_curvature(of));
    if (rest >= 0)
        return far_delta(of, rest);
    return fmin(dp_upward(-expm1(rest) + exp(rest) * far_delta(of, 0)), 1);
}

/* Φ(x), x not far below 0. */
static double normal_cdf(double x)
{
    return 0.5 * erfc(-x / M_SQRT2);
}

/* ln(1 + k(A − 1)). */
static double log_ends(double mu, double vertices, double order)
{
    double rise = order * (order - 1) * mu * mu / 2, high = normal_cdf(mu * (order - 0.5));
    if (rise > 600) /* ln A ≤ rise + e^−rise, and 1 + k(A − 1) ≤ kA */
        return rise + log(vertices) + 1e-200;
    double excess = expm1(rise) * high + (high - normal_cdf(mu / 2));
    return log1p(vertices * dp_upward(fmax(excess, 0) + 4 * DBL_EPSILON));
}

void dp_objective_curve(const struct dp_objective *of, const double *orders, size_t n, double *out)
{
    double c = shift_of_curvature(of), m = inverse(of->slack), mu = inverse(of->noise);
    for (size_t i = 0; i < n; i++) {
        double ends = dp_upward(log_ends(mu, (double)of->vertices, orders[i])) / (orders[i] - 1);
        out[i] = dp_upward(c + orders[i] * m * m / 2 + ends);
    }
}
