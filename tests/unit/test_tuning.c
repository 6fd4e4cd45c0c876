/* Private selection: compares its bounds with the exact divergence of the best of K results, for mechanisms of a few results,
 * and K with its law; and tests selections as charges. */
#include "charges.h"
#include "random.h"

#include <gsl/gsl_cdf.h>
#include <jansson.h>

#include "account/calibrate.h"
#include "account/curve.h"
#include "ledger/charge_json.h"
#include "priv/rdp.h"
#include "priv/trials.h"

#define MOST 6 /* results of a mechanism */

static struct dp_trials law_of(const char *text)
{
    struct dp_trials law;
    struct dp_err err = {0};
    if (dp_trials_parse(&law, text, &err) != DP_OK)
        fail_msg("%s: %s", text, err.message);
    return law;
}

/* E x^K, in closed form. */
static long double generating(const struct dp_trials *law, long double x)
{
    long double eta = law->eta, gamma = law->gamma, left = 1 - (1 - gamma) * x;
    if (law->law == DP_TRIALS_POISSON)
        return expl(law->mean * (x - 1));
    return law->eta == 0 ? logl(left) / logl(gamma) : expm1l(-eta * logl(left)) / expm1l(-eta * logl(gamma));
}

/* Pr[K = k], up to a factor that is the same for all k. */
static double weight(const struct dp_trials *law, int k)
{
    if (law->law == DP_TRIALS_POISSON)
        return exp(k * log(law->mean) - law->mean - lgamma(k + 1.0));
    return k == 0 ? 0 : exp(k * log1p(-law->gamma) + lgamma(k + law->eta) - lgamma(k + 1.0));
}

/* The closed form equals the sum over the law. */
TEST(closed_forms_are_those_of_the_laws)
{
    const char *const some[] = {"geometric:0.1",           "logarithmic:0.05", "negative-binomial:-0.9:0.02",
                                "negative-binomial:3:0.2", "poisson:10",       "poisson:0.05"};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        struct dp_trials law = law_of(some[i]);
        for (double x = 0; x < 1; x += 0.24) {
            double sum = 0, all = 0;
            for (int k = 0; k < 3000; k++) {
                all += weight(&law, k);
                sum += weight(&law, k) * (k == 0 ? 1 : pow(x, k));
            }
            assert_near((double)generating(&law, x), sum / all, 1e-11);
        }
    }
}

/* The law of the best of K: results in the order of their scores; [n] means no result. */
static void best_of(const struct dp_trials *law, const long double *one, int n, long double *best)
{
    long double below = 0, before = generating(law, 0);
    best[n] = law->law == DP_TRIALS_POISSON ? before : 0;
    for (int y = 0; y < n; y++) {
        below = y == n - 1 ? 1 : below + one[y];
        long double now = generating(law, below);
        best[y] = now - before;
        before = now;
    }
}

static double divergence(const long double *p, const long double *q, int n, double order)
{
    long double sum = 0;
    for (int y = 0; y < n; y++)
        if (p[y] > 0)
            sum += expl(order * logl(p[y]) + (1 - order) * logl(q[y]));
    return (double)(logl(sum) / (order - 1));
}

/* At each order the larger divergence of both directions: what a curve has to bound. */
static void curve_of(const long double *p, const long double *q, int n, const double *orders, size_t count, double *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = fmax(divergence(p, q, n, orders[i]), divergence(q, p, n, orders[i]));
}

/* Two laws of n results whose probabilities differ by factors of up to e^most; the best result is a rare one. */
static void neighbours(gsl_rng *rng, int n, double most, long double *p, long double *q)
{
    long double sum_p = 0, sum_q = 0;
    for (int y = 0; y < n; y++) {
        p[y] = y == 0 ? 1 : expl(-8 * gsl_rng_uniform(rng));
        q[y] = p[y] * (y == 0 ? 1 : expl((2 * gsl_rng_uniform(rng) - 1) * most));
        sum_p += p[y];
        sum_q += q[y];
    }
    for (int y = 0; y < n; y++) {
        p[y] /= sum_p;
        q[y] /= sum_q;
    }
}

