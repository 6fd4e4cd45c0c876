/* A budget of a population: the filter together with addition, the choice between them, and allowed changes
   (ledger/limit.h). */
#include "claimed.h"
#include "scratch.h"
#include "unit.h"

#include "ledger/report.h"
#include "priv/rdp.h"

/* At order 2 a lap of z = 2 costs exactly 1/4. */
static struct dp_event gaussian(double multiplier)
{
    return dp_event_gaussian(DP_SAMPLING_NONE, 1, multiplier, 0);
}

/* Laps of one event. Plans are kept until the program ends. */
static const struct dp_plan *plan_of(const struct dp_event *event, int64_t laps)
{
    static struct {
        struct dp_plan plan;
        struct dp_event event;
        struct dp_plan_span span;
    } kept[100], *p;
    static size_t count;
    assert_true(count < sizeof kept / sizeof kept[0]);
    p = &kept[count++];
    p->event = *event;
    p->span.end = laps;
    p->plan = (struct dp_plan){.laps = laps, .events = 1, .event = &p->event, .spans = 1, .span = &p->span};
    return &p->plan;
}

/* A run of that many laps of the event. */
static struct dp_ledger_run a_run(double epsilon, double delta, const struct dp_event *event, int64_t laps)
{
    return (struct dp_ledger_run){.data = "d",
                                  .population = "p",
                                  .rows = 9,
                                  .adjacency = "null-record",
                                  .epsilon = epsilon,
                                  .delta = delta,
                                  .laps = laps,
                                  .plan = plan_of(event, laps)};
}

/* Closes the run with the cost that its readers compute. */
static void end(struct dp_ledger *ledger, const struct dp_ledger_run *run, const struct dp_event *event, int64_t laps,
                const char *status)
{
    struct dp_err err = {0};
    assert_ok(close_with(ledger, laps > 0 ? LAPS_OF(*event, laps) : &(struct dp_charges){0}, run->delta, status, &err));
    dp_ledger_free(ledger);
}

/* Opens, reserves and ends a run that must fit. */
static void whole(const struct dp_ledger_run *run, const struct dp_event *event)
{
    end(opened(run), run, event, run->laps, "done");
}

static void assert_refused(const struct dp_ledger_run *run, const char *part)
{
    struct dp_ledger *ledger;
    struct dp_err err = {0};
    assert_int_equal(dp_ledger_open(&ledger, PATH, run, &err), DP_E_UNSAFE);
    if (strstr(err.message, part) == NULL)
        fail_msg("'%s' does not say '%s'", err.message, part);
}

static bool holds(void)
{
    json_t *result;
    assert_int_equal(dp_ledger_verify(PATH, &result, NULL), 0);
    size_t findings = 0, i;
    json_t *finding;
    json_array_foreach (json_object_get(result, "findings"), i, finding) /* about budgets: costs here are made up */
        findings += strstr(json_string_value(finding), "its budget is") != NULL;
    json_decref(result);
    return findings == 0;
}

/* At order 2 with a tenth of delta = 1e-5 the penalty is 13.1: nothing has room there. */
static struct dp_ledger_budget a_budget(double epsilon)
{
    struct dp_ledger_budget budget = budget_of("p", epsilon, 1e-5, 40);
    budget.data = "d";
    budget.order[0].delta = 0.1;
    return budget;
}

/* The beginning of most tests: a budget of epsilon 1, and no runs. */
static int one_budget(void **state)
{
    struct dp_ledger_budget budget = a_budget(1);
    fresh(state);
    set_budget(&budget);
    return 0;
}

TEST_IN(addition_admits_what_the_filter_does_not, one_budget, NULL)
{
    struct dp_event event = gaussian(2);
    struct dp_ledger_run tenth = a_run(0.1, 1e-6, &event, 1), fifth = a_run(0.2, 1e-6, &event, 1);
    whole(&fifth, &event);
    for (int i = 0; i < 8; i++) /* 0.2 and eight tenths are 1, although binary fractions add up to a little more */
        whole(&tenth, &event);
    assert_true(holds());
    assert_refused(&tenth, "epsilon 1 of it is spent, and no run of as many laps fits at delta = 1e-06");
}

TEST_IN(addition_counts_delta, one_budget, NULL)
{
    struct dp_event event = gaussian(2);
    struct dp_ledger_run half = a_run(0.1, 5e-6, &event, 1), less = a_run(0.1, 4e-6, &event, 1);
    whole(&half, &event);
    assert_refused(&half, "no run of as many laps fits at delta = 5e-06"); /* the filter has a tenth of delta */
    whole(&less, &event);
    assert_true(holds());
}

