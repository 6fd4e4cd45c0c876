/* Reports, verification and certificates of runs whose cost can be written down: Gaussians on every row, which are one Gaussian
   of μ = √(2 rho), rho = Σ laps / 2z². */
#include "unit.h"
#include "scratch.h"

#include <unistd.h>

#include "account/account.h"
#include "base/version.h"
#include "ledger/certificate.h"
#include "priv/filter.h"
#include "priv/gdp.h"
#include "priv/rdp.h"
#include "ledger/ledger.h"
#include "ledger/book.h"
#include "ledger/report.h"
#include "claimed.h"

#define PATH "test.ledger"

static void gone(void)
{
    unlink(PATH);
    unlink(PATH ".mark");
}

static int fresh(void **state)
{
    (void)state;
    gone();
    return 0;
}

static double gdp(double rho, double delta)
{
    return dp_gaussian_epsilon(sqrt(2 * rho), delta);
}

static const struct dp_ledger_run run = {.data = "aaaa", .rows = 1000, .adjacency = "null-record", .epsilon = 1, .delta = 1e-5};

/* The story of a run in the tests: laps at z are reserved, `used` of them used (negative: the run is lost), and the close line
   states their cost, or is edited to state `stated` by `accountant`. */
struct story {
    struct dp_ledger_run run;
    double z;
    int64_t laps, used;
    double stated;
    const char *accountant;
    bool uncovered; /* no accountant covers it */
};

/* Writes another epsilon into the close line at the end of the ledger, like a manual edit, with a correct hash. */
static void forge(double epsilon, const char *accountant)
{
    char text[4096], hash[DP_LEDGER_HASH + 1], prev[DP_LEDGER_HASH + 1], *line = NULL;
    size_t length;
    long at = 0, next = 0;
    FILE *file = fopen(PATH, "r+b");
    for (; fgets(text, sizeof text, file) != NULL; next = ftell(file))
        at = next;
    json_t *members = json_loads(text, 0, NULL);
    size_t seq = (size_t)json_integer_value(json_object_get(members, "seq"));
    snprintf(prev, sizeof prev, "%s", json_string_value(json_object_get(members, "prev")));
    json_object_set_new(members, "epsilon", json_real(epsilon));
    json_object_set_new(members, "accountant", json_string(accountant));
    json_object_del(members, "seq");
    json_object_del(members, "prev");
    json_object_del(members, "hash");
    assert_int_equal(dp_ledger_line(members, seq, prev, &line, &length, hash, NULL), 0);
    fseek(file, at, SEEK_SET);
    fwrite(line, 1, length, file);
    assert_int_equal(ftruncate(fileno(file), ftell(file)), 0);
    fclose(file);
    free(line);
    FILE *mark = fopen(PATH ".mark", "w");
    fprintf(mark, "%032d:%zu:%s\n", 0, seq, hash);
    fclose(mark);
}

/* Closes a run with its cost. */
static void close_run(struct dp_ledger *ledger, const struct dp_ledger_run *r, const struct dp_charges *used)
{
    struct dp_answer answer;
    struct dp_err err = {0};
    assert_int_equal(dp_account_epsilon(DP_ACCOUNTANT_BEST, used, r->delta, &answer, &err), 0);
    struct dp_ledger_end end = {used, answer.upper, r->delta, dp_accountant_names[answer.by], "done", NULL, 0};
    if (r->order > 0 && used->count > 0) {
        end.epsilon = r->epsilon;
        end.accountant = "filter";
    }
    assert_ok(dp_ledger_close(ledger, &end, &err));
}

static void play(const struct story *story, char mark[DP_LEDGER_MARK])
{
    struct dp_event event = dp_event_gaussian(story->uncovered ? DP_SAMPLING_SUBSTITUTED : DP_SAMPLING_NONE, 1, story->z, 0);
    struct dp_ledger *ledger;
    struct dp_charges used = {0};
    if (story->uncovered) /* a sparse vector on a sample with an exchanged row */
        event.query[0] = (struct dp_query){.kind = DP_QUERY_SPARSE_GAUSSIAN, .rho = 0.1, .most = 3};
    struct dp_err err = {0};
    assert_ok(dp_ledger_open(&ledger, PATH, &story->run, &err));
    if (story->run.order == 0) /* a filter has reserved its budget */
        assert_int_equal(dp_ledger_reserve(ledger, &event, story->laps, &err), 0);
    if (mark != NULL)
        snprintf(mark, DP_LEDGER_MARK, "%s", dp_ledger_mark(ledger));
    if (story->used >= 0) {
        if (story->used > 0)
            assert_int_equal(dp_charges_add(&used, &event, story->used, &err), 0);
        close_run(ledger, &story->run, &used);
        if (story->accountant != NULL)
            forge(story->stated, story->accountant);
    }
    dp_charges_free(&used);
    dp_ledger_free(ledger);
}