static const char *const laws[] = {
    "geometric:0.1",           "geometric:0.9", "logarithmic:0.01", "negative-binomial:-0.9:0.001",
    "negative-binomial:3:0.2", "poisson:1",     "poisson:10",       "poisson:0.05"};
enum { LAWS = sizeof laws / sizeof *laws };

TEST(the_best_costs_no_more_than_its_bound)
{
    gsl_rng *rng = random_numbers();
    const double orders[] = {1.1, 1.5, 2, 3, 5, 8, 16, 64};
    enum { ORDERS = sizeof orders / sizeof *orders };
    static double base[DP_RDP_ORDER_COUNT];
    double one[ORDERS], bound[ORDERS], exact[ORDERS], tightest[LAWS] = {0};
    for (int i = 0; i < 400; i++) {
        int n = 2 + (int)gsl_rng_uniform_int(rng, MOST - 1);
        double most = exp(log(1e-3) * gsl_rng_uniform(rng)) * 3;
        long double p[MOST], q[MOST], best_p[MOST + 1], best_q[MOST + 1];
        neighbours(rng, n, most, p, q);
        curve_of(p, q, n, dp_rdp_orders, DP_RDP_ORDER_COUNT, base);
        curve_of(p, q, n, orders, ORDERS, one);
        for (int l = 0; l < LAWS; l++) {
            struct dp_trials law = law_of(laws[l]);
            best_of(&law, p, n, best_p);
            best_of(&law, q, n, best_q);
            curve_of(best_p, best_q, n + 1, orders, ORDERS, exact);
            dp_rdp_trials(&law, base, orders, one, ORDERS, bound);
            for (int k = 0; k < ORDERS; k++) {
                if (!(exact[k] <= bound[k] * (1 + 1e-9) + 1e-13))
                    fail_msg("%s, %d results, order %g: %.17g, and the bound is %.17g", laws[l], n, orders[k], exact[k],
                             bound[k]);
                tightest[l] = fmax(tightest[l], exact[k] / bound[k]);
            }
        }
    }
    /* The bound is also not far too large. */
    for (int l = 0; l < LAWS; l++)
        if (!(tightest[l] > 0.3))
            fail_msg("%s: no bound is nearer than %g times the truth", laws[l], 1 / tightest[l]);
}

/* A result that is very rare, and e^epsilon times as frequent on the neighbour: the bounds are tight there. */
TEST(rare_results_are_what_costs)
{
    static double base[DP_RDP_ORDER_COUNT];
    double nearest[LAWS] = {0};
    for (int l = 0; l < LAWS; l++) {
        struct dp_trials law = law_of(laws[l]);
        for (double rare = 1e-9; rare < 0.6; rare *= 3)
            for (double epsilon = 0.01; epsilon < 9; epsilon *= 2)
                for (double order = 1.25; order < 40; order *= 2) {
                    double one, bound, exact;
                    long double p[2] = {1 - rare, rare}, q[2], best_p[3], best_q[3];
                    q[1] = rare * expl(-epsilon);
                    q[0] = 1 - q[1];
                    curve_of(p, q, 2, dp_rdp_orders, DP_RDP_ORDER_COUNT, base);
                    curve_of(p, q, 2, &order, 1, &one);
                    best_of(&law, p, 2, best_p);
                    best_of(&law, q, 2, best_q);
                    curve_of(best_p, best_q, 3, &order, 1, &exact);
                    dp_rdp_trials(&law, base, &order, &one, 1, &bound);
                    if (!(exact <= bound * (1 + 1e-9) + 1e-13))
                        fail_msg("%s, %g rare, epsilon %g, order %g: %.17g, and the bound is %.17g", laws[l], rare, epsilon,
                                 order, exact, bound);
                    nearest[l] = fmax(nearest[l], exact / bound);
                }
    }
    for (int l = 0; l < LAWS; l++)
        if (!(nearest[l] > 0.6))
            fail_msg("%s: no bound is nearer than %g times the truth", laws[l], 1 / nearest[l]);
}

