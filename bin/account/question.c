#include "question.h"

#include <unistd.h>

#include "base/mem.h"
#include "base/number.h"
#include "data/schedule_file.h"
#include "account/plan.h"
#include "account/tradeoff.h"
#include "base/round.h"
#include "records.h"
#include "gate/charge.h"
#include "priv/objective.h"

/* The sampling that the options describe, as the gate would read it from a record. */
static int sampling_of(const struct question *q, struct dp_event *event, struct dp_err *err)
{
    struct dp_record record = {.sampler = (enum dp_sampler)q->sampler,
                               .adjacency = dp_adjacency_chosen(q->adjacency),
                               .release = q->visible_batch ? DP_RELEASE_SUM_AND_STATE : DP_RELEASE_SUM};
    struct dp_err why;
    if (dp_charge_sampling(&record, &event->sampling, &why) != DP_OK)
        return dp_fail(err, DP_E_USAGE, "--sampler %s, --adjacency %s%s: %s", dp_sampler_names[record.sampler],
                       dp_adjacency_names[record.adjacency], q->visible_batch ? ", --visible-batch" : "", why.message);
    if (q->sampler == DP_SAMPLER_STREAM && q->rate != 1)
        return dp_fail(err, DP_E_USAGE, "--sampler stream: a lap has every row of its window, so --rate must be 1");
    event->rate = event->sampling == DP_SAMPLING_NONE ? 1 : q->rate;
    if (event->sampling == DP_SAMPLING_REPEATED) {
        event->draws = q->draws;
        event->contraction = q->contraction;
    }
    if (event->sampling == DP_SAMPLING_SHUFFLED)
        event->epoch_laps = q->sampler == DP_SAMPLER_CYCLIC ? llround(1 / q->rate) : dp_record_epoch_laps(q->rows, q->rate);
    return DP_OK;
}

const char *question_without_multiplier(const struct question *q)
{
    switch (q->how.mechanism) {
    case MECHANISM_PURE:
        return "pure";
    case MECHANISM_EXPONENTIAL:
        return "exponential";
    case MECHANISM_SVT:
        return "svt";
    default:
        return NULL;
    }
}

static int query_of(const struct question *q, enum unknown unknown, struct dp_query *query, struct dp_err *err)
{
    const struct question_how *how = &q->how;
    const char *without = question_without_multiplier(q);
    double multiplier = unknown == UNKNOWN_SIGMA ? 1 : q->multiplier;
    if (without == NULL && isnan(multiplier))
        return dp_fail(err, DP_E_USAGE, "--multiplier is required");
    switch (how->mechanism) {
    case MECHANISM_LAPLACE:
        *query = (struct dp_query){.kind = DP_QUERY_LAPLACE, .multiplier = multiplier};
        break;
    case MECHANISM_PURE:
        *query = (struct dp_query){.kind = DP_QUERY_PURE, .epsilon = how->mechanism_epsilon};
        break;
    case MECHANISM_EXPONENTIAL:
        *query = (struct dp_query){.kind = DP_QUERY_EXPONENTIAL, .epsilon = how->mechanism_epsilon};
        break;
    case MECHANISM_OBJECTIVE:
        *query = (struct dp_query){
            .kind = DP_QUERY_OBJECTIVE,
            .multiplier = how->slack,
            .objective = multiplier,
            .curvature = how->curvature,
            .vertices = dp_objective_vertices(how->two_sided, dp_adjacency_chosen(q->adjacency) == DP_ADJACENCY_REPLACE_ONE)};
        break;
    case MECHANISM_SVT:
        *query = isnan(how->rho) ? (struct dp_query){.kind = DP_QUERY_SPARSE_LAPLACE,
                                                     .epsilon = how->mechanism_epsilon,
                                                     .query_epsilon = how->query_epsilon,
                                                     .most = how->queries}
                                 : (struct dp_query){.kind = DP_QUERY_SPARSE_GAUSSIAN, .rho = how->rho, .most = how->queries};
        break;
    default:
        *query = (struct dp_query){.kind = DP_QUERY_GAUSSIAN, .multiplier = multiplier};
    }
    return DP_OK;
}

