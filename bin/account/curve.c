/* dp-account curve: epsilon against laps or delta. */

#include "base/cli.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/round.h"
#include "question.h"
#include "words.h"

enum { OVER_LAPS, OVER_DELTA };

#define DP_OPTIONS struct asked

static const struct dp_option options[] = {
    DP_OPTION_CHOICE('o', q.over, "WHAT", "laps|delta", "the variable along which epsilon is shown", .fallback = "laps"),
    DP_OPTION_INT('p', q.points, "N", DP_FROM_TO(2, 1000), "lines of the table", .fallback = "20"),
    Q_MULTIPLIER,
    Q_DELTA(.required = false),
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

static int curve(struct question *q, struct dp_err *err)
{
    struct point *point = NULL;
    size_t count = 0;
    char x[40], epsilon[40];
    if (q->over == OVER_LAPS && isnan(q->delta))
        return dp_fail(err, DP_E_USAGE, "--delta is required");
    if (q->over == OVER_DELTA && !isnan(q->delta))
        return dp_fail(err, DP_E_USAGE, "--delta: not with --over delta");
    int rc = question_charges(q, UNKNOWN_CURVE, NULL, err);
    rc = rc ?: dp_alloc(&point, (size_t)q->points, sizeof *point, err);
    rc = rc ?: compute(q, point, &count, err);
    if (rc == DP_OK)
        printf("%s\tepsilon\n", q->over == OVER_DELTA ? "delta" : "laps");
    for (size_t i = 0; rc == DP_OK && i < count; i++)
        printf("%s\t%s\n", dp_number_print(point[i].x, x, sizeof x),
               dp_number_print(point[i].epsilon, epsilon, sizeof epsilon));
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
    int rc = operand < argc ? dp_fail(&err, DP_E_USAGE, "unexpected argument '%.80s'", argv[operand]) : curve(q, &err);
    question_free(q);
    return dp_cli_finish(word->command.name, rc, &err);
}

const struct word word_curve = {.command = {"dp-account curve", "", "Print epsilon against laps or delta", options, NULL},
                                .run = run,
                                .unknown = UNKNOWN_CURVE};
