/* The sum of several rows times coefficients as one vector, clipped as one: the contribution of a person with several rows.
 *
 *   v_kj = Σ_i a_ik x_ij,   sum_kj += trunc(v_kj min(1, C / ‖v‖₂) / grid)
 *
 * so that the added vector times the grid has L2 norm at most C as real numbers (dp_grid_add_at). v is added up in double, in
 * the order of the rows. The same rows give the same numbers dense, sparse and narrow. */
#pragma once

#include "math/vec.h"

/* Starts zeroed. One thread adds to it. */
struct dp_together {
    size_t outputs, features, cols; /* cols: features, and one more if there is a constant */
    float constant;                 /* value of a column after the row's own; 0: none */
    double *v;                      /* outputs × cols; zeros between two vectors */
    double *entry;                  /* entries of v: the columns of a sparse vector */
    int64_t *total;                 /* outputs × cols */
    size_t *at;                     /* indices of the entries in v */
    int32_t *column;                /* columns of the sparse rows in v, maybe repeated */
    size_t columns, room, entry_room, total_room, column_room, at_room;
    bool dense;     /* a row of v is dense */
    int64_t within; /* number of vectors whose norm is at most the bound, less the number whose norm is above it */
    char apart[64]; /* distance to the next thread's part */
};

/* Begins an empty sum. */
void dp_together_begin(struct dp_together *together, size_t outputs, size_t features, float constant);
void dp_together_close(struct dp_together *together);

/* v += a row, with `outputs` coefficients. */
void dp_together_add(struct dp_together *together, const float *a, struct dp_row row);

/* Adds v to the sum as above, and begins the next v. A v with an entry that is not finite adds nothing. */
void dp_together_clip(struct dp_together *together, double bound, double grid);

/* sum (outputs × cols) += the sum. */
void dp_together_end(const struct dp_together *together, int64_t *sum);
