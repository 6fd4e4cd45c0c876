/* dp-account sensitivity: by how much one person moves the result of gradient descent, for output perturbation. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "base/cli.h"
#include "base/number.h"
#include "priv/output.h"
#include "base/round.h"
#include "words.h"

struct options {
    int64_t rows, laps;
    double mu, beta, lipschitz, step;
    int adjacency;
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
     .help = "steps of the descent",
     .min = 1,
     .max = 1e12,
     .flags = DP_OPT_REQUIRED},
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
     .help = "step size, at most 2/BETA (2/(MU + BETA))",
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

int word_sensitivity(int argc, char **argv)
{
    struct options o = {.mu = NAN, .beta = NAN, .lipschitz = NAN, .step = NAN};
    struct dp_err err = {0};
    char text[40];
    int operand, status, rc = DP_OK;
    if (!dp_cli_start(&command_sensitivity, &o, NULL, argc, argv, &operand, &status))
        return status;
    double step = isnan(o.step) ? 2 / (o.mu + o.beta) : o.step;
    if (operand < argc)
        rc = dp_fail(&err, DP_E_USAGE, "unexpected argument '%.80s'", argv[operand]);
    else if (o.mu > o.beta)
        rc = dp_fail(&err, DP_E_USAGE, "--strong-convexity: must be at most the smoothness, got %g", o.mu);
    else if (step * o.beta > 2)
        rc = dp_fail(&err, DP_E_USAGE, "--step: must be at most 2/BETA = %g, got %g", 2 / o.beta, step);
    else
        puts(dp_number_print(
            dp_round_up(dp_descent_sensitivity(o.rows, o.mu, o.beta, o.lipschitz, step, o.laps, o.adjacency == 1), 6), text,
            sizeof text));
    return dp_cli_finish(command_sensitivity.name, rc, &err);
}
