/* dp-account sigma|epsilon|delta|laps|rate: solves for one of them. */
#include <jansson.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/number.h"
#include "account/calibrate.h"
#include "account/solve.h"
#include "ledger/sum.h"
#include "base/round.h"
#include "question.h"
#include "words.h"

#define DP_OPTIONS struct asked
#define TO_BUDGET Q_EPSILON(.required = true), Q_DELTA(.required = true)
#define RUN Q_RATE, Q_LAPS, Q_SCHEDULE, Q_COUNT, Q_SAMPLER, Q_TRIALS
#define REST                                                                                                                   \
    Q_MECHANISM, Q_REST, Q_OUTPUT,                                                                                             \
    {                                                                                                                          \
        .name = NULL                                                                                                           \
    }

static const struct dp_option sigma_options[] = {TO_BUDGET, RUN, REST};
static const struct dp_option epsilon_options[] = {Q_MULTIPLIER, Q_DELTA(.required = true), RUN,
                                                   DP_OPTION_INT('g', q.group, "K", DP_FROM_TO(1, 1e6),
                                                                 "of K persons together, such as a household", .fallback = "1",
                                                                 .excludes = "accountant"),
                                                   REST};
static const struct dp_option delta_options[] = {Q_MULTIPLIER, Q_EPSILON(.required = true), RUN, REST};
static const struct dp_option laps_options[] = {Q_MULTIPLIER, TO_BUDGET, Q_RATE, Q_SAMPLER, REST};
static const struct dp_option rate_options[] = {Q_MULTIPLIER, TO_BUDGET, Q_LAPS, Q_SAMPLER, REST};

/* The name of the answer in JSON. */
static const char *const unknowns[] = {[UNKNOWN_SIGMA] = "multiplier",
                                       [UNKNOWN_EPSILON] = "epsilon",
                                       [UNKNOWN_DELTA] = "delta",
                                       [UNKNOWN_LAPS] = "laps",
                                       [UNKNOWN_RATE] = "rate"};

/* The unknown and the answer. by: the accountant that answered. */
struct result {
    double value;
    struct dp_answer answer;
    bool exact;                /* of a group */
    struct dp_charges charges; /* with the unknown filled in */
};

/* The multiplier of the sum, from the joint multiplier Z of sum and count: 1/Z² = 1/z² + 1/z_b². */
static int beside_count(struct question *q, struct result *r, struct dp_err *err)
{
    double zb = q->count_multiplier, left = 1 / (r->value * r->value) - 1 / (zb * zb);
    struct dp_event *event = &q->charges.charge[0].event;
    if (!(left > 0))
        return dp_fail(err, DP_E_RUN, "--count-multiplier: must be above %.9g, which count and sum need together", r->value);
    event->queries = 2;
    event->query[1] = (struct dp_query){.kind = DP_QUERY_GAUSSIAN, .multiplier = zb};
    for (double z = 1 / sqrt(left), more = 1e-9; more < 1; more *= 10) {
        r->value = dp_round_up(z * (1 + more), 9);
        event->query[0].multiplier = r->value;
        int rc = dp_account_epsilon((enum dp_accountant)q->accountant, &q->charges, q->delta, &r->answer, err);
        if (rc != DP_OK || r->answer.upper <= q->epsilon)
            return rc;
    }
    return dp_fail(err, DP_E_RUN, "the search for a noise multiplier for epsilon %g did not settle", q->epsilon);
}

static int solve_sigma(struct question *q, struct result *r, struct dp_err *err)
{
    if (question_without_multiplier(q) != NULL)
        return dp_fail(err, DP_E_USAGE, "--mechanism %s has no noise multiplier", question_without_multiplier(q));
    double determinants = log1p(q->how.curvature);
    if (q->how.mechanism == MECHANISM_OBJECTIVE && q->epsilon <= determinants)
        return dp_fail(err, DP_E_RUN,
                       "--curvature: %g costs an epsilon of at least %g with any noise: a larger lambda lowers it",
                       q->how.curvature, determinants);
    int rc = dp_calibrate_noise((enum dp_accountant)q->accountant, &q->charges, q->epsilon, q->delta, &r->value, err);
    if (rc == DP_OK && !isnan(q->count_multiplier))
        return beside_count(q, r, err);
    return rc ?: dp_charges_stretch(&q->charges, r->value, &r->charges, err);
}

