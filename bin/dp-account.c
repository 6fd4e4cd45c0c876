#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/number.h"
#include "priv/calibrate.h"
#include "priv/pld.h"
#include "priv/solve.h"
#include "stage/run.h"
#include "stages/stages.h"

/* The calculator: dp-account sigma|epsilon|delta|laps|rate solves for one of them. Without one of these words dp-account is
   the gate. */

struct options {
    double epsilon, delta, rate, multiplier;
    int64_t laps, rows;
    int sampler, accountant;
    bool visible_batch, json;
};

enum { ACCOUNTANT_PLD = DP_ACCOUNTANT_PUBLISHED + 1 }; /* after the kinds of priv/accountant.h */
#define WITH_PLD DP_ACCOUNTANT_CHOICES "|pld"

#define OFFSET(member) offsetof(struct options, member)
#define EPSILON                                                                                                    \
    {.name = "epsilon", .letter = 'e', .kind = DP_OPT_REAL, .offset = OFFSET(epsilon), .metavar = "E",             \
     .help = "the budget", .min = 0, .max = INFINITY, .flags = DP_OPT_OPEN_MIN | DP_OPT_REQUIRED}
#define DELTA                                                                                                      \
    {.name = "delta", .letter = 'd', .kind = DP_OPT_REAL, .offset = OFFSET(delta), .metavar = "D",                 \
     .help = "probability that epsilon may fail to bound", .min = 0, .max = 1,                                     \
     .flags = DP_OPT_OPEN_MIN | DP_OPT_OPEN_MAX | DP_OPT_REQUIRED}
#define MULTIPLIER                                                                                                 \
    {.name = "multiplier", .letter = 'z', .kind = DP_OPT_REAL, .offset = OFFSET(multiplier), .metavar = "Z",       \
     .help = "noise standard deviation divided by the sensitivity", .min = 0, .max = INFINITY,                     \
     .flags = DP_OPT_OPEN_MIN | DP_OPT_REQUIRED}
#define RATE                                                                                                       \
    {.name = "rate", .letter = 'r', .kind = DP_OPT_REAL, .offset = OFFSET(rate), .metavar = "Q",                   \
     .help = "sampling rate; 100/24420 will do", .fallback = "1", .min = 0, .max = 1, .flags = DP_OPT_OPEN_MIN}
#define LAPS                                                                                                       \
    {.name = "laps", .letter = 'n', .kind = DP_OPT_INT, .offset = OFFSET(laps), .metavar = "T",                    \
     .help = "laps of the run", .min = 1, .max = 1e12, .flags = DP_OPT_REQUIRED}
#define SAMPLER                                                                                                    \
    {.name = "rows", .letter = 'N', .kind = DP_OPT_INT, .offset = OFFSET(rows), .metavar = "N",                    \
     .help = "shuffle: number of rows, where the rate does not divide it", .min = 1, .max = 1e15},                 \
    {                                                                                                              \
        .name = "sampler", .letter = 's', .kind = DP_OPT_CHOICE, .offset = OFFSET(sampler), .metavar = "HOW",      \
        .help = "how dp-sample chooses rows", .fallback = "poisson", .choices = "poisson|full|shuffle"             \
    }
#define REST(accountants)                                                                                          \
    {.name = "accountant", .letter = 'a', .kind = DP_OPT_CHOICE, .offset = OFFSET(accountant), .metavar = "WHICH", \
     .help = "published is the DP-SCD paper's own, which is not sound", .fallback = "rdp",                         \
     .choices = accountants},                                                                                      \
        {.name = "visible-batch", .kind = DP_OPT_FLAG, .offset = OFFSET(visible_batch),                            \
         .help = "the release shows who was sampled (dp-scd-step --release-alpha): no amplification"},             \
        {.name = "json", .letter = 'j', .kind = DP_OPT_FLAG, .offset = OFFSET(json),                               \
         .help = "the answer and what was assumed, as JSON"},                                                      \
    {                                                                                                              \
        .name = NULL                                                                                               \
    }

