/* The part of dp-info that prints coefficients. */
#pragma once

#include <jansson.h>

#include "base/err.h"
#include "model/terms.h"
#include "wire/frame.h"

enum info_form { INFO_TEXT, INFO_TSV, INFO_JSON, INFO_SVG };

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
 * the law is not known from public values, and the output says why. path: of the model. */
int info_model_coefficients(const char *path, enum info_form form, FILE *out, struct dp_err *err);

/* The JSON. name: of the model, for messages. */
int info_coefficients_json(const struct dp_frame *frame, const char *name, json_t **json, struct dp_err *err);

/* Parts of it. The noise on each weight, independent and normal; NAN if it is not known, and *why says why, else NULL. The
 * sentence about intervals. The unit of a score, and the divisor of the rows. */
double info_noise_of(const struct dp_frame *frame, const char **why);
extern const char info_covers[];
double info_unit(const struct dp_terms *terms);
double info_divisor(const struct dp_terms *terms);
#define INFO_NORMAL_95 1.9599639845400545 /* Φ⁻¹(0.975) */

/* The class of output k, or "". Cells of a TSV line: a text, with blanks for tabs and line feeds, and a ' in front of a formula;
 * a number after a tab, nothing for NAN. */
const char *info_output_name(const struct dp_terms *terms, size_t k);
void info_print_cell(const char *text, FILE *out);
void info_print_number(double value, FILE *out);
