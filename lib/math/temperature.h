/* Temperature scaling (Guo et al. 2017): one factor f on all scores u of a model, which minimises the sum of the losses l(f u)
 * over the rows. A row gives the first and the second derivative with respect to f at f = 1,
 *
 *   g = Σ_k u_k dl/du_k,   h = Σ_jk u_j u_k d²l/du_j du_k,
 *
 * and sums of them give a step of Newton's method. With probabilities p of the classes y: g = Σ_k p_k (u_k − u_y), and h is the
 * variance of u_k under p. With two classes and one score u these are −m/(1 + e^m), m = ±u, and p (1 − p) u². */
#pragma once

#include "math/loss.h"

/* Scores are divided by this number, so that g and h of most rows are at most 1. */
#define DP_TEMPERATURE_UNIT 3.0

/* pair: g / unit, h / unit² of a row with scores u, for a loss that suits and a label that is a class. slope: workspace of
 * `outputs` numbers. */
void dp_temperature_row(enum dp_loss loss, double label, size_t classes, const double *u, size_t outputs, double *slope,
                        double pair[2]);

/* dp_temperature_factor(mean, noise, turn): the factor for the scores, from 1/2 to 2. mean: of the pairs of the rows, with that
 * noise. The step from 1 is Newton's in the first two turns, and 2/turn of it later, so that the noise of the turns averages
 * out.
 * The second derivative counts as at least twice its noise, and 0.01. */
double dp_temperature_factor(const double mean[2], double noise, int64_t turn);
