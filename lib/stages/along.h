/* Sums of the losses of a batch at several points of a line. The rows are read once, for the scores of a linear model and of the
 * direction; each step size then takes one pass over these scores. A network has no such scores: each step size takes the rows
 * through the network again. The sums are of whole numbers, so any number of threads gives the same result. */
#pragma once

#include "math/line.h"
#include "model/family.h"
#include "stages/batch.h"

struct dp_along {
    struct dp_line line;
    struct dp_form form; /* linear: twice as many outputs as the model, for the model and then for the direction; otherwise the
                          * form of the model */
    bool linear;
    size_t count; /* parameters of the model */
    int threads;
    double bound, grid;           /* bound and grid of a row's loss */
    size_t rows;                  /* of the batch */
    double *parameters;           /* of the form */
    double *scores;               /* threads × DP_LINE_ROWS × 2 outputs */
    void **room;                  /* of the family, one for each thread */
    double *block, *loss;         /* for the batch's blocks (math/line.h): their rows, and the clipped losses at the model */
    const struct dp_batch *batch; /* borrowed, as the two below are */
    const double *model, *direction;
    size_t block_capacity, loss_capacity;
};

/* Losses are clipped to [0, bound] and truncated to whole numbers on its grid (dp_grid_for). form: the form of the model.
 * Starts zeroed; close it after a failure, too. */
void dp_along_open(struct dp_along *along, const struct dp_line *line, const struct dp_form *form, double bound, int threads);
void dp_along_close(struct dp_along *along);

/* The bound of the next batches, and its grid. */
void dp_along_bound(struct dp_along *along, double bound);

/* Takes a batch. model and direction: rows × cols of the form, each. All three are borrowed
 * until the next batch is taken. */
void dp_along_take(struct dp_along *along, const struct dp_batch *batch, const double *model, const double *direction);

/* Σ trunc((l(w) − l(w − eta direction)) / grid) over the rows of the batch: one row changes it by at most bound / grid. */
int64_t dp_along_fall(struct dp_along *along, double eta);

/* Σ trunc(l(w − eta direction) / grid): one row adds 0 to bound / grid. */
int64_t dp_along_sum(struct dp_along *along, double eta);
