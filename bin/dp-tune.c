/* dp-tune: the best of a random number of private runs, charged as a whole. */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/interrupt.h"
#include "tune/score.h"
#include "tune/tune.h"

#define DP_OPTIONS struct dp_tune_options

static const struct dp_option options[] = {
    DP_OPTION_TEXT('g', grid, "FILE", "table of the settings: a line of names, then a line for each setting", .required = true),
    DP_OPTION_TEXT('t', trials, "LAW",
                   "number of runs: poisson:MEAN, geometric:GAMMA, logarithmic:GAMMA, negative-binomial:ETA:GAMMA, or all",
                   .required = true),
    DP_OPTION_TEXT(0, score_data, "DIR", "data set with the rows that score the runs", .required = true),
    DP_OPTION_CHOICE('m', metric, "WHAT", DP_SCORE_METRICS, "metric of the score", .fallback = "accuracy"),
    DP_OPTION_REAL(0, score_clip, "C", DP_ABOVE(0), "a row's error counts up to this", .needs = "metric=squared-error",
                   .needed_by = "metric=squared-error"),
    DP_OPTION_REAL(0, score_multiplier, "Z", DP_ABOVE_TO(0, DP_SCORE_MOST_MULTIPLIER),
                   "standard deviation of the noise on each score, in rows", .required = true),
    DP_OPTION_REAL('e', epsilon, "E", DP_ABOVE(0), "budget of the whole choice", .required = true),
    DP_OPTION_REAL('d', delta, "D", DP_ABOVE_BELOW(0, 1), "probability that the budget may fail to bound", .required = true),
    DP_OPTION_TEXT('l', ledger, "FILE", "record the spending in this file, not in the data set's own ledger"),
    DP_OPTION_FLAG(0, no_ledger, "write nothing down, and say so in the model", .excludes = "ledger"),
    DP_REGISTRY_OPTIONS(registry),
    DP_OPTION_FLAG(0, allow_weak, "also with a cost above epsilon 10 or a delta that is not below 1/N"),
    DP_OPTION_TEXT('o', model, "FILE", "write the chosen model there, not to standard output"),
    DP_OPTION_INT('s', seed, "SEED", DP_FROM_TO(0, 9007199254740992),
                  "derive every draw and {seed} from SEED: reproducible, not private"),
    DP_OPTION_FLAG('q', quiet, "do not print the choice"),
    {.name = NULL},
};

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
    stop = number;
    alarm(1); /* sent again, because it may have arrived just before a wait */
}

static void on_alarm(int number)
{
    (void)number;
    alarm(1);
}

static void catch_signals(void)
{
    struct sigaction again = {.sa_handler = on_alarm};
    dp_interrupt_catch_by(on_signal);
    sigaction(SIGALRM, &again, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static void note(const char *name, const char *sentence)
{
    fprintf(stderr, "%s: %s\n", name, sentence);
}

/* Its name becomes part of shell commands. */
static const char *parent(void)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-";
    const char *text = getenv("TMPDIR");
    return text != NULL && text[0] == '/' && text[strspn(text, plain)] == '\0' ? text : "/tmp";
}

int main(int argc, char **argv)
{
    const struct dp_command command = {"dp-tune", "[--] 'COMMAND'",
                                       "Choose among the settings of a private run, and charge the choice", options, NULL};
    struct dp_tune tune = {.parent = parent(),
                           .place = dp_registry_default(),
                           .started = (int64_t)time(NULL),
                           .stop = &stop,
                           .warn = dp_cli_warn,
                           .note = note};
    struct dp_err err = {0};
    int operand, status;
    if (!dp_cli_start(&command, &tune.options, NULL, argc, argv, &operand, &status))
        return status;
    if (argc - operand > 1) {
        dp_fail(&err, DP_E_USAGE, "the command is one argument: quote it");
        return dp_cli_finish("dp-tune", DP_E_USAGE, &err);
    }
    tune.command = operand < argc ? argv[operand] : NULL;
    catch_signals();
    status = dp_cli_finish("dp-tune", dp_tune_run(&tune, &err), &err);
    dp_interrupt_end_by(stop);
    return status;
}
