/* The other unknowns of a run by privacy loss distributions: the noise, the number of laps or the sampling rate that a budget
 * allows. Each answer is checked with dp_pld_epsilon and costs at most epsilon as printed. Upper bounds on different grids have
 * a relative difference of a few 1e-6, so the answers are that close to the best ones. A few tenths of a second, below 2 s for
 * one part. Rough answers guide the search. DP_E_RUN besides the cases below: as dp_pld_epsilon, or epsilon is not positive and
 * finite. */
#pragma once

#include "priv/pld.h"

/* The smallest factor with which the parts cost at most epsilon at delta: each multiplier is multiplied by the factor and each
 * pure epsilon divided by it (a joint part has both). Nine significant digits, rounded up. One part of multiplier 1 gives the
 * multiplier itself. At least 1e-6; DP_E_RUN if no factor up to 1e9 will do. */
int dp_pld_scale_multiplier(const struct dp_pld_part *parts, size_t count, double epsilon, double delta, double *factor,
                            struct dp_err *err);

/* The largest number of laps like *part (part->laps is not read), at most 10^9, that cost at most epsilon; 0 if not even one
   lap does. */
int dp_pld_laps(const struct dp_pld_part *part, double epsilon, double delta, int64_t *laps, struct dp_err *err);

/* The largest rate, nine significant digits and rounded down, at which the run costs at most epsilon (part->rate is not read).
   DP_E_RUN if not even a rate of 1e-9 does. */
int dp_pld_rate(const struct dp_pld_part *part, double epsilon, double delta, double *rate, struct dp_err *err);
