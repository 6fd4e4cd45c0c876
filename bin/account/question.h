/* A question to the calculator: options, and the run that they describe. */
#pragma once

#include "base/option.h"
#include "account/account.h"
#include "records.h"

/* The mechanism, and what only some mechanisms have. */
struct question_how {
    int mechanism;
    double mechanism_epsilon, query_epsilon, rho, slack, curvature;
    int64_t queries;
    bool two_sided;
};

struct question {
    struct question_how how;
    double epsilon, delta, rate, multiplier, count_multiplier, contraction, score_multiplier;
    int64_t laps, rows, draws, group;
    int sampler, adjacency, accountant;
    const char *schedule, *trials;
    bool visible_batch, json, explain;
    int over; /* curve */
    int64_t points;
    const char *records; /* where the charges were read from, or NULL */
    struct recorded recorded;
    struct dp_charges charges;
};

/* Before the options are parsed. */
#define QUESTION_UNASKED                                                                                                       \
    {                                                                                                                          \
        .epsilon = NAN, .delta = NAN, .multiplier = NAN, .count_multiplier = NAN, .rate = 1, .how.mechanism_epsilon = NAN,     \
        .how.query_epsilon = NAN, .how.rho = NAN, .how.slack = NAN, .how.curvature = NAN, .contraction = NAN,                  \
        .score_multiplier = NAN, .laps = DP_OPT_ABSENT_INT, .rows = DP_OPT_ABSENT_INT, .draws = DP_OPT_ABSENT_INT,             \
        .how.queries = DP_OPT_ABSENT_INT, .sampler = DP_SAMPLER_POISSON                                                        \
    }

/* The options of the calculator's words. The words on ledgers have the same options first. */
struct asked {
    struct question q;
};

/* Mechanisms that have no multiplier of a Gaussian that may change. */
#define NOT_GAUSSIAN "laplace|pure|exponential|svt|objective"

/* Rows that several words share. The last argument: whether the word requires the option. */
#define Q_EPSILON(...) DP_OPTION_REAL('e', q.epsilon, "E", DP_ABOVE(0), "the budget", __VA_ARGS__)
#define Q_DELTA(...)                                                                                                           \
    DP_OPTION_REAL('d', q.delta, "D", DP_FROM_BELOW(0, 1), "probability that epsilon may fail to bound", __VA_ARGS__)
#define Q_MULTIPLIER                                                                                                           \
    DP_OPTION_REAL('z', q.multiplier, "Z", DP_ABOVE(0), "noise scale divided by the sensitivity",                              \
                   .excludes = "mechanism=pure|exponential|svt")
#define Q_RATE DP_OPTION_REAL('r', q.rate, "Q", DP_ABOVE_TO(0, 1), "sampling rate; 100/24420 will do", .fallback = "1")
#define Q_LAPS DP_OPTION_INT('n', q.laps, "T", DP_FROM_TO(1, 1e12), "laps of the run")
#define Q_TRIALS                                                                                                               \
    DP_OPTION_TEXT(0, q.trials, "LAW",                                                                                         \
                   "the best of that many runs, chosen as by dp-tune: poisson:MEAN, geometric:GAMMA and others"),              \
        DP_OPTION_REAL(0, q.score_multiplier, "Z", DP_ABOVE(0), "multiplier of the noise on each score", .needs = "trials")
#define Q_SAMPLER                                                                                                              \
    DP_OPTION_CHOICE('s', q.sampler, "HOW", DP_SAMPLER_CHOICES, "how dp-sample chooses rows", .fallback = "poisson"),          \
        DP_OPTION_INT(0, q.draws, "K", DP_FROM_TO(1, 1e12), "number of batches drawn within the lap",                          \
                      .needs = "sampler=repeated", .needed_by = "sampler=repeated",                                            \
                      .excludes = "mechanism=" NOT_GAUSSIAN ": only Gaussian noise has an accountant there"),                  \
        DP_OPTION_REAL(0, q.contraction, "RHO", DP_ABOVE_TO(0, 1),                                                             \
                       "factor by which each draw shrinks the effect of earlier draws", .needs = "sampler=repeated",           \
                       .needed_by = "sampler=repeated"),                                                                       \
        DP_OPTION_INT('N', q.rows, "N", DP_FROM_TO(1, 1e15), "the public number of rows",                                      \
                      .needed_by = "sampler=shuffle: a batch is a whole number of rows, which decides how many laps an epoch " \
                                   "has")
