/* dp-scd-step: one lap of stochastic (dual) coordinate descent on the sampled rows. */
#include "stages/scd.h"

#include "base/mem.h"
#include "math/grid.h"
#include "stages/shared_options.h"

#define DP_OPTIONS struct dp_scd_options

static const struct dp_option options[] = {
    DP_DATA_OPTION(row.data),
    DP_LOSS_OPTION(row.loss, DP_LOSS_DUAL_CHOICES, "what is minimised"),
    DP_OPTION_REAL('L', row.lambda, "LAMBDA", DP_ABOVE(0), "L2 regularisation", .required = true),
    DP_OPTION_REAL('C', clip, "C", DP_ABOVE(0), "L2 bound on one person's update; without it dp-clip gets each update",
                   .excludes = "variant=non-private", .needed_by = "variant=sequential|primal"),
    DP_OPTION_CHOICE('v', variant, "WHICH", "parallel|sequential|primal|non-private", "algorithm", .fallback = "parallel"),
    DP_OPTION_FLAG(0, release_alpha,
                   "treat alpha as released, noised on the batch's rows, as in the paper (always for sequential)",
                   .needs = "clip", .excludes = "variant=primal|non-private: there is no alpha to release"),
    DP_OPTION_REAL(0, sigma_prime_scale, "S", DP_ABOVE(0), "subproblem parameter sigma' divided by its safe value qN",
                   .fallback = "1"),
    DP_OPTION_INT(0, newton, "STEPS", DP_FROM_TO(1, 1000), "Newton steps per update of the logistic loss", .fallback = "1"),
    DP_OPTION_REAL(0, row.width, "W", DP_ABOVE(0), "smoothing of smooth-hinge, delta of huber", .name = "loss-width",
                   .fallback = "1"),
    DP_CLASS_WEIGHTS_OPTION(row.class_weights, .needs = "variant=parallel"),
    DP_ADJACENCY_OPTION(row.adjacency),
    DP_OPTION_INT(0, gap_every, "LAPS", DP_FROM_TO(1, 1e9), "non-private: laps between computations of the duality gap",
                  .fallback = "1"),
    DP_THREADS_AUTO_OPTION(row.threads),
    {.name = NULL},
};

static void scd_close(struct dp_stage *stage)
{
    struct dp_scd *s = stage->state;
    dp_batch_sum_close(&s->batch_sum);
    free(s->alpha);
    free(s->zeta);
    free(s->blocks);
    free(s->coefficient);
    free(s->work);
    dp_scd_certificate_free(&s->certificate);
    free(s->last_id);
}

static int scd_open(struct dp_stage *stage, struct dp_err *err)
{
    const struct dp_scd_options *o = stage->options;
    struct dp_scd *s = stage->state;
    bool primal = o->variant == DP_SCD_PRIMAL, clips = !isnan(o->clip);
    s->options = o;
    s->row.training.method = primal ? &dp_method_scd_primal : &dp_method_scd_dual;
    s->row.training.scale = 0; /* shape knows N */
    s->row.bound = clips ? o->clip : 0;
    s->row.exact = o->variant == DP_SCD_NON_PRIVATE;
    s->row.whole = o->variant != DP_SCD_PARALLEL ? "this --variant" : NULL;
    s->row.keep = o->variant == DP_SCD_PARALLEL && !clips; /* without a bound dp-clip needs the rows */
    dp_batch_sum_allow(&s->batch_sum, o->row.threads);
    if (primal && !dp_loss_has_slope((enum dp_loss)o->row.loss))
        return dp_fail(err, DP_E_USAGE, "--variant primal needs a smooth loss: hinge has no second derivative");
    return DP_OK;
}

