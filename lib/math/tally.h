/* A running sum of coefficient × row on a grid, while the rows are in the cache. The sums are whole numbers, so they do not
 * depend on the order and the parts in which rows come. (PRIVACY rule: exact sums)
 *
 *   sum_kj = Σ_i trunc(a_ik x_ij / grid)
 *
 * with the coefficients a of dp_grid_clip for a bound C and grid = dp_grid_for(C). As real numbers |a_ik x_ij| ≤ C < 2^21 grid,
 * so a term is at most 2^21 − 1, and 1024 terms fit 32 bits. Sums have 32 bits, and are added to 64 bits after at most 1024
 * rows. */
#pragma once

#include "math/vec.h"

/* Starts zeroed. One thread adds to it. */
struct dp_tally {
    size_t outputs, features, stride; /* stride: of a row of lanes */
    float constant;                   /* value of a column after the row's own; 0: none */
    double inverse_grid;
    int32_t *block, *lane; /* outputs × stride; lane: the first of block on a boundary of 64 bytes */
    int64_t *total;        /* outputs × stride: the sums in 64 bits */
    float *scaled;         /* DP_ROWS × outputs */
    size_t block_capacity, total_capacity, scaled_capacity;
    size_t room;    /* rows until the lanes are full */
    bool spilled;   /* total is in use */
    char apart[64]; /* distance to the tally of the next thread */
};

/* Begins an empty sum. Allocates only if it is larger than all before. */
void dp_tally_begin(struct dp_tally *tally, size_t outputs, size_t features, float constant, double grid);

/* Adds count ≤ DP_ROWS rows, dense or sparse, with coefficients count × outputs. A row whose coefficients are all 0 is not
   read, because it may not be finite. */
void dp_tally_add(struct dp_tally *tally, const float *a, const struct dp_row *rows, size_t count);

/* sum_kj += the tally: outputs × the row's columns, and one more if there is a constant. */
void dp_tally_end(const struct dp_tally *tally, int64_t *sum);

void dp_tally_close(struct dp_tally *tally);
