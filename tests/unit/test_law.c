/* The law of the ledger: the epsilon of a run's close line is the epsilon that every reader of the ledger computes. For every
   sampler with every kind of query, several events in one run, filters, every law of trials and a grid of settings that becomes
   one run: an honest end is accepted, and report and verify compute its number; another number is refused, and all reserved
   laps stay spent. */
#include "books.h"
#include "scratch.h"
#include "unit.h"

#include "account/kinds.h"
#include "ledger/report.h"
#include "ledger/sum.h"
#include "priv/filter.h"
#include "priv/rdp.h"

#define DELTA 1e-5

static struct dp_ledger *open_run(double epsilon, double order)
{
    const struct dp_ledger_run run = {
        .data = "aaaa", .rows = 1000, .adjacency = "null-record", .epsilon = epsilon, .delta = DELTA, .order = order};
    gone(PATH);
    return opened(&run);
}

/* Checks the close line, the report on the run, and that verify agrees. */
static void assert_read(double stated, const char *what)
{
    json_t *report, *result;
    assert_int_equal(dp_ledger_report(PATH, NULL, (double)NAN, &report, NULL), 0);
    assert_int_equal(dp_ledger_verify(PATH, &result, NULL), 0);
    const json_t *run = json_array_get(json_object_get(report, "runs"), 0);
    double said = json_number_value(json_object_get(run, "epsilon"));
    if (!(fabs(said - stated) <= 1e-6 * stated))
        fail_msg("%s: closed with %.9g, a report says %.9g", what, stated, said);
    if (!json_is_true(json_object_get(result, "intact")))
        fail_msg("%s: %s", what, json_string_value(json_array_get(json_object_get(result, "findings"), 0)));
    json_decref(report);
    json_decref(result);
}

static void reserve_all(struct dp_ledger *ledger, const struct dp_charges *used, const char *what)
{
    struct dp_err err = {0};
    for (size_t i = 0; i < used->count; i++)
        if (dp_ledger_reserve(ledger, &used->charge[i].event, used->charge[i].laps, &err) != 0)
            fail_msg("%s: %s", what, err.message);
}

/* A run of these charges ends, as the gate ends it, and then again with half of its epsilon. */
static void assert_law(const struct dp_charges *used, double order, const char *what)
{
    struct dp_answer answer;
    struct dp_err err = {0};
    if (dp_account_epsilon(DP_ACCOUNTANT_BEST, used, DELTA, &answer, &err) != 0)
        fail_msg("%s: %s", what, err.message);
    if (!isfinite(answer.upper))
        fail_msg("%s: no bound", what);
    struct dp_ledger_end end = {used, answer.upper, DELTA, dp_accountant_names[answer.by], "done", NULL, 0};
    if (order > 0) {
        end.epsilon = 1000;
        end.accountant = "filter";
    }
    for (int honest = 0; honest < 2; honest++) {
        struct dp_ledger *ledger = open_run(1000, order);
        struct dp_ledger_end said = end;
        if (order == 0)
            reserve_all(ledger, used, what);
        said.epsilon *= honest ? 1 : 0.5;
        int rc = dp_ledger_close(ledger, &said, &err);
        if (rc != (honest ? DP_OK : DP_E_UNSAFE))
            fail_msg("%s, %s: status %d, %s", what, honest ? "the truth" : "a half", rc, err.message);
        if (!honest)
            assert_non_null(strstr(err.message, ": all that it reserved stays spent"));
        dp_ledger_free(ledger);
        if (order == 0 || honest)
            assert_int_equal(spent(), dp_charges_all(used));
        if (honest)
            assert_read(said.epsilon, what);
    }
}

static struct dp_query query_of(enum dp_query_kind kind)
{
    struct dp_query query = {.kind = kind};
    static const double value[DP_QUERY_MEMBER_COUNT] = {[DP_QUERY_multiplier] = 6,
                                                        [DP_QUERY_epsilon] = 0.1,
                                                        [DP_QUERY_query_epsilon] = 0.1,
                                                        [DP_QUERY_rho] = 0.01,
                                                        [DP_QUERY_objective] = 6,
                                                        [DP_QUERY_curvature] = 0.01,
                                                        [DP_QUERY_named_delta] = DELTA / 100,
                                                        [DP_QUERY_delta] = DELTA / 100};
    for (int m = 0; m < DP_QUERY_MEMBER_COUNT; m++)
        if (dp_query_has(kind, (enum dp_query_member)m) && dp_query_members[m].whole)
            *(int64_t *)dp_query_edit(&query, (enum dp_query_member)m) = 4;
        else if (dp_query_has(kind, (enum dp_query_member)m))
            *(double *)dp_query_edit(&query, (enum dp_query_member)m) = value[m];
    return query;
}

