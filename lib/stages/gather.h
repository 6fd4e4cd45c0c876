/* The exact sum over a batch of coefficient × row on a grid, by any number of threads: whole numbers, so the order does
   not matter. */
#ifndef DP_STAGES_GATHER_H
#define DP_STAGES_GATHER_H

#include "stages/batch.h"

/* Threads a stage may use, and a sum for each but the first. Set threads, the rest starts zeroed. */
struct dp_gather {
    int threads;
    int64_t *partial;
    size_t capacity;
};

void dp_gather_close(struct dp_gather *gather);

/* sum (classes × the batch's sum_cols) = Σ_i trunc(coefficient_ik × row_i / grid). coefficients: count × classes, as clipped by
   dp_grid_clip; row_i with its constant column, if any; a row whose coefficients are all zero is not read. DP_E_RUN: no
   memory. */
int dp_gather_sum(struct dp_gather *gather, const struct dp_batch *batch, const float *coefficients, size_t classes,
                  double grid, int64_t *sum, struct dp_err *err);

#endif
