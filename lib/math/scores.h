/* Scores of several candidates: what the losses of rows under each of them come to, as whole numbers that one row moves by
 * little.
 *
 * Which candidate is chosen does not depend on what a row adds to all of them, so a row counts by how much its losses differ:
 * each less their mean over the candidates, in units of `unit`, is clipped to ±bound/2 and truncated toward zero to the grid.
 * So what a row adds to any two candidates differs by at most bound / grid, the range that the exponential mechanism needs
 * (math/choose.h); and where the losses of no row differ by more than bound × unit / 2 from their mean, scores differ as the
 * sums of losses do. Clipping the losses themselves would need a bound above all that matter.
 *
 * Candidates that lie close together have losses that differ by little: for a loss of slope at most 1 and a row of norm at most
 * 1, by no more than the candidates' distance. A unit that is their distance, a public number, lets one bound do for all laps,
 * and the smaller the distance the less is lost in the noise (Zhang et al. 2013 bound what candidates differ by for the same
 * reason, in their enhanced exponential mechanism). */
#ifndef DP_MATH_SCORES_H
#define DP_MATH_SCORES_H

#include <stddef.h>
#include <stdint.h>

/* Adds a row's part to score. loss: `count` of them, of any value; one that is not a number, as all are where their mean is
   not, adds nothing. unit > 0; bound > 0; inverse_grid = 1 / dp_grid_for(bound). */
void dp_scores_add(const double *loss, size_t count, double unit, double bound, double inverse_grid, int64_t *score);

/* The distance from their mean of the candidate that is furthest from it: candidates are count × size. mean: workspace of size
   entries. 0 where they are all equal. */
double dp_scores_spread(const double *candidates, size_t count, size_t size, double *mean);

#endif
