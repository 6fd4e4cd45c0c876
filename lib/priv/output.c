#include "priv/output.h"

#include <math.h>

double dp_descent_sensitivity(int64_t rows, double mu, double beta, double lipschitz, double eta, int64_t laps,
                              bool replace_one)
{
    if (!(rows >= 1 && mu >= 0 && mu <= beta && isfinite(beta) && beta > 0 && eta > 0 && eta * beta <= 2 * (1 + 0x1p-50) &&
          lipschitz > 0 && isfinite(lipschitz) && laps >= 1))
        return (double)NAN;
    double rho = fmin(fmax(fabs(1 - eta * mu), fabs(1 - eta * beta)), 1);
    /* 1 − rho cancels where rho is near 1: then T steps without contraction are not much worse, and always a bound. */
    double laps_that_count = (double)laps;
    if (rho < 1)
        laps_that_count = fmin(laps_that_count, -expm1((double)laps * log(rho)) / (1 - rho));
    double one = eta * lipschitz / (double)rows * laps_that_count;
    return (replace_one ? 2 * one : one) * (1 + 1e-12);
}
