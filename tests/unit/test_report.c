/* Reports, verification and certificates of runs whose cost can be written down: Gaussians on every row, which are one Gaussian
   of μ = √(2 rho), rho = Σ laps / 2z². */
#include "claimed.h"
#include "scratch.h"
#include "unit.h"

#include "base/version.h"
#include "ledger/certificate.h"
#include "ledger/report.h"
#include "priv/filter.h"
#include "priv/gdp.h"
#include "priv/rdp.h"

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

/* The members of the last line, and where it begins */
static json_t *last_line(long *begin)
{
    char text[4096];
    FILE *file = fopen(PATH, "rb");
    for (long next = 0; fgets(text, sizeof text, file) != NULL; next = ftell(file))
        *begin = next;
    fclose(file);
    return json_loads(text, 0, NULL);
}

/* Ends the ledger at that place with line seq, which has these members and a correct hash. */
static void put_line(long at, json_t *members, size_t seq, const char *prev)
{
    char hash[DP_LEDGER_HASH + 1];
    snprintf(hash, sizeof hash, "%s", prev);
    char *text = line_of(members, seq, hash);
    assert_int_equal(truncate(PATH, at), 0);
    FILE *file = fopen(PATH, "ab"), *mark = fopen(PATH ".mark", "w");
    fputs(text, file);
    fprintf(mark, "%032d:%zu:%s\n", 0, seq, hash);
    fclose(file);
    fclose(mark);
    free(text);
}

/* Writes another epsilon into the close line at the end of the ledger, like a manual edit. */
static void forge(double epsilon, const char *accountant)
{
    long at;
    json_t *members = last_line(&at);
    char prev[DP_LEDGER_HASH + 1];
    snprintf(prev, sizeof prev, "%s", json_string_value(json_object_get(members, "prev")));
    json_object_set_new(members, "epsilon", json_real(epsilon));
    json_object_set_new(members, "accountant", json_string(accountant));
    put_line(at, members, (size_t)json_integer_value(json_object_get(members, "seq")), prev);
}

