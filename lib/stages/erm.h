/* dp-erm: one lap over all rows gives the model that minimises, or comes near to minimising,

     F(W) = (1/N) Σ_i l(y_i, W x_i) + (lambda/2) ‖W‖²

   less the model to start from, as the frame's sum. erm.c holds the options, the shapes and the way through a lap, erm_risk.c
   F and its gradient, and a file for each method what that method does with them. */
#ifndef DP_STAGES_ERM_H
#define DP_STAGES_ERM_H

#include "math/loss.h"
#include "stages/batch.h"
#include "stages/stages.h"

/* In the order of their names in DP_ERM_METHOD_CHOICES and of the table of methods in erm.c. */
enum dp_erm_which { DP_ERM_MINIMUM };
#define DP_ERM_METHOD_CHOICES "minimum"

struct dp_erm_options {
    const char *data;
    int loss, method;
    double width, lambda, intercept, tolerance;
    int64_t most, threads;
    bool non_private;
};

struct dp_erm_method;

struct dp_erm {
    const struct dp_erm_options *options;
    const struct dp_erm_method *method;
    struct dp_dataset *dataset; /* NULL: rows come inline */
    struct dp_batch_seen seen;
    enum dp_loss loss;
    double width;
    struct dp_form form;  /* of the model */
    size_t rows, classes; /* classes: of the labels; 0 for a regression */
    bool announced;       /* the frame says what the model is */
    size_t parts;         /* of the rows: their sums are added in this order, whatever the threads */
    double *gradient;     /* parts × size of the model */
    double *loss_sum;     /* parts */
    double *scores;       /* threads × DP_ROWS × outputs */
    double *slope;        /* of the model's size */
    double *w;            /* the same */
};

/* What a method is. */
struct dp_erm_method {
    /* Whether the options suit it, before anything is opened: DP_E_USAGE. */
    int (*check)(const struct dp_erm *s, struct dp_err *err);
    /* What the record of a lap will say, as far as it is known before the first: of the hello frame, with its release. */
    void (*announce)(const struct dp_erm *s, struct dp_record *open);
    /* One lap: makes the sum, and completes the frame's record, whose release is there. `model` is what to start from. */
    int (*lap)(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
               struct dp_err *err);
};

extern const struct dp_erm_method dp_erm_minimum;

/* Entries of the model. */
static inline size_t dp_erm_size(const struct dp_erm *s)
{
    return s->form.rows * s->form.cols;
}

/* What is minimised: the rows of a lap. */
struct dp_erm_risk {
    struct dp_erm *state;
    const struct dp_batch *batch;
};

/* Memory for it, once the shapes of the state are known. */
int dp_erm_risk_open(struct dp_erm *s, struct dp_err *err);

/* F at w, and its gradient, of the model's size; self is a struct dp_erm_risk. The same bytes whatever the threads. */
double dp_erm_risk_at(void *self, const double *w, double *gradient);

#endif
