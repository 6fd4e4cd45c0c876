/* The law of the ledger: the epsilon of a run's close line is the epsilon that every reader of the ledger computes. For every
   sampler with every kind of query, several events in one run, filters, every law of trials and a grid of settings that becomes
   one run: an honest end is accepted, and report and verify compute its number; another number is refused, and all reserved
   laps stay spent. */
#include "unit.h"
#include "scratch.h"

#include <unistd.h>

#include "account/account.h"
#include "account/kinds.h"
#include "ledger/book.h"
#include "ledger/report.h"
#include "ledger/sum.h"
#include "priv/filter.h"
#include "priv/rdp.h"

#define PATH "test.ledger"
#define DELTA 1e-5

static void gone(void)
{
    unlink(PATH);
    unlink(PATH ".mark");
}

static struct dp_ledger *open_run(double epsilon, double order)
{
    const struct dp_ledger_run run = {
        .data = "aaaa", .rows = 1000, .adjacency = "null-record", .epsilon = epsilon, .delta = DELTA, .order = order};
    struct dp_ledger *ledger;
    struct dp_err err = {0};
    gone();
    assert_ok(dp_ledger_open(&ledger, PATH, &run, &err));
    return ledger;
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

static int64_t spent(void)
{
    struct dp_ledger_book book = {0};
    int64_t laps = 0;
    assert_int_equal(dp_ledger_book_read(&book, PATH, NULL), 0);
    laps = dp_ledger_entry_laps(&book.entry[0]);
    dp_ledger_book_free(&book);
    return laps;
}

static void reserve(struct dp_ledger *ledger, const struct dp_charges *used, const char *what)
{
    struct dp_err err = {0};
    for (size_t i = 0; i < used->count; i++)
        if (dp_ledger_reserve(ledger, &used->charge[i].event, used->charge[i].laps, &err) != 0)
            fail_msg("%s: %s", what, err.message);
}

static int64_t laps_of(const struct dp_charges *charges)
{
    int64_t laps = 0;
    for (size_t i = 0; i < charges->count; i++)
        laps += charges->charge[i].laps;
    return laps;
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
            reserve(ledger, used, what);
        said.epsilon *= honest ? 1 : 0.5;
        int rc = dp_ledger_close(ledger, &said, &err);
        if (rc != (honest ? DP_OK : DP_E_UNSAFE))
            fail_msg("%s, %s: status %d, %s", what, honest ? "the truth" : "a half", rc, err.message);
        if (!honest)
            assert_non_null(strstr(err.message, ": all that it reserved stays spent"));
        dp_ledger_free(ledger);
        if (order == 0 || honest)
            assert_int_equal(spent(), laps_of(used));
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
            struct dp_charges used = {0};
            struct dp_query query = query_of((enum dp_query_kind)kind);
            struct dp_event event = event_of((enum dp_sampling)s, &query);
            if (s == DP_SAMPLING_TUNED || dp_event_check(&event, &err) != 0)
                continue;
            assert_int_equal(dp_charges_add(&used, &event, 7, &err), 0); /* one epoch, and the beginning of another */
            snprintf(what, sizeof what, "%s, %s", dp_sampling_names[s], dp_query_kinds[kind].name);
            if (dp_account_epsilon(DP_ACCOUNTANT_BEST, &used, DELTA, &answer, &err) == 0) {
                assert_law(&used, 0, what);
                asked++;
            }
            dp_charges_free(&used);
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
    struct dp_charges used = {0};
    assert_int_equal(dp_charges_add(&used, &third, 40, &err), 0);
    assert_int_equal(dp_charges_add(&used, &first, 10, &err), 0);
    assert_int_equal(dp_charges_add(&used, &second, 3, &err), 0);
    assert_law(&used, 0, "three events");
    dp_charges_free(&used);
    assert_int_equal(dp_charges_add(&used, &third, 40, &err), 0);
    assert_law(&used, 8, "a filter");
    dp_charges_free(&used);
}

/* Settings of different cost, each of which ends within an epoch. */
TEST(of_every_law_of_trials)
{
    static const char *const laws[] = {"poisson:3", "geometric:0.3", "logarithmic:0.3", "negative-binomial:2:0.3"};
    struct dp_query query = query_of(DP_QUERY_GAUSSIAN);
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        struct dp_trials law;
        struct dp_tuning *tuning;
        struct dp_charges used = {0};
        assert_int_equal(dp_trials_parse(&law, laws[i], &err), 0);
        dp_tuning_new(&tuning, &law, 5);
        for (int s = 0; s < 3; s++) {
            struct dp_charges run = {0};
            struct dp_event event = event_of(s == 0 ? DP_SAMPLING_POISSON : DP_SAMPLING_SHUFFLED, &query);
            assert_int_equal(dp_charges_add(&run, &event, 3 + s, &err), 0);
            assert_int_equal(dp_tuning_add(tuning, &run, 1, &err), 0);
            dp_charges_free(&run);
        }
        struct dp_event event = dp_event_tuned(tuning);
        assert_int_equal(dp_charges_add(&used, &event, 1, &err), 0);
        dp_event_free(&event);
        assert_law(&used, 0, laws[i]);
        dp_charges_free(&used);
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

    struct dp_answer ten, book;
    struct dp_charges merged = {0};
    assert_int_equal(dp_charges_add(&merged, &event, 20, &err), 0);
    assert_int_equal(dp_account_epsilon(DP_ACCOUNTANT_BEST, &apart, DELTA, &ten, &err), 0);
    assert_int_equal(dp_account_epsilon(DP_ACCOUNTANT_BEST, &merged, DELTA, &book, &err), 0);
    assert_true(ten.upper > 1.3 * book.upper);
    struct dp_ledger *ledger = open_run(1000, 0);
    reserve(ledger, &apart, "apart");
    struct dp_ledger_end end = {&apart, ten.upper, DELTA, dp_accountant_names[ten.by], "done", NULL, 0};
    assert_int_equal(dp_ledger_close(ledger, &end, &err), DP_E_UNSAFE);
    char expected[300];
    snprintf(
        expected, sizeof expected,
        "the run says that it has cost epsilon = %.9g at delta = 1e-05, and by the ledger test.ledger it has cost %.9g: all "
        "that it reserved stays spent",
        ten.upper, book.upper);
    assert_string_equal(err.message, expected);
    dp_ledger_free(ledger);
    assert_int_equal(spent(), 20);
    dp_charges_free(&apart);
    dp_charges_free(&together);
    dp_charges_free(&merged);
}

/* The delta is the delta of the run. */
TEST(of_delta)
{
    struct dp_query query = query_of(DP_QUERY_GAUSSIAN);
    struct dp_event event = event_of(DP_SAMPLING_NONE, &query);
    struct dp_charges used = {0};
    struct dp_answer answer;
    assert_int_equal(dp_charges_add(&used, &event, 7, &err), 0);
    assert_int_equal(dp_account_epsilon(DP_ACCOUNTANT_BEST, &used, DELTA, &answer, &err), 0);
    struct dp_ledger *ledger = open_run(1000, 0);
    reserve(ledger, &used, "delta");
    struct dp_ledger_end end = {&used, answer.upper, 1e-3, dp_accountant_names[answer.by], "done", NULL, 0};
    assert_int_equal(dp_ledger_close(ledger, &end, &err), DP_E_UNSAFE);
    dp_ledger_free(ledger);
    dp_charges_free(&used);
}

/* Ends a run of `used` of its reserved laps as interrupted. stated: laps whose cost it states; 0: as its readers. */
static int stop(struct dp_ledger *ledger, const struct dp_event *event, int64_t used, int64_t stated)
{
    struct dp_charges laps = {0}, cost = {0};
    struct dp_answer answer;
    assert_int_equal(dp_charges_add(&laps, event, used, NULL), 0);
    assert_int_equal(dp_charges_add(&cost, event, stated, NULL), 0);
    assert_int_equal(stated == 0 ? dp_ledger_cost(ledger, &laps, "interrupted", &answer, NULL)
                                 : dp_account_epsilon(DP_ACCOUNTANT_BEST, &cost, DELTA, &answer, NULL),
                     0);
    struct dp_ledger_end end = {&laps, answer.upper, DELTA, dp_accountant_names[answer.by], "interrupted", "feed", used};
    int rc = dp_ledger_close(ledger, &end, NULL);
    if (rc == DP_OK)
        assert_read(end.epsilon, "stopped");
    dp_ledger_free(ledger);
    dp_charges_free(&laps);
    dp_charges_free(&cost);
    return rc;
}

static struct dp_ledger *planned(const struct dp_event *event, int64_t laps)
{
    struct dp_charges plan = {0};
    struct dp_ledger *ledger;
    gone();
    const struct dp_ledger_run run = {
        .data = "aaaa", .rows = 9, .adjacency = "null-record", .epsilon = 1000, .delta = DELTA, .charges = &plan};
    assert_int_equal(dp_charges_add(&plan, event, laps, NULL), 0);
    assert_int_equal(dp_ledger_open(&ledger, PATH, &run, NULL), 0);
    dp_charges_free(&plan);
    return ledger;
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
    assert_int_equal(dp_ledger_reserve(ledger, &event, 40, &err), 0);
    /* 30 α/72 at the order of the filter of such a budget, with the conversion */
    struct dp_charges thirty = {0};
    struct dp_answer stated;
    double order = dp_filter_order(1000, DELTA), rho;
    assert_int_equal(dp_charges_add(&thirty, &event, 30, &err), 0);
    assert_int_equal(dp_ledger_rdp(&thirty, order, &rho, &err), 0);
    assert_int_equal(dp_ledger_cost(ledger, &thirty, "interrupted", &stated, &err), 0);
    assert_near(stated.upper, rho + dp_rdp_penalty(order, DELTA), 1e-9 * stated.upper);
    dp_charges_free(&thirty);
    assert_int_equal(stop(ledger, &event, 30, 0), DP_OK);

