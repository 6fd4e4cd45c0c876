/* dp-erm: empirical risk minimisation; code shared by its methods. */
#include "stages/erm.h"

#include "base/mem.h"
#include "stages/shared_options.h"

#define DP_OPTIONS struct dp_erm_options

#define BATCHES "method=permutation|coins"
#define BOUNDED "method=descent|permutation|coins, multiplier"

static const struct dp_option options[] = {
    DP_DATA_OPTION(row.data),
    DP_LOSS_OPTION(row.loss, DP_LOSS_CHOICES, "what is minimised; hinge has no gradient and is refused"),
    DP_LOSS_WIDTH_OPTION(row.width),
    DP_OPTION_CHOICE('m', method, "WHICH", DP_ERM_METHOD_CHOICES, "method that finds the minimiser", .fallback = "minimum"),
    DP_OPTION_REAL('z', multiplier, "Z", DP_ABOVE(0),
                   "noise on the objective / one person's effect on its gradient (dp-account sigma --mechanism objective)",
                   .needs = "method=minimum; lambda: without it noise on the objective does not hide a person"),
    DP_LAMBDA_OPTION(row.lambda, "L2 regularisation", .needed_by = "decay=inverse: its steps are 1/(lambda t)"),
    DP_INTERCEPT_OPTION(row.intercept),
    DP_OPTION_REAL(0, tolerance, "G", DP_ABOVE(0),
                   "largest final norm of the gradient (default 1e-6; with --multiplier from the rounding error)",
                   .needs = "method=minimum"),
    DP_OPTION_INT(0, most, "N", DP_FROM_TO(1, 1e9), "most passes over the rows (default 10000)", .needs = "method=minimum"),
    DP_OPTION_FLAG(0, non_private, "no bound, no noise", .needs = "method=minimum", .excludes = "multiplier",
                   .needed_by = "method=minimum: nothing bounds the effect of one row on a minimiser", .unless = "multiplier"),
    DP_OPTION_INT('n', iterations, "T", DP_FROM_TO(1, 1e9), "steps", .needs = "method=descent", .needed_by = "method=descent"),
    DP_OPTION_REAL(0, step, "ETA", DP_ABOVE(0),
                   "step size, at most 2/beta for a smoothness of beta (default descent: 2/(lambda + beta), else 1/beta)",
                   .needs = "method=descent|permutation|coins"),
    DP_OPTION_REAL(0, norm, "R", DP_ABOVE(0), "largest norm of a row without its constant column (default 1)",
                   .needs = BOUNDED),
    DP_OPTION_INT('K', passes, "K", DP_FROM_TO(1, 1e6), "passes over the rows", .needs = BATCHES, .needed_by = BATCHES),
    DP_OPTION_INT('B', batch, "B", DP_FROM_TO(1, 1e15), "permutation: rows of a batch, at least; coins: on average",
                  .needs = BATCHES, .needed_by = BATCHES),
    DP_OPTION_CHOICE(0, decay, "HOW", "constant|inverse",
                     "constant, or inverse: step t is at most 1/(lambda t) (default constant)", .needs = "method=permutation"),
    DP_ADJACENCY_OPTION(row.adjacency, .needs = BOUNDED),
    DP_THREADS_OPTION(row.threads),
    {.name = NULL},
};

static const struct dp_erm_method *const methods[] = {
    [DP_ERM_MINIMUM] = &dp_erm_minimum, [DP_ERM_DESCENT] = &dp_erm_descent,     [DP_ERM_PERMUTATION] = &dp_erm_permutation,
    [DP_ERM_COINS] = &dp_erm_coins,     [DP_ERM_OBJECTIVE] = &dp_erm_objective,
};
static enum dp_erm_which which_of(const struct dp_erm_options *o)
{
    bool perturbed = o->method == DP_ERM_MINIMUM && !isnan(o->multiplier);
    return perturbed ? DP_ERM_OBJECTIVE : (enum dp_erm_which)o->method;
}

static void erm_close(struct dp_stage *stage)
{
    struct dp_erm *s = stage->state;
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
    s->row.training.method = &dp_method_erm;
    s->tolerance = isnan(o->tolerance) ? 1e-6 : o->tolerance;
    s->most = o->most == DP_OPT_ABSENT_INT ? 10000 : o->most;
    if (!dp_loss_has_slope(s->row.training.loss))
        return dp_fail(err, DP_E_USAGE,
                       "--loss hinge has no gradient where its minimum lies: smooth-hinge and huberised-hinge have one");
    return s->method->check != NULL ? s->method->check(s, err) : DP_OK;
}

static int hello(struct dp_stage *stage, struct dp_frame *frame, struct dp_err *err)
{
    (void)frame;
    return dp_erm_lengths_check(stage->state, err);
}

static void record(const struct dp_stage *stage, struct dp_record *open)
{
    const struct dp_erm *s = stage->state;
    s->method->announce(s, open);
}

static int shape(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, struct dp_err *err)
{
    struct dp_erm *s = stage->state;
    (void)frame;
    (void)batch;
    (void)err;
    dp_erm_risk_open(s);
    s->slope = dp_new(dp_erm_size(s), sizeof *s->slope);
    s->w = dp_new(dp_erm_size(s), sizeof *s->w);
    return DP_OK;
}

static int lap(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
               struct dp_err *err)
{
    struct dp_erm *s = stage->state;
    /* The number of rows of a sample is private; the kind of sampler, which decides here, is not. */
    if (dp_frame_record(frame, DP_F_NONE)->sampler != DP_SAMPLER_FULL || batch->count != s->row.rows)
        return dp_fail(err, DP_E_RUN, "lap %lld is not of all rows, as a minimiser is (dp-sample --mode full)",
                       (long long)frame->lap);
    dp_erm_admit(s, batch);
    return s->method->lap(stage, frame, batch, model, err);
}

const struct dp_stage_class dp_erm_class = {
    .name = "dp-erm",
    .summary = "Minimise the regularised loss over all rows",
    .options = options,
    .options_size = sizeof(struct dp_erm_options),
    .state_size = sizeof(struct dp_erm),
    .takes = DP_LABEL_RAW,
    .gives = DP_LABEL_RAW | DP_LABEL_BOUNDED,
    .rows = &(const struct dp_row_stage){.means = DP_MEANS_MOVE, .record = record, .shape = shape, .lap = lap},
    .open = erm_open,
    .hello = hello,
    .close = erm_close,
    .ephemeral = true,
};
