/* Stages that read the rows of a lap, and mostly sum over them: what they have in common. The file of such a stage has only its
 * options and its computation.
 *
 * A lap: announce the model in the first frame, read the rows, check their shape, get the model, compute (lap), remove the rows
 * from the frame, emit. */
#pragma once

#include "model/method.h"
#include "stages/bounded.h"
#include "stages/class_weights.h"
#include "stages/stage.h"

/* The first member of the options of such a stage; zeros, if its table has no row for them. */
struct dp_row_options {
    const char *data, *class_weights;
    int loss, adjacency;
    double width, lambda, intercept;
    int64_t threads;
};

/* The first member of its state. */
struct dp_row_state {
    /* open sets the method of what it trains (no method: it trains nothing), and the network. A linear family and a scale of 1
       are there already: open may set others; a scale of 0: `shape` sets it. The rest is from the options, and known in open.
       The intercept is a float; NAN: the first frame has it. */
    struct dp_training training;
    /* Set by open: */
    double bound;      /* of the announced sum; 0: not known yet, or in `record` */
    int follows;       /* DP_FOLLOWS_ values in the announced record */
    bool exact;        /* the sum is not bounded */
    bool keep;         /* leave the rows in the frame */
    const char *whole; /* the option that needs all rows at once, and not a shard; or NULL */
    size_t numbers;    /* of the sum that `add` makes; set by open, hello, before or shape */
    /* Set by row_stage.c: */
    struct dp_reader reader;
    struct dp_class_weights weights;
    struct dp_form form; /* of the model it trains; a network's is set by open */
    size_t rows, cols;   /* the record's number of rows; columns of a row with its constant */
    size_t classes;      /* of the labels, if it trains a model; 0: a regression */
    bool shaped;         /* these are known */
    bool announced;      /* the frame says what the model is */
};

/* The rest of such a stage: the member `rows` of its class, which needs no fire. Each may be NULL, except one of lap and add. */
struct dp_row_stage {
    enum dp_reader_transform transform;
    enum dp_meaning means; /* of its sums, in the announced record. DP_MEANS_NONE: it announces nothing, or in its own hello */
    /* Completes the announced record of its laps, before its bound: the sensitivity depends on the release. */
    void (*record)(const struct dp_stage *stage, struct dp_record *open);
    /* Before the rows of a lap are read. */
    int (*before)(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err);
    /* In the first lap, when the shapes are known: checks and memory. */
    int (*shape)(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, struct dp_err *err);
    /* model: NULL if it trains none. The open record has its release, if the stage has a meaning. */
    int (*lap)(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
               struct dp_err *err);
    /* A lap that adds the rows to `numbers` zeros. The frame already says that one person changes them by at most the bound. */
    int (*add)(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, int64_t *sum, struct dp_err *err);
};

/* open, hello, fire and close of the class, with what all have in common: stage.c calls them. */
int dp_row_stage_open(struct dp_stage *stage, struct dp_err *err);
int dp_row_stage_hello(struct dp_stage *stage, struct dp_frame *hello, struct dp_err *err);
void dp_row_stage_close(struct dp_stage *stage);
int dp_row_stage_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err);
