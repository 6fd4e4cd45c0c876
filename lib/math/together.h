/* The sum of several rows times coefficients as one vector, clipped as one: what a person with several rows adds to a sum.
 *
 *   v_kj = Σ_i a_ik x_ij,   sum_kj += trunc(v_kj min(1, C / ‖v‖₂) / grid)
 *
 * so that what is added has, times the grid, L2 norm at most C as real numbers (dp_grid_add_at). v is added up in double, in
 * the order in which the rows are given. The same rows give the same numbers dense, sparse and narrow. */
#ifndef DP_MATH_TOGETHER_H
#define DP_MATH_TOGETHER_H

#include <stdbool.h>

#include "base/err.h"
#include "math/vec.h"

/* Starts zeroed. One thread adds to it. */
struct dp_together {
    size_t outputs, features, cols; /* cols: features, and one more where there is a constant */
    float constant;                 /* value of a column after the row's own; 0: none */
    double *v;                      /* outputs × cols; zeros between two vectors */
    double *entry;                  /* of v, the columns of a sparse vector */
    int64_t *total;                 /* outputs × cols */
    size_t *at;                     /* where the entries stand in v */
    int32_t *column;                /* of the sparse rows that are in v, several times perhaps */
    size_t columns, room, entry_room, total_room, column_room, at_room;
    bool dense;     /* a row of v is dense */
    bool failed;    /* for want of memory */
    int64_t within; /* vectors whose norm was at most the bound, less those whose norm was above it; others do not count */
    char apart[64]; /* distance to the next thread's part */
};

/* A sum of nothing. DP_E_RUN: no memory. */
int dp_together_begin(struct dp_together *together, size_t outputs, size_t features, float constant, struct dp_err *err);
void dp_together_close(struct dp_together *together);

/* v += a row, with `outputs` coefficients. */
void dp_together_add(struct dp_together *together, const float *a, struct dp_row row);

/* Adds v to the sum as above, and begins the next one. A v with an entry that is not finite adds nothing. */
void dp_together_clip(struct dp_together *together, double bound, double grid);

/* sum (outputs × cols) += the sum. DP_E_RUN: a call since dp_together_begin had no memory. */
int dp_together_end(const struct dp_together *together, int64_t *sum, struct dp_err *err);

#endif