static struct story plain(double z, int64_t laps, int64_t used)
{
    struct story story = {.run = run, .z = z, .laps = laps, .used = used};
    story.stated = gdp((double)(used >= 0 ? used : laps) / (2 * z * z), run.delta);
    return story;
}

static const json_t *at(const json_t *json, const char *list, size_t index)
{
    const json_t *entry = json_array_get(json_object_get(json, list), index);
    assert_non_null(entry);
    return entry;
}

static double real_of(const json_t *json, const char *key)
{
    const json_t *value = json_object_get(json, key);
    if (!json_is_number(value))
        fail_msg("%s is not a number", key);
    return json_number_value(value);
}

static const char *string_of(const json_t *json, const char *key)
{
    const char *value = json_string_value(json_object_get(json, key));
    return value != NULL ? value : "(no string)";
}

static json_t *verify(void)
{
    struct dp_err err = {0};
    json_t *result;
    assert_ok(dp_ledger_verify(PATH, &result, &err));
    return result;
}

static json_t *certify(const char *mark, int64_t lap)
{
    struct dp_err err = {0};
    json_t *certificate;
    assert_ok(dp_certificate_make(PATH, &(struct dp_certified){mark, lap, "feed", NULL}, &certificate, &err));
    /* as it reads back from a file */
    char *text = json_dumps(certificate, JSON_REAL_PRECISION(17));
    json_decref(certificate);
    certificate = json_loads(text, 0, NULL);
    free(text);
    assert_non_null(certificate);
    return certificate;
}

/* --- report -------------------------------------------------------------------------------------------------------- */

/* Older ledgers have runs whose budget was compared with what a paper claims: no filter kept them within it. */
TEST_IN(a_run_within_a_claim_counts_with_its_laps, fresh, NULL)
{
    json_t *report;
    double order = dp_filter_order(1, 1e-5);
    char open[400], prev[DP_LEDGER_HASH + 1] = DP_LEDGER_ORIGIN;
    snprintf(open, sizeof open,
             "{\"kind\":\"open\",\"run\":\"00112233445566778899aabbccddeeff\",\"data\":\"d\",\"rows\":9,"
             "\"adjacency\":\"null-record\",\"epsilon\":1,\"delta\":1e-5,\"seeded\":false,\"as_published\":true,"
             "\"private_preprocessing\":\"\",\"software\":\"x\",\"order\":%.17g}",
             order);
    const char *const lines[] = {open,
                                 "{\"kind\":\"reserve\",\"run\":\"00112233445566778899aabbccddeeff\",\"charge\":{\"laps\":400,"
                                 "\"sampling\":\"none\",\"queries\":[{\"noise\":\"gaussian\",\"multiplier\":1}]}}"};
    FILE *file = fopen(PATH, "w");
    for (size_t i = 0; i < 2; i++) {
        char *text, hash[DP_LEDGER_HASH + 1];
        size_t length;
        assert_int_equal(dp_ledger_line(json_loads(lines[i], 0, NULL), i + 1, prev, &text, &length, hash, &err), 0);
        fputs(text, file);
        memcpy(prev, hash, sizeof prev);
        free(text);
    }
    fclose(file);
    assert_int_equal(dp_ledger_report(PATH, NULL, NAN, &report, &err), 0);
    assert_near(real_of(at(report, "runs", 0), "epsilon"), 200 * order + dp_rdp_penalty(order, 1e-5), 1e-9);
    json_decref(report);
}

