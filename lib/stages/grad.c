/* dp-grad: the gradient of the loss at each sampled row, as coefficients on the row: for scores u = W x the derivative with
   respect to W is (dl/du) xᵀ, so K numbers per row are enough, and clipping costs no more. This is only true for the family
   "linear"; another family has to compute its bounded sum itself. After a transform the row is z (stages/transformed.h). */

#include "base/mem.h"
#include "math/grid.h"
#include "math/loss.h"
#include "model/method.h"
#include "stages/announced.h"
#include "stages/bounded.h"
#include "stages/class_weights.h"
#include "stages/labels.h"
#include "stages/shared_options.h"
#include "stages/stages.h"

struct options {
    const char *data, *class_weights;
    int loss, adjacency;
    double width, lambda, clip, intercept, scale;
    int64_t threads;
    bool non_private, keep_batch;
};

struct state {
    struct dp_reader reader;
    struct dp_batch_sum batch_sum;
    enum dp_loss loss;
    double width;
    struct dp_class_weights weights;
    struct dp_form form;  /* of the model */
    size_t rows, classes; /* classes: of the labels; 0 for a regression */
    bool announced;       /* the frame says what the model is */
    double *zeta;         /* threads × DP_ROWS × outputs */
};

#define DP_OPTIONS struct options

static const struct dp_option options[] = {
    DP_DATA_OPTION(data),
    DP_LOSS_OPTION(loss, DP_LOSS_CHOICES, "what is minimised"),
    DP_LOSS_WIDTH_OPTION(width),
    DP_LAMBDA_OPTION(lambda, "L2 regularisation, for dp-step to add"),
    DP_INTERCEPT_OPTION(intercept),
    DP_OPTION_REAL(0, scale, "S", DP_ABOVE(0), "factor of the weights whenever the model is used", .fallback = "1"),
    DP_OPTION_REAL('C', clip, "C", DP_ABOVE(0), "L2 bound on one person's gradient; without it dp-clip gets each gradient"),
    DP_CLASS_WEIGHTS_OPTION(class_weights),
    DP_ADJACENCY_OPTION(adjacency),
    DP_OPTION_FLAG(0, keep_batch, "with --clip: leave the rows in the frame, for dp-linesearch --same-batch"),
    DP_OPTION_FLAG(0, non_private, "the exact sum, without clip or grid"),
    DP_THREADS_AUTO_OPTION(threads),
    {.name = NULL},
};

static void grad_close(struct dp_stage *stage)
{
    struct state *s = stage->state;
    dp_reader_close(&s->reader);
    dp_batch_sum_close(&s->batch_sum);
    dp_class_weights_close(&s->weights);
    free(s->zeta);
}

static int grad_open(struct dp_stage *stage, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    dp_batch_sum_allow(&s->batch_sum, o->threads);
    s->reader.persons = true;
    s->reader.transform = DP_TRANSFORM_APPLIED;
    s->reader.transformed.threads = o->threads > 0 ? (int)o->threads : 1;
    s->loss = (enum dp_loss)o->loss;
    s->width = isnan(o->width) ? dp_losses[s->loss].width : o->width;
    if (o->non_private && !isnan(o->clip))
        return dp_fail(err, DP_E_USAGE, "--non-private takes no --clip");
    if (o->keep_batch && isnan(o->clip))
        return dp_fail(err, DP_E_USAGE, "--keep-batch goes with --clip; without it dp-clip --keep-batch leaves the rows");
    if (o->intercept > 0 && (float)o->intercept == 0)
        return dp_fail(err, DP_E_USAGE, "--intercept: %g is too small", o->intercept);
    int rc = dp_class_weights_open(&s->weights, o->class_weights, err);
    return rc ?: dp_reader_open(&s->reader, o->data, err);
}