/* The formulas in another form: one Gaussian release of multiplier 5. */
TEST(bounds_are_the_formulas)
{
    static double base[DP_RDP_ORDER_COUNT];
    const double order = 6, z = 5, r = order / (2 * z * z);
    double out;
    dp_rdp_gaussian(z, dp_rdp_orders, DP_RDP_ORDER_COUNT, base);
    struct dp_trials geometric = law_of("geometric:0.2"), poisson = law_of("poisson:7");
    dp_rdp_trials(&geometric, base, &order, &r, 1, &out);
    /* min over b of (1 − 1/b) b/(2z²) + L/b: b = z √(2L) */
    double b = z * sqrt(2 * log(5)), least = (b - 1) / (2 * z * z) + log(5) / b;
    assert_near(out, r + 2 * least + log(5) / (order - 1), 1e-4);
    assert_true(out >= r + 2 * least + log(5) / (order - 1));
    dp_rdp_trials(&poisson, base, &order, &r, 1, &out);
    double epsilon = log(1.2), delta = 1;
    for (double a = 1.01; a < 3000; a *= 1.001)
        delta = fmin(delta, exp((a - 1) * (a / (2 * z * z) - epsilon) + (a - 1) * log(1 - 1 / a) - log(a)));
    double expected = log(exp(-7) + 7 * exp((order - 1) * (r + 7 * delta))) / (order - 1);
    assert_near(out, expected, 1e-3);
    assert_true(out >= expected * (1 - 1e-6));
}

TEST(means_are_those_of_the_laws)
{
    assert_near(dp_trials_mean(&(struct dp_trials){DP_TRIALS_NEGATIVE_BINOMIAL, 0, 1, 0.05}), 20, 1e-11);
    assert_near(dp_trials_mean(&(struct dp_trials){DP_TRIALS_NEGATIVE_BINOMIAL, 0, 0, 0.01}), 99 / log(100), 1e-11);
    assert_near(dp_trials_mean(&(struct dp_trials){DP_TRIALS_NEGATIVE_BINOMIAL, 0, 1e-9, 0.01}), 99 / log(100), 1e-7);
    assert_near(dp_trials_mean(&(struct dp_trials){DP_TRIALS_NEGATIVE_BINOMIAL, 0, -0.5, 0.01}), 0.5 * 99 / 9, 1e-11);
    assert_near(dp_trials_mean(&(struct dp_trials){DP_TRIALS_POISSON, 3.5, 0, 0}), 3.5, 0);
}

/* Every draw of K is a function of its key: with these keys the test always passes. With random keys it would fail for a
   correct law once in a million times for each law. */
LONG_TEST(numbers_have_their_law)
{
    enum { DRAWS = 4000, CELLS = 40 };
    const char *const drawn[] = {
        "geometric:0.1", "logarithmic:0.05", "negative-binomial:-0.5:0.01", "negative-binomial:2.5:0.3", "poisson:4",
        "poisson:0.5",   "geometric:0.999"};
    for (size_t l = 0; l < sizeof drawn / sizeof *drawn; l++) {
        struct dp_trials law = law_of(drawn[l]);
        double seen[CELLS] = {0}, p[CELLS] = {0}, all = 0, sum = 0, chi = 0, rest_seen = 0, rest = 0;
        int cells = 0;
        for (int i = 0; i < DRAWS; i++) {
            struct dp_key key;
            dp_key_derive(&key, i, drawn[l], 0);
            int64_t k = dp_trials_draw(&law, &key);
            assert_true(k >= (law.law == DP_TRIALS_POISSON ? 0 : 1));
            assert_true(k == dp_trials_draw(&law, &key));
            sum += (double)k;
            if (k < CELLS)
                seen[k]++;
        }
        for (int k = 0; k < 20000; k++) {
            double w = weight(&law, k);
            all += w;
            if (k < CELLS)
                p[k] = w;
        }
        rest = 1;
        rest_seen = DRAWS;
        for (int k = 0; k < CELLS && DRAWS * p[k] / all + (k == 0) >= 5 - 5 * (k == 0); k++) {
            if (p[k] == 0)
                continue;
            double expected = DRAWS * p[k] / all;
            chi += (seen[k] - expected) * (seen[k] - expected) / expected;
            rest -= p[k] / all;
            rest_seen -= seen[k];
            cells++;
        }
        if (rest * DRAWS > 1) {
            chi += (rest_seen - rest * DRAWS) * (rest_seen - rest * DRAWS) / (rest * DRAWS);
            cells++;
        }
        assert_true(cells > 1);
        if (!(gsl_cdf_chisq_Q(chi, cells - 1) > 1e-6))
            fail_msg("%s: chi-square %g in %d cells", drawn[l], chi, cells);
        if (!(fabs(sum / DRAWS / dp_trials_mean(&law) - 1) < 0.3))
            fail_msg("%s: %g on average, expected %g", drawn[l], sum / DRAWS, dp_trials_mean(&law));
    }
}