TEST_IN(a_report_adds_up_and_composes_under_its_condition, fresh, NULL)
{
    json_t *report;
    struct story lost = plain(10, 40, -1), ended = plain(5, 100, 30), other = plain(10, 10, 10), marked = plain(20, 8, 8);
    other.run.data = "bbbb";
    marked.run.seeded = true;
    marked.run.preprocessing = "max-abs";
    marked.run.delta = 1e-4;
    marked.run.time = 1700000000;
    play(&lost, NULL);
    play(&ended, NULL);
    play(&other, NULL);
    play(&marked, NULL);
    assert_int_equal(dp_ledger_report(PATH, NULL, NAN, &report, &err), 0);
    assert_int_equal(real_of(report, "lines"), 2 + 3 + 3 + 3);
    assert_true(json_is_false(json_object_get(report, "torn")));
    assert_int_equal(json_array_size(json_object_get(report, "runs")), 4);
    const json_t *first = at(report, "runs", 0), *second = at(report, "runs", 1), *last = at(report, "runs", 3);
    assert_string_equal(string_of(first, "status"), "going or killed");
    assert_true(json_is_false(json_object_get(first, "closed")));
    assert_int_equal(real_of(first, "laps"), 40);
    /* its plan is unknown, so it is stated at one order, which follows from its budget of 1 at 1e-5 */
    const double order = dp_filter_order(1, 1e-5), at_order = 0.2 * order + dp_rdp_penalty(order, 1e-5);
    assert_string_equal(string_of(first, "stated_at"), "order");
    assert_near(real_of(first, "order"), order, 0);
    assert_near(real_of(first, "epsilon"), at_order, 1e-12);
    assert_string_equal(string_of(first, "accountant"), "filter");
    assert_string_equal(string_of(second, "stated_at"), "laps");
    assert_string_equal(string_of(second, "status"), "done");
    assert_int_equal(real_of(second, "laps"), 30);
    assert_near(real_of(second, "epsilon"), gdp(0.6, 1e-5), 1e-8);
    assert_near(real_of(second, "epsilon_lower"), gdp(0.6, 1e-5), 1e-8);
    assert_string_equal(string_of(second, "accountant"), "gdp");
    assert_int_equal(real_of(at(second, "charges", 0), "laps"), 30);
    assert_true(json_is_true(json_object_get(last, "seeded")));
    assert_int_equal(real_of(last, "opened"), 1700000000);
    assert_null(json_object_get(first, "opened"));

    assert_int_equal(json_array_size(json_object_get(report, "populations")), 2);
    const json_t *total = at(report, "populations", 0);
    assert_string_equal(string_of(total, "population"), "aaaa");
    assert_int_equal(real_of(total, "runs"), 3);
    assert_int_equal(real_of(total, "not_closed"), 1);
    assert_int_equal(real_of(total, "laps"), 78);
    /* the sum, which holds if one run was planned from the results of another; below it the composition at the largest delta */
    assert_near(real_of(total, "delta"), 1e-5 + 1e-5 + 1e-4, 1e-18);
    assert_near(real_of(total, "epsilon"), at_order + gdp(0.6, 1e-5) + real_of(last, "epsilon"), 1e-8);
    assert_string_equal(string_of(total, "accountant"), "added");
    const json_t *composed = json_object_get(total, "composed");
    assert_near(real_of(composed, "delta"), 1e-4, 0);
    assert_near(real_of(composed, "epsilon"), (0.2 + 0.6 + 0.01) * order + dp_rdp_penalty(order, 1e-4), 1e-12);
    assert_true(json_is_true(json_object_get(total, "seeded")));
    assert_string_equal(json_string_value(json_array_get(json_object_get(total, "private_preprocessing"), 0)), "max-abs");
    assert_near(real_of(at(report, "populations", 1), "epsilon"), gdp(0.05, 1e-5), 1e-8);
    json_decref(report);

    assert_int_equal(dp_ledger_report(PATH, "bbbb", 1e-3, &report, &err), 0);
    assert_int_equal(json_array_size(json_object_get(report, "runs")), 1);
    assert_near(real_of(at(report, "populations", 0), "epsilon"), gdp(0.05, 1e-3), 1e-8);
    assert_near(real_of(at(report, "runs", 0), "epsilon"), gdp(0.05, 1e-3), 1e-8);
    json_decref(report);
    assert_fails(dp_ledger_report(PATH, "cccc", NAN, &report, &err), DP_E_RUN, "the ledger test.ledger has nothing on cccc");
    assert_int_equal(dp_ledger_report(PATH, NULL, 1, &report, &err), DP_E_RUN);
    assert_int_equal(dp_ledger_report("absent", NULL, NAN, &report, &err), DP_E_RUN);
    assert_null(report);
}

TEST_IN(adjacencies_are_totalled_apart, fresh, NULL)
{
    json_t *report;
    struct story one = plain(10, 10, 10), replace = plain(10, 20, 20), beyond = plain(10, 5, -1);
    beyond.uncovered = true;
    replace.run.adjacency = "replace-one";
    beyond.run.data = "cccc";
    play(&one, NULL);
    play(&replace, NULL);
    play(&beyond, NULL);
    assert_int_equal(dp_ledger_report(PATH, NULL, NAN, &report, &err), 0);
    assert_int_equal(json_array_size(json_object_get(report, "populations")), 3);
    assert_string_equal(string_of(at(report, "populations", 1), "adjacency"), "replace-one");
    assert_near(real_of(at(report, "populations", 0), "epsilon"), gdp(0.05, 1e-5), 1e-8);
    assert_near(real_of(at(report, "populations", 1), "epsilon"), gdp(0.1, 1e-5), 1e-8);
    /* no accountant covers it */
    assert_true(json_is_null(json_object_get(at(report, "populations", 2), "epsilon")));
    assert_string_equal(string_of(at(report, "populations", 2), "why"),
                        "no accountant covers these mechanisms on a sample under replace-one adjacency");
    json_decref(report);
}

