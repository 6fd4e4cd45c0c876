#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/number.h"
#include "priv/calibrate.h"
#include "stage/run.h"
#include "stages/stages.h"

/* The calculator: dp-account sigma, dp-account epsilon. Without one of these words dp-account is the gate. */

struct options {
    double epsilon, delta, rate, multiplier;
    int64_t laps, rows;
    int sampler, accountant;
    bool visible_batch, json;
};

#define OFFSET(member) offsetof(struct options, member)
#define EPSILON                                                                                                    \
    {.name = "epsilon", .letter = 'e', .kind = DP_OPT_REAL, .offset = OFFSET(epsilon), .metavar = "E",             \
     .help = "the budget", .min = 0, .max = INFINITY, .flags = DP_OPT_OPEN_MIN | DP_OPT_REQUIRED}
#define MULTIPLIER                                                                                                 \
    {.name = "multiplier", .letter = 'z', .kind = DP_OPT_REAL, .offset = OFFSET(multiplier), .metavar = "Z",       \
     .help = "noise standard deviation divided by the sensitivity", .min = 0, .max = INFINITY,                     \
     .flags = DP_OPT_OPEN_MIN | DP_OPT_REQUIRED}
#define COMMON                                                                                                     \
    {.name = "delta", .letter = 'd', .kind = DP_OPT_REAL, .offset = OFFSET(delta), .metavar = "D",                 \
     .help = "probability that epsilon may fail to bound", .min = 0, .max = 1,                                     \
     .flags = DP_OPT_OPEN_MIN | DP_OPT_OPEN_MAX | DP_OPT_REQUIRED},                                                \
        {.name = "rate", .letter = 'r', .kind = DP_OPT_REAL, .offset = OFFSET(rate), .metavar = "Q",               \
         .help = "sampling rate; 100/24420 will do", .fallback = "1", .min = 0, .max = 1,                          \
         .flags = DP_OPT_OPEN_MIN},                                                                                \
        {.name = "laps", .letter = 'n', .kind = DP_OPT_INT, .offset = OFFSET(laps), .metavar = "T",                \
         .help = "laps of the run", .min = 1, .max = 1e12, .flags = DP_OPT_REQUIRED},                              \
        {.name = "rows", .letter = 'N', .kind = DP_OPT_INT, .offset = OFFSET(rows), .metavar = "N",                \
         .help = "shuffle: number of rows, where the rate does not divide it", .min = 1, .max = 1e15},             \
        {.name = "sampler", .letter = 's', .kind = DP_OPT_CHOICE, .offset = OFFSET(sampler), .metavar = "HOW",     \
         .help = "how dp-sample chooses rows", .fallback = "poisson", .choices = "poisson|full|shuffle"},          \
        {.name = "accountant", .letter = 'a', .kind = DP_OPT_CHOICE, .offset = OFFSET(accountant),                 \
         .metavar = "WHICH", .help = "rdp, or published for the DP-SCD paper's own (not sound)",                   \
         .fallback = "rdp", .choices = DP_ACCOUNTANT_CHOICES},                                                     \
        {.name = "visible-batch", .kind = DP_OPT_FLAG, .offset = OFFSET(visible_batch),                            \
         .help = "the release shows who was sampled (dp-scd-step --release-alpha): no amplification"},             \
        {.name = "json", .letter = 'j', .kind = DP_OPT_FLAG, .offset = OFFSET(json),                               \
         .help = "the answer and what was assumed, as JSON"},                                                      \
    {                                                                                                              \
        .name = NULL                                                                                               \
    }

static const struct dp_option sigma_options[] = {EPSILON, COMMON};
static const struct dp_option epsilon_options[] = {MULTIPLIER, COMMON};

/* As dp-sample cuts an epoch. */
static int64_t laps_per_epoch(const struct options *o)
{
    if (o->rows == DP_OPT_ABSENT_INT)
        return (int64_t)ceil(1 / o->rate - 1e-9);
    int64_t batch = (int64_t)llround(o->rate * (double)o->rows);
    return batch < 1 ? o->rows : (o->rows + batch - 1) / batch;
}

