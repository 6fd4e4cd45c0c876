/* A question to the calculator: options, and the run that they describe. */
#ifndef DP_BIN_ACCOUNT_QUESTION_H
#define DP_BIN_ACCOUNT_QUESTION_H

#include <math.h>
#include <stddef.h>

#include "base/option.h"
#include "account/account.h"
#include "records.h"

struct question {
    double epsilon, delta, rate, multiplier, count_multiplier, mechanism_epsilon, query_epsilon, rho, slack, curvature;
    double contraction, score_multiplier;
    int64_t laps, rows, draws, queries;
    int sampler, adjacency, mechanism, accountant;
    const char *schedule, *trials;
    bool visible_batch, two_sided, json, explain;
    int over; /* curve */
    int64_t points;
    const char *records; /* where the charges were read from, or NULL */
    struct recorded recorded;
    struct dp_charges charges;
};

/* Before the options are parsed. */
#define QUESTION_UNASKED                                                                                                       \
    {                                                                                                                          \
        .epsilon = NAN, .delta = NAN, .multiplier = NAN, .count_multiplier = NAN, .rate = 1, .mechanism_epsilon = NAN,         \
        .query_epsilon = NAN, .rho = NAN, .slack = NAN, .curvature = NAN, .contraction = NAN, .score_multiplier = NAN,         \
        .laps = DP_OPT_ABSENT_INT, .rows = DP_OPT_ABSENT_INT, .draws = DP_OPT_ABSENT_INT, .queries = DP_OPT_ABSENT_INT         \
    }

#define Q_OFFSET(member) offsetof(struct question, member)
#define Q_EPSILON(more)                                                                                                        \
    {                                                                                                                          \
        .name = "epsilon", .letter = 'e', .kind = DP_OPT_REAL, .offset = Q_OFFSET(epsilon), .metavar = "E",                    \
        .help = "the budget", .min = 0, .max = INFINITY, .flags = DP_OPT_OPEN_MIN | (more)                                     \
    }
#define Q_DELTA(more)                                                                                                          \
    {                                                                                                                          \
        .name = "delta", .letter = 'd', .kind = DP_OPT_REAL, .offset = Q_OFFSET(delta), .metavar = "D",                        \
        .help = "probability that epsilon may fail to bound", .min = 0, .max = 1,                                              \
        .flags = DP_OPT_OPEN_MIN | DP_OPT_OPEN_MAX | (more)                                                                    \
    }
#define Q_MULTIPLIER                                                                                                           \
    {                                                                                                                          \
        .name = "multiplier", .letter = 'z', .kind = DP_OPT_REAL, .offset = Q_OFFSET(multiplier), .metavar = "Z",              \
        .help = "noise scale divided by the sensitivity", .min = 0, .max = INFINITY, .flags = DP_OPT_OPEN_MIN                  \
    }
#define Q_RATE                                                                                                                 \
    {                                                                                                                          \
        .name = "rate", .letter = 'r', .kind = DP_OPT_REAL, .offset = Q_OFFSET(rate), .metavar = "Q",                          \
        .help = "sampling rate; 100/24420 will do", .fallback = "1", .min = 0, .max = 1, .flags = DP_OPT_OPEN_MIN              \
    }
#define Q_LAPS                                                                                                                 \
    {                                                                                                                          \
        .name = "laps", .letter = 'n', .kind = DP_OPT_INT, .offset = Q_OFFSET(laps), .metavar = "T",                           \
        .help = "laps of the run", .min = 1, .max = 1e12                                                                       \
    }
#define Q_TRIALS                                                                                                               \
    {.name = "trials",                                                                                                         \
     .kind = DP_OPT_TEXT,                                                                                                      \
     .offset = Q_OFFSET(trials),                                                                                               \
     .metavar = "LAW",                                                                                                         \
     .help = "the best of so many runs, as dp-tune chooses it: poisson:MEAN, geometric:GAMMA and others"},                     \
    {                                                                                                                          \
        .name = "score-multiplier", .kind = DP_OPT_REAL, .offset = Q_OFFSET(score_multiplier), .metavar = "Z",                 \
        .help = "trials: of the noise on the score of each", .min = 0, .max = INFINITY, .flags = DP_OPT_OPEN_MIN               \
    }