/* Adds the cost of the initial models of recorded runs (basic composition); there is no lower bound then. */
static void add_prior(const struct question *q, struct dp_answer *answer, double prior)
{
    if (q->recorded.prior_epsilon == 0 && q->recorded.prior_delta == 0)
        return;
    answer->upper += prior;
    answer->lower = 0;
    answer->tight = false;
}

static int solve_epsilon(struct question *q, struct result *r, struct dp_err *err)
{
    double delta = q->delta - q->recorded.prior_delta;
    if (!(delta > 0) && (delta < 0 || q->recorded.prior_delta > 0))
        return dp_fail(err, DP_E_USAGE, "--delta: must be above %g, the delta of the model that the run started from",
                       q->recorded.prior_delta);
    if (q->group > 1 && q->recorded.prior_epsilon > 0)
        return dp_fail(err, DP_E_USAGE, "--group: only of a run that starts from no other model");
    int rc = q->group > 1 ? dp_solve_group(&q->charges, q->group, delta, &r->answer, &r->exact, err)
                          : dp_account_epsilon((enum dp_accountant)q->accountant, &q->charges, delta, &r->answer, err);
    add_prior(q, &r->answer, q->recorded.prior_epsilon);
    r->value = dp_round_up(r->answer.upper, 6);
    if (rc == DP_OK && !isfinite(r->value))
        return dp_fail(err, DP_E_RUN, "this much noise gives no bound at all");
    return rc;
}

static int solve_delta(struct question *q, struct result *r, struct dp_err *err)
{
    double epsilon = q->epsilon - q->recorded.prior_epsilon;
    if (!(epsilon > 0))
        return dp_fail(err, DP_E_USAGE, "--epsilon: must be above %.6g, the cost of the model that the run started from",
                       q->recorded.prior_epsilon);
    int rc = dp_solve_delta((enum dp_accountant)q->accountant, &q->charges, epsilon, &r->answer, err);
    add_prior(q, &r->answer, q->recorded.prior_delta);
    r->value = dp_round_up(r->answer.upper, 6);
    return rc;
}

static int solve_laps(struct question *q, struct result *r, struct dp_err *err)
{
    struct dp_event *event = &q->charges.charge[0].event;
    int64_t found = 0;
    if (event->sampling == DP_SAMPLING_STREAM)
        return dp_fail(err, DP_E_USAGE, "--sampler stream: all laps of a stream together cost as much as one lap");
    int rc = dp_solve_laps((enum dp_accountant)q->accountant, event, q->epsilon, q->delta, &found, err);
    r->value = (double)found;
    q->charges.charge[0].laps = found;
    return rc;
}

static int solve_rate(struct question *q, struct result *r, struct dp_err *err)
{
    struct dp_event *event = &q->charges.charge[0].event;
    if (event->sampling == DP_SAMPLING_NONE || dp_event_in_epochs(event))
        return dp_fail(err, DP_E_USAGE, "--sampler: no rate changes what this sampler costs");
    int rc = dp_solve_rate((enum dp_accountant)q->accountant, event, q->laps, q->epsilon, q->delta, &r->value, err);
    event->rate = r->value;
    return rc;
}

/* JSON has no NaN; the unknown is set below. */
static double known(double value)
{
    return isnan(value) ? 0 : value;
}

static void add_sound(const struct question *q, json_t *root)
{
    json_t *why = json_array();
    for (int i = 0; question_unsound(q, i) != NULL; i++)
        json_array_append_new(why, json_string(question_unsound(q, i)));
    json_object_set_new(root, "sound", json_boolean(json_array_size(why) == 0));
    if (json_array_size(why) > 0)
        json_object_set(root, "why", why);
    json_decref(why);
}

