/* The rows of a lap, by reference into a mapped data set or inline in the frame, for stages that read them. With a transform
   (model/transform.h) scores and sums are computed from z instead of x; the model has the columns of x. */
#pragma once

#include "data/dataset.h"
#include "model/family.h"
#include "stages/transformed.h"
#include "wire/frame.h"

struct dp_batch {
    size_t count;                             /* rows in the batch */
    size_t persons;                           /* persons with rows in the batch; count, if one row is taken for one person */
    const size_t *start;                      /* persons + 1: first row of each person; NULL: person i has only row i */
    double expected;                          /* upper bound on the sampler's mean number of rows: public, unlike count */
    size_t rows;                              /* the most rows of a batch: public, too */
    size_t features;                          /* columns of a row */
    size_t cols;                              /* columns of the model: one more with an intercept */
    size_t sum_cols;                          /* columns of a sum over rows: the model's columns, or the entries of z */
    float intercept;                          /* value of a constant column after the row's own; 0: none */
    const int64_t *id;                        /* row numbers in the data set */
    const struct dp_dataset *dataset;         /* NULL when inline */
    const float *x;                           /* inline: count × features */
    const double *y;                          /* inline: count; else dataset->y, indexed by id */
    const struct dp_transformed *transformed; /* NULL: no transform */
};

/* Whether and how a stage transforms rows, if the frame has a transform. */
enum dp_reader_transform {
    DP_TRANSFORM_REFUSED, /* the stage does not know transforms */
    DP_TRANSFORM_IGNORED, /* the stage takes rows as they are in the data */
    DP_TRANSFORM_APPLIED
};

/* A stage's reader of rows. Starts zeroed; the stage sets the first members before dp_reader_open. */
struct dp_reader {
    bool persons; /* the stage bounds the joint part of all rows of a person */
    enum dp_reader_transform transform;
    struct dp_transformed transformed; /* transformed rows; the stage may set its threads */
    /* Set by the functions below. */
    struct dp_dataset *dataset; /* NULL: rows come inline */
    uint64_t *bits;             /* a bit for each person; NULL until a batch is not in order */
    size_t units;               /* persons */
    int64_t *id;                /* rows of the batch, and first row of each person */
    size_t *start;
    size_t id_capacity, start_capacity;
};

/* data: folder of a data set; NULL: rows come inline. */
int dp_reader_open(struct dp_reader *reader, const char *data, struct dp_err *err);

/* Reads the batch of a raw frame. Checks that the frame's rows are of the reader's data set, in range, at most 2^31, and that
 * each person is there only once (otherwise a person would count twice). The intercept is the frame's. Borrows from frame and
 * reader. */
int dp_reader_read(struct dp_reader *reader, struct dp_batch *batch, const struct dp_frame *frame, struct dp_err *err);

void dp_reader_close(struct dp_reader *reader);

/* Checks the number of model columns and the number of rows in the record. DP_E_RUN: they differ from the first lap of the
   run. */
int dp_batch_same_shape(const struct dp_batch *batch, const struct dp_frame *frame, size_t cols, size_t rows,
                        struct dp_err *err);

/* The number of classes of the frame's labels, 0 for a regression. DP_E_RUN: the frame does not state it. */
int dp_batch_classes(const struct dp_frame *frame, size_t *classes, struct dp_err *err);

/* Row i, whose constant is dp_batch_constant, or z of row i, which has no constant. */
struct dp_row dp_batch_row(const struct dp_batch *batch, size_t i);
static inline float dp_batch_constant(const struct dp_batch *batch)
{
    return batch->transformed == NULL ? batch->intercept : 0;
}

/* The index under which state of row i is kept: its number in the data set, or its place in the batch. */
static inline size_t dp_batch_place(const struct dp_batch *batch, size_t i)
{
    return batch->dataset != NULL ? (size_t)batch->id[i] : i;
}
/* NAN for a null row. */
static inline double dp_batch_label(const struct dp_batch *batch, size_t i)
{
    size_t at = dp_batch_place(batch, i);
    bool null = batch->dataset != NULL && dp_dataset_is_null(batch->dataset, at);
    return null ? (double)NAN : batch->y[at];
}

/* Up to DP_ROWS rows of a batch, as scores are made of them (stages/transformed.h), and `ahead` rows after them to prefetch:
 * sampled rows are far apart, so the CPU does not prefetch them by itself. */
struct dp_block {
    size_t first, count, ahead;
    bool together;                             /* rows of one person, whose sum is clipped as one vector: do not clip them */
    struct dp_row row[DP_ROWS], next[DP_ROWS]; /* next: only `ahead` entries */
};

/* The block that begins at first < batch->count. Asks for the labels of the rows ahead. */
void dp_batch_block(const struct dp_batch *batch, size_t first, struct dp_block *block);

/* A block of count ≤ DP_ROWS rows from `first` on, and no rows ahead. */
void dp_batch_block_of(const struct dp_batch *batch, size_t first, size_t count, struct dp_block *block);

/* Turns the block into the next one, with less work than dp_batch_block. The block must have rows ahead. */
void dp_block_next(const struct dp_batch *batch, struct dp_block *block);

/* Scores the rows of a block. parameters: of the form. scores: count × outputs. norm2: dp_batch_norm2 of each row, or NULL.
   room: of the family (dp_form_room); NULL for a linear model. */
void dp_block_score(const struct dp_batch *batch, const struct dp_block *block, const struct dp_form *form,
                    const double *parameters, double *scores, double *norm2, void *room);

/* The scores of the block from `first` on. Returns its count. */
size_t dp_batch_score(const struct dp_batch *batch, const struct dp_form *form, const double *parameters, size_t first,
                      double *scores, void *room);

/* Removes the rows from a frame that has their sum. */
void dp_batch_forget(struct dp_frame *frame);

/* Stored entries and squared norm of row i with its constant column, or of z. */
static inline size_t dp_batch_entries(const struct dp_batch *batch, size_t i)
{
    const bool sparse = batch->transformed == NULL && batch->dataset != NULL && batch->dataset->storage == DP_STORAGE_CSR;
    return sparse ? dp_batch_row(batch, i).count + (batch->intercept != 0 ? 1 : 0) : batch->sum_cols;
}
double dp_batch_norm2(const struct dp_batch *batch, size_t i);