static const struct dp_option sigma_options[] = {EPSILON, DELTA, RATE, LAPS, SAMPLER, REST(DP_ACCOUNTANT_CHOICES)};
static const struct dp_option epsilon_options[] = {MULTIPLIER, DELTA, RATE, LAPS, SAMPLER, REST(WITH_PLD)};
static const struct dp_option delta_options[] = {MULTIPLIER, EPSILON, RATE, LAPS, SAMPLER, REST(WITH_PLD)};
static const struct dp_option laps_options[] = {MULTIPLIER, EPSILON, DELTA, RATE, SAMPLER, REST(DP_ACCOUNTANT_CHOICES)};
static const struct dp_option rate_options[] = {MULTIPLIER, EPSILON, DELTA, LAPS, REST(DP_ACCOUNTANT_CHOICES)};

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

/* What is printed: the unknown, and for PLD how far it may be from the truth. */
struct answer {
    double value;
    bool bounded; /* lower and tight hold */
    double lower;
    bool tight;
};

/* JSON has no NaN; the unknown is set below. */
static double known(double value)
{
    return isnan(value) ? 0 : value;
}

static int print_answer(const struct options *o, const char *unknown, const struct answer *a, struct dp_err *err)
{
    static const char *const samplers[] = {"poisson", "full", "shuffle"};
    static const char *const accountants[] = {"rdp", "published", "pld"};
    char text[40];
    if (!o->json) {
        puts(dp_number_print(a->value, text, sizeof text));
        return DP_OK;
    }
    json_t *root = json_pack("{s:f, s:f, s:f, s:f, s:I, s:s, s:s, s:s, s:b, s:b}", "multiplier", known(o->multiplier), "epsilon",
                             known(o->epsilon), "delta", known(o->delta), "rate", o->rate, "laps", (json_int_t)o->laps, "sampler",
                             samplers[o->sampler], "accountant", accountants[o->accountant], "adjacency", "null-record",
                             "visible_batch", o->visible_batch, "sound", o->accountant != DP_ACCOUNTANT_PUBLISHED);
    if (root != NULL)
        json_object_set_new(root, unknown, strcmp(unknown, "laps") == 0 ? json_integer((json_int_t)a->value)
                                                                        : json_real(a->value));
    if (root != NULL && a->bounded) {
        json_object_set_new(root, "lower", json_real(a->lower));
        json_object_set_new(root, "tight", json_boolean(a->tight));
    }
    char *dump = root != NULL ? json_dumps(root, JSON_REAL_PRECISION(12)) : NULL;
    if (dump != NULL)
        puts(dump);
    free(dump);
    json_decref(root);
    return dump != NULL ? DP_OK : dp_fail(err, DP_E_RUN, "cannot write JSON");
}

static int sigma(struct options *o, struct answer *a, struct dp_err *err)
{
    struct dp_event event = event_of(o);
    return dp_calibrate_multiplier((enum dp_accountant_kind)o->accountant, &event, o->laps, o->epsilon, o->delta,
                                   &a->value, err);
}

/* Epsilon or delta by privacy loss distributions, rounded up. */
static int by_pld(const struct options *o, bool epsilon, struct answer *a, struct dp_err *err)
{
    struct dp_pld_answer pld;
    double rate = o->sampler == 1 ? 1 : o->rate;
    if (o->sampler == 2 || o->visible_batch)
        return dp_fail(err, DP_E_USAGE, "--accountant pld covers the poisson and full samplers without --visible-batch");
    struct dp_pld_part run = {.kind = DP_PLD_GAUSSIAN, .rate = rate, .multiplier = o->multiplier, .laps = o->laps};
    int rc = epsilon ? dp_pld_epsilon(&run, 1, o->delta, &pld, err) : dp_pld_delta(&run, 1, o->epsilon, &pld, err);
    *a = (struct answer){dp_round_up(pld.upper, 6), true, pld.lower, pld.tight};
    return rc;
}

