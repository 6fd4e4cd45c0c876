/* Transformed rows (model/transform.h): z = s T x as floats. z is cut to a norm a little below 1, so that the norm of the
 * floats is at most 1. Each z is computed when a batch has its row for the first time, and kept until the transform changes;
 * inline rows are transformed in each lap. z depends only on its own row, not on the rest of the batch or the number of
 * threads. If T x is not finite, z is zero. */
#ifndef DP_STAGES_BEHIND_H
#define DP_STAGES_BEHIND_H

#include <stdbool.h>

#include "data/dataset.h"
#include "math/panels.h"
#include "model/transform.h"

/* State of a stage between laps. Set threads; everything else starts zeroed. */
struct dp_behind {
    int threads;
    double *matrix; /* the transform of the kept rows; NULL: none yet */
    bool unit, uncut;
    struct dp_panels panels;
    size_t rows;    /* rows that fit */
    size_t width;   /* entries of z */
    float *z;       /* rows × width */
    double *cut;    /* rows: s */
    double *norm2;  /* rows: dp_row_norm2 of z */
    uint64_t *made; /* a bit per row */
    size_t *todo;   /* rows of the batch that are not computed yet */
    size_t todo_capacity;
    double *wide, *product; /* work space of each thread */
};

/* A batch to transform. */
struct dp_behind_batch {
    size_t count, features;
    double constant;                  /* constant after the row's own columns, if the transform has one column more */
    const int64_t *id;                /* row numbers; with a data set, z is kept under this number */
    const struct dp_dataset *dataset; /* NULL: rows are inline */
    const float *x;                   /* inline: count × features */
};

/* Computes the rows of the batch that are not kept yet. DP_E_RUN: the transform is not finite; no memory. */
int dp_behind_take(struct dp_behind *behind, const struct dp_transform *transform, const struct dp_behind_batch *batch,
                   const struct dp_frame *frame, struct dp_err *err);

void dp_behind_close(struct dp_behind *behind);

/* z of row `at`: a row number of the data set, or the place in the batch if rows are inline. */
static inline struct dp_row dp_behind_row(const struct dp_behind *behind, size_t at)
{
    return dp_row_dense(behind->z + at * behind->width, behind->width);
}
static inline double dp_behind_cut(const struct dp_behind *behind, size_t at)
{
    return behind->cut[at];
}
static inline double dp_behind_norm2(const struct dp_behind *behind, size_t at)
{
    return behind->norm2[at];
}

#endif