/* Sets the shapes, which are known at the first frame. */
static int set_shape(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    int rc = dp_batch_classes(frame, &s->classes, err);
    if (rc != DP_OK)
        return rc;
    s->rows = (size_t)dp_frame_record(frame, DP_F_NONE)->rows;
    s->form = dp_form_for(&dp_family_linear, batch->features, dp_loss_outputs(s->classes), (double)batch->intercept);
    rc = dp_labels_check(s->loss, s->classes, s->reader.dataset, o->data, err);
    rc = rc ?: dp_class_weights_check(&s->weights, s->classes, err);
    if (rc == DP_OK && isnan(o->clip) && !o->non_private)
        rc = dp_bounded_later_fits(batch->rows, s->form.outputs, err);
    rc = rc
             ?: dp_alloc(&s->zeta, (size_t)s->batch_sum.threads * dp_apart(DP_ROWS * s->form.outputs, sizeof(double)),
                         sizeof(double), err);
    return rc;
}

/* Announces the model in the frame. */
static int announce(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    const struct dp_training training = {.method = &dp_method_gradient,
                                         .family = &dp_family_linear,
                                         .loss = s->loss,
                                         .width = s->width,
                                         .lambda = o->lambda,
                                         .intercept = (double)(float)o->intercept,
                                         .scale = o->scale,
                                         .class_weights = o->class_weights};
    int rc = dp_training_announce(&training, frame, err);
    s->announced = true;
    return rc;
}

/* Replaces the scores of a row in zeta by −w dl/du, w the weight of its class; by zeros if the label is outside the loss's
 * domain. */
static void descend(const struct state *s, double label, double *zeta)
{
    if (!dp_labels_take(s->loss, s->classes, label)) {
        memset(zeta, 0, s->form.outputs * sizeof *zeta);
        return;
    }
    dp_loss_row_slope(s->loss, s->width, label, s->classes, zeta, s->form.outputs, zeta);
    double weight = dp_class_weight(&s->weights, label);
    for (size_t k = 0; k < s->form.outputs; k++)
        zeta[k] *= -weight;
}

/* −dl/du of a block's rows, count × outputs, and their squared norms unless norm2 is NULL. */
static void descend_block(const struct state *s, const struct dp_batch *batch, const double *model,
                          const struct dp_block *block, double *zeta, double *norm2)
{
    dp_block_score(batch, block, &s->form, model, zeta, norm2, NULL);
    for (size_t i = 0; i < block->count; i++)
        descend(s, dp_batch_label(batch, block->first + i), zeta + i * s->form.outputs);
}

/* Arguments of the updates of a lap. */
struct lap {
    const struct state *state;
    const struct dp_batch *batch;
    const double *model;
    double clip; /* infinite without --clip */
};

static void clip_block(const struct lap *lap, double clip, size_t thread, const struct dp_block *block, float *coefficient)
{
    size_t outputs = lap->state->form.outputs;
    double *zeta = lap->state->zeta + thread * dp_apart(DP_ROWS * outputs, sizeof *zeta), norm2[DP_ROWS];
    size_t entries[DP_ROWS];
    descend_block(lap->state, lap->batch, lap->model, block, zeta, norm2);
    for (size_t i = 0; i < block->count; i++)
        entries[i] = dp_batch_entries(lap->batch, block->first + i);
    dp_grid_clip_rows(zeta, outputs, clip, norm2, entries, block->count, coefficient);
}

static void update_block(void *context, size_t thread, const struct dp_block *block, float *coefficient)
{
    const struct lap *lap = context;
    clip_block(lap, lap->clip, thread, block, coefficient);
}

/* For rows that are clipped together with other rows of their person. */
static void raw_block(void *context, size_t thread, const struct dp_block *block, float *coefficient)
{
    clip_block(context, (double)INFINITY, thread, block, coefficient);
}

static void add_row(const struct state *s, const struct dp_batch *batch, size_t i, const double *zeta, double *sum)
{
    float constant = dp_batch_constant(batch);
    for (size_t k = 0; k < s->form.outputs; k++) {
        dp_row_axpy(zeta[k], dp_batch_row(batch, i), sum + k * batch->sum_cols);
        if (constant != 0)
            sum[k * batch->sum_cols + batch->features] += zeta[k] * (double)constant;
    }
}

