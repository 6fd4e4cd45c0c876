/* A released model, ready to score the rows of a data set: what dp-eval and dp-predict share. */
#ifndef DP_MODEL_PREDICTOR_H
#define DP_MODEL_PREDICTOR_H

#include <stdbool.h>

#include "base/err.h"
#include "data/dataset.h"
#include "math/metrics.h"
#include "model/family.h"

struct dp_predictor {
    struct dp_form form;
    bool known; /* the loss has a name that is known here */
    enum dp_loss loss;
    double width;
    struct dp_affine label; /* of a regression: its own units from those of the scores */
    double *parameters;     /* of the form, owned */
};

/* Reads what all laps of a run share. The rows of the data set (`path` names it) must be prepared as those that the model was
   trained on: the same number of columns, and the same row norm where both say it. Starts zeroed; close it, whatever open
   returned. */
int dp_predictor_open(struct dp_predictor *predictor, const struct dp_frame *frame, const struct dp_dataset *dataset,
                      const char *path, struct dp_err *err);

/* The same for rows of which these facts are known. */
struct dp_row_facts;
int dp_predictor_open_for(struct dp_predictor *predictor, const struct dp_frame *frame, const struct dp_row_facts *facts,
                          const char *name, struct dp_err *err);
void dp_predictor_close(struct dp_predictor *predictor);

/* Whether the labels of the data set are what the model predicts: classes or numbers, as many, and, where both have them, names
   that are the same in the same order. */
int dp_predictor_match(const struct dp_predictor *predictor, const struct dp_frame *frame, const struct dp_dataset *dataset,
                       const char *path, struct dp_err *err);

/* Takes the parameters of a frame, whose model must have the shape of the first. */
int dp_predictor_take(struct dp_predictor *predictor, const struct dp_frame *frame, struct dp_err *err);

/* scores: count × outputs, of rows [from, from + count). */
void dp_predictor_score(const struct dp_predictor *predictor, const struct dp_dataset *dataset, size_t from, size_t count,
                        double *scores);

/* The same for one row. scores: outputs. */
void dp_predictor_score_row(const struct dp_predictor *predictor, const struct dp_row *row, double *scores);

#endif