static void play(const struct story *story, char mark[DP_LEDGER_MARK])
{
    struct dp_event event = dp_event_gaussian(story->uncovered ? DP_SAMPLING_SUBSTITUTED : DP_SAMPLING_NONE, 1, story->z, 0);
    struct dp_err err = {0};
    if (story->uncovered) /* a sparse vector on a sample with an exchanged row */
        event.query[0] = (struct dp_query){.kind = DP_QUERY_SPARSE_GAUSSIAN, .rho = 0.1, .most = 3};
    struct dp_ledger *ledger = opened(&story->run);
    if (story->run.order == 0) /* a filter has reserved its budget */
        reserve(ledger, &event, story->laps);
    if (mark != NULL)
        snprintf(mark, DP_LEDGER_MARK, "%s", dp_ledger_mark(ledger));
    if (story->used >= 0) {
        const struct dp_charges *used = story->used > 0 ? LAPS_OF(event, story->used) : &(struct dp_charges){0};
        assert_ok(close_with(ledger, used, story->run.delta, "done", &err));
        if (story->accountant != NULL)
            forge(story->stated, story->accountant);
    }
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

/* The most that a number is off: 1e-8 for a lower bound of epsilon, 1e-12 of its size for epsilon, and the last digit else. */
static double allowed(const char *what, double number)
{
    return strcmp(what, "epsilon_lower") == 0 ? 1e-8 : (strcmp(what, "epsilon") == 0 ? 1e-12 : 1e-15) * fabs(number);
}

/* Every member of `expected` is in `json`; null: there is no such member, or it is null. */
static void compare(const json_t *json, const json_t *expected, const char *what)
{
    const char *key;
    const json_t *value;
    size_t i;
    if (json_is_object(expected)) {
        json_object_foreach ((json_t *)expected, key, value)
            compare(json_object_get(json, key), value, key);
    } else if (json_is_array(expected)) {
        assert_int_equal(json_array_size(json), json_array_size(expected));
        json_array_foreach (expected, i, value)
            compare(json_array_get(json, i), value, what);
    } else if (json_is_number(expected)) {
        const double is = json_number_value(json), number = json_number_value(expected);
        if (!json_is_number(json) || !(fabs(is - number) <= allowed(what, number)))
            fail_msg("%s is %.17g, expected %.17g", what, is, number);
    } else if (json_is_null(expected) ? json != NULL && !json_is_null(json) : !json_equal(json, expected)) {
        fail_msg("%s is another than expected", what);
    }
}

/* Expects the members of JSON with a ' for each ". */
static __attribute__((format(printf, 2, 3))) void assert_has(const json_t *json, const char *format, ...)
{
    char members[2000];
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(members, sizeof members, format, args);
    va_end(args);
    assert_true(length < (int)sizeof members);
    json_t *expected = json_loads(json_of(members), 0, NULL);
    assert_non_null(expected);
    compare(json, expected, "the text");
    json_decref(expected);
}

static json_t *verify(void)
{
    struct dp_err err = {0};
    json_t *result;
    assert_ok(dp_ledger_verify(PATH, &result, &err));
    return result;
}

/* delta: NAN for the delta of each run */
static json_t *report_on(const char *population, double delta)
{
    struct dp_err err = {0};
    json_t *report;
    assert_ok(dp_ledger_report(PATH, population, delta, &report, &err));
    return report;
}

/* A certificate that does not fit the ledger */
static void assert_certificate_refused(const json_t *certificate, const struct dp_certified *model, enum dp_status status,
                                       const char *part)
{
    struct dp_err err = {0};
    bool bound;
    assert_int_equal(dp_certificate_verify(certificate, PATH, model, &bound, &err), status);
    if (strstr(err.message, part) == NULL)
        fail_msg("'%s' does not say '%s'", err.message, part);
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
#define NAME "00112233445566778899aabbccddeeff"
    const double order = dp_filter_order(1, 1e-5);
    char open[400], hash[DP_LEDGER_HASH + 1] = DP_LEDGER_ORIGIN;
    snprintf(open, sizeof open,
             "{'kind':'open','run':'" NAME "','data':'d','rows':9,'adjacency':'null-record','epsilon':1,'delta':1e-5,"
             "'seeded':false,'as_published':true,'private_preprocessing':'','software':'x','order':%.17g}",
             order);
    const char *const lines[] = {open, "{'kind':'reserve','run':'" NAME "','charge':{'laps':400,'sampling':'none','queries':"
                                       "[{'noise':'gaussian','multiplier':1}]}}"};
    FILE *file = fopen(PATH, "w");
    for (size_t i = 0; i < 2; i++) {
        char *text = line_of(json_loads(json_of(lines[i]), 0, NULL), i + 1, hash);
        fputs(text, file);
        free(text);
    }
    fclose(file);
    json_t *report = report_on(NULL, NAN);
    assert_near(real_of(at(report, "runs", 0), "epsilon"), 200 * order + dp_rdp_penalty(order, 1e-5), 1e-9);
    json_decref(report);
}

TEST_IN(a_report_adds_up_and_composes_under_its_condition, fresh, NULL)
{
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
    json_t *report = report_on(NULL, NAN);
    /* the plan of the first run is unknown, so it is stated at one order, which follows from its budget of 1 at 1e-5 */
    const double order = dp_filter_order(1, 1e-5), at_order = 0.2 * order + dp_rdp_penalty(order, 1e-5);
    assert_has(report,
               "{'lines':11,'torn':false,'runs':[{'status':'going or killed','closed':false,'laps':40,'stated_at':'order',"
               "'order':%.17g,'accountant':'filter','opened':null},{'stated_at':'laps','status':'done','laps':30,"
               "'epsilon':%.17g,'epsilon_lower':%.17g,'accountant':'gdp','charges':[{'laps':30}]},{},{'seeded':true,"
               "'opened':1700000000}]}",
               order, gdp(0.6, 1e-5), gdp(0.6, 1e-5));
    assert_near(real_of(at(report, "runs", 0), "epsilon"), at_order, 1e-12);
    /* the sum, which holds if one run was planned from the results of another; below it the composition at the largest delta */
    assert_has(report,
               "{'populations':[{'population':'aaaa','runs':3,'not_closed':1,'laps':78,'delta':%.17g,'epsilon':%.17g,"
               "'accountant':'added','composed':{'delta':1e-4},'seeded':true,'private_preprocessing':['max-abs']},"
               "{'epsilon':%.17g}]}",
               1e-5 + 1e-5 + 1e-4, at_order + gdp(0.6, 1e-5) + real_of(at(report, "runs", 3), "epsilon"), gdp(0.05, 1e-5));
    assert_near(real_of(json_object_get(at(report, "populations", 0), "composed"), "epsilon"),
                (0.2 + 0.6 + 0.01) * order + dp_rdp_penalty(order, 1e-4), 1e-12);
    json_decref(report);

    report = report_on("bbbb", 1e-3);
    assert_has(report, "{'runs':[{'epsilon':%.17g}],'populations':[{'epsilon':%.17g}]}", gdp(0.05, 1e-3), gdp(0.05, 1e-3));
    json_decref(report);
    assert_fails(dp_ledger_report(PATH, "cccc", NAN, &report, &err), DP_E_RUN, "the ledger test.ledger has nothing on cccc");
    assert_int_equal(dp_ledger_report(PATH, NULL, 1, &report, &err), DP_E_RUN);
    assert_int_equal(dp_ledger_report("absent", NULL, NAN, &report, &err), DP_E_RUN);
    assert_null(report);
}

TEST_IN(adjacencies_are_totalled_apart, fresh, NULL)
{
    struct story one = plain(10, 10, 10), replace = plain(10, 20, 20), beyond = plain(10, 5, -1);
    beyond.uncovered = true;
    replace.run.adjacency = "replace-one";
    beyond.run.data = "cccc";
    play(&one, NULL);
    play(&replace, NULL);
    play(&beyond, NULL);
    json_t *report = report_on(NULL, NAN);
    assert_has(report,
               "{'populations':[{'epsilon':%.17g},{'adjacency':'replace-one','epsilon':%.17g},{'epsilon':null,"
               "'why':'no accountant covers these mechanisms on a sample under replace-one adjacency'}]}",
               gdp(0.05, 1e-5), gdp(0.1, 1e-5));
    json_decref(report);
}

/* Penalties at delta = 1e-5: order 16: ln(15/16) + (ln 1e5 − ln 16)/15 = 0.5181506..., order 8: ln(7/8) + (ln 1e5 − ln 8)/7. A
   run with a filter counts with its whole budget: rho = epsilon − penalty. */
TEST_IN(a_run_with_a_filter_costs_its_budget, fresh, NULL)
{
    const double penalty16 = log(15.0 / 16) + (log(1e5) - log(16)) / 15;
    char mark[DP_LEDGER_MARK];
    json_t *certificate, *result;
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
    json_t *report = report_on(NULL, NAN);
    assert_has(report, "{'runs':[{},{'epsilon':3,'order':16,'accountant':'filter'},{'epsilon':0}]}");
    /* at order 16: 40 · 16/200 = 3.2, plus the filter's 3, which includes the one penalty */
    assert_near(real_of(json_object_get(at(report, "populations", 0), "composed"), "epsilon"), 6.2, 1e-12);
    json_decref(report);
    result = verify();
    assert_has(result, "{'intact':true}");
    json_decref(result);

    play(&low, mark);
    report = report_on(NULL, NAN);
    /* at order 8: 40 · 8/200 = 1.6, plus 3 − penalty(16), plus 2, which includes its penalty */
    assert_near(real_of(json_object_get(at(report, "populations", 0), "composed"), "epsilon"), 1.6 + 3 - penalty16 + 2, 1e-12);
    json_decref(report);
    certificate = certify(mark, 1);
    assert_has(certificate, "{'mechanisms':[],'epsilon':2,'accountant':'filter'}"); /* it has not said what it used */
    json_decref(certificate);

    gone(PATH);
    wide.accountant = "filter";
    for (wide.stated = 2.999; wide.stated < 3.002; wide.stated += 0.002) { /* it is 3, however much the laps have spent */
        play(&wide, NULL);
        result = verify();
        assert_has(result, "{'intact':false}");
        json_decref(result);
        gone(PATH);
    }
    wide.run.epsilon = 0.5; /* less than the penalty */
    struct dp_ledger *ledger;
    assert_int_equal(dp_ledger_open(&ledger, PATH, &wide.run, &err), DP_E_RUN);
}

TEST_IN(a_report_is_readable, fresh, NULL)
{
    char *text, expected[1000];
    size_t size;
    struct dp_ledger_budget budget = budget_of("aaaa", 3, 1e-5, 16);
    struct story story = plain(10, 20, 20);
    story.run.time = 1700000000;
    story.run.preprocessing = "max-abs";
    set_budget(&budget);
    play(&story, NULL);
    FILE *file = fopen(PATH, "ab");
    fputs("{\"seq", file);
    fclose(file);
    json_t *report = report_on(NULL, NAN);
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
             json_string_value(json_object_get(at(report, "runs", 0), "run")));
    assert_string_equal(text, expected);
    free(text);
    json_decref(report);
}