/* Runs that were admitted can be finished, whichever way admitted them. */
TEST_IN(what_a_run_was_admitted_with_stays_its_own, fresh, NULL)
{
    struct dp_ledger_budget lower = a_budget(0.05);
    for (int addition = 0; addition < 2; addition++) {
        /* at order 40 a lap of z = 100 costs 0.002, and 0.65 are there; 0.6 and 0.4 add up to 1 */
        struct dp_event event = gaussian(addition ? 2 : 100);
        struct dp_ledger_run first = a_run(addition ? 0.6 : 5, 1e-6, &event, 200), again = first;
        struct dp_ledger_run small = a_run(addition ? 0.4 : 5, 1e-6, &event, 1);
        one_budget(state);
        struct dp_ledger *ledger = opened(&first);
        assert_refused(&again, "affords");
        assert_int_equal(dp_ledger_set_budget(PATH, &lower, &err), DP_E_UNSAFE);
        struct dp_ledger *second = opened(&small);
        assert_true(holds());
        dp_ledger_free(ledger);
        end(second, &small, &event, 1, "done");
        one_budget(state);
        dp_ledger_free(opened(&first)); /* killed: it may be resumed */
        assert_refused(&again, "affords");
        one_budget(state);
        ledger = opened(&first);
        end(ledger, &first, &event, 0, "done");
        dp_ledger_free(opened(&again)); /* what a run gives back is free again */
    }
}

/* A run counts with its whole budget, even if it used less and the filter admitted it. */
TEST_IN(addition_counts_runs_whole, one_budget, NULL)
{
    struct dp_event event = gaussian(2), quiet = gaussian(1000);
    struct dp_ledger_run first = a_run(0.4, 1e-6, &event, 10), second = a_run(0.5, 1e-6, &quiet, 10);
    struct dp_ledger_run more = a_run(0.2, 1e-6, &event, 1), rest = a_run(0.1, 1e-6, &event, 1);
    end(opened(&first), &first, &event, 3, "interrupted");
    whole(&second, &quiet);
    assert_refused(&more, "with as many laps a run of --epsilon 0.1 fits");
    whole(&rest, &event);
    const struct dp_ledger_run five = {
        .data = "d", .population = "p", .rows = 9, .adjacency = "null-record", .epsilon = 5, .delta = 1e-6};
    struct dp_ledger *nothing = opened(&five);
    assert_int_equal(dp_ledger_reserve(nothing, &event, 1, &err), DP_E_BUDGET);
    end(nothing, &five, &event, 0, "budget"); /* has released nothing, and counts nothing */
    assert_true(holds());
}

/* A run of an earlier version whose own budget is what a paper claims. */
TEST_IN(a_claim_does_not_add_up, fresh, NULL)
{
    struct dp_ledger_budget budget = a_budget(1), later = budget;
    struct dp_event event = gaussian(2), quiet = gaussian(1e6);
    struct dp_ledger_run claimed = a_run(0.1, 1e-6, &event, 1), small = a_run(0.1, 1e-6, &quiet, 1);
    set_budget(&budget);
    whole(&claimed, &event);
    whole(&small, &quiet);
    make_claimed(PATH, 0);
    assert_refused(&small, "affords 0 of the run's 1 laps");
    /* it counts before a budget with what it has cost, but only if it has ended */
    fresh(NULL);
    claimed.plan = NULL;
    claimed.laps = 0;
    struct dp_ledger *ledger = opened(&claimed);
    assert_int_equal(dp_ledger_reserve(ledger, &event, 1, &err), 0);
    dp_ledger_free(ledger);
    make_claimed(PATH, 0);
    later.epsilon = 9;
    assert_int_equal(dp_ledger_set_budget(PATH, &later, &err), DP_E_UNSAFE);
    assert_non_null(strstr(err.message, "no bound is known of the run "));
}

/* One run of exactly the budget, at its delta. */
TEST_IN(the_first_run_may_choose_addition, one_budget, NULL)
{
    struct dp_event event = gaussian(2), quiet = gaussian(1e6);
    struct dp_ledger_run large = a_run(1.01, 1e-5, &event, 1), exact = a_run(1, 1e-5, &event, 1);
    struct dp_ledger_run small = a_run(0.5, 1e-7, &quiet, 1);
    assert_refused(&large, "with as many laps a run of --epsilon 1 fits");
    whole(&exact, &event);
    assert_true(holds());
    assert_refused(&small, "epsilon 1 of it is spent");
}

/* If addition has all of delta, the filter has no share, even if it would have room. */
TEST_IN(who_chooses_addition_gives_up_the_filter, one_budget, NULL)
{
    struct dp_event event = gaussian(12), quiet = gaussian(1e6); /* order 40 has room for five laps of ten */
    struct dp_ledger_run exact = a_run(1, 1e-5, &event, 10), small = a_run(0.5, 1e-7, &quiet, 1);
    end(opened(&exact), &exact, &event, 1, "interrupted");
    assert_refused(&small, "affords 0 of the run's 1 laps; epsilon 1 of it is spent");
}

