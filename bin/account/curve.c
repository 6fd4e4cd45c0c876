/* dp-account curve: epsilon against laps or delta, and what an attacker finds against false alarms. */
#include "account/tradeoff.h"

#include "base/cli.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/round.h"
#include "question.h"
#include "words.h"

enum { OVER_LAPS, OVER_DELTA, OVER_ALARMS };

#define DP_OPTIONS struct asked

static const struct dp_option options[] = {
    DP_OPTION_CHOICE('o', q.over, "WHAT", "laps|delta|alarms", "epsilon along laps or delta; alarms: persons found",
                     .fallback = "laps"),
    DP_OPTION_INT('p', q.points, "N", DP_FROM_TO(2, 1000), "lines of the table", .fallback = "20"),
    Q_MULTIPLIER,
    Q_DELTA(.required = true, .unless = "over=delta", .excludes = "over=delta"),
    Q_RATE,
    Q_LAPS,
    Q_SAMPLER,
    Q_MECHANISM,
    Q_REST,
    {.name = NULL},
};

struct point {
    double x, epsilon, lower;
};

/* For delta: points from 1e-12 to 0.1. For laps: whole numbers from 1 to all laps, each once. */
static double place(const struct question *q, int64_t i)
{
    double part = (double)i / (double)(q->points - 1);
    if (q->over == OVER_DELTA)
        return dp_round_up(pow(10, -12 + 11 * part), 3);
    return fmax(1, round(part * (double)q->laps));
}

static int compute(struct question *q, struct point *point, size_t *count, struct dp_err *err)
{
    int rc = DP_OK;
    *count = 0;
    for (int64_t i = 0; rc == DP_OK && i < q->points; i++) {
        struct dp_answer answer;
        double x = place(q, i), delta = q->over == OVER_DELTA ? x : q->delta;
        if (*count > 0 && x == point[*count - 1].x)
            continue;
        if (q->over == OVER_LAPS)
            q->charges.charge[0].laps = (int64_t)x;
        rc = dp_account_epsilon((enum dp_accountant)q->accountant, &q->charges, delta, &answer, err);
        point[(*count)++] = (struct point){x, dp_round_up(answer.upper, 6), answer.lower};
    }
    return rc;
}

/* Persons found, guesses from even odds, and μ, each rounded up. */
static int over_alarms(struct question *q, const char *records, struct dp_err *err)
{
    static const double alarms[] = {.001, .005, .01, .02, .05, .1, .15, .2, .25, .3, .4, .5, .6, .7, .8, .9};
    struct dp_tradeoff t;
    int rc = question_charges(q, UNKNOWN_ALARMS, records, err);
    if (rc == DP_OK && (question_unsound(q, 0) != NULL || q->recorded.prior_epsilon > 0))
        return dp_fail(err, DP_E_RUN, "the cost of the run is not the cost of its records: %s",
                       question_unsound(q, 0) != NULL ? question_unsound(q, 0) : "it starts from another model");
    rc = rc ?: dp_tradeoff_make(&q->charges, q->delta, &t, err);
    if (rc != DP_OK)
        return rc;
    puts("alarms\tfound");
    for (size_t i = 0; i < sizeof alarms / sizeof *alarms; i++)
        printf("%g\t%g\n", alarms[i], dp_round_up(dp_tradeoff_found(&t, alarms[i]), 4));
    printf("even odds\t%g\n", dp_round_up(dp_tradeoff_even(&t), 4));
    if (isfinite(t.mu) && t.but > 0)
        printf("mu, except at delta %g\t%g\n", t.but, dp_round_up(t.mu, 4));
    else if (isfinite(t.mu))
        printf("mu\t%g\n", dp_round_up(t.mu, 4));
    return DP_OK;
}

static int curve(struct question *q, struct dp_err *err)
{
    struct point *point = NULL;
    size_t count = 0;
    int rc = question_charges(q, UNKNOWN_CURVE, NULL, err);
    if (rc == DP_OK)
        point = dp_new((size_t)q->points, sizeof *point);
    rc = rc ?: compute(q, point, &count, err);
    if (rc == DP_OK)
        printf("%s\tepsilon\n", q->over == OVER_DELTA ? "delta" : "laps");
    for (size_t i = 0; rc == DP_OK && i < count; i++)
        printf("%s\t%s\n", DP_NUMBER(point[i].x), DP_NUMBER(point[i].epsilon));
    free(point);
    return rc;
}

static int run(const struct word *word, int argc, char **argv)
{
    struct asked asked = {.q = QUESTION_UNASKED};
    struct question *q = &asked.q;
    struct dp_err err = {0};
    int operand, status;
    if (!dp_cli_start(&word->command, &asked, NULL, argc, argv, &operand, &status))
        return status;
    const bool alarms = q->over == OVER_ALARMS;
    int rc = operand + alarms < argc ? dp_fail(&err, DP_E_USAGE, "unexpected argument '%.80s'", argv[argc - 1])
             : alarms                ? over_alarms(q, operand < argc ? argv[operand] : NULL, &err)
                                     : curve(q, &err);
    question_free(q);
    return dp_cli_finish(word->command.name, rc, &err);
}

const struct word word_curve = {
    .command = {"dp-account curve", "[RECORDS]", "Print epsilon against laps or delta, or persons found", options, NULL},
    .run = run,
    .unknown = UNKNOWN_CURVE};
