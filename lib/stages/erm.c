/* dp-erm: empirical risk minimisation; code shared by its methods. */
#include "stages/erm.h"

#include "base/mem.h"
#include "stages/shared_options.h"

#define DP_OPTIONS struct dp_erm_options

static const struct dp_option options[] = {
    DP_DATA_OPTION(row.data),
    DP_LOSS_OPTION(row.loss, DP_LOSS_CHOICES, "what is minimised; hinge has no gradient and is refused"),
    DP_LOSS_WIDTH_OPTION(row.width),
    DP_OPTION_CHOICE('m', method, "WHICH", DP_ERM_METHOD_CHOICES, "method that finds the minimiser", .fallback = "minimum"),
    DP_OPTION_REAL(
        'z', multiplier, "Z", DP_ABOVE(0),
        "minimum: noise on the objective / one person's effect on its gradient (dp-account sigma --mechanism objective)"),
    DP_LAMBDA_OPTION(row.lambda, "L2 regularisation"),
    DP_INTERCEPT_OPTION(row.intercept),
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
    DP_ADJACENCY_OPTION(row.adjacency),
    DP_THREADS_OPTION(row.threads),
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
        {"adjacency", o->row.adjacency != 0, STEPS | OBJECTIVE},
    };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (own[i].given && !(own[i].methods >> which_of(o) & 1))
            return dp_fail(err, DP_E_USAGE, "--method %s takes no --%s", method_names[which_of(o)], own[i].name);
    return DP_OK;
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
    s->row.training.family = &dp_family_linear;
    s->row.training.scale = 1;
    s->tolerance = isnan(o->tolerance) ? 1e-6 : o->tolerance;
    s->most = o->most == DP_OPT_ABSENT_INT ? 10000 : o->most;
    int rc = check_options(o, err);
    if (rc == DP_OK && !dp_loss_has_slope(s->row.training.loss))
        rc = dp_fail(err, DP_E_USAGE,
                     "--loss hinge has no gradient where its minimum lies: smooth-hinge and huberised-hinge have one");
    return rc ?: s->method->check(s, err);
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
    int rc = dp_erm_risk_open(s, err);
    return rc ?: DP_ALLOC_ALL(err, DP_ARRAY(s->slope, dp_erm_size(s)), DP_ARRAY(s->w, dp_erm_size(s)));
}

static int lap(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
               struct dp_err *err)
{
    struct dp_erm *s = stage->state;
    /* The number of rows of a sample is private; the kind of sampler, which decides here, is not. */
    if (dp_frame_record(frame, DP_F_NONE)->sampler != DP_SAMPLER_FULL || batch->count != s->row.rows)
        return dp_fail(err, DP_E_RUN, "lap %lld is not of all rows, as a minimiser is (dp-sample --mode full)",
                       (long long)frame->lap);
    int rc = dp_erm_admit(s, batch, err);
    return rc ?: s->method->lap(stage, frame, batch, model, err);
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
    .fire = dp_row_stage_fire,
    .close = erm_close,
    .ephemeral = true,
};