static int epsilon(struct options *o, struct answer *a, struct dp_err *err)
{
    struct dp_event event = event_of(o);
    struct dp_accountant *accountant;
    if (o->accountant == ACCOUNTANT_PLD)
        return by_pld(o, true, a, err);
    int rc = dp_accountant_new(&accountant, (enum dp_accountant_kind)o->accountant, &event, o->delta, err);
    if (rc != DP_OK)
        return rc;
    a->value = dp_round_up(dp_accountant_epsilon(accountant, o->laps), 6);
    dp_accountant_free(accountant);
    return isfinite(a->value) ? DP_OK : dp_fail(err, DP_E_RUN, "this much noise gives no bound at all");
}

static int delta(struct options *o, struct answer *a, struct dp_err *err)
{
    struct dp_event event = event_of(o);
    if (o->accountant == ACCOUNTANT_PLD)
        return by_pld(o, false, a, err);
    return dp_solve_delta((enum dp_accountant_kind)o->accountant, &event, o->laps, o->epsilon, &a->value, err);
}

static int laps(struct options *o, struct answer *a, struct dp_err *err)
{
    struct dp_event event = event_of(o);
    int64_t found;
    int rc = dp_solve_laps((enum dp_accountant_kind)o->accountant, &event, o->epsilon, o->delta, &found, err);
    a->value = rc == DP_OK ? (double)found : 0;
    return rc;
}

static int rate(struct options *o, struct answer *a, struct dp_err *err)
{
    struct dp_event event = event_of(o);
    return dp_solve_rate((enum dp_accountant_kind)o->accountant, &event, o->laps, o->epsilon, o->delta, &a->value, err);
}

static const struct word {
    const char *word, *unknown;
    struct dp_command command;
    int (*solve)(struct options *o, struct answer *a, struct dp_err *err);
} words[] = {
    {"sigma", "multiplier",
     {"dp-account sigma", "", "Print the noise multiplier that a budget asks for", sigma_options, NULL}, sigma},
    {"epsilon", "epsilon", {"dp-account epsilon", "", "Print the epsilon that a run costs", epsilon_options, NULL}, epsilon},
    {"delta", "delta", {"dp-account delta", "", "Print the delta at which a run keeps to epsilon", delta_options, NULL}, delta},
    {"laps", "laps", {"dp-account laps", "", "Print how many laps a budget allows", laps_options, NULL}, laps},
    {"rate", "rate", {"dp-account rate", "", "Print the sampling rate that a budget allows", rate_options, NULL}, rate},
};

static int calculate(const struct word *w, int argc, char **argv)
{
    struct options o = {.epsilon = NAN, .delta = NAN, .multiplier = NAN, .rate = 1};
    struct answer a = {0};
    struct dp_err err = {0};
    int operand, status;
    if (!dp_cli_start(&w->command, &o, NULL, argc, argv, &operand, &status))
        return status;
    int rc = operand < argc ? dp_fail(&err, DP_E_USAGE, "unexpected argument '%.80s'", argv[operand])
                            : w->solve(&o, &a, &err);
    if (rc == DP_OK)
        rc = print_answer(&o, w->unknown, &a, &err);
    return dp_cli_finish(w->command.name, rc, &err);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof words / sizeof words[0]; i++)
        if (strcmp(argv[1], words[i].word) == 0)
            return calculate(&words[i], argc - 1, argv + 1);
    if (argc > 1 && argv[1][0] != '-') {
        struct dp_err err = {0};
        dp_fail(&err, DP_E_USAGE, "expected sigma, epsilon, delta, laps, rate or the gate's options, got '%.80s'", argv[1]);
        return dp_cli_finish("dp-account", DP_E_USAGE, &err);
    }
    return dp_stage_main(&dp_account_class, argc, argv);
}