/* Penalties at delta = 1e-5: order 16: ln(15/16) + (ln 1e5 − ln 16)/15 = 0.5181506..., order 8: ln(7/8) + (ln 1e5 − ln 8)/7. A
   run with a filter counts with its whole budget: rho = epsilon − penalty. */
TEST_IN(a_run_with_a_filter_costs_its_budget, fresh, NULL)
{
    const double penalty16 = log(15.0 / 16) + (log(1e5) - log(16)) / 15;
    char mark[DP_LEDGER_MARK];
    json_t *report, *certificate, *result;
    struct story fixed = plain(10, 40, 40), wide = plain(10, 40, 20), low = plain(10, 5, -1), unused = plain(10, 5, 0);
    wide.run.order = 16;
    wide.run.epsilon = 3;
    low.run.order = 8;
    low.run.epsilon = 2;
    unused.run.order = 2.5;
    unused.run.epsilon = 10;
    play(&fixed, NULL);
    play(&wide, NULL);
    play(&unused, NULL);
    assert_int_equal(dp_ledger_report(PATH, NULL, NAN, &report, &err), 0);
    assert_near(real_of(at(report, "runs", 1), "epsilon"), 3, 1e-12);
    assert_near(real_of(at(report, "runs", 1), "order"), 16, 0);
    assert_string_equal(string_of(at(report, "runs", 1), "accountant"), "filter");
    assert_near(real_of(at(report, "runs", 2), "epsilon"), 0, 0);
    /* at order 16: 40 · 16/200 = 3.2, plus the filter's 3, which includes the one penalty */
    assert_near(real_of(json_object_get(at(report, "populations", 0), "composed"), "epsilon"), 6.2, 1e-12);
    json_decref(report);
    result = verify();
    assert_true(json_is_true(json_object_get(result, "intact")));
    json_decref(result);

    play(&low, mark);
    assert_int_equal(dp_ledger_report(PATH, NULL, NAN, &report, &err), 0);
    /* at order 8: 40 · 8/200 = 1.6, plus 3 − penalty(16), plus 2, which includes its penalty */
    assert_near(real_of(json_object_get(at(report, "populations", 0), "composed"), "epsilon"), 1.6 + 3 - penalty16 + 2, 1e-12);
    json_decref(report);
    certificate = certify(mark, 1);
    assert_int_equal(json_array_size(json_object_get(certificate, "mechanisms")), 0); /* it has not said what it used */
    assert_near(real_of(certificate, "epsilon"), 2, 1e-12);
    assert_string_equal(string_of(certificate, "accountant"), "filter");
    json_decref(certificate);

    gone();
    wide.accountant = "filter";
    for (wide.stated = 2.999; wide.stated < 3.002; wide.stated += 0.002) { /* it is 3, however much the laps have spent */
        play(&wide, NULL);
        result = verify();
        assert_true(json_is_false(json_object_get(result, "intact")));
        json_decref(result);
        gone();
    }
    wide.run.epsilon = 0.5; /* less than the penalty */
    struct dp_ledger *ledger;
    assert_int_equal(dp_ledger_open(&ledger, PATH, &wide.run, &err), DP_E_RUN);
}

TEST_IN(a_report_is_readable, fresh, NULL)
{
    json_t *report;
    char *text, expected[1000];
    size_t size;
    struct dp_ledger_budget budget = {
        .population = "aaaa", .adjacency = "null-record", .epsilon = 3, .delta = 1e-5, .order = {{16, 1}}, .orders = 1};
    struct story story = plain(10, 20, 20);
    story.run.time = 1700000000;
    story.run.preprocessing = "max-abs";
    assert_int_equal(dp_ledger_set_budget(PATH, &budget, &err), 0);
    play(&story, NULL);
    FILE *file = fopen(PATH, "ab");
    fputs("{\"seq", file);
    fclose(file);
    assert_int_equal(dp_ledger_report(PATH, NULL, NAN, &report, &err), 0);
    FILE *stream = open_memstream(&text, &size);
    dp_ledger_report_print(report, stream);
    fclose(stream);
    /* rho = .1: μ = .4472; order 16: 20 · 16/200 = 1.6, and the penalty
       ln(15/16) − (ln 1e-5 + ln 16)/15 = 0.5181506, so 2.1181506... */
    snprintf(expected, sizeof expected,
             "data set aaaa, 1000 rows, null-record adjacency\n"
             "one row is taken for one person\n"
             "run                               opened                 laps    epsilon  ended\n"
             "%s  2023-11-14T22:13Z        20    1.76006  done  preprocessing not private: max-abs\n"
             "spent: epsilon 2.11816 at delta 1e-05 of a budget of 3, by 1 run and 20 laps (filter at order 16)\n"
             "counted by a filter at order 16, with delta 1e-05; added up, the runs state epsilon 1 at delta 1e-05\n"
             "if all runs had been planned together: epsilon 1.76006 at delta 1e-05\n"
             "by all runs in " PATH
             ": epsilon 2.11816 at delta 1e-05 of a budget of 3, by 1 run and 20 laps; epsilon 1 at delta 1e-05 "
             "is what they state by themselves, added up\n"
             "the last line is unfinished and does not count\n",
             string_of(at(report, "runs", 0), "run"));
    assert_string_equal(text, expected);
    free(text);
    json_decref(report);
}