/* A run that ended before its first lap has spent nothing: its choice does not bind later runs. */
TEST_IN(the_choice_of_a_run_without_laps_does_not_last, one_budget, NULL)
{
    struct dp_event event = gaussian(2), quiet = gaussian(1e6);
    struct dp_ledger_run exact = a_run(1, 1e-5, &event, 1), small = a_run(0.5, 1e-7, &quiet, 1);
    end(opened(&exact), &exact, &event, 0, "interrupted");
    for (int i = 0; i < 3; i++) /* addition has room for two, the filter for many */
        whole(&small, &quiet);
    assert_true(holds());
    assert_refused(&exact, "affords 0 of the run's 1 laps");
}

TEST_IN(nobody_chooses_after_something_was_released, one_budget, NULL)
{
    struct dp_event event = gaussian(2), quiet = gaussian(1e6);
    struct dp_ledger_run small = a_run(0.01, 1e-9, &quiet, 1), rest = a_run(0.9, 9.9e-6, &event, 1);
    whole(&small, &quiet);
    assert_refused(&rest, "affords 0 of the run's 1 laps");
}

/* A run that only addition admitted keeps its laps when other runs begin. */
TEST_IN(what_was_admitted_whole_stays_so, one_budget, NULL)
{
    struct dp_event event = gaussian(2), quiet = gaussian(1e6);
    struct dp_ledger_run first = a_run(0.9, 1e-6, &event, 10), second = a_run(0.2, 1e-6, &quiet, 1);
    struct dp_ledger *ledger = opened(&first);
    assert_refused(&second, "affords 0 of the run's 1 laps");
    end(ledger, &first, &event, 10, "done");
    assert_true(holds());
}

/* No order bounds a threshold. The first run's thresholds are Gaussian noise, and each order has less delta for it. */
TEST_IN(thresholds_of_the_first_run_have_a_part_of_delta, one_budget, NULL)
{
    struct dp_event names = gaussian(100), quiet = gaussian(100);
    names.query[0] = (struct dp_query){.kind = DP_QUERY_GAUSSIAN_THRESHOLD, .multiplier = 100, .named_delta = 5e-7};
    struct dp_ledger_run schema = a_run(0.9, 6e-7, &names, 1), again = a_run(0.9, 6e-7, &names, 1),
                         small = a_run(5, 1e-6, &quiet, 1);
    int64_t laps = (int64_t)floor((1 - dp_rdp_penalty(40, 1e-6 - 5e-7) - 0.002) / 0.002 - 1e-9);
    struct dp_ledger_run fits = a_run(5, 1e-6, &quiet, laps), more = a_run(5, 1e-6, &quiet, laps + 1);
    struct dp_ledger_run most = a_run(5, 1e-6, &quiet, laps + 2);
    end(opened(&schema), &schema, &names, 0, "interrupted"); /* its plan has taken its part, whatever it used */
    assert_refused(&most, "affords");
    one_budget(state);
    end(opened(&schema), &schema, &names, 1, "done");
    assert_refused(&again, "affords 0");
    assert_refused(&more, "affords");
    whole(&fits, &quiet);
    assert_true(holds());
    /* one that comes second is added up, and then so is everything */
    one_budget(state);
    whole(&small, &quiet);
    assert_refused(&schema, "affords 0");
    /* a run that is resumed has a plan that was not there at the beginning */
    one_budget(state);
    char mark[DP_LEDGER_MARK];
    names.query[0].named_delta = 1e-7;
    struct dp_ledger_run two = a_run(0.9, 2e-6, &names, 2);
    struct dp_ledger *ledger = opened(&two);
    assert_ok(dp_ledger_checkpoint(ledger, LAPS_OF(names, 1), LAPS_OF(names, 1), &err));
    snprintf(mark, sizeof mark, "%s", dp_ledger_mark(ledger));
    dp_ledger_free(ledger);
    two.resumes = mark;
    two.done = 1;
    ledger = opened(&two);
    assert_refused(&small, "affords 0");
    dp_ledger_free(ledger);
    /* a part that is larger than the share */
    one_budget(state);
    names.query[0].named_delta = 1e-6;
    schema = a_run(0.9, 2e-6, &names, 1);
    end(opened(&schema), &schema, &names, 1, "done");
    assert_refused(&small, "affords 0");
}

