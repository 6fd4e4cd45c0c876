/* A running sum of coefficient × row on a grid, added to while the rows are in the cache. The sums are whole numbers, and so
 * the same in whatever order and however many parts rows come. (PRIVACY rule: exact sums)
 *
 *   sum_kj = Σ_i trunc(a_ik x_ij / grid)
 *
 * with the coefficients a of dp_grid_clip for a bound C and grid = dp_grid_for(C): as real numbers |a_ik x_ij| ≤ C < 2^21 grid,
 * so that a term is at most 2^21 − 1, and 1024 of them fit 32 bits. Sums are kept in these, and spilled to 64 bits before that
 * many rows are in them. */
#ifndef DP_MATH_TALLY_H
#define DP_MATH_TALLY_H

#include <stdbool.h>

#include "base/err.h"
#include "math/vec.h"

/* Starts zeroed. One thread adds to it. */
struct dp_tally {
    size_t outputs, features, stride; /* stride: of a row of lanes */
    float constant;                   /* value of a column after the row's own; 0: none */
    double inverse_grid;
    int32_t *block, *lane; /* outputs × stride; lane: the first of block on a boundary of 64 bytes */
    int64_t *total;        /* outputs × stride: what was spilled */
    float *scaled;         /* DP_ROWS × outputs */
    size_t block_capacity, total_capacity, scaled_capacity;
    size_t room;    /* rows that the lanes still take */
    bool spilled;   /* total is in use */
    char apart[64]; /* from the tally of the next thread */
};

/* A sum of no rows. Allocates only if it is larger than all before. DP_E_RUN: no memory. */
int dp_tally_begin(struct dp_tally *tally, size_t outputs, size_t features, float constant, double grid, struct dp_err *err);

/* Adds count ≤ DP_ROWS rows, dense or sparse, with coefficients count × outputs. A row whose coefficients are all 0 is
   not read: it may not be finite. */
void dp_tally_add(struct dp_tally *tally, const float *a, const struct dp_row *rows, size_t count);

/* sum_kj += what was added: outputs × the row's columns, and one more where there is a constant. */
void dp_tally_end(const struct dp_tally *tally, int64_t *sum);

void dp_tally_close(struct dp_tally *tally);

#endif
