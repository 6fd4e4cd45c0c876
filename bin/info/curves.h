/* The part of dp-info that prints curves. */
#pragma once

#include <jansson.h>

#include "coefficients.h"

/* Prints how much each numeric column of a linear model adds to the score, along the bounds of the column, as TSV, JSON or SVG:
 *
 *   effect(v) = a Σ_j weight_j (f_j(v) − f_j(lower bound))       over the number and its basis (model/terms.h), and over its
 *               products with categories: each category of a column counts equally; then for only one of them ("where")
 *   standard error = a s |f(v) − f(lower bound)| / divisor
 *
 * with a, s and the interval as info/coefficients.h has them. path: as for dp_model_read. DP_E_RUN: no column of the model has a
 * basis, or rows are divided by their norms, which all columns share. */
int info_model_curves(const char *path, enum info_form form, FILE *out, struct dp_err *err);

/* The JSON. name: of the model, for messages. */
int info_curves_json(const struct dp_frame *frame, const char *name, json_t **json, struct dp_err *err);
