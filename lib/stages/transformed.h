/* Transformed rows (model/transform.h): z = s T x as floats. z is cut to a norm a little below 1, so that the norm of the
 * floats is at most 1. Each z is computed when a batch has its row for the first time, and kept until the transform changes;
 * inline rows are transformed in each lap. z depends only on its own row, not on the rest of the batch or the number of
 * threads. If T x is not finite, z is zero.
 *
 * A score is s (w x) = u z with u = w A, A the inverse of T or, if T has more rows than columns, of its first rows: so a lap
 * reads z and not x. Without A, scores are made of x. */
#pragma once

#include "data/dataset.h"
#include "math/panels.h"
#include "model/transform.h"

/* State of a stage between laps. Set threads; everything else starts zeroed. */
struct dp_transformed {
    int threads;
    double *matrix; /* the transform of the kept rows; NULL: none yet */
    double *back;   /* A, cols × cols; NULL: T has fewer rows than columns, or is nearly singular, or A would take too long */
    double *model;  /* u of the lap, outputs × width; NULL without A */
    size_t model_capacity;
    bool unit, uncut;
    struct dp_panels panels;
    size_t rows;     /* rows that fit */
    size_t width;    /* entries of z */
    uint32_t *place; /* rows: 1 + the place of z, or 0 if it is not computed yet */
    size_t places;   /* that are taken, in the order of first visits: a run may visit a small part of the rows */
    float **part;    /* DP_TRANSFORMED_PART places each, × width */
    size_t parts, part_capacity;
    double *cut;   /* rows: s */
    double *norm2; /* rows: dp_row_norm2 of z */
    size_t *todo;  /* rows of the batch that are not computed yet */
    size_t todo_capacity;
    double *wide, *product; /* work space of each thread */
};

/* A batch to transform. */
struct dp_transformed_batch {
    size_t count, features;
    double constant;                  /* value of the column after the row's own, if the transform has one column more */
    const int64_t *id;                /* row numbers; with a data set, z is kept under this number */
    const struct dp_dataset *dataset; /* NULL: rows are inline */
    const float *x;                   /* inline: count × features */
};

/* Computes the rows of the batch that are not kept yet. DP_E_RUN: the transform is not finite. */
int dp_transformed_take(struct dp_transformed *transformed, const struct dp_transform *transform,
                        const struct dp_transformed_batch *batch, const struct dp_frame *frame, struct dp_err *err);

/* Computes u of the lap from w, outputs × cols. After dp_transformed_take. */
void dp_transformed_turn(struct dp_transformed *transformed, const double *w, size_t outputs);

void dp_transformed_close(struct dp_transformed *transformed);

/* z of row `at`: a row number of the data set, or the place in the batch if rows are inline. */
#define DP_TRANSFORMED_PART 4096
static inline float *dp_transformed_z(const struct dp_transformed *transformed, size_t at)
{
    const size_t place = transformed->place[at] - 1;
    return transformed->part[place / DP_TRANSFORMED_PART] + place % DP_TRANSFORMED_PART * transformed->width;
}
static inline struct dp_row dp_transformed_row(const struct dp_transformed *transformed, size_t at)
{
    return dp_row_dense(dp_transformed_z(transformed, at), transformed->width);
}
static inline double dp_transformed_cut(const struct dp_transformed *transformed, size_t at)
{
    return transformed->cut[at];
}
static inline double dp_transformed_norm2(const struct dp_transformed *transformed, size_t at)
{
    return transformed->norm2[at];
}