static void add_records(const struct question *q, json_t *root)
{
    json_t *runs = json_array();
    bool agree = true;
    for (size_t i = 0; i < q->recorded.runs; i++) {
        const struct recorded_run *run = &q->recorded.run[i];
        json_t *json =
            json_pack("{s:I, s:I, s:b}", "line", (json_int_t)run->line, "laps", (json_int_t)run->laps, "seeded", run->seeded);
        if (run->planned > 0)
            json_object_set_new(json, "planned", json_integer((json_int_t)run->planned));
        if (run->prior_epsilon > 0 || run->prior_delta > 0)
            json_object_set_new(json, "started_from",
                                json_pack("{s:f, s:f}", "epsilon", run->prior_epsilon, "delta", run->prior_delta));
        if (!isnan(run->epsilon) && !isnan(run->delta)) {
            json_object_set_new(json, "stated", json_pack("{s:f, s:f}", "epsilon", run->epsilon, "delta", run->delta));
            if (run->lower > 0)
                json_object_set_new(json, "lower", json_real(dp_round_down(run->lower, 6)));
            json_object_set_new(json, "upper", json_real(dp_round_up(run->upper, 6)));
            json_object_set_new(json, "agrees", json_boolean(recorded_agrees(run)));
            agree = agree && recorded_agrees(run);
        }
        json_array_append_new(runs, json);
    }
    json_object_set_new(root, "adjacency", json_string(dp_adjacency_names[q->recorded.adjacency]));
    json_object_set_new(root, "data", json_string(q->recorded.data));
    json_object_set_new(root, "agrees", json_boolean(agree));
    json_object_set_new(root, "runs", runs);
}

static void print_json(const struct question *q, enum unknown unknown, const struct result *r)
{
    const struct dp_charges *charges = r->charges.count > 0 ? &r->charges : &q->charges;
    json_t *root = json_object();
    if (unknown != UNKNOWN_LAPS && q->records == NULL)
        json_object_set_new(root, "laps", json_integer((json_int_t)q->laps));
    if (q->records == NULL) {
        json_object_set_new(root, "multiplier", json_real(known(q->multiplier)));
        json_object_set_new(root, "rate", json_real(q->rate));
        json_object_set_new(root, "sampler", json_string(dp_sampler_names[q->sampler]));
        if (q->draws != DP_OPT_ABSENT_INT) {
            json_object_set_new(root, "draws", json_integer((json_int_t)q->draws));
            json_object_set_new(root, "contraction", json_real(q->contraction));
        }
        json_object_set_new(root, "adjacency", json_string(dp_adjacency_names[dp_adjacency_chosen(q->adjacency)]));
        json_object_set_new(root, "visible_batch", json_boolean(q->visible_batch));
    }
    json_object_set_new(root, "epsilon", json_real(known(q->epsilon)));
    json_object_set_new(root, "delta", json_real(known(q->delta)));
    json_object_set_new(root, unknowns[unknown],
                        unknown == UNKNOWN_LAPS ? json_integer((json_int_t)r->value) : json_real(r->value));
    json_object_set_new(root, "accountant", json_string(dp_accountant_names[r->answer.by]));
    add_sound(q, root);
    if (r->answer.lower > 0)
        json_object_set_new(root, "lower", json_real(dp_round_down(r->answer.lower, 6)));
    json_object_set_new(root, "tight", json_boolean(r->answer.tight));
    if (q->recorded.runs > 0)
        add_records(q, root);
    json_object_set_new(root, "charges", dp_ledger_charges_json(charges));
    dp_json_print(root, 0, stdout);
    json_decref(root);
}

static void explain(const struct question *q, enum unknown unknown, const struct result *r)
{
    double epsilon = unknown == UNKNOWN_EPSILON ? r->value : q->epsilon, delta = unknown == UNKNOWN_DELTA ? r->value : q->delta;
    printf("epsilon %s at delta %s, by %s", DP_NUMBER(epsilon), DP_NUMBER(delta), dp_accountant_titles[r->answer.by]);
    if (r->answer.lower > 0)
        printf("; the truth is at least %s: %s", DP_NUMBER(dp_round_down(r->answer.lower, 4)),
               r->answer.tight ? "within 1 %" : "further away than 1 %, which is all that could be shown");
    if (q->group > 1)
        printf("; of %lld persons together, %s", (long long)q->group,
               r->exact ? "exactly" : "a bound by the curve of one person");
    puts("");
    puts("assumed:");
    question_explain(q, unknown, r->charges.count > 0 ? &r->charges : &q->charges);
    if (q->group <= 1 && q->recorded.prior_epsilon == 0 && question_unsound(q, 0) == NULL)
        question_explain_attack(r->charges.count > 0 ? &r->charges : &q->charges, delta);
}

