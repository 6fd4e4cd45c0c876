/* The schema that a data set and its models carry, so that rows of a new table can be made into rows of the same kind. It is
 * public: a schema of which something was read off the rows (private_preprocessing) is not carried. */
#pragma once

#include <jansson.h>

#include "data/row_plan.h"

/* {"columns", "header", "delimiter", "missing"} as in a schema file (dp-dataset(5)), without what does not matter for rows
 * (notes, columns to be ignored if there is a header), and {"row_norm", "bias", "quantised", "basis", "products", "bad_cells"}.
 * Call it after dp_features_plan. *carried is NULL for a schema that is not public. tabs: the table is a TSV table. */
void dp_carried_make(const struct dp_row_plan *plan, bool tabs, json_t **carried);

/* Sets schema, norm, bias, quantise, basis, products and bad_missing for rows to be scored. name: of the model,
 * for messages. DP_E_RUN: not such a text. */
int dp_carried_take(struct dp_row_plan *plan, const char *text, const char *name, struct dp_err *err);

/* Whether rows made by one of the schemas mean the same as rows made by the other: both have the same feature columns in the
 * same order, with the same bounds and categories. True if a text is NULL, because then nothing is known. */
bool dp_carried_same(const char *a, const char *b);

/* Sets low < high to the bounds of a label that is a number; without bounds, leaves them. text may be NULL. */
void dp_carried_label(const char *text, double *low, double *high);
