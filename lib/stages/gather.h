/* The exact sum over a batch of coefficient × row on a grid, by any number of threads: whole numbers, so the order does
   not matter. */
#ifndef DP_STAGES_GATHER_H
#define DP_STAGES_GATHER_H

#include "stages/batch.h"

/* Threads a stage may use, and a sum for each but the first. */
struct dp_gather {
    int threads;
    int64_t *partial; /* (threads − 1) × size, or NULL */
    size_t size;
};

int dp_gather_open(struct dp_gather *gather, int threads, size_t classes, size_t cols, struct dp_err *err);
void dp_gather_close(struct dp_gather *gather);

/* sum (classes × cols) = Σ_i trunc(coefficient_ik × row_i / grid). coefficients: count × classes, as clipped by
   dp_grid_clip; row_i with its constant column, if any; a row whose coefficients are all zero is not read. */
void dp_gather_sum(struct dp_gather *gather, const struct dp_batch *batch, const float *coefficients, size_t classes,
                   double grid, int64_t *sum);

#endif
