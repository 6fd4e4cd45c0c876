/* The exact sum over a batch of coefficient × row on a grid, in one pass over the rows and by any number of threads: whole
   numbers, so the order does not matter. */
#ifndef DP_STAGES_GATHER_H
#define DP_STAGES_GATHER_H

#include <stdbool.h>

#include "math/tally.h"
#include "math/together.h"
#include "stages/batch.h"

/* Fills the coefficients, count × outputs, of a block's rows. Called once for each block of a batch, by thread < threads;
   thread t has its blocks before those of thread t + 1. */
typedef void dp_gather_update(void *context, size_t thread, const struct dp_block *block, float *coefficient);

/* Threads that a stage may use, and a sum for each. Starts zeroed, and goes through dp_gather_allow. */
struct dp_gather {
    int threads;
    bool choose; /* of them, those that pay */
    /* Set by a stage that knows persons with several rows: coefficients of any size, which are clipped together. */
    dp_gather_update *raw;
    int64_t within;               /* of the last sum: persons with several rows, those within the bound less those beyond it */
    struct dp_tally *tally;       /* threads */
    struct dp_together *together; /* threads; NULL until a batch has persons */
    float *coefficient;           /* threads × DP_ROWS × outputs, dp_apart */
    float *unpacked; /* threads × DP_ROWS × stride, from a boundary of 64 bytes on: a block of narrow rows as floats */
    size_t capacity, unpacked_capacity, stride;
};

/* threads: so many in each lap; below 1: in each lap as many of the CPU's as pay, by public numbers alone (dp_gather_pay). */
void dp_gather_allow(struct dp_gather *gather, int64_t threads);

/* How many of `most` threads a lap is divided among: each gets 2^18 entries of rows or more, tenths of a millisecond, where
   waking it takes hundredths. More outputs make an entry more work: one output is 9/8, eight are 2. */
int dp_gather_pay(int most, double rows, size_t cols, size_t outputs);

void dp_gather_close(struct dp_gather *gather);

/* sum (outputs × the batch's sum_cols) = Σ_i trunc(coefficient_ik × row_i / grid), grid = dp_grid_for(bound), where `update`
   gives coefficients as clipped by dp_grid_clip to the bound; row_i with its constant column, if any, or behind its transform;
   a row whose coefficients are all zero is not read for it. Each row is added as soon as it has its coefficients. DP_E_RUN: no
   memory.
   Of a person with several rows, what they add together is clipped to the bound as one vector (math/together.h); their
   coefficients are those of gather->raw. */
int dp_gather_sum(struct dp_gather *gather, const struct dp_batch *batch, size_t outputs, double bound,
                  dp_gather_update *update, void *context, int64_t *sum, struct dp_err *err);

/* The coefficients alone: batch->count × outputs. */
void dp_gather_updates(const struct dp_gather *gather, const struct dp_batch *batch, size_t outputs, dp_gather_update *update,
                       void *context, float *coefficient);

#endif
