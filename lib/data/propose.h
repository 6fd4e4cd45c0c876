/* A first schema for a table, from its census: from noised counts, or from exact facts. The caller frees *schema with
 * json_decref. */
#pragma once

#include "data/census.h"

/* DP_E_UNSAFE: the name of a column looks like an identifier, and neither import->source.person nor row_is_person says what a
 * person is. exact: only if the column repeats a text, by exact facts. */
int dp_propose_ask(const struct dp_census *census, const struct dp_import *import, bool exact, struct dp_err *err);

/* From noised counts in units of 1 / unit: a text is named if its count is at least `threshold`. A count of numbers is
 * significant if the noise of any column exceeds it with a probability of at most about 1 %. The label is as census->said
 * says. If that is a guess, a label of numbers has classes if two are named that 80 % of the rows have, or up to 20 that 95 %
 * have, and if only one text is named, the second class is all others. Rows of other classes become rows of zeros; a note
 * of the label has their noised count, with its noise, if it is above three times that. Texts of a feature that are not
 * named share buckets by a public hash: at most 64 of them, each for a quarter of the rows that a name needs, if at least
 * half of these texts are repeats. Whole numbers from 0 to 7 of a column of texts are public: they are categories if the counts
 * of their bins exceed the noise. Texts of a column of numbers that are named are missing values. If a name is among the named
 * texts of its own column, the first line is a row: "header" is false, and columns are column1 and so on. The label has
 * DP_PROPOSE_DOUBTFUL, which a schema does not have, with a named class that perhaps no row has. DP_E_UNSAFE: no label or no
 * feature is frequent enough. */
#define DP_PROPOSE_DOUBTFUL "doubtful"
int dp_propose_noised(const struct dp_census *census, const int64_t *noised, int64_t unit, double scale, double threshold,
                      json_t **schema, struct dp_err *err);

/* From exact facts, which nobody has paid for: the schema says so. The first line names the columns if the census says so,
 * or else if it looks like it. DP_E_RUN: the label has one class, or too many. DP_E_UNSAFE: the census has no exact facts.
 * DP_E_USAGE: there is no such label. */
int dp_propose_exact(struct dp_census *census, const struct dp_import *import, json_t **schema, struct dp_err *err);