/* --- verify -------------------------------------------------------------------------------------------------------- */

/* One run that states an epsilon. verdict: what verify says of it */
static void assert_stands(double factor, const char *accountant, bool claimed, const char *verdict)
{
    struct story story = plain(10, 40, 20);
    gone(PATH);
    story.stated *= factor;
    story.accountant = accountant;
    play(&story, NULL);
    if (claimed)
        make_claimed(PATH, 0);
    json_t *result = verify();
    const bool wrong = strcmp(verdict, "false") == 0;
    assert_has(result, "{'runs':[{'agrees':%s}],'intact':%s}", verdict, wrong ? "false" : "true");
    assert_int_equal(json_array_size(json_object_get(result, "findings")), wrong);
    json_decref(result);
}

TEST_IN(every_epsilon_is_recomputed, fresh, NULL)
{
    assert_stands(1, "gdp", false, "true");
    assert_stands(1 - 2e-6, "gdp", false, "false");
    assert_stands(1 + 1e-7, "gdp", false, "true");
    assert_stands(1 + 1e-5, "gdp", false, "false");
    assert_stands(1.5, "another", false, "true");
    assert_stands(1 - 1e-12, "another", false, "true"); /* the lower bound is this close */
    assert_stands(1 - 1e-5, "another", false, "false");
    assert_stands(0.1, "published", true, "null");
    assert_stands(0.1, "gdp", true, "false");
}

