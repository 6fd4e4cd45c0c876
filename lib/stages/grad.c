/* dp-grad: the gradient of the loss at each sampled row, as coefficients on the row: for scores u = W x the derivative with
   respect to W is (dl/du) xᵀ, so K numbers per row are enough, and clipping costs no more. This is only true for the family
   "linear"; another family has to compute its bounded sum itself. After a transform the row is z (stages/transformed.h). */

#include "base/mem.h"
#include "math/grid.h"
#include "math/loss.h"
#include "stages/labels.h"
#include "stages/row_stage.h"
#include "stages/shared_options.h"

struct options {
    struct dp_row_options row;
    double clip, scale;
    bool non_private, keep_batch;
};

struct state {
    struct dp_row_state row;
    struct dp_batch_sum batch_sum;
    double *zeta; /* threads × DP_ROWS × outputs */
};

#define DP_OPTIONS struct options

static const struct dp_option options[] = {
    DP_DATA_OPTION(row.data),
    DP_LOSS_OPTION(row.loss, DP_LOSS_CHOICES, "what is minimised"),
    DP_LOSS_WIDTH_OPTION(row.width),
    DP_LAMBDA_OPTION(row.lambda, "L2 regularisation, for dp-step to add"),
    DP_INTERCEPT_OPTION(row.intercept),
    DP_OPTION_REAL(0, scale, "S", DP_ABOVE(0), "factor of the weights whenever the model is used", .fallback = "1"),
    DP_OPTION_REAL('C', clip, "C", DP_ABOVE(0), "L2 bound on one person's gradient; without it dp-clip gets each gradient"),
    DP_CLASS_WEIGHTS_OPTION(row.class_weights),
    DP_ADJACENCY_OPTION(row.adjacency),
    DP_OPTION_FLAG(0, keep_batch, "leave the rows in the frame, for dp-linesearch --same-batch",
                   .needs = "clip: without it dp-clip --keep-batch leaves the rows"),
    DP_OPTION_FLAG(0, non_private, "the exact sum, without clip or grid", .excludes = "clip"),
    DP_THREADS_AUTO_OPTION(row.threads),
    {.name = NULL},
};

static int grad_open(struct dp_stage *stage, struct dp_err *err)
{
    (void)err;
    const struct options *o = stage->options;
    struct state *s = stage->state;
    s->row.training.method = &dp_method_gradient;
    s->row.training.scale = o->scale;
    s->row.bound = isnan(o->clip) ? 0 : o->clip;
    s->row.keep = o->keep_batch || (isnan(o->clip) && !o->non_private); /* without a bound dp-clip needs the rows */
    s->row.exact = o->non_private;
    s->row.whole = o->non_private ? "--non-private" : NULL;
    dp_batch_sum_allow(&s->batch_sum, o->row.threads);
    return DP_OK;
}

static void grad_close(struct dp_stage *stage)
{
    struct state *s = stage->state;
    dp_batch_sum_close(&s->batch_sum);
    free(s->zeta);
}

static int shape(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    (void)frame;
    int rc = isnan(o->clip) && !o->non_private ? dp_bounded_later_fits(batch->rows, s->row.form.outputs, err) : DP_OK;
    if (rc == DP_OK)
        s->zeta =
            dp_new((size_t)s->batch_sum.threads * dp_apart(DP_ROWS * s->row.form.outputs, sizeof(double)), sizeof(double));
    return rc;
}

/* Replaces the scores of a row in zeta by −w dl/du, w the weight of its class; by zeros if the label is outside the loss's
 * domain. */
static void descend(const struct dp_row_state *row, double label, double *zeta)
{
    const size_t outputs = row->form.outputs;
    if (!dp_labels_take(row->training.loss, row->classes, label)) {
        memset(zeta, 0, outputs * sizeof *zeta);
        return;
    }
    dp_loss_row_slope(row->training.loss, row->training.width, label, row->classes, zeta, outputs, zeta);
    double weight = dp_class_weight(&row->weights, label);
    for (size_t k = 0; k < outputs; k++)
        zeta[k] *= -weight;
}