/* Laps of the event whose noise follows the schedule, in the buckets that the gate charges. */
static int scheduled(struct question *q, const struct dp_event *event, int64_t laps, struct dp_err *err)
{
    struct dp_schedule schedule = {0};
    struct dp_plan plan = {0};
    double *multiplier = NULL;
    int rc = dp_schedule_open(&schedule, "--schedule", q->schedule, err);
    rc = rc ?: dp_schedule_check(&schedule, "--schedule", laps, err);
    if (rc == DP_OK)
        multiplier = dp_new((size_t)laps, sizeof *multiplier);
    for (int64_t t = 1; rc == DP_OK && t <= laps; t++)
        multiplier[t - 1] = event->query[0].multiplier * dp_schedule_noise(&schedule, t, laps);
    rc = rc ?: dp_plan_add_scheduled(&plan, event, multiplier, laps, err);
    rc = rc ?: dp_plan_charges(&plan, laps, &q->charges, err);
    dp_plan_free(&plan);
    free(multiplier);
    dp_schedule_free(&schedule);
    return rc;
}

/* Records already have the values that the options would set. */
static int check_described(const struct question *q, const char *records, struct dp_err *err)
{
    const struct {
        bool given;
        const char *option;
    } options[] = {
        {q->rate != 1, "rate"},
        {q->rows != DP_OPT_ABSENT_INT, "rows"},
        {q->draws != DP_OPT_ABSENT_INT, "draws"},
        {!isnan(q->contraction), "contraction"},
        {q->sampler != DP_SAMPLER_POISSON, "sampler"},
        {q->adjacency != 0, "adjacency"},
        {q->schedule != NULL, "schedule"},
        {!isnan(q->count_multiplier), "count-multiplier"},
        {q->visible_batch, "visible-batch"},
        {q->trials != NULL, "trials"},
        {!isnan(q->score_multiplier), "score-multiplier"},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].given)
            return dp_fail(err, DP_E_USAGE,
                           "--%s: the records in %s say that themselves (a run described by options needs --multiplier "
                           "and --laps)",
                           options[i].option, strcmp(records, "-") == 0 ? "standard input" : records);
    return DP_OK;
}

/* Turns the charges of one run into the charge of the best of several runs. */
static int tuned(struct question *q, struct dp_err *err)
{
    struct dp_tuning *tuning;
    struct dp_charges charges = {0};
    struct dp_trials trials;
    struct dp_err why = {0};
    if (dp_trials_parse(&trials, q->trials, &why) != DP_OK)
        return dp_fail(err, DP_E_USAGE, "--trials: %s", why.message);
    dp_tuning_new(&tuning, &trials, isnan(q->score_multiplier) ? 0 : q->score_multiplier);
    int rc = dp_tuning_add(tuning, &q->charges, 1, err);
    struct dp_event event = dp_event_tuned(tuning);
    rc = rc ?: dp_charges_add(&charges, &event, 1, err);
    dp_event_free(&event);
    dp_charges_free(&q->charges);
    q->charges = charges;
    return rc;
}

/* The charges of the records of a run. */
static int recorded_charges(struct question *q, const char *records, struct dp_err *err)
{
    q->records = records;
    int rc = check_described(q, records, err);
    rc = rc ?: records_read(records, &q->recorded, err);
    q->charges = q->recorded.charges;
    q->recorded.charges = (struct dp_charges){0};
    return rc ?: records_check(&q->recorded, err);
}