static int shape(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, struct dp_err *err)
{
    const struct dp_scd_options *o = stage->options;
    struct dp_scd *s = stage->state;
    const struct dp_record *m = dp_frame_record(frame, DP_F_NONE);
    bool primal = o->variant == DP_SCD_PRIMAL;
    if (batch->intercept != 0)
        return dp_fail(err, DP_E_RUN, "the model to start from has an intercept; coordinate descent fits none");
    if (m->sampler == DP_SAMPLER_STREAM)
        return dp_fail(err, DP_E_UNSAFE,
                       "keeps a state of each row, and rows that arrive are in only one lap: dp-grad takes them");
    s->outputs = s->row.form.outputs;
    s->own_rows = batch->rows;
    s->lambda_n = o->row.lambda * (double)m->rows;
    s->row.training.scale = primal ? 1.0 : 1.0 / s->lambda_n;
    if (!(s->row.training.scale > 0))
        return dp_fail(err, DP_E_RUN, "--lambda: %g for each of %lld rows is not finite", o->row.lambda, (long long)m->rows);
    if (s->restored != 0 && (primal || s->restored != s->own_rows * s->outputs))
        return dp_fail(err, DP_E_RUN, "the checkpoint is of a data set with another number of rows or classes");
    for (size_t i = 0; i < s->last_count; i++) /* of a checkpoint */
        if (s->last_id[i] < 0 || (size_t)s->last_id[i] >= s->own_rows)
            return dp_fail(err, DP_E_RUN, "a row of the checkpoint is out of range");
    size_t blocks = (size_t)s->batch_sum.threads * dp_apart(DP_SCD_BLOCKS * DP_ROWS * s->outputs, sizeof(double));
    s->zeta = dp_new(s->outputs, sizeof *s->zeta);
    s->blocks = dp_new(blocks, sizeof *s->blocks);
    s->coefficient = dp_new(s->outputs, sizeof *s->coefficient);
    s->work = dp_new(s->row.cols * (s->outputs + (primal ? 1 : 0)), sizeof *s->work);
    if (!primal && s->restored == 0)
        s->alpha = dp_new(s->own_rows * s->outputs, sizeof(double));
    if (o->variant == DP_SCD_NON_PRIVATE)
        dp_scd_certificate_alloc(s);
    return s->row.keep ? dp_bounded_later_fits(s->own_rows, s->outputs, err) : DP_OK;
}

double dp_scd_sigma_prime(const struct dp_scd *s, const struct dp_record *m)
{
    return s->options->sigma_prime_scale * m->rate * (double)m->rows;
}

struct dp_record *dp_scd_record(const struct dp_scd *s, struct dp_frame *frame, enum dp_release release)
{
    dp_frame_edit_record(frame, DP_F_NONE)->release = release;
    return dp_bounded_state(frame, dp_adjacency_chosen(s->options->row.adjacency), s->options->clip);
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

static int lap(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
               struct dp_err *err)
{
    static int (*const variants[])(struct dp_stage *, struct dp_frame *, const struct dp_batch *, const double *,
                                   struct dp_err *) = {dp_scd_parallel, dp_scd_sequential, dp_scd_primal, dp_scd_non_private};
    const struct dp_scd_options *o = stage->options;
    return variants[o->variant](stage, frame, batch, model, err);
}

/* Released alpha of a batch gets its noise on the next lap. If that lap is repeated with a new key, alpha of one batch is
 * released twice, with independent noise, and no record says so. */
static int scd_hello(struct dp_stage *stage, struct dp_frame *hello, struct dp_err *err)
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

static void record(const struct dp_stage *stage, struct dp_record *open)
{
    static const enum dp_release release[] = {DP_RELEASE_SECRET_STATE, DP_RELEASE_SUM_AND_STATE, DP_RELEASE_SUM,
                                              DP_RELEASE_NONE};
    const struct dp_scd_options *o = stage->options;
    open->release = o->release_alpha ? DP_RELEASE_SUM_AND_STATE : release[o->variant];
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
    .rows = &(const struct dp_row_stage){.means = DP_MEANS_MOVE, .record = record, .shape = shape, .lap = lap},
    .open = scd_open,
    .hello = scd_hello,
    .close = scd_close,
    .save = scd_save,
    .restore = scd_restore,
    .additive = true,
};