static struct dp_event event_of(enum dp_sampling sampling, const struct dp_query *query)
{
    struct dp_event event = {.sampling = sampling, .rate = 0.2, .queries = 1, .query = {*query}};
    if (sampling == DP_SAMPLING_NONE || sampling == DP_SAMPLING_STREAM)
        event.rate = 1;
    if (sampling == DP_SAMPLING_SHUFFLED)
        event.epoch_laps = 5;
    if (sampling == DP_SAMPLING_REPEATED) {
        event.draws = 20;
        event.contraction = 0.9;
    }
    return event;
}

LONG_TEST(of_every_sampler_and_kind)
{
    int asked = 0;
    for (int s = 0; s < DP_SAMPLING_COUNT; s++)
        for (int kind = 1; kind < DP_QUERY_KIND_COUNT; kind++) {
            char what[80];
            struct dp_answer answer;
            struct dp_query query = query_of((enum dp_query_kind)kind);
            struct dp_event event = event_of((enum dp_sampling)s, &query);
            if (s == DP_SAMPLING_TUNED || dp_event_check(&event, &err) != 0)
                continue;
            struct dp_charges *used = LAPS_OF(event, 7); /* one epoch, and the beginning of another */
            snprintf(what, sizeof what, "%s, %s", dp_sampling_names[s], dp_query_kinds[kind].name);
            if (dp_account_epsilon(DP_ACCOUNTANT_BEST, used, DELTA, &answer, &err) == 0) {
                assert_law(used, 0, what);
                asked++;
            }
        }
    assert_int_equal(asked, 75);
}

TEST(of_several_events_and_filters)
{
    struct dp_query z6 = query_of(DP_QUERY_GAUSSIAN), pure = query_of(DP_QUERY_PURE);
    struct dp_event first = event_of(DP_SAMPLING_SHUFFLED, &z6), second, third = event_of(DP_SAMPLING_POISSON, &z6);
    z6.multiplier = 9;
    second = event_of(DP_SAMPLING_SHUFFLED, &z6);
    third.queries = 2;
    third.query[1] = pure;
    struct dp_charge charge[] = {{third, 40}, {first, 10}, {second, 3}};
    assert_law(&(struct dp_charges){.count = 3, .charge = charge}, 0, "three events");
    assert_law(LAPS_OF(third, 40), 8, "a filter");
}

/* Settings of different cost, each of which ends within an epoch. */
TEST(of_every_law_of_trials)
{
    static const char *const laws[] = {"poisson:3", "geometric:0.3", "logarithmic:0.3", "negative-binomial:2:0.3"};
    struct dp_query query = query_of(DP_QUERY_GAUSSIAN);
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        struct dp_trials law;
        struct dp_tuning *tuning;
        assert_int_equal(dp_trials_parse(&law, laws[i], &err), 0);
        dp_tuning_new(&tuning, &law, 5);
        for (int s = 0; s < 3; s++) {
            struct dp_event event = event_of(s == 0 ? DP_SAMPLING_POISSON : DP_SAMPLING_SHUFFLED, &query);
            assert_int_equal(dp_tuning_add(tuning, LAPS_OF(event, 3 + s), 1, &err), 0);
        }
        struct dp_event event = dp_event_tuned(tuning);
        assert_law(LAPS_OF(event, 1), 0, laws[i]);
        dp_event_free(&event);
    }
}

/* Every setting once: separate runs become one run of the ledger. Ten runs that end within an epoch are ten epochs, even if the
   ledger counts them together; a close line that counts five of them is refused. */
TEST(of_runs_that_are_counted_together)
{
    struct dp_query query = query_of(DP_QUERY_GAUSSIAN);
    struct dp_event event = event_of(DP_SAMPLING_SHUFFLED, &query), other;
    query.multiplier = 9;
    other = event_of(DP_SAMPLING_SHUFFLED, &query);
    struct dp_charges apart = {0}, together = {0};
    for (int i = 0; i < 10; i++) {
        assert_int_equal(dp_charges_add(&apart, &event, 2, &err), 0);
        assert_int_equal(dp_charges_add_run(&together, &event, 2, &err), 0);
        assert_int_equal(dp_charges_add_run(&together, &other, 6, &err), 0); /* settings with other noise follow */
    }
    assert_int_equal(together.count, 2);
    assert_int_equal(together.charge[0].laps, 50);
    assert_int_equal(together.charge[1].laps, 100);
    assert_law(&together, 0, "settings");

    const struct dp_answer ten = answer_of(DP_ACCOUNTANT_BEST, &apart, DELTA),
                           book = answer_of(DP_ACCOUNTANT_BEST, LAPS_OF(event, 20), DELTA);
    assert_true(ten.upper > 1.3 * book.upper);
    struct dp_ledger *ledger = open_run(1000, 0);
    reserve_all(ledger, &apart, "apart");
    struct dp_ledger_end end = {&apart, ten.upper, DELTA, dp_accountant_names[ten.by], "done", NULL, 0};
    char expected[300];
    snprintf(
        expected, sizeof expected,
        "the run says that it has cost epsilon = %.9g at delta = 1e-05, and by the ledger test.ledger it has cost %.9g: all "
        "that it reserved stays spent",
        ten.upper, book.upper);
    assert_fails(dp_ledger_close(ledger, &end, &err), DP_E_UNSAFE, expected);
    dp_ledger_free(ledger);
    assert_int_equal(spent(), 20);
    dp_charges_free(&apart);
    dp_charges_free(&together);
}

