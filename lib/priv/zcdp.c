#include "priv/zcdp.h"

#include "priv/rdp.h"
#include "math/upward.h"

double dp_zcdp_gaussian(double z)
{
    return z > 0 ? dp_upward(1 / (2 * z * z)) : INFINITY;
}

double dp_zcdp_pure(double epsilon)
{
    return epsilon >= 0 ? dp_upward(epsilon * epsilon / 2) : INFINITY;
}

double dp_zcdp_exponential(double epsilon)
{
    return epsilon >= 0 ? dp_upward(epsilon * epsilon / 8) : INFINITY;
}

/* Every order gives a bound, so the end of the search affects tightness only. */
static double at(double rho, double delta, double log_excess)
{
    double order = 1 + exp(log_excess);
    return order > 1 ? dp_upward(rho * order) + dp_rdp_penalty(order, delta) : INFINITY;
}

double dp_zcdp_epsilon(double rho, double delta)
{
    if (!(rho >= 0 && delta > 0 && delta < 1))
        return INFINITY;
    if (rho == 0)
        return 0;
    /* golden section around the minimum of [BS], α − 1 = √(ln(1/δ)/ρ), which is never far from this minimum */
    const double golden = (sqrt(5) - 1) / 2;
    double centre = log(-log(delta) / rho) / 2;
    double low = centre - 3, high = centre + 3;
    double best = at(rho, delta, centre);
    for (int i = 0; i < 60; i++) {
        double left = high - golden * (high - low), right = low + golden * (high - low);
        double of_left = at(rho, delta, left), of_right = at(rho, delta, right);
        best = fmin(best, fmin(of_left, of_right));
        if (of_left < of_right)
            high = right;
        else
            low = left;
    }
    return best > 0 ? dp_upward(best) : 0;
}
