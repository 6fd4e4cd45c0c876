/* dp-scd-step: one lap of stochastic (dual) coordinate descent on the sampled rows. */

#include "base/mem.h"
#include "math/grid.h"
#include "model/method.h"
#include "stages/announced.h"
#include "stages/scd.h"
#include "stages/shared_options.h"

#define DP_OPTIONS struct dp_scd_options

static const struct dp_option options[] = {
    DP_DATA_OPTION(data),
    DP_LOSS_OPTION(loss, DP_LOSS_DUAL_CHOICES, "what is minimised"),
    DP_OPTION_REAL('L', lambda, "LAMBDA", DP_ABOVE(0), "L2 regularisation", .required = true),
    DP_OPTION_REAL('C', clip, "C", DP_ABOVE(0), "L2 bound on one person's update; without it dp-clip gets each update"),
    DP_OPTION_CHOICE('v', variant, "WHICH", "parallel|sequential|primal|non-private", "algorithm", .fallback = "parallel"),
    DP_OPTION_FLAG(0, release_alpha,
                   "treat alpha as released, noised on the batch's rows, as in the paper (always for sequential)"),
    DP_OPTION_REAL(0, sigma_prime_scale, "S", DP_ABOVE(0), "subproblem parameter sigma' divided by its safe value qN",
                   .fallback = "1"),
    DP_OPTION_INT(0, newton, "STEPS", DP_FROM_TO(1, 1000), "Newton steps per update of the logistic loss", .fallback = "1"),
    DP_OPTION_REAL(0, width, "W", DP_ABOVE(0), "smoothing of smooth-hinge, delta of huber", .name = "loss-width",
                   .fallback = "1"),
    DP_CLASS_WEIGHTS_OPTION(class_weights),
    DP_ADJACENCY_OPTION(adjacency),
    DP_OPTION_INT(0, gap_every, "LAPS", DP_FROM_TO(1, 1e9), "non-private: laps between computations of the duality gap",
                  .fallback = "1"),
    DP_THREADS_AUTO_OPTION(threads),
    {.name = NULL},
};

static void scd_close(struct dp_stage *stage)
{
    struct dp_scd *s = stage->state;
    dp_reader_close(&s->reader);
    dp_batch_sum_close(&s->batch_sum);
    free(s->alpha);
    free(s->zeta);
    free(s->blocks);
    free(s->coefficient);
    free(s->work);
    dp_scd_certificate_free(&s->certificate);
    dp_class_weights_close(&s->weights);
    free(s->last_id);
}

static int scd_open(struct dp_stage *stage, struct dp_err *err)
{
    const struct dp_scd_options *o = stage->options;
    struct dp_scd *s = stage->state;
    s->options = o;
    dp_batch_sum_allow(&s->batch_sum, o->threads);
    bool clips = !isnan(o->clip);
    if ((o->variant == DP_SCD_SEQUENTIAL || o->variant == DP_SCD_PRIMAL) && !clips)
        return dp_fail(err, DP_E_USAGE, "--variant %s needs --clip", o->variant == DP_SCD_PRIMAL ? "primal" : "sequential");
    if (o->variant == DP_SCD_NON_PRIVATE && (clips || o->release_alpha))
        return dp_fail(err, DP_E_USAGE, "--variant non-private takes neither --clip nor --release-alpha");
    if (o->variant == DP_SCD_PRIMAL && !dp_loss_has_slope((enum dp_loss)o->loss))
        return dp_fail(err, DP_E_USAGE, "--variant primal needs a smooth loss: hinge has no second derivative");
    if (o->variant == DP_SCD_PRIMAL && o->release_alpha)
        return dp_fail(err, DP_E_USAGE, "--variant primal has no alpha to release");
    if (o->release_alpha && !clips)
        return dp_fail(err, DP_E_USAGE, "--release-alpha needs --clip");
    if (o->class_weights != NULL && o->variant != DP_SCD_PARALLEL)
        return dp_fail(err, DP_E_USAGE, "--class-weights: only --variant parallel has weights");
    int rc = dp_class_weights_open(&s->weights, o->class_weights, err);
    return rc ?: dp_reader_open(&s->reader, o->data, err);
}