/* The charges of a run that options describe. */
static int described_charges(struct question *q, enum unknown unknown, struct dp_err *err)
{
    struct dp_event event = {.queries = 1};
    bool output = q->how.mechanism == MECHANISM_OUTPUT || q->how.mechanism == MECHANISM_OBJECTIVE;
    bool once = output || q->sampler == DP_SAMPLER_REPEATED || q->sampler == DP_SAMPLER_STREAM;
    int64_t laps = unknown == UNKNOWN_LAPS || (once && q->laps == DP_OPT_ABSENT_INT) ? 1 : q->laps;
    if (output || q->sampler == DP_SAMPLER_NONE)
        q->sampler = DP_SAMPLER_FULL;
    int rc = query_of(q, unknown, &event.query[0], err);
    if (rc == DP_OK && !isnan(q->count_multiplier)) {
        event.query[1] = (struct dp_query){.kind = DP_QUERY_GAUSSIAN, .multiplier = q->count_multiplier};
        event.queries = unknown == UNKNOWN_SIGMA ? 1 : 2; /* sigma: for both queries, divided later */
    }
    if (rc == DP_OK && laps == DP_OPT_ABSENT_INT)
        rc = dp_fail(err, DP_E_USAGE, "--laps is required");
    rc = rc ?: sampling_of(q, &event, err);
    rc = rc ?: q->schedule != NULL ? scheduled(q, &event, laps, err) : dp_charges_add(&q->charges, &event, laps, err);
    if (rc == DP_OK && q->trials != NULL)
        rc = tuned(q, err);
    q->laps = laps;
    return rc;
}

int question_charges(struct question *q, enum unknown unknown, const char *records, struct dp_err *err)
{
    const bool recorded = unknown == UNKNOWN_EPSILON || unknown == UNKNOWN_DELTA || unknown == UNKNOWN_ALARMS;
    const bool described = !isnan(q->multiplier) || q->laps != DP_OPT_ABSENT_INT;
    const bool gaussian = q->how.mechanism == MECHANISM_GAUSSIAN;
    if (recorded && records == NULL && !described && gaussian && isnan(q->how.mechanism_epsilon) && !isatty(STDIN_FILENO))
        records = "-";
    if (records != NULL && (!recorded || described))
        return dp_fail(err, DP_E_USAGE, "unexpected argument '%.80s'", records);
    if (records != NULL)
        return recorded_charges(q, records, err);
    if (recorded && !described && gaussian)
        return dp_fail(err, DP_E_USAGE,
                       "--multiplier and --laps are required, or the records of a run (dp-cat FILE | dp-account ...)");
    return described_charges(q, unknown, err);
}

void question_free(struct question *q)
{
    dp_charges_free(&q->charges);
    records_free(&q->recorded);
}

const char *question_unsound(const struct question *q, int i)
{
    const struct {
        bool holds;
        const char *why;
    } reasons[] = {
        {q->accountant == DP_ACCOUNTANT_PUBLISHED, "the published accountant is not sound"},
        {q->accountant == DP_ACCOUNTANT_BLSGD, "the accountant of the DP-BLSGD paper is not sound"},
        {q->accountant == DP_ACCOUNTANT_ADP_SGD, "the accountant of the ADP-SGD paper is not sound"},
        {q->recorded.seeded, "the recorded run is seeded: anybody who knows the seed knows the noise"},
        {q->recorded.more,
         "the recorded run was charged for more than its records show: its noise or its laps may have followed "
         "what it released, and then its laps cost what it states"},
        {q->recorded.stopped, "the recorded run has fewer laps than it announced: if it was ended because of what it had "
                              "released, it has cost as much as all of them"},
    };
    for (size_t j = 0; j < sizeof reasons / sizeof *reasons; j++)
        if (reasons[j].holds && i-- == 0)
            return reasons[j].why;
    return NULL;
}

static void explain_run(const struct recorded_run *run)
{
    printf("  the run from line %zu on has %lld", run->line, (long long)run->laps);
    if (run->planned > run->laps)
        printf(" of %lld", (long long)run->planned);
    printf(" lap%s", run->laps == 1 && run->planned <= 1 ? "" : "s");
    if (run->prior_epsilon > 0)
        printf(", and starts from a model that has cost epsilon %s at delta %s", DP_NUMBER(dp_round_up(run->prior_epsilon, 6)),
               DP_NUMBER(run->prior_delta));
    if (isnan(run->epsilon) || isnan(run->delta)) {
        puts("; its frames do not state a sound epsilon");
        return;
    }
    printf("; its frames state epsilon %s at delta %s, ", DP_NUMBER(dp_round_up(run->epsilon, 6)), DP_NUMBER(run->delta));
    if (recorded_agrees(run))
        puts("and their records agree");
    else
        printf("MORE THAN THE %s THAT THEIR RECORDS COST\n", DP_NUMBER(dp_round_up(run->upper, 6)));
}

