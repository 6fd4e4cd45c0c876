/* dp-account sensitivity: how far one person moves the result of gradient descent, over all rows or over batches of a
   permutation, for output perturbation; or the two constants of a loss that determine this. */

#include "base/cli.h"
#include "base/number.h"
#include "math/loss.h"
#include "priv/output.h"
#include "base/round.h"
#include "words.h"

struct options {
    int64_t rows, laps, passes, batch, outputs;
    double mu, beta, lipschitz, step, width, norm, intercept;
    int adjacency, decay, loss;
};

#define DP_OPTIONS struct options
static const struct dp_option options[] = {
    DP_OPTION_INT('N', rows, "N", DP_FROM_TO(1, 1e15), "public number of rows", .needed_by = "laps, passes",
                  .at_least = "batch"),
    DP_OPTION_INT('n', laps, "T", DP_FROM_TO(1, 1e12), "steps of a descent over all rows", .required = true,
                  .unless = "passes, loss", .excludes = "passes"),
    DP_OPTION_INT('K', passes, "K", DP_FROM_TO(1, 1e6), "passes over a permutation of the rows"),
    DP_OPTION_INT('B', batch, "B", DP_FROM_TO(1, 1e15), "rows of a batch, at least", .needs = "passes", .needed_by = "passes"),
    DP_OPTION_CHOICE(0, decay, "HOW", "constant|inverse", "constant, or inverse: step t is at most 1/(MU t) (default constant)",
                     .needs = "passes"),
    DP_OPTION_REAL(0, mu, "MU", DP_FROM(0), "strong convexity: the L2 regularisation", .name = "strong-convexity",
                   .required = true),
    DP_OPTION_REAL(0, beta, "BETA", DP_ABOVE(0), "smoothness: R^2/4 + MU for logistic, R^2 + MU for huber, rows of norm R",
                   .name = "smoothness", .required = true, .unless = "loss", .excludes = "loss",
                   .at_least = "strong-convexity"),
    DP_OPTION_REAL(0, lipschitz, "L", DP_ABOVE(0), "bound on the gradient of one row's data term: R for logistic",
                   .required = true, .unless = "loss", .excludes = "loss"),
    DP_OPTION_CHOICE(0, loss, "LOSS", DP_LOSS_CHOICES,
                     "take the two of this loss; without --laps and --passes print these two: L BETA"),
    DP_OPTION_REAL(0, width, "W", DP_ABOVE(0), "of smooth-hinge, huber and huberised-hinge (1; huberised-hinge 0.5)",
                   .name = "loss-width"),
    DP_OPTION_REAL(0, norm, "R", DP_ABOVE(0), "with --loss: largest norm of a row without its constant column",
                   .fallback = "1"),
    DP_OPTION_REAL(0, intercept, "V", DP_ANY_NUMBER, "with --loss: value of a constant column", .fallback = "0"),
    DP_OPTION_INT(0, outputs, "K", DP_FROM_TO(1, 1e9),
                  "with --loss: outputs of the model, one for each class if there are three or more", .fallback = "1"),
    DP_OPTION_REAL(0, step, "ETA", DP_ABOVE(0), "step size, at most 2/BETA (2/(MU + BETA); with --passes 1/BETA)"),
    DP_OPTION_CHOICE(0, adjacency, "HOW", "null-record|replace-one", "what one person can change", .fallback = "null-record"),
    {.name = NULL},
};

/* smoothness and lipschitz for rows of that norm; dp_loss_lipschitz has the proof. */
static int take_loss(struct options *o, struct dp_err *err)
{
    if (o->loss < 0)
        return DP_OK;
    enum dp_loss loss = (enum dp_loss)o->loss;
    double width = isnan(o->width) ? dp_losses[loss].width : o->width;
    double square = o->norm * o->norm + o->intercept * o->intercept;
    o->lipschitz = dp_round_up(dp_loss_lipschitz(loss, width, (size_t)o->outputs) * sqrt(square), 12);
    o->beta = dp_round_up(dp_loss_smoothness(loss, width) * square + o->mu, 12);
    if (isfinite(o->lipschitz) && isfinite(o->beta))
        return DP_OK;
    return dp_fail(err, DP_E_USAGE, "--loss %s: nothing bounds %s", dp_loss_names[loss],
                   isfinite(o->lipschitz) ? "its curvature" : "one row's gradient");
}

static int check(const struct options *o, const struct dp_descent *d, struct dp_err *err)
{
    bool batches = o->passes != DP_OPT_ABSENT_INT;
    if (batches && (double)o->passes * (double)dp_permutation_batches(o->rows, o->batch) > 1e10)
        return dp_fail(err, DP_E_USAGE, "--passes: more than 1e10 steps");
    if (d->inverse && o->mu == 0)
        return dp_fail(err, DP_E_USAGE, "--decay inverse has steps of 1/(MU t): --strong-convexity must be > 0");
    if (d->eta * o->beta > 2)
        return dp_fail(err, DP_E_USAGE, "--step: must be at most 2/BETA = %g, got %g", 2 / o->beta, d->eta);
    return DP_OK;
}

static int run(const struct word *word, int argc, char **argv)
{
    struct options o = {.mu = NAN, .beta = NAN, .lipschitz = NAN, .step = NAN, .width = NAN, .decay = -1, .loss = -1};
    struct dp_err err = {0};
    int operand, status;
    if (!dp_cli_start(&word->command, &o, NULL, argc, argv, &operand, &status))
        return status;
    int rc = operand < argc ? dp_fail(&err, DP_E_USAGE, "unexpected argument '%.80s'", argv[operand]) : take_loss(&o, &err);
    bool batches = o.passes != DP_OPT_ABSENT_INT;
    bool constants = o.loss >= 0 && !batches && o.laps == DP_OPT_ABSENT_INT;
    const struct dp_descent d = {.mu = o.mu,
                                 .beta = o.beta,
                                 .lipschitz = o.lipschitz,
                                 .eta = !isnan(o.step) ? o.step
                                        : batches      ? 1 / o.beta
                                                       : 2 / (o.mu + o.beta),
                                 .inverse = o.decay == 1};
    if (rc == DP_OK && constants)
        printf("%s %s\n", DP_NUMBER(o.lipschitz), DP_NUMBER(o.beta));
    else if (rc == DP_OK)
        rc = check(&o, &d, &err);
    if (rc == DP_OK && !constants) {
        bool replace_one = o.adjacency == 1;
        double value = batches ? dp_permutation_sensitivity(&d, o.rows, o.batch, o.passes, replace_one)
                               : dp_descent_sensitivity(o.rows, d.mu, d.beta, d.lipschitz, d.eta, o.laps, replace_one);
        puts(DP_NUMBER(dp_round_up(value, 6)));
    }
    return dp_cli_finish(word->command.name, rc, &err);
}

const struct word word_sensitivity = {
    .command = {"dp-account sensitivity", "", "Print the L2 sensitivity of gradient descent", options, NULL}, .run = run};
