/* dp-erm: empirical risk minimisation; code shared by its methods. */

#include "base/mem.h"
#include "model/method.h"
#include "stages/announced.h"
#include "stages/erm.h"
#include "stages/labels.h"
#include "stages/shared_options.h"

#define DP_OPTIONS struct dp_erm_options

static const struct dp_option options[] = {
    DP_DATA_OPTION(data),
    DP_LOSS_OPTION(loss, DP_LOSS_CHOICES, "what is minimised; hinge has no gradient and is refused"),
    DP_LOSS_WIDTH_OPTION(width),
    DP_OPTION_CHOICE('m', method, "WHICH", DP_ERM_METHOD_CHOICES, "method that finds the minimiser", .fallback = "minimum"),
    DP_OPTION_REAL(
        'z', multiplier, "Z", DP_ABOVE(0),
        "minimum: noise on the objective / one person's effect on its gradient (dp-account sigma --mechanism objective)"),
    DP_LAMBDA_OPTION(lambda, "L2 regularisation"),
    DP_INTERCEPT_OPTION(intercept),
    DP_OPTION_REAL(0, tolerance, "G", DP_ABOVE(0),
                   "minimum: largest final norm of the gradient (default 1e-6; with --multiplier from the rounding error)"),
    DP_OPTION_INT(0, most, "N", DP_FROM_TO(1, 1e9), "minimum: most passes over the rows (default 10000)"),
    DP_OPTION_FLAG(0, non_private, "minimum: no bound, no noise; this or --multiplier"),
    DP_OPTION_INT('n', iterations, "T", DP_FROM_TO(1, 1e9), "descent: steps"),
    DP_OPTION_REAL(0, step, "ETA", DP_ABOVE(0),
                   "step size, at most 2/beta for a smoothness of beta (default descent: 2/(lambda + beta), else 1/beta)"),
    DP_OPTION_REAL(0, norm, "R", DP_ABOVE(0), "largest norm of a row without its constant column (default 1)"),
    DP_OPTION_INT('K', passes, "K", DP_FROM_TO(1, 1e6), "permutation, coins: passes over the rows"),
    DP_OPTION_INT('B', batch, "B", DP_FROM_TO(1, 1e15), "permutation: rows of a batch, at least; coins: on average"),
    DP_OPTION_CHOICE(0, decay, "HOW", "constant|inverse",
                     "permutation: constant, or inverse: step t is at most 1/(lambda t) (default constant)"),
    DP_ADJACENCY_OPTION(adjacency),
    DP_THREADS_OPTION(threads),
    {.name = NULL},
};

static const struct dp_erm_method *const methods[] = {
    [DP_ERM_MINIMUM] = &dp_erm_minimum, [DP_ERM_DESCENT] = &dp_erm_descent,     [DP_ERM_PERMUTATION] = &dp_erm_permutation,
    [DP_ERM_COINS] = &dp_erm_coins,     [DP_ERM_OBJECTIVE] = &dp_erm_objective,
};
static const char *const method_names[] = {"minimum", "descent", "permutation", "coins", "minimum with --multiplier"};

static enum dp_erm_which which_of(const struct dp_erm_options *o)
{
    bool perturbed = o->method == DP_ERM_MINIMUM && !isnan(o->multiplier);
    return perturbed ? DP_ERM_OBJECTIVE : (enum dp_erm_which)o->method;
}

/* Checks that each given option belongs to the method. */
static int check_options(const struct dp_erm_options *o, struct dp_err *err)
{
    enum {
        MINIMUM = 1 << DP_ERM_MINIMUM,
        DESCENT = 1 << DP_ERM_DESCENT,
        PERMUTATION = 1 << DP_ERM_PERMUTATION,
        BATCHES = PERMUTATION | 1 << DP_ERM_COINS,
        STEPS = DESCENT | BATCHES,
        OBJECTIVE = 1 << DP_ERM_OBJECTIVE,
    };
    const struct {
        const char *name;
        bool given;
        int methods; /* bits */
    } own[] = {
        {"tolerance", !isnan(o->tolerance), MINIMUM | OBJECTIVE},
        {"most", o->most != DP_OPT_ABSENT_INT, MINIMUM | OBJECTIVE},
        {"non-private", o->non_private, MINIMUM | OBJECTIVE},
        {"multiplier", !isnan(o->multiplier), OBJECTIVE},
        {"iterations", o->iterations != DP_OPT_ABSENT_INT, DESCENT},
        {"passes", o->passes != DP_OPT_ABSENT_INT, BATCHES},
        {"batch", o->batch != DP_OPT_ABSENT_INT, BATCHES},
        {"decay", o->decay >= 0, PERMUTATION},
        {"step", !isnan(o->step), STEPS},
        {"norm", !isnan(o->norm), STEPS | OBJECTIVE},
        {"adjacency", o->adjacency != 0, STEPS | OBJECTIVE},
    };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (own[i].given && !(own[i].methods >> which_of(o) & 1))
            return dp_fail(err, DP_E_USAGE, "--method %s takes no --%s", method_names[which_of(o)], own[i].name);
    return DP_OK;
}

static void erm_close(struct dp_stage *stage)
{
    struct dp_erm *s = stage->state;
    dp_reader_close(&s->reader);
    free(s->takes);
    free(s->gradient);
    free(s->loss_sum);
    free(s->scores);
    free(s->bend);
    free(s->slope);
    free(s->w);
}

