/* A released model, ready to score the rows of a data set. dp-eval and dp-predict use it. */
#pragma once

#include "base/err.h"
#include "data/dataset.h"
#include "math/metrics.h"
#include "model/family.h"

struct dp_predictor {
    struct dp_form form;
    bool known; /* the name of the loss is known */
    enum dp_loss loss;
    double width;
    struct dp_affine label; /* for a regression: converts scores to the units of the label, within its bounds */
    double *parameters;     /* parameters of this form, owned */
    void *room;             /* of the family, owned */
};

/* Reads the fields that all laps of a run share. The rows of the data set (`path` names it) must be prepared like the training
 * rows: the same number of columns and, if both state it, the same row norm. The predictor starts zeroed; close it even if this
 * fails. */
int dp_predictor_open(struct dp_predictor *predictor, const struct dp_frame *frame, const struct dp_dataset *dataset,
                      const char *path, struct dp_err *err);

/* The same for rows that these facts describe. */
struct dp_row_facts;
int dp_predictor_open_for(struct dp_predictor *predictor, const struct dp_frame *frame, const struct dp_row_facts *facts,
                          const char *name, struct dp_err *err);
void dp_predictor_close(struct dp_predictor *predictor);

/* DP_E_RUN unless the labels of the data set match the predictions: both are classes, equally many, or both are numbers; and
 * the same names in the same order, if both have names. */
int dp_predictor_match(const struct dp_predictor *predictor, const struct dp_frame *frame, const struct dp_dataset *dataset,
                       const char *path, struct dp_err *err);

/* Refuses rows on which the model was trained or chosen, and rows of the same people that were not held out of its training: the
 * same table imported again, the whole table, or another split (DP_E_UNSAFE; the sentence ends with the hint, which may be
 * empty). A model without privacy has no such rows. */
int dp_predictor_check_unseen(const struct dp_frame *frame, const struct dp_dataset *dataset, const char *path,
                              const char *hint, struct dp_err *err);

/* Takes the parameters of a frame, whose model must have the shape of the first one. */
int dp_predictor_take(struct dp_predictor *predictor, const struct dp_frame *frame, struct dp_err *err);

/* scores: count × outputs, of rows [from, from + count). */
void dp_predictor_score(const struct dp_predictor *predictor, const struct dp_dataset *dataset, size_t from, size_t count,
                        double *scores);

/* The same for one row. scores: outputs. */
void dp_predictor_score_row(const struct dp_predictor *predictor, const struct dp_row *row, double *scores);

/* The rows of a data set that something is measured on: those that have a label. */
struct dp_scored {
    const struct dp_dataset *data;
    size_t rows;
    double *y;      /* rows: their labels */
    double *scores; /* rows × outputs */
};

/* Allocates, and takes the labels; the data set stays the caller's. Close it if it was zeroed, too. */
void dp_scored_open(struct dp_scored *scored, const struct dp_predictor *predictor, const struct dp_dataset *data);
void dp_scored_take(struct dp_scored *scored, const struct dp_predictor *predictor);
/* Per row: the probability of class 1, with more classes of the class predicted; and 1 if the row is of that class, else 0. */
void dp_scored_calibration(const struct dp_scored *scored, const struct dp_predictor *predictor, double *probability,
                           double *hit);
void dp_scored_close(struct dp_scored *scored);