static int sum_exactly(struct state *s, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
                       struct dp_err *err)
{
    double *sum;
    int rc = dp_frame_make_array(frame, DP_F_SUM, DP_F64, s->form.outputs, batch->sum_cols, &sum, err);
    if (rc != DP_OK)
        return rc;
    memset(sum, 0, s->form.outputs * batch->sum_cols * sizeof *sum);
    struct dp_block block;
    for (size_t first = 0; first < batch->count; first += DP_ROWS) {
        dp_batch_block(batch, first, &block);
        descend_block(s, batch, model, &block, s->zeta, NULL);
        for (size_t at = 0; at < block.count * s->form.outputs; at++)
            if (!isfinite(s->zeta[at]))
                return dp_fail(err, DP_E_RUN, "a gradient of lap %lld is not finite: a smaller step size may help",
                               (long long)frame->lap);
        for (size_t i = 0; i < block.count; i++)
            add_row(s, batch, first + i, s->zeta + i * s->form.outputs, sum);
    }
    dp_frame_edit_record(frame, DP_F_NONE)->of = DP_F_SUM;
    return DP_OK;
}

static int fire_lap(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
                    struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    dp_frame_edit_record(frame, DP_F_NONE)->release = DP_RELEASE_SUM;
    if (o->non_private)
        return sum_exactly(s, frame, batch, model, err);
    struct lap lap = {s, batch, model, isnan(o->clip) ? (double)INFINITY : o->clip};
    s->batch_sum.raw = raw_block;
    if (isnan(o->clip))
        return dp_bounded_later(&s->batch_sum, frame, batch, s->form.outputs, update_block, &lap, err);
    return dp_bounded_sum(&s->batch_sum, frame, batch, s->form.outputs, update_block, &lap, dp_adjacency_chosen(o->adjacency),
                          o->clip, err);
}

/* The announced record of its laps. */
static int grad_hello(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct options *o = stage->options;
    const struct state *s = stage->state;
    struct dp_record *open;
    int rc = o->non_private ? dp_stage_whole(stage, "--non-private", err) : DP_OK;
    if (rc == DP_OK && s->reader.dataset != NULL)
        rc = dp_labels_check(s->loss, s->reader.dataset->classes, s->reader.dataset, o->data, err);
    if (rc == DP_OK && s->reader.dataset != NULL)
        rc = dp_class_weights_check(&s->weights, s->reader.dataset->classes, err);
    for (int at = 0; rc == DP_OK && (open = dp_announced(stage, frame, DP_F_NONE, &at)) != NULL;) {
        open->release = DP_RELEASE_SUM;
        open->means = DP_MEANS_GRADIENT;
        if (o->non_private)
            open->of = DP_F_SUM;
        else if (!isnan(o->clip))
            dp_record_bound(open, DP_F_SUM, dp_adjacency_chosen(o->adjacency), o->clip);
    }
    return rc;
}

static int grad_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    const struct options *o = stage->options;
    struct state *s = stage->state;
    struct dp_batch batch;
    const double *model = NULL;
    int rc = s->announced ? DP_OK : announce(stage, frame, err);
    rc = rc ?: dp_reader_read(&s->reader, &batch, frame, err);
    if (rc == DP_OK && s->zeta == NULL)
        rc = set_shape(stage, frame, &batch, err);
    rc = rc ?: dp_batch_same_shape(&batch, frame, s->form.cols, s->rows, err);
    rc = rc ?: dp_form_model(&s->form, frame, &model, err);
    rc = rc ?: fire_lap(stage, frame, &batch, model, err);
    if (rc != DP_OK)
        return rc;
    if (!dp_frame_has(frame, DP_F_UPDATES) && !o->keep_batch) /* otherwise dp-clip or dp-linesearch still needs the rows */
        dp_batch_forget(frame);
    return out->frame(out, frame, err);
}

const struct dp_stage_class dp_grad_class = {
    .name = "dp-grad",
    .summary = "Compute the gradient of the loss at each sampled row",
    .options = options,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct state),
    .takes = DP_LABEL_RAW,
    .gives = DP_LABEL_RAW | DP_LABEL_BOUNDED,
    .open = grad_open,
    .hello = grad_hello,
    .fire = grad_fire,
    .close = grad_close,
    .ephemeral = true,
    .additive = true,
    .persons = true,
};