static const char *person(const struct question *q)
{
    enum dp_adjacency adjacency = q->records != NULL ? q->recorded.adjacency : dp_adjacency_chosen(q->adjacency);
    if (adjacency == DP_ADJACENCY_NONE)
        return "is what the charges were made for: they do not say";
    return adjacency == DP_ADJACENCY_REPLACE_ONE ? "is exchanged for another's" : "is present or contributes nothing";
}

static void explain_records(const struct question *q)
{
    for (size_t i = 0; i < q->recorded.runs && i < 20; i++)
        explain_run(&q->recorded.run[i]);
    if (q->recorded.runs > 20)
        printf("  and %zu more run%s\n", q->recorded.runs - 20, q->recorded.runs == 21 ? "" : "s");
    if (q->recorded.moves)
        puts("  the mechanism of each lap was fixed before the run");
    if (q->recorded.runs > 1)
        puts("  what each run does was fixed before the first of them");
}

static void explain_query(const struct dp_query *query)
{
    switch (query->kind) {
    case DP_QUERY_GAUSSIAN:
        printf("Gaussian noise of %s times the sensitivity", DP_NUMBER(query->multiplier));
        break;
    case DP_QUERY_CORRELATED:
        printf("Gaussian noise of %s times the sensitivity of all laps, correlated over %lld laps",
               DP_NUMBER(query->multiplier), (long long)query->correlated);
        break;
    case DP_QUERY_LAPLACE:
        printf("Laplace noise of scale %s times the sensitivity", DP_NUMBER(query->multiplier));
        break;
    case DP_QUERY_OBJECTIVE:
        printf("objective perturbation with Gaussian noise of %s", DP_NUMBER(query->objective));
        printf(" on the objective and %s on its minimiser,", DP_NUMBER(query->multiplier));
        printf(" curvature %s, %lld vert%s", DP_NUMBER(query->curvature), (long long)query->vertices,
               query->vertices == 1 ? "ex" : "ices");
        break;
    case DP_QUERY_PURE:
        printf("a mechanism of epsilon %s", DP_NUMBER(query->epsilon));
        break;
    case DP_QUERY_SPARSE_LAPLACE:
        printf("a sparse vector of at most %lld queries, epsilon %s for the threshold and %s for a query",
               (long long)query->most, DP_NUMBER(query->epsilon), DP_NUMBER(query->query_epsilon));
        break;
    case DP_QUERY_SPARSE_GAUSSIAN:
        printf("a sparse vector of at most %lld queries with Gaussian noise, rho %s", (long long)query->most,
               DP_NUMBER(query->rho));
        break;
    default:
        printf("%s", dp_query_kinds[query->kind].name);
        for (int i = 0; i < DP_QUERY_MEMBER_COUNT; i++) {
            const void *value = dp_query_at(query, (enum dp_query_member)i);
            if (!dp_query_has(query->kind, (enum dp_query_member)i))
                continue;
            double number = dp_query_members[i].whole ? (double)*(const int64_t *)value : *(const double *)value;
            printf(", %s %s", dp_query_members[i].key, DP_NUMBER(number));
        }
    }
}

static void explain_charges(const struct dp_charges *charges, int indent);

