#include "priv/mixture.h"

#include <gsl/gsl_sf_erf.h>
#include <math.h>

/* ln Φ(x) */
static double log_normal_cdf(double x)
{
    return gsl_sf_log_erfc(-x * M_SQRT1_2) - M_LN2;
}

double dp_gaussian_delta(double epsilon, double mu)
{
    if (mu <= 0)
        return 0;
    double first = log_normal_cdf(0.5 * mu - epsilon / mu);
    double second = epsilon + log_normal_cdf(-0.5 * mu - epsilon / mu);
    return second >= first ? 0 : exp(first) * -expm1(second - first);
}

/* ln of the binomial probability */
static double log_binomial(int64_t n, int64_t j, double p)
{
    double m = (double)n, k = (double)j;
    if (p >= 1)
        return j == n ? 0 : -(double)INFINITY;
    return lgamma(m + 1) - lgamma(k + 1) - lgamma(m - k + 1) + k * log(p) + (m - k) * log1p(-p);
}

/* Terms below e^-60 of the mean's are left out; what is missing of the total mass is added to delta. */
double dp_mixture_delta(int64_t laps, double rate, double multiplier, double epsilon)
{
    const double negligible = -60;
    int64_t mean = (int64_t)floor((double)laps * rate);
    double delta = 0, mass = 0;
    for (int direction = -1; direction <= 1; direction += 2) {
        for (int64_t j = direction < 0 ? mean : mean + 1; j >= 0 && j <= laps; j += direction) {
            double log_mass = log_binomial(laps, j, rate);
            if (log_mass < negligible)
                break;
            mass += exp(log_mass);
            delta += exp(log_mass) * dp_gaussian_delta(epsilon, sqrt((double)j) / multiplier);
        }
    }
    /* Rounding of the mass itself is about 1e-12 and not a tail: e^-60 per term left out bounds that. */
    double tail = 1 - mass > 1e-9 ? 1 - mass : (double)laps * exp(negligible);
    return delta * (1 + 1e-9) + tail;
}

double dp_mixture_epsilon(int64_t laps, double rate, double multiplier, double delta)
{
    double low = 0, high = 1;
    if (dp_mixture_delta(laps, rate, multiplier, 0) <= delta)
        return 0;
    while (dp_mixture_delta(laps, rate, multiplier, high) > delta && high < 1e9)
        high *= 2;
    while (high - low > 1e-9 * high) {
        double middle = 0.5 * (low + high);
        if (dp_mixture_delta(laps, rate, multiplier, middle) > delta)
            low = middle;
        else
            high = middle;
    }
    return high;
}