TEST(laws_are_read)
{
    const struct {
        const char *text, *why;
    } bad[] = {
        {"ten", "'ten' is not poisson:MEAN, geometric:GAMMA, logarithmic:GAMMA or negative-binomial:ETA:GAMMA"},
        {"poisson", "'poisson' is not poisson:MEAN, geometric:GAMMA, logarithmic:GAMMA or negative-binomial:ETA:GAMMA"},
        {"poisson:", "'poisson:' is not poisson:MEAN, geometric:GAMMA, logarithmic:GAMMA or negative-binomial:ETA:GAMMA"},
        {"geometric:.1:.1",
         "'geometric:.1:.1' is not poisson:MEAN, geometric:GAMMA, logarithmic:GAMMA or negative-binomial:ETA:GAMMA"},
        {"geometric:1", "gamma of a number of trials lies between 0 and 1, got 1"},
        {"geometric:1e-6", "1e+06 trials on average are more than 100000"},
        {"poisson:0", "the mean of a Poisson number of trials lies between 0 and 100000, got 0"},
        {"negative-binomial:-1:.1", "eta of a number of trials is above -1 and at most 1000, got -1"},
    };
    struct dp_trials law;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        err = (struct dp_err){0};
        assert_fails(dp_trials_parse(&law, bad[i].text, &err), DP_E_USAGE, bad[i].why);
    }
    law = law_of("negative-binomial:-0.5:1/8");
    assert_true(law.eta == -0.5 && law.gamma == 0.125 && law.mean == 0);
}

/* --- as a charge --------------------------------------------------------------------------------------------------- */

/* Three settings: two of them cost the same. */
static struct dp_event tuned(double score)
{
    struct dp_tuning *tuning;
    struct dp_trials law = law_of("geometric:0.1");
    struct dp_charge charge[] = {{dp_event_gaussian(DP_SAMPLING_POISSON, 0.01, 2, 0), 500},
                                 {dp_event_gaussian(DP_SAMPLING_NONE, 1, 9, 0), 3}};
    const struct dp_charges *cheap = &(struct dp_charges){.count = 1, .charge = charge}, *expensive = CHARGES_OF(charge);
    dp_tuning_new(&tuning, &law, score);
    assert_int_equal(dp_tuning_add(tuning, cheap, 1, NULL), DP_OK);
    assert_int_equal(dp_tuning_add(tuning, expensive, 1, NULL), DP_OK);
    assert_int_equal(dp_tuning_add(tuning, cheap, 1, NULL), DP_OK);
    assert_int_equal(tuning->settings, 2);
    return dp_event_tuned(tuning);
}

