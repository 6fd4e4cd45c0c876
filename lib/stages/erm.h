/* dp-erm: one lap over all rows gives the model that minimises, or comes near to minimising,

     F(W) = (1/N) Σ_i l(y_i, W x_i) + (lambda/2) ‖W‖²

   less the model to start from, as the frame's sum. erm.c holds the options, the shapes and the way through a lap, erm_risk.c
   F and its gradient, erm_bound.c what bounds a row and the sum, and a file for each method what that method does with them. */
#ifndef DP_STAGES_ERM_H
#define DP_STAGES_ERM_H

#include "math/loss.h"
#include "math/minimise.h"
#include "priv/output.h"
#include "stages/batch.h"
#include "stages/stages.h"

/* In the order of their names in DP_ERM_METHOD_CHOICES and of the table of methods in erm.c. */
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
    const char *data;
    int loss, method, adjacency, decay;
    double width, lambda, intercept, tolerance, step, norm, multiplier;
    int64_t most, iterations, passes, batch, threads;
    bool non_private;
};

struct dp_erm_method;

struct dp_erm {
    const struct dp_erm_options *options;
    const struct dp_erm_method *method;
    struct dp_dataset *dataset; /* NULL: rows come inline */
    struct dp_batch_seen seen;
    enum dp_loss loss;
    double width, tolerance;
    int64_t most;
    struct dp_form form;  /* of the model */
    size_t rows, classes; /* classes: of the labels; 0 for a regression */
    bool announced;       /* the frame says what the model is */
    unsigned char *takes; /* rows of the lap: 0 for one that contributes nothing */
    size_t parts;         /* of the rows: their sums are added in this order, whatever the threads */
    double *gradient;     /* parts × size of the model */
    double *loss_sum;     /* parts */
    double *scores;       /* threads × DP_ROWS × outputs */
    double *bend;         /* minimum, objective: second derivatives of the rows' losses */
    double *slope;        /* of the model's size */
    double *w;            /* the same */
};

/* What a method is. */
struct dp_erm_method {
    bool bounded; /* its sum has a bound: rows are held to --norm, losses to a bounded slope */
    bool batches; /* its steps are of batches of rows, and not of all */
    /* Whether the options suit it, before anything is opened: DP_E_USAGE. */
    int (*check)(const struct dp_erm *s, struct dp_err *err);
    /* What the record of a lap will say, as far as it is known before the first: of the hello frame, with its release. */
    void (*announce)(const struct dp_erm *s, struct dp_record *open);
    /* One lap: makes the sum, and completes the frame's record, whose release is there. `model` is what to start from. */
    int (*lap)(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
               struct dp_err *err);
};

extern const struct dp_erm_method dp_erm_minimum, dp_erm_descent, dp_erm_permutation, dp_erm_coins, dp_erm_objective;

/* Entries of the model. */
static inline size_t dp_erm_size(const struct dp_erm *s)
{
    return s->form.rows * s->form.cols;
}

/* What is minimised: F on the rows of a lap, and (b, W)/N where there is a b, of the model's size. */
struct dp_erm_risk {
    struct dp_erm *state;
    const struct dp_batch *batch;
    const double *b;
};

/* Memory for it, once the shapes of the state are known. */
int dp_erm_risk_open(struct dp_erm *s, struct dp_err *err);

/* Which rows of a lap contribute: those whose label is in the loss's domain and, where the method is bounded, whose norm is
   within --norm. A row of the data set that is longer is DP_E_RUN, an inline row that is longer contributes nothing. */
int dp_erm_admit(struct dp_erm *s, const struct dp_batch *batch, struct dp_err *err);

/* What is minimised at w, and its gradient, of the model's size; self is a struct dp_erm_risk. The same bytes whatever the
   threads. */
double dp_erm_risk_at(void *self, const double *w, double *gradient);

/* Moves state->w to where the norm of the gradient is within the tolerance: by L-BFGS, down to the norm `near`, and from there,
   or from where values agree to the last bit, by Newton's method, for models of one output. *found as dp_minimise has it. */
int dp_erm_solve(struct dp_erm_risk *r, double near, double tolerance, struct dp_minimum *found, struct dp_err *err);

/* w ← w − eta ((1/n) Σ slopes at w + lambda w), over all n rows of the batch. The same bytes whatever the threads. A row's
   slope goes through dp_erm_chain additions at most until it is in the sum, in a model of that size. */
void dp_erm_descend(const struct dp_erm_risk *r, double eta, double *w);
double dp_erm_chain(size_t rows, size_t size);

/* The same with the rows order[from] … order[to − 1] of the batch alone, and n as it is given; their slopes are added one after
   another. */
void dp_erm_step(const struct dp_erm_risk *r, const int64_t *order, size_t from, size_t to, double n, double eta, double *w);

/* Its second derivative at w, for models of one output, and that times v; self as above. The same bytes whatever the threads.
 */
void dp_erm_bend_at(void *self, const double *w);
void dp_erm_bend(void *self, const double *v, double *product);

/* Bounded methods: whether the loss and the step suit them, of options alone. */
int dp_erm_bound_check(const struct dp_erm *s, struct dp_err *err);

/* The objective and the step, for models of so many outputs. */
struct dp_descent dp_erm_descent_of(const struct dp_erm *s, size_t outputs);

/* The largest norm that a row with its constant column can have. */
double dp_erm_reach(const struct dp_erm_options *o);

/* What the shapes of a bounded method's laps are, for its bound. */
struct dp_erm_shape {
    size_t rows, outputs, cols;
};

/* Those of a lap, and those that the data set promises before the first; false where rows come inline. */
struct dp_erm_shape dp_erm_shape_of(const struct dp_erm *s);
bool dp_erm_shape_ahead(const struct dp_erm *s, int64_t rows, struct dp_erm_shape *shape);

/* By how much the rounding of `steps` steps of d from a model of norm `start` can move two results apart; `chain` as in struct
   dp_arithmetic. And by how much their truncation to a grid can, as part of the bound that the grid is of: it is at most 2^-20
   of the bound, and moves each entry by less than one step of it. */
double dp_erm_rounding(const struct dp_erm *s, const struct dp_erm_shape *shape, const struct dp_descent *d, int64_t steps,
                       double chain, double start);
double dp_erm_truncation(const struct dp_erm_shape *shape);

/* What a sum of that shape is bounded by that one person moves by `exact`, as real numbers, in `steps` steps of d from a model
   of norm `start`; `chain` as in struct dp_arithmetic. It is a little larger than that, the rounding of the steps and the grid
   need together, and the same for a wide range of these, so that laps from different models have the same. INFINITY where
   rounding may be more than half of what one person does. */
double dp_erm_bound(const struct dp_erm *s, const struct dp_erm_shape *shape, const struct dp_descent *d, int64_t steps,
                    double exact, double chain, double start);

/* Makes s->w less `model` the frame's sum, on the grid of the bound, and states it. */
int dp_erm_give(const struct dp_erm *s, struct dp_frame *frame, const double *model, double bound, struct dp_err *err);

#endif
