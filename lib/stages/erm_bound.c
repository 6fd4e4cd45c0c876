/* Shared by the bounded methods of dp-erm: the bound on one row's influence, the check that such a bound is known, and the sum
 * on its grid. */

#include "math/grid.h"
#include "stages/bounded.h"
#include "stages/erm.h"
#include "stages/labels.h"

/* A row may exceed --norm by this part, because its entries were rounded to floats. */
#define SPARE 0x1p-20

double dp_erm_reach(const struct dp_erm_options *o)
{
    double norm = isnan(o->norm) ? 1 : o->norm, constant = (double)(float)o->row.intercept;
    return sqrt(norm * norm + constant * constant) * (1 + SPARE); /* hypot() has other bits on other machines */
}

struct dp_descent dp_erm_descent_of(const struct dp_erm *s, size_t outputs)
{
    const struct dp_erm_options *o = s->options;
    double reach = dp_erm_reach(o);
    double beta = dp_loss_smoothness(s->row.training.loss, s->row.training.width) * reach * reach + o->row.lambda;
    return (struct dp_descent){
        .mu = o->row.lambda,
        .beta = beta,
        .lipschitz = dp_loss_lipschitz(s->row.training.loss, s->row.training.width, outputs) * reach,
        .eta = !isnan(o->step)      ? o->step
               : s->method->batches ? 1 / beta
                                    : 2 / (o->row.lambda + beta) * (1 - 0x1p-49), /* at most, with any rounding */
        .inverse = o->decay == DP_ERM_INVERSE,
    };
}

int dp_erm_bound_check(const struct dp_erm *s, struct dp_err *err)
{
    const char *name = dp_loss_names[s->row.training.loss];
    if (!isfinite(dp_loss_lipschitz(s->row.training.loss, s->row.training.width, 1)))
        return dp_fail(err, DP_E_USAGE, "--loss %s: nothing bounds one row's gradient; dp-erm(1) lists losses that bound it",
                       name);
    struct dp_descent d = dp_erm_descent_of(s, 1);
    if (!(d.beta > 1e-100 && d.beta < 1e100 && d.lipschitz > 1e-100 && d.lipschitz < 1e100))
        return dp_fail(err, DP_E_USAGE, "--norm, --lambda and --loss-width make a gradient up to %g with a smoothness of %g",
                       d.lipschitz, d.beta);
    if (d.eta * d.beta > 2 * (1 - 0x1p-51))
        return dp_fail(
            err, DP_E_USAGE,
            "--step: must be at most %g here, got %g: beyond 2/beta steps move two models apart, and one row by more "
            "than what is recorded",
            2 / d.beta, d.eta);
    return DP_OK;
}

int dp_erm_lengths_check(const struct dp_erm *s, struct dp_err *err)
{
    const struct dp_dataset *d = s->row.reader.dataset;
    bool longer = s->method->bounded && d != NULL && strstr(d->row_norm, "unit") != NULL && s->options->norm * (1 + SPARE) < 1;
    return longer ? dp_fail(err, DP_E_USAGE, "--norm: the rows of %s have norm 1, and a longer row than %g contributes nothing",
                            s->options->row.data, s->options->norm)
                  : DP_OK;
}

void dp_erm_admit(struct dp_erm *s, const struct dp_batch *batch)
{
    double norm = isnan(s->options->norm) ? 1 : s->options->norm;
    for (size_t i = 0; i < batch->count; i++) {
        bool within = !s->method->bounded || dp_row_norm2(dp_batch_row(batch, i)) <= norm * norm * (1 + SPARE);
        s->takes[i] = within && dp_labels_take(s->row.training.loss, s->row.classes, dp_batch_label(batch, i));
    }
}

struct dp_erm_shape dp_erm_shape_of(const struct dp_erm *s)
{
    return (struct dp_erm_shape){.rows = s->row.rows, .outputs = s->row.form.outputs, .cols = s->row.form.cols};
}

bool dp_erm_shape_ahead(const struct dp_erm *s, int64_t rows, struct dp_erm_shape *shape)
{
    if (s->row.reader.dataset == NULL || rows < 1)
        return false;
    shape->rows = (size_t)rows;
    shape->outputs = dp_loss_outputs(s->row.reader.dataset->label.classes);
    shape->cols = s->row.reader.dataset->cols + ((float)s->options->row.intercept != 0 ? 1 : 0);
    return true;
}

double dp_erm_rounding(const struct dp_erm *s, const struct dp_erm_shape *shape, const struct dp_descent *d, int64_t steps,
                       double chain, double start)
{
    const struct dp_arithmetic arithmetic = {
        .cols = (double)shape->cols,
        .chain = chain,
        .slope = dp_loss_slope_rounding(s->row.training.loss, s->row.training.width, shape->outputs) /
                 dp_loss_lipschitz(s->row.training.loss, s->row.training.width, shape->outputs),
        .start = start,
    };
    return dp_descent_rounding(d, steps, &arithmetic);
}

double dp_erm_truncation(const struct dp_erm_shape *shape)
{
    return 0x1p-20 * sqrt((double)(shape->outputs * shape->cols));
}

double dp_erm_bound(const struct dp_erm *s, const struct dp_erm_shape *shape, const struct dp_descent *d, int64_t steps,
                    double exact, double chain, double start)
{
    double rounding = dp_erm_rounding(s, shape, d, steps, chain, start) / exact, part = 0x1p-12;
    double grid = dp_erm_truncation(shape);
    double least = grid < 1 ? (1 + rounding) / (1 - grid) - 1 : (double)INFINITY;
    if (!(least < 0.5))
        return (double)INFINITY;
    while (part < least * (1 + 1e-12))
        part *= 2;
    return exact * (1 + part);
}

int dp_erm_give(const struct dp_erm *s, struct dp_frame *frame, const double *model, double bound, struct dp_err *err)
{
    size_t size = dp_erm_size(s);
    double inverse_grid = 1 / dp_grid_for(bound);
    int64_t *sum;
    if (!isfinite(bound))
        return dp_fail(err, DP_E_RUN,
                       "rounding may move the model of lap %lld by as much as one person: fewer steps, or a start nearer to 0",
                       (long long)frame->lap);
    int rc = dp_frame_make_array(frame, DP_F_SUM, DP_I64, s->row.form.rows, s->row.form.cols, &sum, err);
    for (size_t j = 0; rc == DP_OK && j < size; j++) {
        double whole = (s->w[j] - model[j]) * inverse_grid;
        if (!(fabs(whole) < 0x1p62))
            return dp_fail(err, DP_E_RUN, "the model of lap %lld does not fit the grid of its bound", (long long)frame->lap);
        sum[j] = (int64_t)whole;
    }
    if (rc == DP_OK)
        dp_bounded_state(frame, dp_adjacency_chosen(s->options->row.adjacency), bound);
    return rc;
}
