/* The rows of a lap, by reference into a mapped data set or inline in the frame: for stages that read them. Behind a transform
   (model/transform.h) scores are those of z, and so are the rows that sums are made of; the model is in the columns of x. */
#ifndef DP_STAGES_BATCH_H
#define DP_STAGES_BATCH_H

#include "data/dataset.h"
#include "model/family.h"
#include "stages/behind.h"
#include "wire/frame.h"

struct dp_batch {
    size_t count;                     /* rows in the batch */
    size_t persons;                   /* whose rows they are: count, where one row is taken for one person */
    const size_t *start;              /* persons + 1: where the rows of each begin; NULL: row i is all of person i */
    double expected;                  /* rows that the sampler takes on average, at most: public, and count is not */
    size_t rows;                      /* that may be in it, at most: public as well */
    size_t features;                  /* columns of a row */
    size_t cols;                      /* columns of the model: one more with an intercept */
    size_t sum_cols;                  /* columns of a sum over rows: those of the model, or the entries of z */
    float intercept;                  /* value of a constant column after the row's own; 0 if there is none */
    const int64_t *id;                /* row numbers in the data set */
    const struct dp_dataset *dataset; /* NULL when inline */
    const float *x;                   /* inline: count × features */
    const double *y;                  /* inline: count; else dataset->y, indexed by id */
    const struct dp_behind *behind;   /* NULL: rows are what they are */
};

/* Kept by the stage between laps. Starts zeroed; a stage that bounds what all rows of a person add together sets persons. */
struct dp_batch_seen {
    bool persons;
    uint64_t *bits; /* one per person; there are none until a batch is in no order */
    size_t units;   /* persons */
    int64_t *id;    /* rows of the batch, and where those of each person begin */
    size_t *start;
    size_t id_capacity, start_capacity;
};
void dp_batch_seen_close(struct dp_batch_seen *seen);

/* Reads the batch of a raw frame. dataset may be NULL: then the rows must be inline. Checks that the frame's rows are
   of this data set, in range, at most 2^31 and each person there once (else one would count twice). The intercept is the
   frame's. behind: where the stage keeps rows behind a transform; NULL: it has no notion of one, and refuses a frame that
   has it. Borrows from frame, dataset and behind. */
int dp_batch_read(struct dp_batch *batch, const struct dp_frame *frame, const struct dp_dataset *dataset,
                  struct dp_batch_seen *seen, struct dp_behind *behind, struct dp_err *err);

/* The same, with rows as they are in the data, whatever transform the frame has. */
int dp_batch_read_own(struct dp_batch *batch, const struct dp_frame *frame, const struct dp_dataset *dataset,
                      struct dp_batch_seen *seen, struct dp_err *err);

/* DP_E_RUN unless the batch has so many columns (of the model), and its record so many rows: those of the run's first lap. */
int dp_batch_same_shape(const struct dp_batch *batch, const struct dp_frame *frame, size_t cols, size_t rows,
                        struct dp_err *err);

/* The number of classes that the frame's labels have, 0 for a regression. DP_E_RUN: it does not say. */
int dp_batch_classes(const struct dp_frame *frame, size_t *classes, struct dp_err *err);

/* Row i, which dp_batch_constant ends, or z of row i, which nothing does. */
struct dp_row dp_batch_row(const struct dp_batch *batch, size_t i);
static inline float dp_batch_constant(const struct dp_batch *batch)
{
    return batch->behind == NULL ? batch->intercept : 0;
}

/* Where row i is kept: by its number in the data set, or where it stands in the batch. */
static inline size_t dp_batch_place(const struct dp_batch *batch, size_t i)
{
    return batch->dataset != NULL ? (size_t)batch->id[i] : i;
}
static inline double dp_batch_label(const struct dp_batch *batch, size_t i)
{
    return batch->y[dp_batch_place(batch, i)];
}

/* Up to DP_ROWS rows of a batch as they are in the data, and `ahead` rows after them, which the CPU may be asked to fetch:
   sampled rows lie far apart, and it does not guess them. */
struct dp_block {
    size_t first, count, ahead;
    struct dp_row row[DP_ROWS], next[DP_ROWS]; /* next: without entries from `ahead` on */
};

/* The block that begins at first < batch->count. Asks for the labels of the rows ahead. */
void dp_batch_block(const struct dp_batch *batch, size_t first, struct dp_block *block);

/* A block of count ≤ DP_ROWS rows from `first` on, and no rows ahead. */
void dp_batch_block_of(const struct dp_batch *batch, size_t first, size_t count, struct dp_block *block);

/* The block after this one, of which there must be rows ahead: less work than anew. */
void dp_block_next(const struct dp_batch *batch, struct dp_block *block);

/* The scores of a block's rows by parameters of the form, count × outputs, and dp_batch_norm2 of them, unless norm2 is NULL. */
void dp_block_score(const struct dp_batch *batch, const struct dp_block *block, const struct dp_form *form,
                    const double *parameters, double *scores, double *norm2);

/* The scores of the block from `first` on. Returns its count. */
size_t dp_batch_score(const struct dp_batch *batch, const struct dp_form *form, const double *parameters, size_t first,
                      double *scores);

/* Takes the rows out of a frame that has their sum. */
void dp_batch_forget(struct dp_frame *frame);

/* Of row i with its constant column, or of z: stored entries, and squared norm. */
static inline size_t dp_batch_entries(const struct dp_batch *batch, size_t i)
{
    return dp_batch_row(batch, i).count + (dp_batch_constant(batch) != 0 ? 1 : 0);
}
double dp_batch_norm2(const struct dp_batch *batch, size_t i);

#endif