    /* the same for a run that was never closed, and for a run that has reserved nothing */
    struct dp_ledger_book book = {0};
    struct dp_answer answer;
    dp_ledger_free(planned(&event, 100));
    assert_int_equal(dp_ledger_book_read(&book, PATH, &err), 0);
    assert_int_equal(dp_ledger_basis(&book.entry[0]), DP_LEDGER_BY_PLAN);
    assert_int_equal(dp_ledger_run_epsilon(&book.entry[0], &answer, &err), 0);
    struct dp_charges plan = {0};
    struct dp_answer whole;
    assert_int_equal(dp_charges_add(&plan, &event, 100, &err), 0);
    assert_int_equal(dp_account_epsilon(DP_ACCOUNTANT_BEST, &plan, DELTA, &whole, &err), 0);
    assert_near(answer.upper, whole.upper, 0);
    dp_ledger_book_free(&book);
    dp_charges_free(&plan);
    dp_ledger_free(open_run(1000, 0));
    assert_int_equal(dp_ledger_book_read(&book, PATH, &err), 0);
    assert_int_equal(dp_ledger_run_epsilon(&book.entry[0], &answer, &err), 0);
    assert_near(answer.upper, 0, 0);
    dp_ledger_book_free(&book);
    /* under a filter it has cost all of its budget, until it ends without having released anything */
    ledger = open_run(1000, 8);
    assert_int_equal(dp_ledger_book_read(&book, PATH, &err), 0);
    assert_int_equal(dp_ledger_basis(&book.entry[0]), DP_LEDGER_BY_BUDGET);
    assert_int_equal(dp_ledger_run_epsilon(&book.entry[0], &answer, &err), 0);
    assert_near(answer.upper, 1000, 1e-9);
    dp_ledger_book_free(&book);
    assert_int_equal(dp_ledger_cost(ledger, &(struct dp_charges){0}, "interrupted", &answer, &err), 0);
    assert_near(answer.upper, 0, 0);
    dp_ledger_free(ledger);
}

TESTS(enter, leave)