TEST(a_trial_costs_the_mean_of_its_settings_and_its_score)
{
    struct dp_event event = tuned(30), a = dp_event_gaussian(DP_SAMPLING_POISSON, 0.01, 2, 0);
    struct dp_trials law = law_of("geometric:0.1");
    static double run[DP_RDP_ORDER_COUNT], more[DP_RDP_ORDER_COUNT], score[DP_RDP_ORDER_COUNT], one[DP_RDP_ORDER_COUNT],
        expected[DP_RDP_ORDER_COUNT], out[DP_RDP_ORDER_COUNT];
    const size_t n = DP_RDP_ORDER_COUNT;
    assert_int_equal(dp_event_curve(&a, dp_rdp_orders, n, run, NULL), DP_OK);
    dp_rdp_gaussian(9, dp_rdp_orders, n, more);
    dp_rdp_gaussian(30, dp_rdp_orders, n, score);
    for (size_t i = 0; i < n; i++) {
        long double k = dp_rdp_orders[i] - 1, cheap = 500 * run[i], expensive = 500 * run[i] + 3 * more[i];
        one[i] = (double)((k * expensive + logl((1 + 2 * expl(k * (cheap - expensive))) / 3)) / k) + score[i];
        assert_true(one[i] <= (double)expensive + score[i]);
    }
    dp_rdp_trials(&law, one, dp_rdp_orders, one, n, expected);
    assert_int_equal(dp_event_curve(&event, dp_rdp_orders, n, out, NULL), DP_OK);
    for (size_t i = 0; i < n; i++) {
        assert_near(out[i] / expected[i], 1, 1e-9);
        assert_true(out[i] >= expected[i] * (1 - 1e-12));
    }
    dp_event_free(&event);
}

/* An accountant of queries would say that an event without queries costs nothing. */
TEST(other_accountants_do_not_cover_it)
{
    struct dp_event event = tuned(30);
    const enum dp_accountant others[] = {DP_ACCOUNTANT_PLD, DP_ACCOUNTANT_ZCDP, DP_ACCOUNTANT_GDP, DP_ACCOUNTANT_PROFILE,
                                         DP_ACCOUNTANT_ADVANCED};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct dp_answer answer;
        assert_int_equal(dp_account_epsilon(others[i], LAPS_OF(event, 1), 1e-5, &answer, &err), DP_E_RUN);
    }
    const struct dp_answer best = answer_of(DP_ACCOUNTANT_BEST, LAPS_OF(event, 1), 1e-5);
    assert_true(best.upper == answer_of(DP_ACCOUNTANT_RDP, LAPS_OF(event, 1), 1e-5).upper && best.lower == 0);
    assert_true(best.upper > 0.5 && best.upper < 5);
    struct dp_event gaussian = dp_event_gaussian(DP_SAMPLING_NONE, 1, 100, 0);
    struct dp_charges charges = {0};
    assert_int_equal(dp_charges_add(&charges, &event, 1, &err), DP_OK);
    assert_int_equal(dp_charges_add(&charges, &gaussian, 1, &err), DP_OK);
    assert_int_equal(dp_charges_add(&charges, &event, 1, &err), DP_OK);
    assert_int_equal(charges.count, 2);
    assert_true(answer_of(DP_ACCOUNTANT_BEST, &charges, 1e-5).upper > 1.3 * best.upper);
    dp_charges_free(&charges);
    dp_event_free(&event);
}

TEST(samples_of_two_adjacencies_do_not_compose_in_it)
{
    struct dp_charge both[] = {{tuned(30), 1}, {dp_event_gaussian(DP_SAMPLING_SUBSTITUTED, 0.01, 3, 0), 1}};
    struct dp_answer answer;
    assert_fails(dp_account_epsilon(DP_ACCOUNTANT_BEST, CHARGES_OF(both), 1e-5, &answer, &err), DP_E_RUN,
                 "samples under replace-one and under null-record adjacency do not compose");
    dp_event_free(&both[0].event);
}

