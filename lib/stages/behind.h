/* Rows behind a transform (model/transform.h): z = s T x as floats, where the cut is to a norm a little below 1, so that that
 * of the floats is at most 1. Each is made when a batch has it for the first time, and kept as long as the transform is what it
 * was; rows that come inline are made for each lap. z is a map of one row by itself, and the same whatever else is in the batch
 * and however many threads there are. A row of which T x is not finite becomes zeros. */
#ifndef DP_STAGES_BEHIND_H
#define DP_STAGES_BEHIND_H

#include <stdbool.h>

#include "data/dataset.h"
#include "math/panels.h"
#include "model/transform.h"

/* Kept by a stage between laps. Set threads, the rest starts zeroed. */
struct dp_behind {
    int threads;
    double *matrix; /* the transform that rows have been taken through; NULL: none yet */
    bool unit, uncut;
    struct dp_panels panels;
    size_t rows;    /* there is room for */
    size_t width;   /* entries of z */
    float *z;       /* rows × width */
    double *cut;    /* rows: s */
    double *norm2;  /* rows: dp_row_norm2 of z */
    uint64_t *made; /* a bit per row */
    size_t *todo;   /* of the batch, those that are still to be made */
    size_t todo_capacity;
    double *wide, *product; /* of each thread */
};

/* A batch that is to be taken through a transform. */
struct dp_behind_batch {
    size_t count, features;
    double constant;                  /* after the row's own columns, where the transform has one more */
    const int64_t *id;                /* of its rows; where there is a data set, what is made of them is kept by it */
    const struct dp_dataset *dataset; /* NULL: rows are inline */
    const float *x;                   /* inline: count × features */
};

/* Makes what is missing of the batch. DP_E_RUN: the transform is not finite; no memory. */
int dp_behind_take(struct dp_behind *behind, const struct dp_transform *transform, const struct dp_behind_batch *batch,
                   const struct dp_frame *frame, struct dp_err *err);

void dp_behind_close(struct dp_behind *behind);

/* Row `at`: a row number of the data set, or where rows are inline the place in the batch. */
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
