#include <jansson.h>
#include <signal.h>
#include <unistd.h>

#include "audit/canaries.h"
#include "audit/failures.h"
#include "audit/membership.h"
#include "audit/sensitivity.h"
#include "base/cli.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "base/round.h"

struct options {
    const char *data;
    int64_t rows, runs, laps, row, seed, timeout, canaries;
    double confidence;
    int canary, others;
    bool json;
};

#define DP_OPTIONS struct options

static const struct dp_option options[] = {
    DP_OPTION_TEXT('d', data, "DIR", "data set for {} in the pipeline, with a row changed", .required = true),
    DP_OPTION_INT('n', laps, "T", DP_FROM_TO(1, 1000000), "laps of each run (default 10)"),
    DP_OPTION_INT('s', seed, "SEED", DP_FROM_TO(0, 4503599627370496), "seed of the keys: the same seed gives the same audit"),
    DP_OPTION_INT('N', rows, "N", DP_FROM_TO(1, 1000000), "how many rows to try (default 10, of failures 3)",
                  .only = "sensitivity|failures"),
    DP_OPTION_INT('R', runs, "R", DP_FROM_TO(40, 100000000), "runs with the canary, and as many without (default 1000)",
                  .only = "epsilon"),
    DP_OPTION_REAL('c', confidence, "P", DP_FROM_BELOW(0.5, 1), "probability with which the bound holds (default 0.999)",
                   .only = "epsilon|canaries"),
    DP_OPTION_INT('k', canaries, "K", DP_FROM_TO(10, 100000), "how many (default 1000)", .only = "canaries"),
    DP_OPTION_INT(0, row, "I", DP_FROM_TO(1, 1e15), "the row whose place the canary takes (default: the last)",
                  .only = "epsilon"),
    DP_OPTION_CHOICE(0, canary, "WHAT", "unit|row", "one entry of 1, or the row unchanged (default unit)", .only = "epsilon"),
    DP_OPTION_CHOICE(0, others, "WHAT", "zeros|keep", "the other rows are zeros, or unchanged (default zeros)",
                     .only = "epsilon"),
    DP_OPTION_INT(0, timeout, "SECONDS", DP_FROM_TO(1, 86400), "time for an answer of stages that run as processes",
                  .fallback = "60"),
    DP_OPTION_FLAG('j', json, "the answer as JSON"),
    {.name = NULL},
};

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
    if (number != SIGALRM)
        stop = number;
    alarm(1); /* sent again, because it may have arrived just before a wait */
}

static int64_t number_or(int64_t value, int64_t fallback)
{
    return value != DP_OPT_ABSENT_INT ? value : fallback;
}

static const char *scratch(void)
{
    const char *parent = getenv("TMPDIR");
    return parent != NULL && parent[0] != '\0' ? parent : "/tmp";
}

/* Rounds the ratio to six digits away from 1, so that a ratio above 1 is not shown as 1. */
static double shown(double ratio)
{
    return (ratio > 1 ? ceil(ratio * 1e6) : floor(ratio * 1e6)) / 1e6;
}

static void print_json(json_t *root)
{
    dp_json_print(root, 0, stdout);
    json_decref(root);
}

static int sensitivity(const struct options *o, const char *pipeline, const struct dp_audit_watch *watch, struct dp_err *err)
{
    struct dp_sensitivity a = {.data = o->data, .pipeline = pipeline, .scratch = scratch(), .watch = watch};
    a.rows = number_or(o->rows, 10);
    a.laps = number_or(o->laps, 10);
    a.seed = number_or(o->seed, 1);
    int rc = dp_sensitivity_run(&a, err);
    if (rc != DP_OK)
        return rc;
    if (o->json)
        print_json(json_pack("{s:b, s:f, s:f, s:f, s:s, s:I, s:I, s:s, s:I}", "exceeded", a.exceeded, "ratio", a.ratio,
                             "measured", a.measured, "declared", a.declared, "adjacency",
                             a.replace_one ? "replace-one" : "null-record", "row", (json_int_t)a.row, "lap", (json_int_t)a.lap,
                             "kind", a.kind != NULL ? a.kind : "", "sums", (json_int_t)a.compared));
    if (a.exceeded)
        return dp_fail(err, DP_E_RUN,
                       "%s %lld as '%s', lap %lld: the %s moved by %.9g, and the declared sensitivity is "
                       "%.9g (ratio %.6f)",
                       a.unit, (long long)a.row, a.kind, (long long)a.lap, a.count ? "count" : "sum", a.measured, a.declared,
                       shown(a.ratio));
    if (a.row == 0)
        return dp_fail(err, DP_E_RUN, "no row moved any of %lld sums: nothing was tested", (long long)a.compared);
    if (!o->json)
        printf("worst ratio %.6f of the declared sensitivity %g: %s %lld as '%s', lap %lld, of %lld sums\n", shown(a.ratio),
               a.declared, a.unit, (long long)a.row, a.kind, (long long)a.lap, (long long)a.compared);
    return DP_OK;
}

static int failures(const struct options *o, const char *pipeline, const struct dp_audit_watch *watch, struct dp_err *err)
{
    struct dp_failures a = {.data = o->data, .pipeline = pipeline, .scratch = scratch(), .watch = watch};
    a.rows = number_or(o->rows, 3);
    a.laps = number_or(o->laps, 10);
    a.seed = number_or(o->seed, 1);
    int rc = dp_failures_run(&a, err);
    if (o->json && (rc == DP_OK || a.differs))
        print_json(
            json_pack("{s:b, s:I, s:I}", "differs", a.differs, "runs", (json_int_t)a.runs, "ended", (json_int_t)a.ended));
    else if (rc == DP_OK && a.ended > 0)
        printf("%lld runs end in lap %lld, with the row and without it, and show nothing else of it than what is charged\n",
               (long long)a.runs, (long long)a.ended);
    else if (rc == DP_OK)
        printf("%lld runs of %lld laps show nothing else of the row than what is charged\n", (long long)a.runs,
               (long long)a.laps);
    return rc;
}