/* Sets the shapes, which are known at the first frame. */
static int set_shape(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, struct dp_err *err)
{
    const struct dp_scd_options *o = stage->options;
    struct dp_scd *s = stage->state;
    const struct dp_record *m = dp_frame_record(frame, DP_F_NONE);
    if (m->sampler == DP_SAMPLER_STREAM)
        return dp_fail(err, DP_E_UNSAFE,
                       "keeps a state of each row, and rows that arrive are in only one lap: dp-grad takes them");
    int rc = dp_batch_classes(frame, &s->classes, err);
    if (rc != DP_OK)
        return rc;
    if (dp_loss_is_classification((enum dp_loss)o->loss) && s->classes < 2)
        return dp_fail(err, DP_E_RUN, "--loss %s needs labels in classes; the labels of this data set are real numbers",
                       dp_loss_names[o->loss]);
    rc = dp_class_weights_check(&s->weights, s->classes, err);
    if (rc != DP_OK)
        return rc;
    s->outputs = dp_loss_outputs(s->classes);
    s->rows = (size_t)m->rows;
    s->own_rows = batch->rows;
    s->cols = batch->cols;
    s->lambda_n = o->lambda * (double)m->rows;
    bool primal = o->variant == DP_SCD_PRIMAL;
    if (s->restored != 0 && (primal || s->restored != s->own_rows * s->outputs))
        return dp_fail(err, DP_E_RUN, "the checkpoint is of a data set with another number of rows or classes");
    for (size_t i = 0; i < s->last_count; i++) /* of a checkpoint */
        if (s->last_id[i] < 0 || (size_t)s->last_id[i] >= s->own_rows)
            return dp_fail(err, DP_E_RUN, "a row of the checkpoint is out of range");
    if (!primal && s->restored == 0)
        rc = dp_alloc(&s->alpha, s->own_rows * s->outputs, sizeof(double), err);
    rc = rc ?: dp_alloc(&s->zeta, s->outputs, sizeof(double), err);
    rc = rc
             ?: dp_alloc(&s->blocks,
                         (size_t)s->batch_sum.threads * dp_apart(DP_SCD_BLOCKS * DP_ROWS * s->outputs, sizeof(double)),
                         sizeof(double), err);
    rc = rc ?: dp_alloc(&s->coefficient, s->outputs, sizeof(float), err);
    rc = rc ?: dp_alloc(&s->work, s->cols * (s->outputs + (primal ? 1 : 0)), sizeof(double), err);
    if (rc == DP_OK && o->variant == DP_SCD_NON_PRIVATE)
        rc = dp_scd_certificate_alloc(s, err);
    if (rc != DP_OK)
        return rc;
    return o->variant == DP_SCD_PARALLEL && isnan(o->clip) ? dp_bounded_later_fits(s->own_rows, s->outputs, err) : DP_OK;
}

/* Announces the model in the frame. */
static int announce(struct dp_scd *s, struct dp_frame *frame, struct dp_err *err)
{
    const struct dp_scd_options *o = s->options;
    bool primal = o->variant == DP_SCD_PRIMAL;
    const struct dp_training training = {.method = primal ? &dp_method_scd_primal : &dp_method_scd_dual,
                                         .family = &dp_family_linear,
                                         .loss = (enum dp_loss)o->loss,
                                         .width = o->width,
                                         .lambda = o->lambda,
                                         .class_weights = o->class_weights,
                                         .scale = primal ? 1.0 : 1.0 / s->lambda_n};
    int rc = dp_training_announce(&training, frame, err);
    s->announced = rc == DP_OK;
    return rc;
}

static int get_model(struct dp_stage *stage, struct dp_frame *frame, const double **model, struct dp_err *err)
{
    struct dp_scd *s = stage->state;
    struct dp_form form = dp_form_for(&dp_family_linear, s->cols, s->outputs, 0);
    int rc = s->announced ? DP_OK : announce(s, frame, err);
    return rc ?: dp_form_model(&form, frame, model, err);
}

double dp_scd_sigma_prime(const struct dp_scd *s, const struct dp_record *m)
{
    return s->options->sigma_prime_scale * m->rate * (double)m->rows;
}

struct dp_record *dp_scd_record(const struct dp_scd *s, struct dp_frame *frame, enum dp_release release)
{
    dp_frame_edit_record(frame, DP_F_NONE)->release = release;
    return dp_bounded_state(frame, dp_adjacency_chosen(s->options->adjacency), s->options->clip);
}

int dp_scd_noise_alpha(struct dp_stage *stage, const struct dp_frame *frame, struct dp_err *err)
{
    struct dp_scd *s = stage->state;
    double scale = dp_frame_real(frame, DP_F_NOISE_SCALE, 0);
    if (s->last_count == 0)
        return DP_OK;
    if (!(scale > 0))
        return dp_fail(err, DP_E_RUN, "--release-alpha: the last lap came back without its noise scale");
    double grid = dp_grid_for(s->options->clip);
    size_t first_row = (size_t)dp_frame_int(frame, DP_F_FIRST_ROW, 0);
    for (size_t i = 0; i < s->last_count; i++) {
        for (size_t k = 0; k < s->outputs; k++) {
            size_t at = (size_t)s->last_id[i] * s->outputs + k, among = first_row * s->outputs + at;
            int64_t noise;
            if (dp_gaussian_draw(&stage->key, DP_DRAW_STATE_NOISE, (uint64_t)s->last_lap, among, scale / grid, &noise, 1) != 0)
                return dp_fail(err, DP_E_RUN, "--release-alpha: noise of scale %g does not fit the grid", scale);
            s->alpha[at] += (double)noise * grid;
        }
    }
    s->last_count = 0;
    return DP_OK;
}

