/* dp-account sensitivity: by how much one person moves the result of gradient descent, over all rows or over batches of a
   permutation, for output perturbation; or the two constants of a loss that this follows from. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

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

#define OFFSET(member) offsetof(struct options, member)
static const struct dp_option options[] = {
    {.name = "rows",
     .letter = 'N',
     .kind = DP_OPT_INT,
     .offset = OFFSET(rows),
     .metavar = "N",
     .help = "public number of rows",
     .min = 1,
     .max = 1e15},
    {.name = "laps",
     .letter = 'n',
     .kind = DP_OPT_INT,
     .offset = OFFSET(laps),
     .metavar = "T",
     .help = "steps of a descent over all rows",
     .min = 1,
     .max = 1e12},
    {.name = "passes",
     .letter = 'K',
     .kind = DP_OPT_INT,
     .offset = OFFSET(passes),
     .metavar = "K",
     .help = "passes over a permutation of the rows, instead of --laps",
     .min = 1,
     .max = 1e6},
    {.name = "batch",
     .letter = 'B',
     .kind = DP_OPT_INT,
     .offset = OFFSET(batch),
     .metavar = "B",
     .help = "with --passes: rows of a batch, at least",
     .min = 1,
     .max = 1e15},
    {.name = "decay",
     .kind = DP_OPT_CHOICE,
     .offset = OFFSET(decay),
     .metavar = "HOW",
     .help = "with --passes: of step t, constant or inverse: at most 1/(MU t) (default constant)",
     .choices = "constant|inverse"},
    {.name = "strong-convexity",
     .kind = DP_OPT_REAL,
     .offset = OFFSET(mu),
     .metavar = "MU",
     .help = "of the objective: the L2 regularisation",
     .min = 0,
     .max = INFINITY,
     .flags = DP_OPT_REQUIRED},
    {.name = "smoothness",
     .kind = DP_OPT_REAL,
     .offset = OFFSET(beta),
     .metavar = "BETA",
     .help = "of the objective: R^2/4 + MU for logistic, R^2 + MU for huber, rows of norm R",
     .min = 0,
     .max = INFINITY,
     .flags = DP_OPT_OPEN_MIN},
    {.name = "lipschitz",
     .kind = DP_OPT_REAL,
     .offset = OFFSET(lipschitz),
     .metavar = "L",
     .help = "bound on the gradient of one row's data term: R for logistic",
     .min = 0,
     .max = INFINITY,
     .flags = DP_OPT_OPEN_MIN},
    {.name = "loss",
     .kind = DP_OPT_CHOICE,
     .offset = OFFSET(loss),
     .metavar = "LOSS",
     .help = "instead of --smoothness and --lipschitz; without --laps and --passes print these two: L BETA",
     .choices = DP_LOSS_CHOICES},
    {.name = "loss-width",
     .kind = DP_OPT_REAL,
     .offset = OFFSET(width),
     .metavar = "W",
     .help = "of smooth-hinge, huber and huberised-hinge (1; huberised-hinge 0.5)",
     .min = 0,
     .max = INFINITY,
     .flags = DP_OPT_OPEN_MIN | DP_OPT_OPEN_MAX},
    {.name = "norm",
     .kind = DP_OPT_REAL,
     .offset = OFFSET(norm),
     .metavar = "R",
     .help = "with --loss: largest norm of a row without its constant column",
     .fallback = "1",
     .min = 0,
     .max = INFINITY,
     .flags = DP_OPT_OPEN_MIN | DP_OPT_OPEN_MAX},
    {.name = "intercept",
     .kind = DP_OPT_REAL,
     .offset = OFFSET(intercept),
     .metavar = "V",
     .help = "with --loss: value of a constant column",
     .fallback = "0"},
    {.name = "outputs",
     .kind = DP_OPT_INT,
     .offset = OFFSET(outputs),
     .metavar = "K",
     .help = "with --loss: outputs of the model, one for each class where there are three or more",
     .fallback = "1",
     .min = 1,
     .max = 1e9},
    {.name = "step",
     .kind = DP_OPT_REAL,
     .offset = OFFSET(step),
     .metavar = "ETA",
     .help = "step size, at most 2/BETA (2/(MU + BETA); with --passes 1/BETA)",
     .min = 0,
     .max = INFINITY,
     .flags = DP_OPT_OPEN_MIN},
    {.name = "adjacency",
     .kind = DP_OPT_CHOICE,
     .offset = OFFSET(adjacency),
     .metavar = "HOW",
     .help = "what one person can change",
     .fallback = "null-record",
     .choices = "null-record|replace-one"},
    {.name = NULL},
};
const struct dp_command command_sensitivity = {"dp-account sensitivity", "", "Print the L2 sensitivity of gradient descent",
                                               options, NULL};

/* smoothness and lipschitz of rows of that norm; dp_loss_lipschitz has the proof. */
static int take_loss(struct options *o, struct dp_err *err)
{
    if (o->loss < 0)
        return DP_OK;
    if (!isnan(o->beta) || !isnan(o->lipschitz))
        return dp_fail(err, DP_E_USAGE, "--loss takes the place of --smoothness and --lipschitz");
    enum dp_loss loss = (enum dp_loss)o->loss;
    double width = isnan(o->width) ? dp_loss_default_width(loss) : o->width;
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
    if (o->rows == DP_OPT_ABSENT_INT)
        return dp_fail(err, DP_E_USAGE, "--rows is required");
    if (isnan(o->beta) || isnan(o->lipschitz))
        return dp_fail(err, DP_E_USAGE, "--%s is required", isnan(o->beta) ? "smoothness" : "lipschitz");
    bool batches = o->passes != DP_OPT_ABSENT_INT;
    if (batches == (o->laps != DP_OPT_ABSENT_INT))
        return dp_fail(err, DP_E_USAGE, "takes either --laps or --passes");
    if (batches != (o->batch != DP_OPT_ABSENT_INT) || (o->decay >= 0 && !batches))
        return dp_fail(err, DP_E_USAGE, "--passes needs --batch, and --batch and --decay go with --passes");
    if (batches && o->batch > o->rows)
        return dp_fail(err, DP_E_USAGE, "--batch: must be at most the rows, got %lld", (long long)o->batch);
    if (batches && (double)o->passes * (double)dp_permutation_batches(o->rows, o->batch) > 1e10)
        return dp_fail(err, DP_E_USAGE, "--passes: more than 1e10 steps");
    if (o->mu > o->beta)
        return dp_fail(err, DP_E_USAGE, "--strong-convexity: must be at most the smoothness, got %g", o->mu);
    if (d->inverse && o->mu == 0)
        return dp_fail(err, DP_E_USAGE, "--decay inverse has steps of 1/(MU t): --strong-convexity must be > 0");
    if (d->eta * o->beta > 2)
        return dp_fail(err, DP_E_USAGE, "--step: must be at most 2/BETA = %g, got %g", 2 / o->beta, d->eta);
    return DP_OK;
}

int word_sensitivity(int argc, char **argv)
{
    struct options o = {.mu = NAN, .beta = NAN, .lipschitz = NAN, .step = NAN, .width = NAN, .decay = -1, .loss = -1};
    struct dp_err err = {0};
    char text[40], beta[40];
    int operand, status;
    if (!dp_cli_start(&command_sensitivity, &o, NULL, argc, argv, &operand, &status))
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
        printf("%s %s\n", dp_number_print(o.lipschitz, text, sizeof text), dp_number_print(o.beta, beta, sizeof beta));
    else if (rc == DP_OK)
        rc = check(&o, &d, &err);
    if (rc == DP_OK && !constants) {
        bool replace_one = o.adjacency == 1;
        double value = batches ? dp_permutation_sensitivity(&d, o.rows, o.batch, o.passes, replace_one)
                               : dp_descent_sensitivity(o.rows, d.mu, d.beta, d.lipschitz, d.eta, o.laps, replace_one);
        puts(dp_number_print(dp_round_up(value, 6), text, sizeof text));
    }
    return dp_cli_finish(command_sensitivity.name, rc, &err);
}