static int epsilon(const struct options *o, const char *pipeline, const struct dp_audit_watch *watch, struct dp_err *err)
{
    struct dp_membership a = {.data = o->data, .pipeline = pipeline, .scratch = scratch(), .watch = watch};
    a.laps = number_or(o->laps, 10);
    a.runs = number_or(o->runs, 1000);
    a.seed = number_or(o->seed, -1);
    a.row = number_or(o->row, 0);
    a.confidence = isnan(o->confidence) ? 0.999 : o->confidence;
    a.own_row = o->canary == 1;
    a.keep_others = o->others == 1;
    int rc = dp_membership_run(&a, err);
    if (rc != DP_OK)
        return rc;
    double tested = (double)a.tested;
    if (o->json)
        print_json(json_pack("{s:b, s:f, s:f, s:f, s:f, s:I, s:f, s:f}", "exceeded", a.lower > a.claimed, "measured", a.lower,
                             "claimed", a.claimed, "delta", a.delta, "confidence", a.confidence, "runs", (json_int_t)a.runs,
                             "true_positives", (double)a.hits / tested, "false_positives", (double)a.alarms / tested));
    if (a.lower > a.claimed)
        return dp_fail(err, DP_E_RUN,
                       "the pipeline claims epsilon = %.9g, and at least %.9g was measured (delta %g, "
                       "confidence %g, %lld runs)",
                       a.claimed, a.lower, a.delta, a.confidence, (long long)a.runs);
    if (!o->json)
        printf("epsilon is at least %.4g as measured, at most %.4g as claimed (delta %g, confidence %g, %lld "
               "runs)\n",
               dp_round_down(a.lower, 4), dp_round_up(a.claimed, 4), a.delta, a.confidence, (long long)a.runs);
    return DP_OK;
}

static int canaries(const struct options *o, const char *pipeline, const struct dp_audit_watch *watch, struct dp_err *err)
{
    struct dp_canaries a = {.data = o->data, .pipeline = pipeline, .scratch = scratch(), .watch = watch};
    a.laps = number_or(o->laps, 10);
    a.canaries = number_or(o->canaries, 1000);
    a.seed = number_or(o->seed, -1);
    a.confidence = isnan(o->confidence) ? 0.999 : o->confidence;
    int rc = dp_canaries_run(&a, err);
    const bool exceeded = a.epsilon > a.claimed;
    if (rc == DP_OK && o->json)
        print_json(json_pack("{s:b, s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:I}", "exceeded", exceeded, "mu", a.mu, "measured",
                             a.epsilon, "claimed", a.claimed, "delta", a.delta, "confidence", a.confidence, "canaries",
                             (json_int_t)a.canaries, "guesses", (json_int_t)a.guesses, "correct", (json_int_t)a.correct));
    if (rc != DP_OK)
        return rc;
    if (exceeded)
        return dp_fail(err, DP_E_RUN,
                       "the pipeline claims epsilon = %.9g, and at least %.9g was measured (delta %g, confidence %g, %lld of "
                       "%lld guesses right)",
                       a.claimed, a.epsilon, a.delta, a.confidence, (long long)a.correct, (long long)a.guesses);
    if (!o->json)
        printf("mu is at least %.4g and epsilon at least %.4g as measured, at most %.4g as claimed (delta %g, confidence %g, "
               "%lld of %lld guesses right)\n",
               dp_round_down(a.mu, 4), dp_round_down(a.epsilon, 4), dp_round_up(a.claimed, 4), a.delta, a.confidence,
               (long long)a.correct, (long long)a.guesses);
    return DP_OK;
}

static const struct {
    const char *name;
    int (*run)(const struct options *o, const char *pipeline, const struct dp_audit_watch *watch, struct dp_err *err);
} words[] = {{"sensitivity", sensitivity}, {"failures", failures}, {"epsilon", epsilon}, {"canaries", canaries}};
enum { WORDS = 4 };

int main(int argc, char **argv)
{
    const struct dp_command command = {"dp-audit", "sensitivity|failures|epsilon|canaries [--] 'STAGE | STAGE …'",
                                       "Attack a pipeline to test its privacy claim", options, NULL};
    struct options o;
    struct dp_err err = {0};
    int operand, status, rc;
    if (!dp_cli_start(&command, &o, NULL, argc, argv, &operand, &status))
        return status;
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* a child that dies must not end this process */
    struct dp_audit_watch watch = {.stop = &stop, .timeout = (int)o.timeout};
    int word = 0;
    while (word < WORDS && (operand == argc || strcmp(argv[operand], words[word].name) != 0))
        word++;
    if (word == WORDS)
        rc = dp_fail(&err, DP_E_USAGE, "expected one of: sensitivity, failures, epsilon, canaries");
    else if (argc - operand != 2)
        rc = dp_fail(&err, DP_E_USAGE,
                     argc - operand < 2 ? "no pipeline (try --help)" : "the pipeline is one argument: quote it");
    else if ((rc = dp_option_operand(&command, &o, NULL, words[word].name, &err)) == DP_OK)
        rc = words[word].run(&o, argv[operand + 1], &watch, &err);
    status = dp_cli_finish("dp-audit", rc, &err);
    dp_interrupt_end_by(stop);
    return status;
}
