/* The part of dp-info that prints coefficients. */
#ifndef DP_BIN_INFO_COEFFICIENTS_H
#define DP_BIN_INFO_COEFFICIENTS_H

#include <stdio.h>

#include "base/err.h"
#include "wire/frame.h"

enum info_form { INFO_TEXT, INFO_TSV, INFO_JSON };

/* Prints the coefficients of a linear model in the units of its table, and intervals if the law of their noise is known:
 *
 *   coefficient of a number     a weight factor (model/terms.h); a: the scale of a number to predict, else 1
 *   coefficient of a category   a (weight − weight of the first category): what the category adds, compared with the first one;
 *                               the same for hats and bins of a number, and for a missing cell of a column of categories
 *   intercept                   a times the score of a row of zeros and first categories, plus the offset of the label
 *   standard error              a s times the norm of the vector that the released weights are multiplied with
 *
 * where s is the standard deviation of independent normal noise on the weights: output perturbation (method erm) adds it to the
 * result of a descent, and nothing comes after it. The interval is the coefficient ± 1.96 standard errors. It covers the
 * coefficient of the same run without noise, with probability .95; it does not cover the sampling of people. For any other run
 * the law is not known from public values, and the output says why. name: of the model, for messages. */
int info_coefficients(const struct dp_frame *frame, const char *name, enum info_form form, FILE *out, struct dp_err *err);

/* The same for the model that dp_model_read finds at `path`. */
int info_model_coefficients(const char *path, enum info_form form, FILE *out, struct dp_err *err);

#endif