/* --- verify -------------------------------------------------------------------------------------------------------- */

/* One run that states an epsilon, and whether verify accepts it. */
static void assert_stands(double factor, const char *accountant, bool claimed, int agrees)
{
    struct story story = plain(10, 40, 20);
    gone();
    story.stated *= factor;
    story.accountant = accountant;
    play(&story, NULL);
    if (claimed)
        make_claimed(PATH, 0);
    json_t *result = verify();
    const json_t *value = json_object_get(at(result, "runs", 0), "agrees");
    if (agrees < 0 ? !json_is_null(value) : agrees ? !json_is_true(value) : !json_is_false(value))
        fail_msg("factor %.12g by %s", factor, accountant);
    assert_int_equal(json_is_true(json_object_get(result, "intact")), agrees != 0);
    assert_int_equal(json_array_size(json_object_get(result, "findings")), agrees == 0);
    json_decref(result);
}

TEST_IN(every_epsilon_is_recomputed, fresh, NULL)
{
    assert_stands(1, "gdp", false, 1);
    assert_stands(1 - 2e-6, "gdp", false, 0);
    assert_stands(1 + 1e-7, "gdp", false, 1);
    assert_stands(1 + 1e-5, "gdp", false, 0);
    assert_stands(1.5, "another", false, 1);
    assert_stands(1 - 1e-12, "another", false, 1); /* the lower bound is this close */
    assert_stands(1 - 1e-5, "another", false, 0);
    assert_stands(0.1, "published", true, -1);
    assert_stands(0.1, "gdp", true, 0);
}

/* Appends the last line, a reservation, again with that many laps, like a writer that ignores the budget. */
static void reserve_again(int64_t laps)
{
    char text[4096], hash[DP_LEDGER_HASH + 1], *line = NULL;
    size_t length;
    FILE *file = fopen(PATH, "r+b");
    while (fgets(text, sizeof text, file) != NULL)
        ;
    json_t *members = json_loads(text, 0, NULL);
    snprintf(hash, sizeof hash, "%s", string_of(members, "hash"));
    size_t seq = (size_t)real_of(members, "seq") + 1;
    assert_int_equal(json_object_set_new(json_object_get(members, "charge"), "laps", json_integer(laps)), 0);
    json_object_del(members, "seq");
    json_object_del(members, "prev");
    json_object_del(members, "hash");
    assert_int_equal(dp_ledger_line(members, seq, hash, &line, &length, hash, NULL), 0);
    fwrite(line, 1, length, file);
    fclose(file);
    free(line);
}

TEST_IN(verify_says_what_is_wrong, fresh, NULL)
{
    struct story story = plain(10, 40, 20);
    char line[200], expected[300];
    json_t *result;
    story.stated = 1;
    story.accountant = "gdp";
    play(&story, NULL);
    result = verify();
    snprintf(expected, sizeof expected, "run %s: epsilon is recorded as 1, recomputed it is %.9g",
             string_of(at(result, "runs", 0), "run"), gdp(0.1, 1e-5));
    assert_string_equal(json_string_value(at(result, "findings", 0)), expected);
    json_decref(result);

    FILE *file = fopen(PATH, "r+b");
    assert_non_null(fgets(line, 20, file));
    fseek(file, 0, SEEK_SET);
    fputs("[", file);
    fclose(file);
    result = verify();
    assert_true(json_is_false(json_object_get(result, "intact")));
    assert_string_equal(
        json_string_value(at(result, "findings", 0)),
        "line 1 of the ledger test.ledger was edited or damaged: its hash does not fit (is this file a ledger?)");
    json_decref(result);
    assert_int_equal(dp_ledger_verify("absent", &result, &err), DP_E_RUN);
    assert_null(result);
    assert_string_equal(err.message, "cannot open the ledger absent: No such file or directory");

    /* a budget that its writer ignored */
    gone();
    struct dp_ledger_budget budget = {
        .population = "aaaa", .adjacency = "null-record", .epsilon = 1, .delta = 0.5, .order = {{2, 1}}, .orders = 1};
    struct dp_event event = dp_event_gaussian(DP_SAMPLING_NONE, 1, 1, 0);
    struct dp_ledger *ledger;
    assert_int_equal(dp_ledger_set_budget(PATH, &budget, &err), 0);
    assert_int_equal(dp_ledger_open(&ledger, PATH, &run, &err), 0);
    assert_int_equal(dp_ledger_reserve(ledger, &event, 1, &err), 0);
    dp_ledger_free(ledger);
    reserve_again(2);
    result = verify();
    /* 3 laps of 2/2, and −ln 2 */
    assert_string_equal(json_string_value(at(result, "findings", 0)), "aaaa: its budget is epsilon = 1, 2.30685282 are spent");
    json_decref(result);
}