/* −dl/du of a block's rows, count × outputs, and their squared norms unless norm2 is NULL. */
static void descend_block(const struct state *s, const struct dp_batch *batch, const double *model,
                          const struct dp_block *block, double *zeta, double *norm2)
{
    dp_block_score(batch, block, &s->row.form, model, zeta, norm2, NULL);
    for (size_t i = 0; i < block->count; i++)
        descend(&s->row, dp_batch_label(batch, block->first + i), zeta + i * s->row.form.outputs);
}

/* Arguments of the updates of a lap. */
struct lap {
    const struct state *state;
    const struct dp_batch *batch;
    const double *model;
    double clip; /* infinite without --clip */
};

static void update_block(void *context, size_t thread, const struct dp_block *block, float *coefficient)
{
    const struct lap *lap = context;
    size_t outputs = lap->state->row.form.outputs, entries[DP_ROWS];
    double *zeta = lap->state->zeta + thread * dp_apart(DP_ROWS * outputs, sizeof *zeta), norm2[DP_ROWS];
    descend_block(lap->state, lap->batch, lap->model, block, zeta, norm2);
    for (size_t i = 0; i < block->count; i++)
        entries[i] = dp_batch_entries(lap->batch, block->first + i);
    dp_grid_clip_rows(zeta, outputs, block->together ? (double)INFINITY : lap->clip, norm2, entries, block->count, coefficient);
}

static void add_row(const struct state *s, const struct dp_batch *batch, size_t i, const double *zeta, double *sum)
{
    float constant = dp_batch_constant(batch);
    for (size_t k = 0; k < s->row.form.outputs; k++) {
        dp_row_axpy(zeta[k], dp_batch_row(batch, i), sum + k * batch->sum_cols);
        if (constant != 0)
            sum[k * batch->sum_cols + batch->features] += zeta[k] * (double)constant;
    }
}

static int sum_exactly(struct state *s, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
                       struct dp_err *err)
{
    double *sum;
    int rc = dp_frame_make_array(frame, DP_F_SUM, DP_F64, s->row.form.outputs, batch->sum_cols, &sum, err);
    if (rc != DP_OK)
        return rc;
    memset(sum, 0, s->row.form.outputs * batch->sum_cols * sizeof *sum);
    struct dp_block block;
    for (size_t first = 0; first < batch->count; first += DP_ROWS) {
        dp_batch_block(batch, first, &block);
        descend_block(s, batch, model, &block, s->zeta, NULL);
        for (size_t at = 0; at < block.count * s->row.form.outputs; at++)
            if (!isfinite(s->zeta[at]))
                return dp_fail(err, DP_E_RUN, "a gradient of lap %lld is not finite: a smaller step size may help",
                               (long long)frame->lap);
        for (size_t i = 0; i < block.count; i++)
            add_row(s, batch, first + i, s->zeta + i * s->row.form.outputs, sum);
    }
    dp_frame_edit_record(frame, DP_F_NONE)->of = DP_F_SUM;
    return DP_OK;
}

static int lap(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
               struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    struct lap lap = {s, batch, model, isnan(o->clip) ? (double)INFINITY : o->clip};
    if (o->non_private)
        return sum_exactly(s, frame, batch, model, err);
    if (isnan(o->clip))
        return dp_bounded_later(&s->batch_sum, frame, batch, s->row.form.outputs, update_block, &lap, err);
    return dp_bounded_sum(&s->batch_sum, frame, batch, s->row.form.outputs, update_block, &lap,
                          dp_adjacency_chosen(o->row.adjacency), o->clip, err);
}

const struct dp_stage_class dp_grad_class = {
    .name = "dp-grad",
    .summary = "Compute the gradient of the loss at each sampled row",
    DP_STAGE_STRUCTS,
    .takes = DP_LABEL_RAW,
    .gives = DP_LABEL_RAW | DP_LABEL_BOUNDED,
    .rows =
        &(const struct dp_row_stage){.transform = DP_TRANSFORM_APPLIED, .means = DP_MEANS_GRADIENT, .shape = shape, .lap = lap},
    .open = grad_open,
    .close = grad_close,
    .ephemeral = true,
    .additive = true,
    .persons = true,
};