/* The delta is the delta of the run. */
TEST(of_delta)
{
    struct dp_query query = query_of(DP_QUERY_GAUSSIAN);
    struct dp_event event = event_of(DP_SAMPLING_NONE, &query);
    const struct dp_answer answer = answer_of(DP_ACCOUNTANT_BEST, LAPS_OF(event, 7), DELTA);
    struct dp_ledger *ledger = open_run(1000, 0);
    reserve(ledger, &event, 7);
    struct dp_ledger_end end = {LAPS_OF(event, 7), answer.upper, 1e-3, dp_accountant_names[answer.by], "done", NULL, 0};
    assert_int_equal(dp_ledger_close(ledger, &end, &err), DP_E_UNSAFE);
    dp_ledger_free(ledger);
}

/* Ends a run of `used` of its reserved laps as interrupted. stated: laps whose cost it states; 0: as its readers. */
static int stop(struct dp_ledger *ledger, const struct dp_event *event, int64_t used, int64_t stated)
{
    const struct dp_charges *laps = LAPS_OF(*event, used);
    struct dp_answer answer;
    if (stated > 0)
        answer = answer_of(DP_ACCOUNTANT_BEST, LAPS_OF(*event, stated), DELTA);
    else
        assert_int_equal(dp_ledger_cost(ledger, laps, "interrupted", &answer, NULL), 0);
    struct dp_ledger_end end = {laps, answer.upper, DELTA, dp_accountant_names[answer.by], "interrupted", "feed", used};
    int rc = dp_ledger_close(ledger, &end, NULL);
    if (rc == DP_OK)
        assert_read(end.epsilon, "stopped");
    dp_ledger_free(ledger);
    return rc;
}

static struct dp_ledger *planned(const struct dp_event *event, int64_t laps)
{
    gone(PATH);
    const struct dp_ledger_run run = {.data = "aaaa",
                                      .rows = 9,
                                      .adjacency = "null-record",
                                      .epsilon = 1000,
                                      .delta = DELTA,
                                      .charges = LAPS_OF(*event, laps)};
    return opened(&run);
}

/* The cost that the ledger gives its run while the run may continue */
static void assert_counts(int basis, double epsilon, double tolerance)
{
    struct dp_ledger_book book;
    struct dp_answer answer;
    struct dp_err err = {0};
    read_book(&book, PATH);
    if (basis >= 0)
        assert_int_equal(dp_ledger_basis(&book.entry[0]), basis);
    assert_ok(dp_ledger_run_epsilon(&book.entry[0], &answer, &err));
    assert_near(answer.upper, epsilon, tolerance);
    dp_ledger_book_free(&book);
}

/* A run that ended before its plan is stated at the plan, a run without a plan at one order. Neither is stated at its released
   laps. */
TEST(of_runs_that_were_stopped)
{
    struct dp_query query = query_of(DP_QUERY_GAUSSIAN);
    struct dp_event event = event_of(DP_SAMPLING_POISSON, &query);
    assert_int_equal(stop(planned(&event, 100), &event, 30, 30), DP_E_UNSAFE);
    assert_int_equal(stop(planned(&event, 100), &event, 30, 100), DP_OK);
    assert_int_equal(stop(planned(&event, 100), &event, 101, 101), DP_E_UNSAFE);
    struct dp_ledger *ledger = open_run(1000, 0);
    reserve(ledger, &event, 40);
    /* 30 α/72 at the order of the filter of such a budget, with the conversion */
    struct dp_answer stated;
    double order = dp_filter_order(1000, DELTA), rho;
    assert_int_equal(dp_ledger_rdp(LAPS_OF(event, 30), order, &rho, &err), 0);
    assert_int_equal(dp_ledger_cost(ledger, LAPS_OF(event, 30), "interrupted", &stated, &err), 0);
    assert_near(stated.upper, rho + dp_rdp_penalty(order, DELTA), 1e-9 * stated.upper);
    assert_int_equal(stop(ledger, &event, 30, 0), DP_OK);

    /* the same for a run that was never closed, and for a run that has reserved nothing */
    dp_ledger_free(planned(&event, 100));
    assert_counts(DP_LEDGER_BY_PLAN, answer_of(DP_ACCOUNTANT_BEST, LAPS_OF(event, 100), DELTA).upper, 0);
    dp_ledger_free(open_run(1000, 0));
    assert_counts(-1, 0, 0);
    /* under a filter it has cost all of its budget, until it ends without having released anything */
    ledger = open_run(1000, 8);
    assert_counts(DP_LEDGER_BY_BUDGET, 1000, 1e-9);
    assert_int_equal(dp_ledger_cost(ledger, &(struct dp_charges){0}, "interrupted", &stated, &err), 0);
    assert_near(stated.upper, 0, 0);
    dp_ledger_free(ledger);
}

TESTS(enter, leave)