/* Appends the last line, a reservation, again with that many laps, like a writer that ignores the budget. */
static void reserve_again(int64_t laps)
{
    long at;
    json_t *members = last_line(&at);
    char prev[DP_LEDGER_HASH + 1];
    struct stat st;
    snprintf(prev, sizeof prev, "%s", json_string_value(json_object_get(members, "hash")));
    json_object_set_new(json_object_get(members, "charge"), "laps", json_integer(laps));
    assert_int_equal(stat(PATH, &st), 0);
    put_line(st.st_size, members, (size_t)json_integer_value(json_object_get(members, "seq")) + 1, prev);
}

static void assert_first_finding(const char *sentence)
{
    json_t *result = verify();
    assert_string_equal(json_string_value(at(result, "findings", 0)), sentence);
    json_decref(result);
}

TEST_IN(verify_says_what_is_wrong, fresh, NULL)
{
    struct story story = plain(10, 40, 20);
    char line[200], expected[300], mark[DP_LEDGER_MARK];
    json_t *result;
    story.stated = 1;
    story.accountant = "gdp";
    play(&story, mark);
    snprintf(expected, sizeof expected, "run %.32s: epsilon is recorded as 1, recomputed it is %.9g", mark, gdp(0.1, 1e-5));
    assert_first_finding(expected);

    FILE *file = fopen(PATH, "r+b");
    assert_non_null(fgets(line, 20, file));
    fseek(file, 0, SEEK_SET);
    fputs("[", file);
    fclose(file);
    assert_first_finding(
        "line 1 of the ledger test.ledger was edited or damaged: its hash does not fit (is this file a ledger?)");
    result = verify();
    assert_has(result, "{'intact':false}");
    json_decref(result);
    assert_fails(dp_ledger_verify("absent", &result, &err), DP_E_RUN,
                 "cannot open the ledger absent: No such file or directory");
    assert_null(result);

    /* a budget that its writer ignored: 3 laps of 2/2, and −ln 2 */
    gone(PATH);
    struct dp_ledger_budget budget = budget_of("aaaa", 1, 0.5, 2);
    struct dp_event event = dp_event_gaussian(DP_SAMPLING_NONE, 1, 1, 0);
    set_budget(&budget);
    struct dp_ledger *ledger = opened(&run);
    reserve(ledger, &event, 1);
    dp_ledger_free(ledger);
    reserve_again(2);
    assert_first_finding("aaaa: its budget is epsilon = 1, 2.30685282 are spent");
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
    /* all 30 laps of the run, because the user may have seen them before choosing this one */
    assert_has(certificate,
               "{'data':'aaaa','rows':1000,'adjacency':'null-record','model':'feed','mechanisms':[{'laps':30}],"
               "'epsilon':%.17g,'epsilon_lower':%.17g,'delta':1e-5,'accountant':'gdp','status':'done',"
               "'if_the_lap_was_fixed':{'laps':20,'epsilon':%.17g,'delta':1e-5},"
               "'runs':[{'status':'done','stated_at':'laps','laps':30}],'model_in_ledger':false,"
               "'software':'dpline " DP_VERSION "','private_preprocessing':['max-abs'],'seeded':true,'as_published':null,"
               "'not_in_ledger':null,'if_planned_together':null,'other_data':null}",
               gdp(0.15, 1e-5), gdp(0.15, 1e-5), gdp(0.1, 1e-5));
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
    assert_certificate_refused(certificate, &model, DP_E_UNSAFE, "the certificate is for lap 20 of the run ");
    model.lap = 20;
    play(&unrelated, later); /* later runs change nothing */
    assert_int_equal(dp_certificate_verify(certificate, PATH, &model, &bound, &err), 0);
    model.mark = later;
    assert_certificate_refused(certificate, &model, DP_E_UNSAFE, ", and the model is of lap 20 of the run ");
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
    struct dp_ledger *ledger = opened(&run);
    reserve(ledger, &event, 50);
    json_t *certificate = certify(dp_ledger_mark(ledger), 40);
    assert_has(certificate, "{'runs':[{'closed':false}]}");
    assert_ok(close_with(ledger, LAPS_OF(event, 45), run.delta, "done", &err));
    assert_int_equal(dp_certificate_verify(certificate, PATH, NULL, NULL, &err), 0);
    json_decref(certificate);
    dp_ledger_free(ledger);
}

