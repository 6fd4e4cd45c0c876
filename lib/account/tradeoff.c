#include "account/tradeoff.h"

#include <float.h>
#include <gsl/gsl_cdf.h>

#include "account/solve.h"
#include "priv/mixture.h"

static const double smallest = 1e-6; /* δ(0) is at most δ(ε) + e^ε − 1 */

/* Pairs are taken where they matter for these false alarms, if the run were one Gaussian. */
static const double alarms[] = {.5,   .4,   .3,   .25,  .2,   .15,  .1,   .075, .05,  .035, .025, .015, .01,
                                .005, .002, .001, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 1e-5, 5e-6, 2e-6, 1e-6, 1e-7};
enum { ALARMS = sizeof alarms / sizeof alarms[0] };
_Static_assert((int)ALARMS + 2 <= (int)DP_TRADEOFF_PAIRS, "room for each, 0 and the last");

static void add(struct dp_tradeoff *t, double epsilon)
{
    size_t at = 0;
    while (at < t->count && t->epsilon[at] < epsilon)
        at++;
    if (at < t->count && t->epsilon[at] - epsilon < smallest)
        return;
    for (size_t i = t->count++; i > at; i--)
        t->epsilon[i] = t->epsilon[i - 1];
    t->epsilon[at] = epsilon;
}

/* The places up to `last` for a run that is about one Gaussian of this μ. */
static void place(struct dp_tradeoff *t, double mu, double last)
{
    t->count = 0;
    add(t, 0);
    add(t, last);
    for (size_t i = 0; i < ALARMS; i++) {
        double epsilon = fabs(mu * (gsl_cdf_ugaussian_Qinv(alarms[i]) - mu / 2));
        if (epsilon > smallest && epsilon < last)
            add(t, epsilon);
    }
}

/* δ_μ(ε), and its derivative in e^ε, both rounded down a bit. */
static double gaussian(double epsilon, double mu, double *slope)
{
    *slope = -gsl_cdf_ugaussian_Q(epsilon / mu + mu / 2);
    return exp(dp_gaussian_log_delta(epsilon, mu)) * (1 - 1e-9);
}

/* Whether δ_μ is nowhere below the chords of the pairs. */
static bool covers(const struct dp_tradeoff *t, double mu)
{
    enum { PARTS = 16 };
    double slope;
    if (!(gaussian(0, mu, &slope) >= t->delta[0]))
        return false;
    for (size_t i = 0; i + 1 < t->count; i++) {
        double from = exp(t->epsilon[i]), width = exp(t->epsilon[i + 1]) - from;
        for (int k = 0; k < PARTS; k++) {
            double middle = gaussian(log(from + width * (k + 0.5) / PARTS), mu, &slope);
            for (int end = k; end <= k + 1; end++) {
                double part = (double)end / PARTS, chord = t->delta[i] + part * (t->delta[i + 1] - t->delta[i]);
                if (!(middle + slope * width * (end - k - 0.5) / PARTS >= chord))
                    return false;
            }
        }
    }
    return true;
}

static double least_mu(const struct dp_tradeoff *t)
{
    double low = 1e-9, high = 64;
    if (!covers(t, high))
        return (double)INFINITY;
    while (high - low > 1e-7 * high) {
        double middle = low + (high - low) / 2;
        *(covers(t, middle) ? &high : &low) = middle;
    }
    return high;
}

/* The same for charges without thresholds. */
static int make(const struct dp_charges *charges, double delta, struct dp_tradeoff *t, struct dp_err *err)
{
    struct dp_answer answer;
    double mu;
    if (dp_account_gaussian_mu(charges, &mu)) {
        place(t, mu, mu * (6 + mu / 2));
        for (size_t i = 0; i < t->count; i++)
            t->delta[i] = exp(dp_gaussian_log_delta(t->epsilon[i], mu));
        t->mu = mu;
        return DP_OK;
    }
    int rc = dp_solve_delta(DP_ACCOUNTANT_BEST, charges, smallest, &answer, err);
    double even = rc == DP_OK ? fmin(answer.upper + 1.1 * smallest, 1) : 1;
    rc = rc ?: dp_account_epsilon(DP_ACCOUNTANT_BEST, charges, delta, &answer, err);
    if (rc != DP_OK || !isfinite(answer.upper))
        return rc;
    place(t, 2 * gsl_cdf_ugaussian_Pinv(fmin((1 + even) / 2, 1 - 1e-12)), fmax(answer.upper, 2 * smallest));
    t->delta[0] = even;
    t->delta[t->count - 1] = delta;
    for (size_t i = 1; rc == DP_OK && i + 1 < t->count; i++) {
        rc = dp_solve_delta(DP_ACCOUNTANT_BEST, charges, t->epsilon[i], &answer, err);
        t->delta[i] = fmin(answer.upper, 1);
    }
    t->mu = rc == DP_OK ? least_mu(t) : (double)INFINITY;
    t->but = delta;
    return rc;
}

int dp_tradeoff_make(const struct dp_charges *charges, double delta, struct dp_tradeoff *t, struct dp_err *err)
{
    struct dp_charges plain = {0};
    double named;
    *t = (struct dp_tradeoff){.mu = (double)INFINITY};
    int rc = dp_charges_without_delta(charges, &plain, &named, err);
    if (rc == DP_OK && (named < delta || named == 0))
        rc = make(&plain, delta - named, t, err);
    dp_charges_free(&plain);
    for (size_t i = 0; i < t->count; i++)
        t->delta[i] = fmin((t->delta[i] + named) * (1 + DBL_EPSILON), 1);
    t->but += named;
    return rc;
}

struct dp_tradeoff dp_tradeoff_of_pair(double epsilon, double delta)
{
    return (struct dp_tradeoff){.count = 1, .epsilon = {epsilon}, .delta = {delta}, .mu = (double)INFINITY};
}

double dp_tradeoff_found(const struct dp_tradeoff *t, double a)
{
    double least = 1;
    for (size_t i = 0; i < t->count; i++) {
        double above = exp(t->epsilon[i]) * a + t->delta[i], below = 1 - exp(-t->epsilon[i]) * (1 - t->delta[i] - a);
        least = fmin(least, fmin(above, below));
    }
    return fmin(least * (1 + 8 * DBL_EPSILON), 1);
}

/* δ(0) is at most the δ of the mixture: 1 − 2 (1 − δ)/(e^ε + 1). */
double dp_tradeoff_even(const struct dp_tradeoff *t)
{
    double least = 1;
    for (size_t i = 0; i < t->count; i++)
        least = fmin(least, 1 - (1 - t->delta[i]) / (exp(t->epsilon[i]) + 1));
    return fmin(1, least * (1 + 4 * DBL_EPSILON));
}