/* --- certificates -------------------------------------------------------------------------------------------------- */

TEST_IN(a_certificate_states_what_a_model_has_cost, fresh, NULL)
{
    char mark[DP_LEDGER_MARK], later[DP_LEDGER_MARK];
    struct story unrelated = plain(1, 5, 5), story = plain(10, 40, 30);
    story.run.preprocessing = "max-abs";
    story.run.seeded = true;
    play(&unrelated, NULL);
    play(&story, mark);
    json_t *certificate = certify(mark, 20);
    assert_string_equal(string_of(certificate, "data"), "aaaa");
    assert_int_equal(real_of(certificate, "rows"), 1000);
    assert_string_equal(string_of(certificate, "adjacency"), "null-record");
    assert_string_equal(string_of(certificate, "model"), "feed");
    /* all 30 laps of the run, because the user may have seen them before choosing this one */
    assert_int_equal(real_of(at(certificate, "mechanisms", 0), "laps"), 30);
    assert_near(real_of(certificate, "epsilon"), gdp(0.15, 1e-5), 1e-8);
    assert_near(real_of(certificate, "epsilon_lower"), gdp(0.15, 1e-5), 1e-8);
    const json_t *fixed = json_object_get(certificate, "if_the_lap_was_fixed"), *of_run = at(certificate, "runs", 0);
    assert_int_equal(real_of(fixed, "laps"), 20);
    assert_near(real_of(fixed, "epsilon"), gdp(0.1, 1e-5), 1e-8);
    assert_near(real_of(fixed, "delta"), 1e-5, 0);
    assert_string_equal(string_of(certificate, "status"), "done");
    assert_string_equal(string_of(of_run, "status"), "done");
    assert_string_equal(string_of(of_run, "stated_at"), "laps");
    assert_int_equal(real_of(of_run, "laps"), 30);
    assert_true(json_is_false(json_object_get(certificate, "model_in_ledger")));
    assert_near(real_of(certificate, "delta"), 1e-5, 0);
    assert_string_equal(string_of(certificate, "accountant"), "gdp");
    assert_string_equal(string_of(certificate, "software"), "dpline " DP_VERSION);
    assert_string_equal(json_string_value(json_array_get(json_object_get(certificate, "private_preprocessing"), 0)), "max-abs");
    assert_true(json_is_true(json_object_get(certificate, "seeded")));
    assert_null(json_object_get(certificate, "as_published"));
    assert_null(json_object_get(certificate, "not_in_ledger"));
    assert_null(json_object_get(certificate, "if_planned_together"));
    assert_null(json_object_get(certificate, "other_data"));
    assert_int_equal(dp_certificate_verify(certificate, PATH, NULL, NULL, &err), 0);
    struct dp_certified model = {mark, 20, "feed", NULL};
    bool bound = true;
    assert_int_equal(dp_certificate_verify(certificate, PATH, &model, &bound, &err), 0);
    assert_false(bound);
    model.model = "food";
    assert_fails(dp_certificate_verify(certificate, PATH, &model, &bound, &err), DP_E_UNSAFE,
                 "the certificate is for another model");
    model.model = "feed";
    model.lap = 21;
    assert_int_equal(dp_certificate_verify(certificate, PATH, &model, &bound, &err), DP_E_UNSAFE);
    assert_non_null(strstr(err.message, "the certificate is for lap 20 of the run "));
    model.lap = 20;
    play(&unrelated, later); /* later runs change nothing */
    assert_int_equal(dp_certificate_verify(certificate, PATH, &model, &bound, &err), 0);
    model.mark = later;
    assert_int_equal(dp_certificate_verify(certificate, PATH, &model, &bound, &err), DP_E_UNSAFE);
    assert_non_null(strstr(err.message, ", and the model is of lap 20 of the run "));
    json_decref(certificate);

    assert_fails(dp_certificate_make(PATH, &(struct dp_certified){mark, 31, "feed", NULL}, &certificate, &err), DP_E_UNSAFE,
                 "the model is of lap 31 and its run has paid for 30");
    assert_null(certificate);
    assert_int_equal(dp_certificate_make(PATH, &(struct dp_certified){mark, 0, "feed", NULL}, &certificate, &err), DP_E_RUN);
    mark[40] ^= 1;
    assert_int_not_equal(dp_certificate_make(PATH, &(struct dp_certified){mark, 1, "feed", NULL}, &certificate, &err), 0);
}

