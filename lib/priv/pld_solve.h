/* The other unknowns of a run by privacy loss distributions: how much noise, how many laps, which sampling rate a
 * budget allows. Each answer has been asked of dp_pld_epsilon again and costs at most epsilon as printed. Upper
 * bounds on different grids differ by a few 1e-6 of themselves, which is how close to the best possible the
 * answers are; a few tenths of a second, below 2 s for one part. Rough answers say where to ask.
 * DP_E_RUN besides what is said below: as dp_pld_epsilon, or epsilon is not positive and finite. */
#ifndef DP_PRIV_PLD_SOLVE_H
#define DP_PRIV_PLD_SOLVE_H

#include "priv/pld.h"

/* The smallest factor, nine significant digits and rounded up, with which the parts, each multiplier times factor
 * and each pure epsilon (a joint part has both) divided by it, cost at most epsilon at delta. One part of multiplier 1 gives
 * the multiplier itself. At least 1e-6; DP_E_RUN when nothing up to 1e9 does. */
int dp_pld_scale_multiplier(const struct dp_pld_part *parts, size_t count, double epsilon, double delta, double *factor,
                            struct dp_err *err);

/* The largest number of laps like *part (part->laps is not read), at most 10^9, that cost at most epsilon; 0 when not
   even one does. */
int dp_pld_laps(const struct dp_pld_part *part, double epsilon, double delta, int64_t *laps, struct dp_err *err);

/* The largest rate, nine significant digits and rounded down, with which the run costs at most epsilon (part->rate is
   not read). DP_E_RUN when not even a rate of 1e-9 does. */
int dp_pld_rate(const struct dp_pld_part *part, double epsilon, double delta, double *rate, struct dp_err *err);

#endif