#define Q_SAMPLER                                                                                                              \
    {.name = "sampler",                                                                                                        \
     .letter = 's',                                                                                                            \
     .kind = DP_OPT_CHOICE,                                                                                                    \
     .offset = Q_OFFSET(sampler),                                                                                              \
     .metavar = "HOW",                                                                                                         \
     .help = "how dp-sample chooses rows",                                                                                     \
     .fallback = "poisson",                                                                                                    \
     .choices = "poisson|fixed|full|shuffle|none|drawn|stream"},                                                               \
        {.name = "draws",                                                                                                      \
         .kind = DP_OPT_INT,                                                                                                   \
         .offset = Q_OFFSET(draws),                                                                                            \
         .metavar = "K",                                                                                                       \
         .help = "drawn: batches that are drawn within the lap",                                                               \
         .min = 1,                                                                                                             \
         .max = 1e12},                                                                                                         \
        {.name = "contraction",                                                                                                \
         .kind = DP_OPT_REAL,                                                                                                  \
         .offset = Q_OFFSET(contraction),                                                                                      \
         .metavar = "RHO",                                                                                                     \
         .help = "drawn: what each draw leaves of what those before it have moved",                                            \
         .min = 0,                                                                                                             \
         .max = 1,                                                                                                             \
         .flags = DP_OPT_OPEN_MIN},                                                                                            \
    {                                                                                                                          \
        .name = "rows", .letter = 'N', .kind = DP_OPT_INT, .offset = Q_OFFSET(rows), .metavar = "N",                           \
        .help = "shuffle: the public number of rows", .min = 1, .max = 1e15                                                    \
    }
#define Q_MECHANISM(choices_)                                                                                                  \
    {                                                                                                                          \
        .name = "mechanism", .letter = 'm', .kind = DP_OPT_CHOICE, .offset = Q_OFFSET(mechanism), .metavar = "WHAT",           \
        .help = "what is done to the batch; output and objective are one release of every row", .fallback = "gaussian",        \
        .choices = choices_                                                                                                    \
    }
#define Q_MECHANISM_ARGUMENTS                                                                                                  \
    {.name = "mechanism-epsilon",                                                                                              \
     .kind = DP_OPT_REAL,                                                                                                      \
     .offset = Q_OFFSET(mechanism_epsilon),                                                                                    \
     .metavar = "E1",                                                                                                          \
     .help = "pure, exponential: its epsilon; svt: that of the threshold",                                                     \
     .min = 0,                                                                                                                 \
     .max = INFINITY,                                                                                                          \
     .flags = DP_OPT_OPEN_MIN},                                                                                                \
        {.name = "query-epsilon",                                                                                              \
         .kind = DP_OPT_REAL,                                                                                                  \
         .offset = Q_OFFSET(query_epsilon),                                                                                    \
         .metavar = "E2",                                                                                                      \
         .help = "svt: epsilon of each query",                                                                                 \
         .min = 0,                                                                                                             \
         .max = INFINITY,                                                                                                      \
         .flags = DP_OPT_OPEN_MIN},                                                                                            \
        {.name = "rho",                                                                                                        \
         .kind = DP_OPT_REAL,                                                                                                  \
         .offset = Q_OFFSET(rho),                                                                                              \
         .metavar = "R",                                                                                                       \
         .help = "svt: Gaussian noise of this rho in place of Laplace noise",                                                  \
         .min = 0,                                                                                                             \
         .max = INFINITY,                                                                                                      \
         .flags = DP_OPT_OPEN_MIN},                                                                                            \
        {.name = "curvature",                                                                                                  \
         .kind = DP_OPT_REAL,                                                                                                  \
         .offset = Q_OFFSET(curvature),                                                                                        \
         .metavar = "C",                                                                                                       \
         .help = "objective: smoothness of one row's loss / (LAMBDA N)",                                                       \
         .min = 0,                                                                                                             \
         .max = INFINITY,                                                                                                      \
         .flags = DP_OPT_OPEN_MIN},                                                                                            \
        {.name = "slack",                                                                                                      \
         .kind = DP_OPT_REAL,                                                                                                  \
         .offset = Q_OFFSET(slack),                                                                                            \
         .metavar = "M",                                                                                                       \
         .help = "objective: the multiplier of dp-noise behind dp-erm",                                                        \
         .min = 0,                                                                                                             \
         .max = INFINITY,                                                                                                      \
         .flags = DP_OPT_OPEN_MIN},                                                                                            \
        {.name = "two-sided",                                                                                                  \
         .kind = DP_OPT_FLAG,                                                                                                  \
         .offset = Q_OFFSET(two_sided),                                                                                        \
         .help = "objective: the slope of a row's loss may have either sign (huber)"},                                         \
    {                                                                                                                          \
        .name = "queries", .kind = DP_OPT_INT, .offset = Q_OFFSET(queries), .metavar = "M", .help = "svt: queries at most",    \
        .min = 1, .max = 1e6                                                                                                   \
    }