/* A certificate of a run that had not ended when it was made. */
TEST_IN(a_certificate_outlives_the_end_of_its_run, fresh, NULL)
{
    struct dp_event event = dp_event_gaussian(DP_SAMPLING_NONE, 1, 10, 0);
    struct dp_ledger *ledger;
    struct dp_charges used = {0};
    assert_int_equal(dp_ledger_open(&ledger, PATH, &run, &err), 0);
    assert_int_equal(dp_ledger_reserve(ledger, &event, 50, &err), 0);
    json_t *certificate = certify(dp_ledger_mark(ledger), 40);
    assert_true(json_is_false(json_object_get(at(certificate, "runs", 0), "closed")));
    dp_charges_add(&used, &event, 45, &err);
    close_run(ledger, &run, &used);
    assert_int_equal(dp_certificate_verify(certificate, PATH, NULL, NULL, &err), 0);
    json_decref(certificate);
    dp_charges_free(&used);
    dp_ledger_free(ledger);
}

TEST_IN(every_member_is_compared, fresh, NULL)
{
    char mark[DP_LEDGER_MARK], expected[400];
    struct story story = plain(10, 40, 30);
    story.run.prior_epsilon = 0.25;
    story.run.prior_delta = 1e-6;
    play(&story, mark);
    json_t *certificate = certify(mark, 20);
    const char *names = "unit lap population data rows adjacency runs mechanisms epsilon epsilon_lower delta accountant "
                        "private_preprocessing seeded not_in_ledger status model_in_ledger if_the_lap_was_fixed more";
    for (const char *name; (name = next_of(&names, ' ')) != NULL;) {
        json_t *wrong = json_deep_copy(certificate), *value = json_object_get(wrong, name);
        bool more = strcmp(name, "more") == 0;
        if (json_is_integer(value))
            json_integer_set(value, json_integer_value(value) + 1);
        else if (strcmp(name, "epsilon_lower") ==
                 0) /* another lower bound is not a contradiction, unless it is above epsilon */
            json_real_set(value, json_real_value(json_object_get(certificate, "epsilon")) * (1 + 2e-6));
        else if (json_is_real(value))
            json_real_set(value, json_real_value(value) * (1 - 2e-6));
        else if (json_is_boolean(value))
            json_object_set_new(wrong, name, json_boolean(!json_is_true(value)));
        else if (json_is_array(value) && json_array_size(value) > 0)
            json_object_set_new(json_array_get(value, 0), strcmp(name, "runs") == 0 ? "run" : "laps", json_integer(1));
        else if (json_is_array(value))
            json_array_append_new(value, json_string("x"));
        else if (json_is_object(value))
            json_object_del(value, "delta");
        else
            json_object_set_new(wrong, name, json_string("x"));
        assert_int_equal(dp_certificate_verify(wrong, PATH, NULL, NULL, &err), DP_E_UNSAFE);
        /* a changed lap must change the cost */
        snprintf(expected, sizeof expected, "the certificate is not what the ledger test.ledger says: %s'%s' %s",
                 more ? "it has " : "", strcmp(name, "lap") == 0 ? "if_the_lap_was_fixed" : name, more ? "as well" : "differs");
        assert_string_equal(err.message, expected);
        json_decref(wrong);
        wrong = json_deep_copy(certificate);
        if (!more && strcmp(name, "lap") != 0 && strcmp(name, "unit") != 0) { /* at first there was no unit */
            json_object_del(wrong, name);
            assert_int_equal(dp_certificate_verify(wrong, PATH, NULL, NULL, &err), DP_E_UNSAFE);
        }
        json_decref(wrong);
    }
    json_object_set_new(certificate, "software", json_string("dpline 0.0.9"));
    assert_int_equal(dp_certificate_verify(certificate, PATH, NULL, NULL, &err), 0);
    json_integer_set(json_object_get(certificate, "certificate"), 2);
    assert_fails(dp_certificate_verify(certificate, PATH, NULL, NULL, &err), DP_E_RUN,
                 "the certificate is of format 2; 1 is the newest that this version knows");
    json_integer_set(json_object_get(certificate, "certificate"), 1);
    json_integer_set(json_object_get(json_object_get(certificate, "ledger"), "lines"), 99);
    assert_fails(dp_certificate_verify(certificate, PATH, NULL, NULL, &err), DP_E_UNSAFE,
                 "the ledger test.ledger does not hold line 99 of the certificate: rolled back to an "
                 "older state, or another ledger");
    json_object_del(certificate, "mark");
    assert_fails(dp_certificate_verify(certificate, PATH, NULL, NULL, &err), DP_E_RUN, "not a certificate");
    json_decref(certificate);
}