#define Q_MECHANISM                                                                                                            \
    DP_OPTION_CHOICE('m', q.how.mechanism, "WHAT", "gaussian|laplace|pure|exponential|svt|output|objective",                   \
                     "mechanism on the batch; output and objective are one release of every row", .fallback = "gaussian"),     \
        DP_OPTION_REAL(0, q.how.mechanism_epsilon, "E1", DP_ABOVE(0), "its epsilon; svt: epsilon of the threshold",            \
                       .needs = "mechanism=pure|exponential|svt", .needed_by = "mechanism=pure|exponential|svt",               \
                       .unless = "rho"),                                                                                       \
        DP_OPTION_REAL(0, q.how.query_epsilon, "E2", DP_ABOVE(0), "epsilon of each query", .needs = "mechanism=svt",           \
                       .needed_by = "mechanism=svt", .unless = "rho"),                                                         \
        DP_OPTION_REAL(0, q.how.rho, "R", DP_ABOVE(0), "Gaussian noise of this rho in place of Laplace noise",                 \
                       .needs = "mechanism=svt"),                                                                              \
        DP_OPTION_REAL(0, q.how.curvature, "C", DP_ABOVE(0), "smoothness of one row's loss / (LAMBDA N)",                      \
                       .needs = "mechanism=objective", .needed_by = "mechanism=objective"),                                    \
        DP_OPTION_REAL(0, q.how.slack, "M", DP_ABOVE(0), "the multiplier of dp-noise after dp-erm",                            \
                       .needs = "mechanism=objective", .needed_by = "mechanism=objective"),                                    \
        DP_OPTION_FLAG(0, q.how.two_sided, "the slope of a row's loss may have either sign (huber)",                           \
                       .needs = "mechanism=objective"),                                                                        \
        DP_OPTION_INT(0, q.how.queries, "M", DP_FROM_TO(1, 1e6), "the most queries", .needs = "mechanism=svt",                 \
                      .needed_by = "mechanism=svt")
#define Q_REST                                                                                                                 \
    DP_OPTION_CHOICE(0, q.adjacency, "HOW", "null-record|replace-one", "what one person can change",                           \
                     .fallback = "null-record"),                                                                               \
        DP_OPTION_CHOICE('a', q.accountant, "WHICH", DP_ACCOUNTANT_CHOICES,                                                    \
                         "published is the accountant of the DP-SCD paper, which is not sound", .fallback = "best"),           \
        DP_OPTION_FLAG(0, q.visible_batch,                                                                                     \
                       "the release shows who was sampled (dp-scd-step --release-alpha): no amplification")
#define Q_SCHEDULE                                                                                                             \
    DP_OPTION_TEXT(0, q.schedule, "B", "the multiplier of lap t is Z sqrt(b_t/b_1), as in dp-noise",                           \
                   .excludes = "mechanism=" NOT_GAUSSIAN ": only Gaussian noise follows a schedule")
#define Q_COUNT                                                                                                                \
    DP_OPTION_REAL(0, q.count_multiplier, "ZB", DP_ABOVE(0),                                                                   \
                   "a second Gaussian query on each batch: the count of dp-clip --adaptive",                                   \
                   .excludes = "schedule, trials, mechanism=" NOT_GAUSSIAN)
#define Q_OUTPUT                                                                                                               \
    DP_OPTION_FLAG(0, q.explain, "explain the assumptions (default on a terminal)"),                                           \
        DP_OPTION_FLAG('j', q.json, "the answer and its assumptions, as JSON")
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
enum unknown { UNKNOWN_SIGMA, UNKNOWN_EPSILON, UNKNOWN_DELTA, UNKNOWN_LAPS, UNKNOWN_RATE, UNKNOWN_CURVE, UNKNOWN_ALARMS };

/* Prints what an attacker finds, if it can be computed. */
void question_explain_attack(const struct dp_charges *charges, double delta);

/* Checks the options against one another and fills q->charges: with a multiplier of 1 for sigma, one lap for laps. records: an
   operand (a file, "-") or NULL. Without records and --laps, epsilon and delta read standard input. Recorded
   runs are checked against what their frames state. */
int question_charges(struct question *q, enum unknown unknown, const char *records, struct dp_err *err);

void question_free(struct question *q);

/* The name of the mechanism if it has no noise multiplier, else NULL. */
const char *question_without_multiplier(const struct question *q);

/* The i-th reason why the answer does not bound a person's privacy loss, or NULL. */
const char *question_unsound(const struct question *q, int i);

/* Prints one sentence for each charge, and the facts about recorded runs. */
void question_explain(const struct question *q, enum unknown unknown, const struct dp_charges *charges);