/* The cost in the answer, for the explanation and for JSON. */
static int check(struct question *q, enum unknown unknown, struct result *r, struct dp_err *err)
{
    const struct dp_charges *charges = r->charges.count > 0 ? &r->charges : &q->charges;
    if (unknown == UNKNOWN_EPSILON || unknown == UNKNOWN_DELTA || (unknown == UNKNOWN_LAPS && r->value == 0))
        return DP_OK;
    return dp_account_epsilon((enum dp_accountant)q->accountant, charges, q->delta, &r->answer, err);
}

/* Warnings that must be seen even if only a number is printed. */
static void warn(const struct question *q, const char *name)
{
    for (int i = 0; q->records != NULL && question_unsound(q, i) != NULL; i++)
        fprintf(stderr, "%s: not sound: %s\n", name, question_unsound(q, i));
    for (size_t i = 0; i < q->recorded.runs; i++) {
        const struct recorded_run *run = &q->recorded.run[i];
        if (!run->ended && run->planned > run->laps)
            fprintf(stderr, "%s: the run from line %zu on has %lld of its %lld laps, and the answer is about these laps only\n",
                    name, run->line, (long long)run->laps, (long long)run->planned);
        if (!recorded_agrees(run))
            fprintf(stderr, "%s: the run from line %zu on states an epsilon of %s, more than the %s that its records cost\n",
                    name, run->line, DP_NUMBER(dp_round_up(run->epsilon, 6)), DP_NUMBER(dp_round_up(run->upper, 6)));
    }
}

static int answer(struct question *q, const struct word *word, const char *records, struct dp_err *err)
{
    int (*const solve[])(struct question *, struct result *, struct dp_err *) = {solve_sigma, solve_epsilon, solve_delta,
                                                                                 solve_laps, solve_rate};
    enum unknown unknown = (enum unknown)word->unknown;
    struct result r = {.answer.by = (enum dp_accountant)q->accountant};
    bool words_too = q->explain || (!q->json && isatty(STDOUT_FILENO));
    int rc = question_charges(q, unknown, records, err);
    rc = rc ?: solve[unknown](q, &r, err);
    if (rc == DP_OK && (q->json || words_too))
        rc = check(q, unknown, &r, err);
    if (rc == DP_OK && q->json)
        print_json(q, unknown, &r);
    else if (rc == DP_OK)
        puts(DP_NUMBER(r.value));
    if (rc == DP_OK && words_too && !q->json)
        explain(q, unknown, &r);
    if (rc == DP_OK)
        warn(q, word->command.name);
    dp_charges_free(&r.charges);
    return rc;
}

static int calculate(const struct word *word, int argc, char **argv)
{
    struct asked asked = {.q = QUESTION_UNASKED};
    struct question *q = &asked.q;
    struct dp_err err = {0};
    int operand, status;
    if (!dp_cli_start(&word->command, &asked, NULL, argc, argv, &operand, &status))
        return status;
    int rc = operand + 1 < argc ? dp_fail(&err, DP_E_USAGE, "unexpected argument '%.80s'", argv[operand + 1])
                                : answer(q, word, operand < argc ? argv[operand] : NULL, &err);
    question_free(q);
    return dp_cli_finish(word->command.name, rc, &err);
}

const struct word word_sigma = {
    .command = {"dp-account sigma", "", "Print the noise multiplier that a budget asks for", sigma_options, NULL},
    .run = calculate,
    .unknown = UNKNOWN_SIGMA};
const struct word word_epsilon = {
    .command = {"dp-account epsilon", "[RECORDS]", "Print the epsilon that a run costs", epsilon_options, NULL},
    .run = calculate,
    .unknown = UNKNOWN_EPSILON};
const struct word word_delta = {
    .command = {"dp-account delta", "[RECORDS]", "Print the delta at which a run keeps to epsilon", delta_options, NULL},
    .run = calculate,
    .unknown = UNKNOWN_DELTA};
const struct word word_laps = {.command = {"dp-account laps", "", "Print how many laps a budget allows", laps_options, NULL},
                               .run = calculate,
                               .unknown = UNKNOWN_LAPS};
const struct word word_rate = {
    .command = {"dp-account rate", "", "Print the sampling rate that a budget allows", rate_options, NULL},
    .run = calculate,
    .unknown = UNKNOWN_RATE};