TEST_IN(every_member_is_compared, fresh, NULL)
{
    char mark[DP_LEDGER_MARK], expected[400];
    struct story story = plain(10, 40, 30);
    story.run.init.epsilon = 0.25;
    story.run.init.delta = 1e-6;
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
    a.run.init.epsilon = 0.25;
    a.run.init.delta = 1e-6;
    play(&a, first);
    b.run.data = "bbbb";
    b.run.init.mark = first;
    play(&b, second);
    c.run.init.mark = second;
    play(&c, third);
    json_t *certificate = certify(third, 10);
    /* a lost run of 30 laps at z = 5, rho = .6 at one order, and a run of 20 laps at z = 10, rho = .1 at 1e-4; plus the stated
       cost of the first model. Planned together: the cost of one list of mechanisms, sound only if no run was planned after the
       first model was seen */
    const double order = dp_filter_order(1, 1e-5), lost = 0.6 * order + dp_rdp_penalty(order, 1e-5);
    assert_has(certificate,
               "{'runs':[{},{}],'mechanisms':[{},{}],'epsilon':%.17g,'delta':%.17g,'accountant':'added','epsilon_lower':0,"
               "'if_planned_together':{'epsilon':%.17g,'delta':%.17g,'accountant':'filter'},'not_in_ledger':{'epsilon':0.25},"
               "'other_data':[{'data':'bbbb','epsilon':%.17g}]}",
               0.25 + lost + gdp(0.1, 1e-4), 1.1e-4 + 1e-6, 0.25 + 0.7 * order + dp_rdp_penalty(order, 1e-4), 1e-4 + 1e-6,
               gdp(0.15, 1e-5));
    assert_int_equal(dp_certificate_verify(certificate, PATH, NULL, NULL, &err), 0);
    json_decref(certificate);

    d.run.init.mark = third;
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
    b.run.init.mark = first;
    play(&b, second);
    json_t *certificate = certify(second, 30);
    assert_has(certificate,
               "{'population':'people','data':'bbbb','runs':[{},{'data':'aaaa'}],'other_data':null,'epsilon':%.17g,"
               "'delta':2e-5}",
               gdp(0.15, 1e-5) + gdp(0.1, 1e-5));
    assert_int_equal(dp_certificate_verify(certificate, PATH, NULL, NULL, &err), 0);
    /* the sound number is compared like every other */
    json_real_set(json_object_get(json_object_get(certificate, "if_planned_together"), "epsilon"), 0.1);
    assert_int_equal(dp_certificate_verify(certificate, PATH, NULL, NULL, &err), DP_E_UNSAFE);
    json_decref(certificate);
}

TESTS(enter, leave)
