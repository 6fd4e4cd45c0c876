/* A synthetic table of hospital patients, with its schema. */
#pragma once

#include <gsl/gsl_rng.h>

#include "base/err.h"

/* patients_write(rng, path, rows, first, label, force): writes a CSV table of made-up patients of a hospital, as untidy as real
 * ones: words for missing values, decimal commas, both cases of one category, quoted notes with line ends.
 *
 *   log odds of readmitted = 0.045 (age - 60) + 0.35 (drugs - 4) + 0.03 (bmi - 27) + 0.7 emergency + 0.5 smoker - 0.2
 *
 * first  the number of the first patient
 * label  with the column readmitted; without it, columns also are in another order
 * DP_E_RUN: the file exists, without force, or cannot be written; an interrupted one leaves none. */
int patients_write(gsl_rng *rng, const char *path, int64_t rows, int64_t first, bool label, bool force, struct dp_err *err);