TEST(calibration_leaves_the_score)
{
    struct dp_event event = tuned(30);
    struct dp_charges stretched = {0};
    double factor;
    assert_int_equal(dp_calibrate_noise(DP_ACCOUNTANT_BEST, LAPS_OF(event, 1), 0.8, 1e-5, &factor, NULL), DP_OK);
    assert_int_equal(dp_charges_stretch(LAPS_OF(event, 1), factor, &stretched, NULL), DP_OK);
    assert_int_equal(dp_charges_stretch(LAPS_OF(event, 1), factor, &stretched, NULL), DP_OK);
    const double epsilon = answer_of(DP_ACCOUNTANT_BEST, &stretched, 1e-5).upper;
    assert_true(epsilon <= 0.8 && epsilon > 0.799);
    const struct dp_tuning *s = stretched.charge[0].event.tuning;
    assert_true(s->score_multiplier == 30);
    assert_true(s->setting[0].charges.charge[0].event.query[0].multiplier == 2 * factor);
    assert_true(s->setting[1].charges.charge[1].event.query[0].multiplier == 9 * factor);
    dp_charges_free(&stretched);
    dp_event_free(&event);
}

static int parse(const char *text, struct dp_charge *charge, struct dp_err *err)
{
    json_t *json = json_loads(json_of(text), 0, NULL);
    assert_non_null(json);
    *err = (struct dp_err){0};
    int rc = dp_charge_from_json(json, NULL, charge, err);
    json_decref(json);
    return rc;
}

TEST(charges_of_it_read_back)
{
    struct dp_charge all[] = {{tuned(30), 1}, {tuned(0), 7}}, again;
    all[1].event.tuning->trials = law_of("poisson:0.3");
    for (size_t i = 0; i < 2; i++) {
        json_t *json = dp_charge_to_json(&all[i]);
        char *text = json_dumps(json, JSON_REAL_PRECISION(17));
        assert_int_equal(parse(text, &again, &err), DP_OK);
        assert_int_equal(again.laps, all[i].laps);
        assert_true(dp_event_same(&again.event, &all[i].event));
        assert_false(dp_event_same(&again.event, &all[1 - i].event));
        again.event.tuning->setting[0].times++;
        assert_false(dp_event_same(&again.event, &all[i].event));
        dp_event_free(&again.event);
        json_decref(json);
        free(text);
    }
    dp_event_free(&all[0].event);
    dp_event_free(&all[1].event);
}

#define TUNED "{'laps':1,'sampling':'tuned',"
#define POISSON TUNED "'trials':'poisson','mean':3,'score_multiplier':1,"
#define RUN "{'laps':3,'sampling':'none','queries':[{'noise':'gaussian','multiplier':5}]}"
TEST(charges_that_make_no_sense_are_refused)
{
    const struct {
        const char *text, *why;
    } bad[] = {
        {TUNED "'trials':'dice'}", "a charge needs a known 'trials', got 'dice'"},
        {TUNED "'trials':'poisson','mean':3,'score_multiplier':1}", "a selection has no settings"},
        {TUNED "'trials':'poisson','mean':3,'eta':1,'score_multiplier':1}",
         "a charge has a number that its law of trials does not have"},
        {TUNED "'trials':'poisson','score_multiplier':1,'settings':[{'times':1,'charges':[" RUN "]}]}",
         "the mean of a Poisson number of trials lies between 0 and 100000, got nan"},
        {TUNED "'trials':'poisson','mean':3,'settings':[{'times':1,'charges':[" RUN "]}]}",
         "the noise on a score needs a finite multiplier of at least 0, got nan"},
        {POISSON "'settings':[{'times':0,'charges':[" RUN "]}]}",
         "a selection has between 1 and 1000000 settings of one cost, got 0"},
        {POISSON "'settings':[{'times':1,'charges':[]}]}", "a setting of a selection has no laps"},
        {POISSON "'settings':[{'times':1,'charges':[" TUNED "'trials':'poisson'}]}]}",
         "a selection has another selection among its runs"},
        {POISSON "'rate':1,'settings':[]}", "a charge has an unknown key 'rate'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct dp_charge charge;
        assert_fails(parse(bad[i].text, &charge, &err), DP_E_RUN, bad[i].why);
    }
}

TESTS(NULL, NULL)
