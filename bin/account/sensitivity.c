/* dp-account sensitivity: by how much one person moves the result of gradient descent, over all rows or over batches of a
   permutation, for output perturbation. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "base/cli.h"
#include "base/number.h"
#include "priv/output.h"
#include "base/round.h"
#include "words.h"

struct options {
    int64_t rows, laps, passes, batch;
    double mu, beta, lipschitz, step;
    int adjacency, decay;
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
     .max = 1e15,
     .flags = DP_OPT_REQUIRED},
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
     .flags = DP_OPT_REQUIRED | DP_OPT_OPEN_MIN},
    {.name = "lipschitz",
     .kind = DP_OPT_REAL,
     .offset = OFFSET(lipschitz),
     .metavar = "L",
     .help = "bound on the gradient of one row's data term: R for logistic",
     .min = 0,
     .max = INFINITY,
     .flags = DP_OPT_REQUIRED | DP_OPT_OPEN_MIN},
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

static int check(const struct options *o, const struct dp_descent *d, struct dp_err *err)
{
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
    struct options o = {.mu = NAN, .beta = NAN, .lipschitz = NAN, .step = NAN, .decay = -1};
    struct dp_err err = {0};
    char text[40];
    int operand, status;
    if (!dp_cli_start(&command_sensitivity, &o, NULL, argc, argv, &operand, &status))
        return status;
    bool batches = o.passes != DP_OPT_ABSENT_INT;
    const struct dp_descent d = {.mu = o.mu,
                                 .beta = o.beta,
                                 .lipschitz = o.lipschitz,
                                 .eta = !isnan(o.step) ? o.step
                                        : batches      ? 1 / o.beta
                                                       : 2 / (o.mu + o.beta),
                                 .inverse = o.decay == 1};
    int rc = operand < argc ? dp_fail(&err, DP_E_USAGE, "unexpected argument '%.80s'", argv[operand]) : check(&o, &d, &err);
    if (rc == DP_OK) {
        bool replace_one = o.adjacency == 1;
        double value = batches ? dp_permutation_sensitivity(&d, o.rows, o.batch, o.passes, replace_one)
                               : dp_descent_sensitivity(o.rows, d.mu, d.beta, d.lipschitz, d.eta, o.laps, replace_one);
        puts(dp_number_print(dp_round_up(value, 6), text, sizeof text));
    }
    return dp_cli_finish(command_sensitivity.name, rc, &err);
}
