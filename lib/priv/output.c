#include "priv/output.h"

/* The factor is raised by its rounding error, because a product of many factors would magnify that error. */
double dp_descent_contraction(const struct dp_descent *d, double eta)
{
    return fmin(fmax(fabs(1 - eta * d->mu), fabs(1 - eta * d->beta)) + 0x1p-50, 1);
}

static bool makes_sense(const struct dp_descent *d)
{
    return d->mu >= 0 && d->mu <= d->beta && isfinite(d->beta) && d->beta > 0 && d->eta > 0 &&
           d->eta * d->beta <= 2 * (1 + 0x1p-50) && d->lipschitz > 0 && isfinite(d->lipschitz) && !(d->inverse && d->mu == 0);
}

/* An upper bound on Σ_{k < count} rho^(k stride) = (1 − rho^(count stride))/(1 − rho^stride). The quotient cancels if rho is
   near 1; there `count`, which is always a bound, is not much worse. */
static double geometric(double rho, double stride, double count)
{
    if (!(rho < 1))
        return count;
    return fmin(count, expm1(count * stride * log(rho)) / expm1(stride * log(rho)));
}

double dp_descent_sensitivity(int64_t rows, double mu, double beta, double lipschitz, double eta, int64_t laps,
                              bool replace_one)
{
    const struct dp_descent d = {.mu = mu, .beta = beta, .lipschitz = lipschitz, .eta = eta};
    if (!(rows >= 1 && laps >= 1 && makes_sense(&d)))
        return (double)NAN;
    double one = eta * lipschitz / (double)rows * geometric(dp_descent_contraction(&d, eta), 1, (double)laps);
    return (replace_one ? 2 * one : one) * (1 + 1e-12);
}

/* Σ over passes of the largest η_t Π_{s > t} rho_s of a pass, computed from the last step back. */
static double worst_positions(const struct dp_descent *d, int64_t batches, int64_t passes)
{
    double later = 1, total = 0;
    for (int64_t pass = passes - 1; pass >= 0; pass--) {
        double most = 0;
        for (int64_t t = (pass + 1) * batches; t > pass * batches; t--) {
            double eta = dp_descent_step(d, t);
            most = fmax(most, eta * later);
            later *= dp_descent_contraction(d, eta);
        }
        total += most;
    }
    return total * (1 + 0x1p-51 * (double)passes * (double)batches);
}

double dp_permutation_sensitivity(const struct dp_descent *d, int64_t rows, int64_t batch, int64_t passes, bool replace_one)
{
    if (!(rows >= 1 && batch >= 1 && batch <= rows && passes >= 1 && makes_sense(d)))
        return (double)NAN;
    int64_t batches = dp_permutation_batches(rows, batch);
    double rho = dp_descent_contraction(d, d->eta);
    double sum = d->inverse ? worst_positions(d, batches, passes) : d->eta * geometric(rho, (double)batches, (double)passes);
    double one = d->lipschitz / (double)(rows / batches) * sum;
    return (replace_one ? 2 * one : one) * (1 + 1e-12);
}

/* The rounding error of a gradient, in units of 2^-53, to first order. */
static double gradient_units(const struct dp_descent *d, const struct dp_arithmetic *a, double norm)
{
    return (d->beta - d->mu) * a->cols * norm + d->lipschitz * (a->slope / 0x1p-53 + a->chain + 5) + 4 * d->mu * norm;
}

/* Whether the rounding error is small enough for the bound, which is only of first order. */
static bool is_small(const struct dp_arithmetic *a, double count)
{
    return count * 0x1p-53 * (2 * a->cols + a->chain + a->slope / 0x1p-53 + 16) <= 1e-3;
}

double dp_gradient_rounding(const struct dp_descent *d, const struct dp_arithmetic *a, double norm)
{
    return is_small(a, 1) ? 1.02 * 0x1p-53 * gradient_units(d, a, norm) : (double)INFINITY;
}

double dp_descent_rounding(const struct dp_descent *d, int64_t steps, const struct dp_arithmetic *a)
{
    const double u = 0x1p-53;
    double count = (double)steps, pull = d->eta * d->mu, rho = d->inverse ? 1 : dp_descent_contraction(d, d->eta);
    if (!(steps >= 1 && makes_sense(d)))
        return (double)NAN;
    if (!is_small(a, count))
        return (double)INFINITY;
    double w = d->eta * d->lipschitz * count;
    if (d->mu > 0)
        w = fmin(w, d->inverse ? d->lipschitz / d->mu : d->eta * d->lipschitz / fmin(pull, 2 - pull));
    w = 1.01 * (a->start + w);
    double error = 1.02 * u * (d->eta * gradient_units(d, a, w) + 2 * w);
    return 2 * (error * geometric(rho, 1, count) + 2 * u * w);
}
