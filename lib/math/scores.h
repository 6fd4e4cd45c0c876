/* Scores of several candidates: for each candidate the losses of all rows, as a whole number that one row moves only a little.
 *
 * A constant that a row adds to all scores does not affect the choice, so only the differences of its losses count: each loss
 * less their mean over the candidates, in units of `unit`, is clipped to ±bound/2 and truncated toward zero to the grid. So the
 * numbers that a row adds to any two candidates differ by at most bound / grid, the range that the exponential mechanism needs
 * (math/choose.h). If no row's losses differ by more than bound × unit / 2 from their mean, scores differ as the sums of losses
 * do. Clipping the losses themselves would need a larger bound.
 *
 * Candidates that are close together have similar losses: for a loss of slope at most 1 and a row of norm at most 1, losses
 * differ by no more than the candidates' distance. If the unit is this distance, a public number, one bound is good for all
 * laps, and a smaller distance loses less in the noise (Zhang et al. 2013 bound the differences of candidates for the same
 * reason, in their enhanced exponential mechanism). */
#pragma once

#include "base/c.h"

/* Adds a row's part to score. loss: `count` losses of any value. A loss less its mean that is not a number adds nothing; if the
   mean is not a number, no loss adds anything. unit > 0; bound > 0; inverse_grid = 1 / dp_grid_for(bound). */
void dp_scores_add(const double *loss, size_t count, double unit, double bound, double inverse_grid, int64_t *score);

/* The largest distance of a candidate from the mean of all; 0 if they are all equal. candidates: count × size. mean: workspace
   of size entries. */
double dp_scores_spread(const double *candidates, size_t count, size_t size, double *mean);
