/* Measures of a classifier from counts with Laplace noise, each with an interval for the noise.
 *
 * counts: classes × classes, [true class × classes + predicted class], each the exact count plus independent Laplace noise of
 * that scale (P(|noise| > t) = e^(−t/scale)). So counts may be below 0. */
#pragma once

#include "math/metrics.h"

#define DP_NOISED_LEVEL 0.95 /* an interval holds the measure of the exact counts with at least this probability */

/* value: NAN if the noise leaves none. */
struct dp_estimate {
    double value, low, high;
};

/* P(|Z| > x) for Z = the sum of `first` independent Laplace variables of scale a and `second` of scale b. first or second > 0,
 * scales ≥ 0, not all 0. The density of Z, wrapped at ±H where Z has no mass that matters, is a Fourier series with the
 * coefficients φ(πk/H), φ(t) = (1 + a²t²)^−first (1 + b²t²)^−second; the error is below 1e-5. */
double dp_noised_beyond(size_t first, double a, size_t second, double b, double x);

/* The x with P(|Z| > x) = 1 − DP_NOISED_LEVEL for Z = the sum of `count` Laplace variables of that scale. */
double dp_noised_within(size_t count, double scale);

/* Accuracy: the sum of the diagonal divided by persons. Mean: another noised sum divided by persons. Both are cut to 0 … 1.
 * persons: NAN if it is private; then the sum of all counts takes its place, and the interval is made as for a rate, below. */
struct dp_estimate dp_noised_accuracy(const double *counts, size_t classes, double persons, double scale);
struct dp_estimate dp_noised_mean(double sum, const double *counts, size_t classes, double persons, double scale);

/* The part of the most frequent true class. low and high are the largest ends of the intervals of all classes, each at the level
 * 1 − (1 − DP_NOISED_LEVEL)/classes: if all of these hold, so does this one. persons: as above. */
struct dp_estimate dp_noised_majority(const double *counts, size_t classes, double persons, double scale);

/* A rate as dp_metric_rate. The interval of a class has each ρ for which noise explains the size of right − ρ all, which is 0
 * without noise (Fieller 1954). So nothing is divided by a noisy count. Two classes: of class 1. More: the means over all
 * classes of the rates and of their ends, each at the level 1 − (1 − DP_NOISED_LEVEL)/classes, where a rate without a value is
 * 0. */
struct dp_estimate dp_noised_rate(enum dp_metric_rate rate, const double *counts, size_t classes, double scale);
