/* The saddle-point estimate of an answer, and the sketch of the parts. The estimate and all searches for a grid or a contour
   use the sketch. */
#include "priv/pld_question.h"

#include <float.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_sf_erf.h>

#include "base/mem.h"

/* A run of fewer parts is sketched part by part: a schedule may have hundreds. */
enum { MANY = 16 };

/* Finds the parts from `from` on whose noise differs by at most a tenth. *like is one part in their place. */
static size_t alike(const struct dp_pld_question *a, size_t from, struct dp_pld_part *like)
{
    double least = a->parts[from].multiplier, most = least, precision = 0, laps = 0;
    size_t to = from;
    *like = a->parts[from];
    for (; to < a->count; to++) {
        const struct dp_pld_part *p = &a->parts[to];
        least = fmin(least, p->multiplier);
        most = fmax(most, p->multiplier);
        bool same = p->kind == like->kind && p->rate == like->rate && p->epsilon == like->epsilon && most < 1.1 * least;
        if (to > from && (a->count < MANY || like->kind == DP_PLD_PURE || !same))
            break;
        precision += (double)p->laps / (p->multiplier * p->multiplier);
        laps += (double)p->laps;
    }
    if (to > from + 1)
        like->multiplier = sqrt(laps / precision);
    return to;
}

void dp_pld_sketch(struct dp_pld_question *a)
{
    size_t nodes = 0;
    a->nodes = dp_new(a->count, sizeof *a->nodes);
    for (size_t i = 0, next; i < a->count; i = next) {
        struct dp_pld_part like;
        next = alike(a, i, &like);
        dp_pld_nodes_new(&a->nodes[i], &like, a->deviations);
        nodes += a->nodes[i].count;
    }
    a->rare = dp_new(nodes, sizeof *a->rare);
}

void dp_pld_sketch_free(struct dp_pld_question *a)
{
    for (size_t i = 0; i < a->count; i++)
        dp_pld_nodes_free(&a->nodes[i]);
    free(a->nodes);
    free(a->rare);
}

double dp_pld_sketched_laps(const struct dp_pld_question *a, size_t part, size_t *next)
{
    double laps = (double)a->parts[part].laps;
    for (*next = part + 1; *next < a->count && a->nodes[*next].count == 0; ++*next)
        laps += (double)a->parts[*next].laps;
    return laps;
}

double dp_pld_moment(const struct dp_pld_question *a, bool add, double s, double *mean, double *variance)
{
    double sum = 0, part_mean, part_variance;
    *mean = *variance = 0;
    for (size_t i = 0, next; i < a->count; i = next) {
        double t = dp_pld_sketched_laps(a, i, &next);
        sum += t * dp_pld_nodes_moment(&a->nodes[i], add, s, &part_mean, &part_variance);
        *mean += t * part_mean;
        *variance += t * part_variance;
    }
    *variance = fmax(*variance, 1e-10 * a->scale * a->scale); /* one atom may have all the weight */
    return sum;
}

double dp_pld_log_moment(const struct dp_pld_question *a, bool add, double s)
{
    double mean, variance;
    return dp_pld_moment(a, add, s, &mean, &variance);
}

static double erfcx(double x)
{
    return exp(x * x + gsl_sf_log_erfc(x));
}

/* ln E[(1 − e^{ε−S})₊] for S normal under the weights e^{sS}, with a mean of about ε if s > 0. */
static double log_delta_normal(double log_scale, double s, double mean, double variance, double epsilon)
{
    if (s > 0) {
        double a = s * sqrt(variance / 2), b = (s + 1) * sqrt(variance / 2), seen;
        if (a > 25) /* erfcx(x) = 1/(x√π) there */
            seen = (b - a) / (a * b * sqrt(M_PI));
        else if (b - a < 1e-5)
            seen = (M_2_SQRTPI - 2 * a * erfcx(a)) * (b - a);
        else
            seen = erfcx(a) - erfcx(b);
        return log_scale - s * epsilon + log(fmax(seen / 2, DBL_MIN));
    }
    double sigma = sqrt(variance), x = (mean - epsilon) / sigma;
    if (sigma < 1e-5)
        return log(sigma * (gsl_ran_ugaussian_pdf(x) + x * gsl_cdf_ugaussian_P(x)));
    double seen = gsl_cdf_ugaussian_P(x) - exp(epsilon - mean + variance / 2 + log(gsl_cdf_ugaussian_P(x - sigma)));
    return log(fmax(seen, DBL_MIN));
}