static void state_release(enum dp_query_kind kind, double size, double delta, char over[DP_ERR_MESSAGE_SIZE])
{
    struct dp_ledger_run run = {
        .data = "d", .population = "p", .rows = 9, .adjacency = "null-record", .epsilon = size, .delta = delta};
    struct dp_ledger_statement said = {.what = "a survey", .release = {.kind = kind}, .by = DP_ACCOUNTANT_PURE};
    struct dp_ledger *ledger;
    struct dp_err err = {0};
    said.release.delta = delta;
    *(kind == DP_QUERY_ZCDP ? &said.release.rho : &said.release.epsilon) = size;
    const struct dp_event event = {.rate = 1, .queries = 1, .query = {said.release}};
    run.epsilon = answer_of(DP_ACCOUNTANT_BEST, LAPS_OF(event, 1), delta).upper;
    assert_ok(dp_ledger_state(&ledger, PATH, &run, &said, over, &err));
    dp_ledger_free(ledger);
}

/* At order 40 a rho of 0.01 costs 0.4, and a pure epsilon of 1e-3 at most that. A delta has no bound at any order; nor have
 * thresholds, because a release that is written down after the first run may have been known to it. */
TEST_IN(releases_of_other_tools_count_at_every_order, one_budget, NULL)
{
    char over[DP_ERR_MESSAGE_SIZE];
    struct dp_event names = gaussian(100), quiet = gaussian(100);
    names.query[0] = (struct dp_query){.kind = DP_QUERY_GAUSSIAN_THRESHOLD, .multiplier = 100, .named_delta = 5e-7};
    struct dp_ledger_run schema = a_run(0.9, 6e-7, &names, 1), small = a_run(5, 1e-6, &quiet, 1);
    int64_t laps = (int64_t)floor((1 - dp_rdp_penalty(40, 1e-6) - 0.4) / 0.002 - 1e-9);
    struct dp_ledger_run fits = a_run(5, 1e-6, &quiet, laps), more = a_run(5, 1e-6, &quiet, laps + 1);
    state_release(DP_QUERY_ZCDP, 0.01, 1e-6, over);
    assert_string_equal(over, "");
    assert_refused(&more, "affords");
    whole(&fits, &quiet);
    assert_true(holds());
    one_budget(state);
    state_release(DP_QUERY_STATED, 1e-3, 1e-9, over);
    assert_refused(&small, "affords 0");
    one_budget(state);
    whole(&schema, &names);
    assert_true(holds());
    state_release(DP_QUERY_PURE, 1e-3, 0, over);
    assert_refused(&small, "affords 0");
}

TEST_IN(a_budget_is_replaced_or_lowered, fresh, NULL)
{
    struct dp_ledger_budget budget = a_budget(1), other = a_budget(5), one = a_budget(1);
    struct dp_event event = gaussian(2);
    struct dp_ledger_run run = a_run(0.6, 1e-6, &event, 1), more = a_run(0.5, 1e-6, &event, 1);
    set_budget(&budget);
    set_budget(&other);
    end(opened(&run), &run, &event, 0, "interrupted"); /* has spent nothing */
    set_budget(&one);
    whole(&run, &event);
    assert_fails(dp_ledger_set_budget(PATH, &other, &err), DP_E_UNSAFE,
                 "runs have used the budget of epsilon = 1 for p in the ledger test.ledger: it can be "
                 "lowered, but what they have released must not raise it");
    assert_int_equal(dp_ledger_set_budget(PATH, &one, &err), DP_E_UNSAFE);
    one.epsilon = 0.59;
    assert_fails(dp_ledger_set_budget(PATH, &one, &err), DP_E_UNSAFE,
                 "the runs on p in the ledger test.ledger have spent epsilon = 0.6 of its budget already");
    one.delta = 2e-5;
    assert_int_equal(dp_ledger_set_budget(PATH, &one, &err), DP_E_UNSAFE);
    one.delta = 1e-5;
    one.epsilon = 0.8;
    one.order[0] = (struct dp_ledger_order){7, 1}; /* it is ignored */
    set_budget(&one);
    assert_true(one.orders == 1 && one.order[0].order == 40);
    assert_refused(&more, "the budget of epsilon = 0.8 for p");
    assert_true(holds());
}

/* If two budgets bind one run, both have to admit it. */
TEST_IN(two_budgets_both_admit, fresh, NULL)
{
    struct dp_ledger_budget large = a_budget(3), little = a_budget(0.5);
    struct dp_event event = gaussian(2);
    struct dp_ledger_run run = a_run(0.6, 1e-6, &event, 1);
    large.data = NULL;
    little.population = "d";
    little.data = NULL;
    set_budget(&large);
    set_budget(&little);
    assert_refused(&run, "the budget of epsilon = 0.5 for d");
    run.epsilon = 0.5;
    whole(&run, &event);
    assert_refused(&run, "the budget of epsilon = 0.5 for d");
}

TESTS(enter, leave)