static void explain_tuning(const struct dp_tuning *tuning, int indent)
{
    const struct dp_trials *trials = &tuning->trials;
    if (trials->law == DP_TRIALS_POISSON)
        printf("the best of a random number of runs, Poisson of mean %s", DP_NUMBER(trials->mean));
    else
        printf("the best of a random number of runs, truncated negative binomial with eta %s and gamma %s (%.4g on average)",
               DP_NUMBER(trials->eta), DP_NUMBER(trials->gamma), dp_trials_mean(trials));
    if (tuning->score_multiplier > 0)
        printf("; by scores with Gaussian noise of %s times the sensitivity", DP_NUMBER(tuning->score_multiplier));
    for (size_t i = 0; i < tuning->settings; i++) {
        printf("\n%*sa run of %lld setting%s:\n", indent, "", (long long)tuning->setting[i].times,
               tuning->setting[i].times == 1 ? "" : "s");
        explain_charges(&tuning->setting[i].charges, indent + 2);
    }
}

static void explain_charges(const struct dp_charges *charges, int indent)
{
    static const char *const samplings[] = {
        "every row",
        "a Poisson sample of the rows",
        "a batch of fixed size, a row of which may be another person's",
        "parts of one permutation per epoch (charged as one release of every row per epoch)",
        "a Poisson sample whose members show (nothing amplifies)",
        "the result of many draws, each a Poisson sample",
        "",
        "the next rows of a stream, each in one lap only (charged as one release of every row)",
        "a Poisson sample of the rows, one of which may be another person's",
    };
    _Static_assert(sizeof samplings / sizeof *samplings == DP_SAMPLING_COUNT, "words for each sampling");
    for (size_t i = 0; i < charges->count; i++) {
        const struct dp_event *event = &charges->charge[i].event;
        if (i == 20 && charges->count > 21) {
            printf("%*sand %zu more\n", indent, "", charges->count - i);
            break;
        }
        if (event->sampling == DP_SAMPLING_TUNED) {
            printf("%*s%lld time%s: ", indent, "", (long long)charges->charge[i].laps, charges->charge[i].laps == 1 ? "" : "s");
            explain_tuning(event->tuning, indent + 2);
            continue;
        }
        printf("%*s%lld lap%s: ", indent, "", (long long)charges->charge[i].laps, charges->charge[i].laps == 1 ? "" : "s");
        for (int j = 0; j < event->queries; j++) {
            if (j > 0)
                printf(", and ");
            explain_query(&event->query[j]);
        }
        printf("; on %s", samplings[event->sampling]);
        if (event->sampling != DP_SAMPLING_NONE && event->sampling != DP_SAMPLING_STREAM)
            printf(", rate %s", DP_NUMBER(event->rate));
        if (event->sampling == DP_SAMPLING_REPEATED)
            printf(", %lld draws, contraction %s", (long long)event->draws, DP_NUMBER(event->contraction));
        putchar('\n');
    }
}

void question_explain_attack(const struct dp_charges *charges, double delta)
{
    static const double alarms[] = {.01, .05, .1, .25};
    struct dp_tradeoff t;
    struct dp_err unused;
    if (!(delta < 1) || dp_tradeoff_make(charges, delta, &t, &unused) != DP_OK)
        return;
    printf("an attacker who raises false alarms at a rate of");
    for (size_t i = 0; i < sizeof alarms / sizeof *alarms; i++)
        printf("%s %g %% finds at most %.3g %%", i > 0 ? "," : "", 100 * alarms[i],
               100 * dp_round_up(dp_tradeoff_found(&t, alarms[i]), 3));
    printf("; from even odds %.3g %%", 100 * dp_round_up(dp_tradeoff_even(&t), 3));
    if (isfinite(t.mu))
        printf("; mu %.4g", dp_round_up(t.mu, 4));
    if (isfinite(t.mu) && t.but > 0)
        printf(" except with probability %.3g", dp_round_up(t.but, 3));
    putchar('\n');
}

void question_explain(const struct question *q, enum unknown unknown, const struct dp_charges *charges)
{
    explain_charges(charges, 2);
    if (unknown != UNKNOWN_SIGMA || charges->count > 0)
        printf("  one person's row %s\n", person(q));
    explain_records(q);
    for (int i = 0; question_unsound(q, i) != NULL; i++)
        printf("NOT SOUND: %s\n", question_unsound(q, i));
}
