/* dp-tune: the best of a random number of private runs, charged as a whole. */
#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cli.h"
#include "tune/score.h"
#include "tune/tune.h"

#define OFFSET(member) offsetof(struct dp_tune_options, member)

static const struct dp_option options[] = {
    {.name = "grid",
     .letter = 'g',
     .kind = DP_OPT_TEXT,
     .offset = OFFSET(grid),
     .metavar = "FILE",
     .help = "the settings to choose from: a line of names, and one for each setting",
     .flags = DP_OPT_REQUIRED},
    {.name = "trials",
     .letter = 't',
     .kind = DP_OPT_TEXT,
     .offset = OFFSET(trials),
     .metavar = "LAW",
     .help = "how many runs: poisson:MEAN, geometric:GAMMA, logarithmic:GAMMA, negative-binomial:ETA:GAMMA, or all",
     .flags = DP_OPT_REQUIRED},
    {.name = "score-data",
     .kind = DP_OPT_TEXT,
     .offset = OFFSET(score_data),
     .metavar = "DIR",
     .help = "data set whose rows decide which run is the best",
     .flags = DP_OPT_REQUIRED},
    {.name = "metric",
     .letter = 'm',
     .kind = DP_OPT_CHOICE,
     .offset = OFFSET(metric),
     .metavar = "WHAT",
     .help = "what they measure",
     .fallback = "accuracy",
     .choices = DP_SCORE_METRICS},
    {.name = "score-clip",
     .kind = DP_OPT_REAL,
     .offset = OFFSET(score_clip),
     .metavar = "C",
     .help = "squared-error: the largest error of a row that counts",
     .min = 0,
     .max = INFINITY,
     .flags = DP_OPT_OPEN_MIN},
    {.name = "score-multiplier",
     .kind = DP_OPT_REAL,
     .offset = OFFSET(score_multiplier),
     .metavar = "Z",
     .help = "standard deviation of the noise on each score, in rows",
     .min = 0,
     .max = DP_SCORE_MOST_MULTIPLIER,
     .flags = DP_OPT_OPEN_MIN | DP_OPT_REQUIRED},
    {.name = "epsilon",
     .letter = 'e',
     .kind = DP_OPT_REAL,
     .offset = OFFSET(epsilon),
     .metavar = "E",
     .help = "the budget, for the whole choice",
     .min = 0,
     .max = INFINITY,
     .flags = DP_OPT_OPEN_MIN | DP_OPT_OPEN_MAX | DP_OPT_REQUIRED},
    {.name = "delta",
     .letter = 'd',
     .kind = DP_OPT_REAL,
     .offset = OFFSET(delta),
     .metavar = "D",
     .help = "probability that the budget may fail to bound",
     .min = 0,
     .max = 1,
     .flags = DP_OPT_OPEN_MIN | DP_OPT_OPEN_MAX | DP_OPT_REQUIRED},
    {.name = "ledger",
     .letter = 'l',
     .kind = DP_OPT_TEXT,
     .offset = OFFSET(ledger),
     .metavar = "FILE",
     .help = "write down what is spent before it is in this file, not in the data set's own ledger"},
    {.name = "no-ledger",
     .kind = DP_OPT_FLAG,
     .offset = OFFSET(no_ledger),
     .help = "write nothing down, and say so in the model"},
    DP_REGISTRY_OPTIONS(OFFSET(registry)),
    {.name = "model",
     .letter = 'o',
     .kind = DP_OPT_TEXT,
     .offset = OFFSET(model),
     .metavar = "FILE",
     .help = "write the chosen model there, not to standard output"},
    {.name = "seed",
     .letter = 's',
     .kind = DP_OPT_INT,
     .offset = OFFSET(seed),
     .metavar = "SEED",
     .help = "derive every draw and {seed} from SEED: reproducible, not private",
     .min = 0,
     .max = 9007199254740992},
    {.name = "quiet", .letter = 'q', .kind = DP_OPT_FLAG, .offset = OFFSET(quiet), .help = "do not say what was chosen"},
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
    const int numbers[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal}, again = {.sa_handler = on_alarm}, old;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) /* nohup(1) */
            sigaction(numbers[i], &action, NULL);
    sigaction(SIGALRM, &again, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static void note(const char *name, const char *sentence)
{
    fprintf(stderr, "%s: %s\n", name, sentence);
}

/* Its name is part of commands that a shell reads. */
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
    if (stop) {
        signal(stop, SIG_DFL);
        raise(stop);
    }
    return status;
}