static int scd_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    static int (*const lap[])(struct dp_stage *, struct dp_frame *, const struct dp_batch *, const double *,
                              struct dp_err *) = {dp_scd_parallel, dp_scd_sequential, dp_scd_primal, dp_scd_non_private};
    const struct dp_scd_options *o = stage->options;
    struct dp_scd *s = stage->state;
    struct dp_batch batch;
    const double *model = NULL;
    int rc = dp_reader_read(&s->reader, &batch, frame, err);
    if (rc == DP_OK && batch.intercept != 0)
        rc = dp_fail(err, DP_E_RUN, "the model to start from has an intercept; coordinate descent fits none");
    if (rc == DP_OK && s->work == NULL)
        rc = set_shape(stage, frame, &batch, err);
    rc = rc ?: dp_batch_same_shape(&batch, frame, s->cols, s->rows, err);
    rc = rc ?: get_model(stage, frame, &model, err);
    rc = rc ?: lap[o->variant](stage, frame, &batch, model, err);
    if (rc != DP_OK)
        return rc;
    if (!dp_frame_has(frame, DP_F_UPDATES)) /* otherwise dp-clip still needs the rows */
        dp_batch_forget(frame);
    return out->frame(out, frame, err);
}

/* Released alpha of a batch gets its noise on the next lap. If that lap is repeated with a new key, alpha of one batch is
 * released twice, with independent noise, and no record says so. */
static int check_alpha(const struct dp_stage *stage, const struct dp_frame *hello, struct dp_err *err)
{
    const struct dp_scd_options *o = stage->options;
    if (!o->release_alpha && o->variant != DP_SCD_SEQUENTIAL)
        return DP_OK;
    if (stage->checkpoint.directory != NULL && !stage->seeded)
        return dp_fail(err, DP_E_UNSAFE,
                       "a run that releases alpha has no checkpoints without a seed: the noise on alpha would be "
                       "drawn twice for one batch");
    /* alpha gets as much noise as the sum of the lap before, which may be of another kind. */
    if (dp_frame_has(hello, DP_F_KINDS))
        return dp_fail(err, DP_E_UNSAFE, "a run that releases alpha has laps of only one kind");
    return DP_OK;
}

static int scd_hello(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    static const enum dp_release release[] = {DP_RELEASE_SECRET_STATE, DP_RELEASE_SUM_AND_STATE, DP_RELEASE_SUM,
                                              DP_RELEASE_NONE};
    const struct dp_scd_options *o = stage->options;
    struct dp_record *open;
    if (o->variant != DP_SCD_PARALLEL) {
        int rc = dp_stage_whole(stage, "this --variant", err);
        if (rc != DP_OK)
            return rc;
    }
    for (int at = 0; (open = dp_announced(stage, frame, DP_F_NONE, &at)) != NULL;) {
        open->means = DP_MEANS_MOVE;
        open->release = o->release_alpha ? DP_RELEASE_SUM_AND_STATE : release[o->variant];
        if (o->variant == DP_SCD_NON_PRIVATE)
            open->of = DP_F_SUM;
        else if (!isnan(o->clip))
            dp_record_bound(open, DP_F_SUM, dp_adjacency_chosen(o->adjacency), o->clip);
    }
    return check_alpha(stage, frame, err);
}

/* Saves the secret state of this stage: alpha, and the rows that still need noise. */
static int scd_save(struct dp_stage *stage, struct dp_state *state, struct dp_err *err)
{
    const struct dp_scd *s = stage->state;
    (void)err;
    dp_state_put_reals(state, "alpha", s->alpha, s->alpha != NULL ? s->own_rows * s->outputs : 0);
    dp_state_put_ints(state, "last_id", s->last_id, s->last_count);
    dp_state_put_int(state, "last_lap", s->last_lap);
    return DP_OK;
}

static int scd_restore(struct dp_stage *stage, const struct dp_state *state, struct dp_err *err)
{
    struct dp_scd *s = stage->state;
    int rc = dp_state_get_reals(state, "alpha", &s->alpha, &s->restored, err);
    rc = rc ?: dp_state_get_ints(state, "last_id", &s->last_id, &s->last_count, err);
    s->last_capacity = s->last_count;
    return rc ?: dp_state_get_int(state, "last_lap", 0, INT64_MAX, &s->last_lap, err);
}

const struct dp_stage_class dp_scd_step_class = {
    .name = "dp-scd-step",
    .summary = "Update dual variables of the sampled rows (stochastic coordinate descent)",
    .options = options,
    .options_size = sizeof(struct dp_scd_options),
    .state_size = sizeof(struct dp_scd),
    .takes = DP_LABEL_RAW,
    .gives = DP_LABEL_RAW | DP_LABEL_BOUNDED,
    .open = scd_open,
    .hello = scd_hello,
    .fire = scd_fire,
    .close = scd_close,
    .save = scd_save,
    .restore = scd_restore,
    .additive = true,
};
