/* dp-erm: one lap over all rows gives a model at, or near, the minimum of a regularized risk.

     F(W) = (1/N) Σ_i l(y_i, W x_i) + (lambda/2) ‖W‖²

   The frame's sum is this model less the initial one. erm.c has the options, the shapes and the course of a lap, erm_risk.c F and its
   gradient, erm_bound.c the bounds on a row and the sum; each method has a file. */
#pragma once

#include "math/newton.h"
#include "priv/output.h"
#include "stages/row_stage.h"

/* In the order of DP_ERM_METHOD_CHOICES and of the table of methods in erm.c. */
enum dp_erm_which {
    DP_ERM_MINIMUM,
    DP_ERM_DESCENT,
    DP_ERM_PERMUTATION,
    DP_ERM_COINS,
    DP_ERM_OBJECTIVE /* a minimum with a multiplier */
};
#define DP_ERM_METHOD_CHOICES "minimum|descent|permutation|coins"

/* --decay */
enum { DP_ERM_CONSTANT, DP_ERM_INVERSE };

struct dp_erm_options {
    struct dp_row_options row;
    int method, decay;
    double tolerance, step, norm, multiplier;
    int64_t most, iterations, passes, batch;
    bool non_private;
};

struct dp_erm_method;

struct dp_erm {
    struct dp_row_state row;
    const struct dp_erm_options *options;
    const struct dp_erm_method *method;
    double tolerance;
    int64_t most;
    unsigned char *takes; /* for each row of the lap: 0 if it contributes nothing */
    size_t parts;         /* parts of the rows: their sums are added in this order, whatever the number of threads */
    double *gradient;     /* parts × size of the model */
    double *loss_sum;     /* parts */
    double *scores;       /* threads × DP_ROWS × outputs */
    double *bend;         /* minimum, objective: for each output of a row, the second derivative of the loss; softmax: p */
    double *slope;        /* of the model's size */
    double *w;            /* the same */
};

/* A method. */
struct dp_erm_method {
    bool bounded; /* its sum has a bound: rows have norm at most --norm, losses have a bounded slope */
    bool batches; /* each step uses a batch of rows, not all rows */
    /* Checks the options before anything is opened: DP_E_USAGE. NULL: nothing to check. */
    int (*check)(const struct dp_erm *s, struct dp_err *err);
    /* Fills the record of the hello frame, as far as it is known before the first lap. */
    void (*announce)(const struct dp_erm *s, struct dp_record *open);
    /* One lap: computes the sum from the initial `model`, and completes the frame's record, which has its release. */
    int (*lap)(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
               struct dp_err *err);
};

extern const struct dp_erm_method dp_erm_minimum, dp_erm_descent, dp_erm_permutation, dp_erm_coins, dp_erm_objective;

/* Entries of the model. */
static inline size_t dp_erm_size(const struct dp_erm *s)
{
    return s->row.form.rows * s->row.form.cols;
}

/* The objective: F on the rows of a lap, plus (b, W)/N if there is a b of the model's size. */
struct dp_erm_risk {
    struct dp_erm *state;
    const struct dp_batch *batch;
    const double *b;
};

/* Allocates it after the shapes of the state are known. */
void dp_erm_risk_open(struct dp_erm *s);

/* DP_E_USAGE: by what is public of the data set, all rows are longer than --norm. */
int dp_erm_lengths_check(const struct dp_erm *s, struct dp_err *err);

/* Chooses the rows of a lap that contribute: rows whose label is in the domain of the loss and, if the method is bounded, whose
 * norm is at most --norm. Others contribute nothing: an error would tell that there is such a row. */
void dp_erm_admit(struct dp_erm *s, const struct dp_batch *batch);

/* The objective at w and its gradient, of the model's size; self is a struct dp_erm_risk. The same bytes for any number of
 * threads. */
double dp_erm_risk_at(void *self, const double *w, double *gradient);

/* Moves state->w to a point where the norm of the gradient is within the tolerance, in at most state->most passes over the
 * rows. *found as in dp_newton. */
void dp_erm_solve(struct dp_erm_risk *r, double tolerance, struct dp_minimum *found);

/* w ← w − eta ((1/n) Σ slopes at w + lambda w), over all n rows of the batch. The same bytes for any number of threads. A row's
 * slope takes part in at most dp_erm_chain additions, for a model of that size. */
void dp_erm_descend(const struct dp_erm_risk *r, double eta, double *w);
double dp_erm_chain(size_t rows, size_t size);

/* The same with only the rows order[from] … order[to − 1] of the batch, and with the given n; slopes are added in this
 * order. */
void dp_erm_step(const struct dp_erm_risk *r, const int64_t *order, size_t from, size_t to, double n, double eta, double *w);

/* Checks the options of a bounded method: its loss and step. */
int dp_erm_bound_check(const struct dp_erm *s, struct dp_err *err);

/* The objective and the step for models with that many outputs. */
struct dp_descent dp_erm_descent_of(const struct dp_erm *s, size_t outputs);

/* The largest norm that a row with its constant column can have. */
double dp_erm_reach(const struct dp_erm_options *o);

/* The shapes of a bounded method's laps, for its bound. */
struct dp_erm_shape {
    size_t rows, outputs, cols;
};

/* The shape of a lap; the shape that the data set promises before the first lap, or false if rows come inline. */
struct dp_erm_shape dp_erm_shape_of(const struct dp_erm *s);
bool dp_erm_shape_ahead(const struct dp_erm *s, int64_t rows, struct dp_erm_shape *shape);

/* The largest distance of two results caused by the rounding of `steps` steps of d from a model of norm `start`; `chain` as in
 * struct dp_arithmetic. Also the largest distance caused by truncation to a grid, as a fraction of the grid's bound: a step of
 * the grid is at most 2^-20 of the bound, and each entry moves by less than one step. */
double dp_erm_rounding(const struct dp_erm *s, const struct dp_erm_shape *shape, const struct dp_descent *d, int64_t steps,
                       double chain, double start);
double dp_erm_truncation(const struct dp_erm_shape *shape);

/* The bound on a sum of that shape which one person moves by at most `exact` in real arithmetic, after `steps` steps of d from
 * a model of norm `start`; `chain` as in struct dp_arithmetic. The bound is a little larger than the sum of `exact`, the
 * rounding of the steps and of the grid. It is the same for a wide range of these, so that laps share it although their
 * models differ. INFINITY if rounding may exceed half of `exact`. */
double dp_erm_bound(const struct dp_erm *s, const struct dp_erm_shape *shape, const struct dp_descent *d, int64_t steps,
                    double exact, double chain, double start);

/* Sets the frame's sum to s->w − `model`, on the grid of the bound, and states that it is bounded. */
int dp_erm_give(const struct dp_erm *s, struct dp_frame *frame, const double *model, double bound, struct dp_err *err);