double dp_pld_tilt(const struct dp_pld_question *a, bool add, double epsilon)
{
    double mean, variance, low = -30, high = 7;
    dp_pld_moment(a, add, 0, &mean, &variance);
    if (mean >= epsilon)
        return 0;
    while (high - low > 0.01) {
        double middle = (low + high) / 2;
        dp_pld_moment(a, add, exp(middle) / a->scale, &mean, &variance);
        *(mean < epsilon ? &low : &high) = middle;
    }
    return exp(low) / a->scale;
}

static double estimate_delta(const struct dp_pld_question *a, bool add, double epsilon)
{
    double mean, variance, s = dp_pld_tilt(a, add, epsilon), k = dp_pld_moment(a, add, s, &mean, &variance);
    return exp(fmin(log_delta_normal(k, s, mean, variance, epsilon), 0));
}

double dp_pld_estimated_epsilon(const struct dp_pld_question *a, bool add, double delta)
{
    double mean, variance, k = dp_pld_moment(a, add, 0, &mean, &variance), low, high;
    if (log_delta_normal(k, 0, mean, variance, mean) > log(delta)) {
        /* Beyond the mean: searches over s, with the ε of each s. */
        for (low = -30, high = 7; high - low > 1e-3;) {
            double s = exp((low + high) / 2) / a->scale;
            k = dp_pld_moment(a, add, s, &mean, &variance);
            *(log_delta_normal(k, s, mean, variance, mean) > log(delta) ? &low : &high) = (low + high) / 2;
        }
        dp_pld_moment(a, add, exp(high) / a->scale, &mean, &variance);
        return mean;
    }
    if (log_delta_normal(k, 0, mean, variance, 0) <= log(delta))
        return 0;
    for (low = 0, high = mean; high - low > 1e-3 * high && high > 1e-6 * mean;) {
        double middle = (low + high) / 2;
        *(log_delta_normal(k, 0, mean, variance, middle) > log(delta) ? &low : &high) = middle;
    }
    return high;
}

double dp_pld_estimated(const struct dp_pld_question *a, bool add)
{
    return a->of_delta ? estimate_delta(a, add, a->epsilon) : dp_pld_estimated_epsilon(a, add, a->delta);
}

double dp_pld_single_lap(const struct dp_pld_question *a, bool add, double delta)
{
    double low = -50, high = log(DP_PLD_LOSS_MAX);
    while (high - low > 1e-3) {
        double middle = (low + high) / 2, epsilon = exp(middle), seen = 0;
        for (size_t p = 0, next; p < a->count; p = next) {
            const struct dp_pld_nodes *n = &a->nodes[p];
            double t = dp_pld_sketched_laps(a, p, &next);
            for (size_t i = 0; i < n->count; i++) {
                double loss = add ? -n->loss[i] : n->loss[i];
                if (loss > epsilon)
                    seen -= t * exp(n->log_mass[i] - (add ? n->loss[i] : 0)) * expm1(epsilon - loss);
            }
        }
        *(seen > delta ? &low : &high) = middle;
    }
    return exp(high);
}

double dp_pld_surviving(const struct dp_pld_question *a, bool add, double s, double omega)
{
    double sum = 0;
    for (size_t p = 0, next; p < a->count; p = next) {
        const struct dp_pld_nodes *n = &a->nodes[p];
        double t = dp_pld_sketched_laps(a, p, &next), re = 0, im = 0, k = dp_pld_nodes_moment(n, add, s, NULL, NULL);
        for (size_t i = 0; i < n->count; i++) {
            double loss = add ? -n->loss[i] : n->loss[i], mass = exp(n->log_mass[i] - (add ? n->loss[i] : 0) + s * loss - k);
            re += mass * cos(omega * loss);
            im += mass * sin(omega * loss);
        }
        sum += t * log(fmin(hypot(re, im), 1));
    }
    return exp(sum);
}