static struct dp_event event_of(const struct options *o)
{
    struct dp_event event = {.kind = DP_EVENT_POISSON, .rate = o->rate, .multiplier = o->multiplier};
    if (o->sampler == 1) {
        event.kind = DP_EVENT_GAUSSIAN;
    } else if (o->sampler == 2) {
        event.kind = DP_EVENT_SHUFFLED;
        event.epoch_laps = laps_per_epoch(o);
    } else if (o->visible_batch) {
        event.kind = DP_EVENT_VISIBLE_BATCH;
    }
    return event;
}

static int print_answer(const struct options *o, const char *what, double answer)
{
    static const char *const samplers[] = {"poisson", "full", "shuffle"};
    static const char *const accountants[] = {"rdp", "published"};
    char text[40];
    if (!o->json) {
        puts(dp_number_print(answer, text, sizeof text));
        return DP_OK;
    }
    double epsilon = strcmp(what, "epsilon") == 0 ? answer : o->epsilon;
    double multiplier = strcmp(what, "multiplier") == 0 ? answer : o->multiplier;
    json_t *root = json_pack("{s:f, s:f, s:f, s:f, s:I, s:s, s:s, s:s, s:b, s:b}", "multiplier", multiplier, "epsilon",
                             epsilon, "delta", o->delta, "rate", o->rate, "laps", (json_int_t)o->laps, "sampler",
                             samplers[o->sampler], "accountant", accountants[o->accountant], "adjacency", "null-record",
                             "visible_batch", o->visible_batch, "sound", o->accountant == DP_ACCOUNTANT_RDP);
    char *dump = root != NULL ? json_dumps(root, JSON_REAL_PRECISION(12)) : NULL;
    if (dump != NULL)
        puts(dump);
    free(dump);
    json_decref(root);
    return dump != NULL ? DP_OK : DP_E_RUN;
}

static int sigma(const struct options *o, struct dp_err *err)
{
    struct dp_event event = event_of(o);
    double multiplier;
    int rc = dp_calibrate_multiplier((enum dp_accountant_kind)o->accountant, &event, o->laps, o->epsilon, o->delta,
                                     &multiplier, err);
    return rc != DP_OK ? rc : print_answer(o, "multiplier", multiplier);
}

static int epsilon(const struct options *o, struct dp_err *err)
{
    struct dp_event event = event_of(o);
    struct dp_accountant *accountant;
    int rc = dp_accountant_new(&accountant, (enum dp_accountant_kind)o->accountant, &event, o->delta, err);
    if (rc != DP_OK)
        return rc;
    double spent = dp_round_up(dp_accountant_epsilon(accountant, o->laps), 6);
    dp_accountant_free(accountant);
    if (!isfinite(spent))
        return dp_fail(err, DP_E_RUN, "this much noise gives no bound at all");
    return print_answer(o, "epsilon", spent);
}

static int calculate(const char *word, int argc, char **argv)
{
    bool solve_sigma = strcmp(word, "sigma") == 0;
    const char *name = solve_sigma ? "dp-account sigma" : "dp-account epsilon";
    const char *summary = solve_sigma ? "Print the noise multiplier that a budget asks for"
                                      : "Print the epsilon that a run costs";
    struct dp_command command = {name, "", summary, solve_sigma ? sigma_options : epsilon_options, NULL};
    struct options o = {.epsilon = NAN, .multiplier = NAN};
    struct dp_err err = {0};
    int operand, status;
    if (!dp_cli_start(&command, &o, NULL, argc, argv, &operand, &status))
        return status;
    int rc = operand < argc ? dp_fail(&err, DP_E_USAGE, "unexpected argument '%.80s'", argv[operand])
                            : (solve_sigma ? sigma : epsilon)(&o, &err);
    return dp_cli_finish(name, rc, &err);
}

int main(int argc, char **argv)
{
    if (argc > 1 && (strcmp(argv[1], "sigma") == 0 || strcmp(argv[1], "epsilon") == 0))
        return calculate(argv[1], argc - 1, argv + 1);
    if (argc > 1 && argv[1][0] != '-') {
        struct dp_err err = {0};
        dp_fail(&err, DP_E_USAGE, "expected 'sigma', 'epsilon' or the gate's options, got '%.80s'", argv[1]);
        return dp_cli_finish("dp-account", DP_E_USAGE, &err);
    }
    return dp_stage_main(&dp_account_class, argc, argv);
}
