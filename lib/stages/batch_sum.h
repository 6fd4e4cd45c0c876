/* The exact sum over a batch of coefficient × row on a grid, in one pass over the rows and by any number of threads: it
 * consists of whole numbers, so the order does not matter. */
#pragma once

#include "math/tally.h"
#include "math/together.h"
#include "stages/batch.h"

/* Fills the coefficients, count × outputs, of a block's rows. Called once for each block of a batch, by thread < threads;
   the blocks of thread t come before the blocks of thread t + 1. They may have any size if the block is `together`. */
typedef void dp_batch_sum_update(void *context, size_t thread, const struct dp_block *block, float *coefficient);

/* Threads that a stage may use, each with its own sum. Starts zeroed; call dp_batch_sum_allow before use. */
struct dp_batch_sum {
    int threads;
    bool choose;                  /* use only as many threads as pay */
    int64_t within;               /* of the last sum: the number of persons with several rows within the bound, less the number
                                   * beyond it */
    struct dp_tally *tally;       /* threads */
    struct dp_together *together; /* threads; NULL until a batch has persons */
    float *coefficient;           /* threads × DP_ROWS × outputs, dp_apart */
    float *unpacked; /* threads × DP_ROWS × stride, from a boundary of 64 bytes on: a block of narrow rows as floats */
    size_t capacity, unpacked_capacity, stride;
};

/* threads: the number for each lap; below 1: in each lap as many of the CPU's threads as pay, which depends only on public
 * numbers (dp_batch_sum_pay). */
void dp_batch_sum_allow(struct dp_batch_sum *batch_sum, int64_t threads);

/* The number of threads for a lap, at most `most`: each gets at least 2^18 entries of rows, which take tenths of a millisecond;
 * waking a thread takes hundredths. Outputs increase the work for an entry: by 9/8 for one output, by 2 for eight. */
int dp_batch_sum_pay(int most, double rows, size_t cols, size_t outputs);

void dp_batch_sum_close(struct dp_batch_sum *batch_sum);

/* sum (outputs × the batch's sum_cols) = Σ_i trunc(coefficient_ik × row_i / grid), grid = dp_grid_for(bound), where `update`
   gives coefficients as clipped by dp_grid_clip to the bound; row_i with its constant column, if any, or transformed. A row
   whose coefficients are all zero is not read. Each row is added as soon as it has its coefficients. For a
   person with several rows, the sum of their parts is clipped to the bound as one vector (math/together.h). */
void dp_batch_sum_make(struct dp_batch_sum *batch_sum, const struct dp_batch *batch, size_t outputs, double bound,
                       dp_batch_sum_update *update, void *context, int64_t *sum);

/* Only the coefficients: batch->count × outputs. */
void dp_batch_sum_updates(const struct dp_batch_sum *batch_sum, const struct dp_batch *batch, size_t outputs,
                          dp_batch_sum_update *update, void *context, float *coefficient);