/* A model that started from a second model, which started from a third; in between they were trained on other data. */
TEST_IN(a_certificate_goes_back_to_the_first_run, fresh, NULL)
{
    char first[DP_LEDGER_MARK], second[DP_LEDGER_MARK], third[DP_LEDGER_MARK], fourth[DP_LEDGER_MARK];
    struct story a = plain(10, 40, 20), b = plain(10, 30, 30), c = plain(5, 30, -1), d = plain(5, 1, 1);
    a.run.delta = 1e-4;
    a.run.prior_epsilon = 0.25;
    a.run.prior_delta = 1e-6;
    play(&a, first);
    b.run.data = "bbbb";
    b.run.init = first;
    play(&b, second);
    c.run.init = second;
    play(&c, third);
    json_t *certificate = certify(third, 10);
    assert_int_equal(json_array_size(json_object_get(certificate, "runs")), 2);
    assert_int_equal(json_array_size(json_object_get(certificate, "mechanisms")), 2);
    /* a lost run of 30 laps at z = 5, rho = .6 at one order, and a run of 20 laps at z = 10, rho = .1 at 1e-4; plus the stated
       cost of the first model */
    const double order = dp_filter_order(1, 1e-5), lost = 0.6 * order + dp_rdp_penalty(order, 1e-5);
    assert_near(real_of(certificate, "epsilon"), 0.25 + lost + gdp(0.1, 1e-4), 1e-8);
    assert_near(real_of(certificate, "delta"), 1.1e-4 + 1e-6, 1e-14);
    assert_string_equal(string_of(certificate, "accountant"), "added");
    assert_near(real_of(certificate, "epsilon_lower"), 0, 0);
    /* the cost of one list of mechanisms, sound only if no run was planned after the first model was seen */
    const json_t *together = json_object_get(certificate, "if_planned_together");
    assert_near(real_of(together, "epsilon"), 0.25 + 0.7 * order + dp_rdp_penalty(order, 1e-4), 1e-8);
    assert_near(real_of(together, "delta"), 1e-4 + 1e-6, 1e-14);
    assert_string_equal(string_of(together, "accountant"), "filter");
    assert_near(real_of(json_object_get(certificate, "not_in_ledger"), "epsilon"), 0.25, 0);
    const json_t *other = at(certificate, "other_data", 0);
    assert_string_equal(string_of(other, "data"), "bbbb");
    assert_near(real_of(other, "epsilon"), gdp(0.15, 1e-5), 1e-8);
    assert_int_equal(dp_certificate_verify(certificate, PATH, NULL, NULL, &err), 0);
    json_decref(certificate);

    d.run.init = third;
    d.run.adjacency = "replace-one";
    play(&d, fourth);
    assert_int_equal(dp_certificate_make(PATH, &(struct dp_certified){fourth, 1, "feed", NULL}, &certificate, &err),
                     DP_E_UNSAFE);
}

/* Another import of the same table is not other data. */
TEST_IN(a_certificate_adds_all_runs_on_the_same_people, fresh, NULL)
{
    char first[DP_LEDGER_MARK], second[DP_LEDGER_MARK];
    struct story a = plain(10, 40, 20), b = plain(10, 30, 30);
    a.run.population = b.run.population = "people";
    play(&a, first);
    b.run.data = "bbbb";
    b.run.init = first;
    play(&b, second);
    json_t *certificate = certify(second, 30);
    assert_string_equal(string_of(certificate, "population"), "people");
    assert_string_equal(string_of(certificate, "data"), "bbbb");
    assert_string_equal(string_of(at(certificate, "runs", 1), "data"), "aaaa");
    assert_null(json_object_get(certificate, "other_data"));
    assert_near(real_of(certificate, "epsilon"), gdp(0.15, 1e-5) + gdp(0.1, 1e-5), 1e-8);
    assert_near(real_of(certificate, "delta"), 2e-5, 1e-14);
    assert_int_equal(dp_certificate_verify(certificate, PATH, NULL, NULL, &err), 0);
    /* the sound number is compared like every other */
    json_real_set(json_object_get(json_object_get(certificate, "if_planned_together"), "epsilon"), 0.1);
    assert_int_equal(dp_certificate_verify(certificate, PATH, NULL, NULL, &err), DP_E_UNSAFE);
    json_decref(certificate);
}

TESTS(enter, leave)