static int erm_open(struct dp_stage *stage, struct dp_err *err)
{
    const struct dp_erm_options *o = stage->options;
    struct dp_erm *s = stage->state;
    s->options = o;
    s->method = methods[which_of(o)];
    s->loss = (enum dp_loss)o->loss;
    s->width = isnan(o->width) ? dp_losses[s->loss].width : o->width;
    s->tolerance = isnan(o->tolerance) ? 1e-6 : o->tolerance;
    s->most = o->most == DP_OPT_ABSENT_INT ? 10000 : o->most;
    int rc = check_options(o, err);
    if (rc != DP_OK)
        return rc;
    if (!dp_loss_has_slope(s->loss))
        return dp_fail(err, DP_E_USAGE,
                       "--loss hinge has no gradient where its minimum lies: smooth-hinge and huberised-hinge have one");
    if (o->intercept > 0 && (float)o->intercept == 0)
        return dp_fail(err, DP_E_USAGE, "--intercept: %g is too small", o->intercept);
    rc = s->method->check(s, err);
    if (rc != DP_OK)
        return rc;
    return dp_reader_open(&s->reader, o->data, err);
}

/* Sets the shapes, which are known at the first frame. */
static int set_shape(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, struct dp_err *err)
{
    const struct dp_erm_options *o = stage->options;
    struct dp_erm *s = stage->state;
    int rc = dp_batch_classes(frame, &s->classes, err);
    rc = rc ?: dp_labels_check(s->loss, s->classes, s->reader.dataset, o->data, err);
    if (rc != DP_OK)
        return rc;
    s->rows = (size_t)dp_frame_record(frame, DP_F_NONE)->rows;
    s->form = dp_form_for(&dp_family_linear, batch->features, dp_loss_outputs(s->classes), (double)batch->intercept);
    rc = dp_erm_risk_open(s, err);
    rc = rc ?: dp_alloc(&s->slope, dp_erm_size(s), sizeof(double), err);
    return rc ?: dp_alloc(&s->w, dp_erm_size(s), sizeof(double), err);
}

/* Announces the model in the frame. */
static int announce(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct dp_erm_options *o = stage->options;
    struct dp_erm *s = stage->state;
    const struct dp_training training = {.method = &dp_method_erm,
                                         .family = &dp_family_linear,
                                         .loss = s->loss,
                                         .width = s->width,
                                         .lambda = o->lambda,
                                         .intercept = (double)(float)o->intercept,
                                         .scale = 1};
    s->announced = true;
    return dp_training_announce(&training, frame, err);
}

static int lap(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
               struct dp_err *err)
{
    struct dp_erm *s = stage->state;
    /* The number of rows of a sample is private; the kind of sampler, which decides here, is not. */
    if (dp_frame_record(frame, DP_F_NONE)->sampler != DP_SAMPLER_FULL || batch->count != s->rows)
        return dp_fail(err, DP_E_RUN, "lap %lld is not of all rows, as a minimiser is (dp-sample --mode full)",
                       (long long)frame->lap);
    int rc = dp_erm_admit(s, batch, err);
    if (rc != DP_OK)
        return rc;
    dp_frame_edit_record(frame, DP_F_NONE)->release = DP_RELEASE_SUM;
    return s->method->lap(stage, frame, batch, model, err);
}

/* The announced record of its laps. */
static int erm_hello(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    const struct dp_erm_options *o = stage->options;
    const struct dp_erm *s = stage->state;
    struct dp_record *open;
    int rc = s->reader.dataset != NULL ? dp_labels_check(s->loss, s->reader.dataset->classes, s->reader.dataset, o->data, err)
                                       : DP_OK;
    for (int at = 0; (open = dp_announced(stage, frame, DP_F_NONE, &at)) != NULL;) {
        open->release = DP_RELEASE_SUM;
        open->means = DP_MEANS_MOVE;
        s->method->announce(s, open);
    }
    return rc;
}

static int erm_fire(struct dp_stage *stage, struct dp_frame *frame, struct dp_out *out, struct dp_err *err)
{
    struct dp_erm *s = stage->state;
    struct dp_batch batch;
    const double *model = NULL;
    int rc = s->announced ? DP_OK : announce(stage, frame, err);
    rc = rc ?: dp_reader_read(&s->reader, &batch, frame, err);
    if (rc == DP_OK && s->w == NULL)
        rc = set_shape(stage, frame, &batch, err);
    rc = rc ?: dp_batch_same_shape(&batch, frame, s->form.cols, s->rows, err);
    rc = rc ?: dp_form_model(&s->form, frame, &model, err);
    rc = rc ?: lap(stage, frame, &batch, model, err);
    if (rc != DP_OK)
        return rc;
    dp_batch_forget(frame);
    return out->frame(out, frame, err);
}

const struct dp_stage_class dp_erm_class = {
    .name = "dp-erm",
    .summary = "Minimise the regularised loss over all rows",
    .options = options,
    .options_size = sizeof(struct dp_erm_options),
    .state_size = sizeof(struct dp_erm),
    .takes = DP_LABEL_RAW,
    .gives = DP_LABEL_RAW | DP_LABEL_BOUNDED,
    .open = erm_open,
    .hello = erm_hello,
    .fire = erm_fire,
    .close = erm_close,
    .ephemeral = true,
};