#define Q_REST                                                                                                                 \
    {.name = "adjacency",                                                                                                      \
     .kind = DP_OPT_CHOICE,                                                                                                    \
     .offset = Q_OFFSET(adjacency),                                                                                            \
     .metavar = "HOW",                                                                                                         \
     .help = "what one person can change",                                                                                     \
     .fallback = "null-record",                                                                                                \
     .choices = "null-record|replace-one|null"},                                                                               \
        {.name = "accountant",                                                                                                 \
         .letter = 'a',                                                                                                        \
         .kind = DP_OPT_CHOICE,                                                                                                \
         .offset = Q_OFFSET(accountant),                                                                                       \
         .metavar = "WHICH",                                                                                                   \
         .help = "published is the DP-SCD paper's own, which is not sound",                                                    \
         .fallback = "best",                                                                                                   \
         .choices = DP_ACCOUNTANT_CHOICES},                                                                                    \
    {                                                                                                                          \
        .name = "visible-batch", .kind = DP_OPT_FLAG, .offset = Q_OFFSET(visible_batch),                                       \
        .help = "the release shows who was sampled (dp-scd-step --release-alpha): no amplification"                            \
    }
#define Q_SCHEDULE                                                                                                             \
    {                                                                                                                          \
        .name = "schedule", .kind = DP_OPT_TEXT, .offset = Q_OFFSET(schedule), .metavar = "B",                                 \
        .help = "the multiplier of lap t is Z sqrt(b_t/b_1), as dp-noise has it"                                               \
    }
#define Q_COUNT                                                                                                                \
    {                                                                                                                          \
        .name = "count-multiplier", .kind = DP_OPT_REAL, .offset = Q_OFFSET(count_multiplier), .metavar = "ZB",                \
        .help = "a second Gaussian query on each batch: the count of dp-clip --adaptive", .min = 0, .max = INFINITY,           \
        .flags = DP_OPT_OPEN_MIN                                                                                               \
    }
#define Q_OUTPUT                                                                                                               \
    {.name = "explain",                                                                                                        \
     .kind = DP_OPT_FLAG,                                                                                                      \
     .offset = Q_OFFSET(explain),                                                                                              \
     .help = "say in words what was assumed (as on a terminal)"},                                                              \
    {                                                                                                                          \
        .name = "json", .letter = 'j', .kind = DP_OPT_FLAG, .offset = Q_OFFSET(json),                                          \
        .help = "the answer and what was assumed, as JSON"                                                                     \
    }
enum {
    MECHANISM_GAUSSIAN,
    MECHANISM_LAPLACE,
    MECHANISM_PURE,
    MECHANISM_EXPONENTIAL,
    MECHANISM_SVT,
    MECHANISM_OUTPUT,
    MECHANISM_OBJECTIVE
};

/* The unknown that a subcommand solves for; its option is not required. */
enum unknown { UNKNOWN_SIGMA, UNKNOWN_EPSILON, UNKNOWN_DELTA, UNKNOWN_LAPS, UNKNOWN_RATE, UNKNOWN_CURVE };

/* Checks the options against one another and fills q->charges: with a multiplier of 1 for sigma, one lap for laps. records:
   an operand (a file, "-") or NULL; standard input is read for epsilon and delta when neither it nor --laps is given. Recorded
   runs are checked against what their frames state. */
int question_charges(struct question *q, enum unknown unknown, const char *records, struct dp_err *err);

void question_free(struct question *q);

/* The name of the mechanism if it has no noise multiplier, else NULL. */
const char *question_without_multiplier(const struct question *q);

/* The i-th reason why the answer does not bound a person's privacy loss, or NULL. */
const char *question_unsound(const struct question *q, int i);

/* Prints one sentence for each charge, and the facts about recorded runs. */
void question_explain(const struct question *q, enum unknown unknown, const struct dp_charges *charges);

#endif
