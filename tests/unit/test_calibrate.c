/* The accountant of gate and calculator, and calibration: the printed answer meets its target. */
#include "charges.h"
#include "random.h"
#include "repeated_event.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <time.h>

#include "base/number.h"
#include "account/calibrate.h"
#include "account/meter.h"
#include "priv/repeated.h"
#include "priv/pure.h"
#include "priv/rdp.h"
#include "base/round.h"

static double epsilon_of(enum dp_accountant accountant, struct dp_event event, double delta, int64_t laps)
{
    return answer_of(accountant, LAPS_OF(event, laps), delta).upper;
}

TEST(laps_are_counted)
{
    struct dp_event event = dp_event_gaussian(DP_SAMPLING_POISSON, 0.01, 1, 0);
    double r[DP_RDP_ORDER_COUNT];
    dp_rdp_sampled_gaussian(0.01, 1, dp_rdp_orders, DP_RDP_ORDER_COUNT, r);
    for (int i = 0; i < DP_RDP_ORDER_COUNT; i++)
        r[i] *= 1000;
    double expected = dp_rdp_epsilon(dp_rdp_orders, r, DP_RDP_ORDER_COUNT, 1e-5, NULL);
    assert_near(epsilon_of(DP_ACCOUNTANT_RDP, event, 1e-5, 1000), expected, 1e-13);

    /* charged lap by lap, or at once: the same bits */
    struct dp_meter *gate;
    assert_int_equal(dp_meter_new(&gate, 1e-5, &err), DP_OK);
    double before = 0;
    assert_true(dp_meter_epsilon(gate) == 0);
    for (int64_t lap = 1; lap <= 1000; lap++) {
        assert_int_equal(dp_meter_charge(gate, &event, 1, &err), DP_OK);
        double after = dp_meter_epsilon(gate);
        assert_true(after > before);
        before = after;
    }
    assert_true(before == epsilon_of(DP_ACCOUNTANT_RDP, event, 1e-5, 1000));
    dp_meter_free(gate);
}

/* Two kinds of lap, in any order, are the sum of their curves. */
TEST(events_mix)
{
    struct dp_event a = dp_event_gaussian(DP_SAMPLING_POISSON, 0.01, 1, 0), b = dp_event_gaussian(DP_SAMPLING_NONE, 1, 40, 0);
    double r[DP_RDP_ORDER_COUNT], more[DP_RDP_ORDER_COUNT];
    dp_rdp_sampled_gaussian(0.01, 1, dp_rdp_orders, DP_RDP_ORDER_COUNT, r);
    dp_rdp_gaussian(40, dp_rdp_orders, DP_RDP_ORDER_COUNT, more);
    for (int i = 0; i < DP_RDP_ORDER_COUNT; i++)
        r[i] = 300 * r[i] + 200 * more[i];
    double expected = dp_rdp_epsilon(dp_rdp_orders, r, DP_RDP_ORDER_COUNT, 1e-5, NULL);
    struct dp_meter *blocks, *mixed;
    assert_int_equal(dp_meter_new(&blocks, 1e-5, &err), DP_OK);
    assert_int_equal(dp_meter_new(&mixed, 1e-5, &err), DP_OK);
    dp_meter_charge(blocks, &a, 300, &err);
    dp_meter_charge(blocks, &b, 200, &err);
    for (int i = 0; i < 500; i++)
        assert_int_equal(dp_meter_charge(mixed, i % 5 < 3 ? &a : &b, 1, &err), DP_OK);
    assert_near(dp_meter_epsilon(blocks), expected, 1e-12);
    assert_near(dp_meter_epsilon(mixed), expected, 1e-12);
    dp_meter_free(blocks);
    dp_meter_free(mixed);
}

TEST(every_row)
{
    struct dp_event event = dp_event_gaussian(DP_SAMPLING_NONE, 1, 10, 0);
    /* 100 Gaussians at z = 10 are one at z = 1, for any rate */
    struct dp_event one = dp_event_gaussian(DP_SAMPLING_POISSON, 1, 1, 0);
    double expected = epsilon_of(DP_ACCOUNTANT_RDP, one, 1e-5, 1);
    assert_near(epsilon_of(DP_ACCOUNTANT_RDP, event, 1e-5, 100), expected, 1e-12);
    assert_near(epsilon_of(DP_ACCOUNTANT_PUBLISHED, event, 1e-5, 100), epsilon_of(DP_ACCOUNTANT_PUBLISHED, one, 1e-5, 1),
                1e-12);
}

TEST(shuffling_amplifies_nothing)
{
    struct dp_event event = dp_event_gaussian(DP_SAMPLING_SHUFFLED, 0.1, 2, 10);
    struct dp_event gaussian = dp_event_gaussian(DP_SAMPLING_NONE, 1, 2, 0);
    for (int64_t laps = 1; laps <= 45; laps++)
        assert_true(epsilon_of(DP_ACCOUNTANT_RDP, event, 1e-5, laps) ==
                    epsilon_of(DP_ACCOUNTANT_RDP, gaussian, 1e-5, (laps + 9) / 10));
    /* the paper treats it as Poisson sampling */
    struct dp_event poisson = dp_event_gaussian(DP_SAMPLING_POISSON, 0.1, 2, 0);
    assert_true(epsilon_of(DP_ACCOUNTANT_PUBLISHED, event, 1e-5, 45) == epsilon_of(DP_ACCOUNTANT_PUBLISHED, poisson, 1e-5, 45));
}

/* An adversary who sees the batches knows the number k of batches with a person, k of T, by Bin(T, q). k laps are one lap of
   noise z/√k, whose profile is Φ(√k/2z − εz/√k) − e^ε Φ(−√k/2z − εz/√k) (Balle and Wang 2018). */
static double visible_delta(int laps, double rate, double z, double epsilon)
{
    double delta = 0;
    for (int k = 1; k <= laps; k++) {
        double s = z / sqrt(k), p = gsl_ran_binomial_pdf((unsigned)k, rate, (unsigned)laps);
        delta += p * (gsl_cdf_ugaussian_P(1 / (2 * s) - epsilon * s) -
                      exp(epsilon) * gsl_cdf_ugaussian_P(-1 / (2 * s) - epsilon * s));
    }
    return delta;
}

TEST(visible_batch)
{
    struct dp_event event = dp_event_gaussian(DP_SAMPLING_VISIBLE, 0.01, 1, 0);
    for (int laps = 1; laps <= 1000; laps *= 10) {
        double epsilon = epsilon_of(DP_ACCOUNTANT_RDP, event, 1e-5, laps);
        assert_true(visible_delta(laps, 0.01, 1, epsilon) <= 1e-5 * (1 + 1e-6));
        assert_true(visible_delta(laps, 0.01, 1, epsilon * (1 - 1e-4)) > 1e-5);
    }
    /* Laps of a visible batch and other laps together cost more than either of them, in either order. */
    struct dp_charge charge[] = {{dp_event_gaussian(DP_SAMPLING_NONE, 1, 1, 0), 3}, {event, 1000}};
    double parts = 0;
    for (int i = 0; i < 2; i++)
        parts = fmax(parts, epsilon_of(DP_ACCOUNTANT_RDP, charge[i].event, 1e-5, charge[i].laps));
    const double upper = answer_of(DP_ACCOUNTANT_RDP, CHARGES_OF(charge), 1e-5).upper;
    assert_true(upper > parts);
    struct dp_charge first = charge[0];
    charge[0] = charge[1];
    charge[1] = first;
    assert_near(answer_of(DP_ACCOUNTANT_RDP, CHARGES_OF(charge), 1e-5).upper, upper, 1e-9);
    struct dp_event hidden = dp_event_gaussian(DP_SAMPLING_POISSON, 0.01, 1, 0);
    assert_true(epsilon_of(DP_ACCOUNTANT_PUBLISHED, event, 1e-5, 1000) ==
                epsilon_of(DP_ACCOUNTANT_PUBLISHED, hidden, 1e-5, 1000));
}

/* Draws within a lap cost something else than a Gaussian of the same multiplier, on all rows or on a sample, at any rate. */
TEST(draws)
{
    for (double rate = 0.01; rate <= 1; rate *= 10) {
        struct dp_event event = repeated_event(rate, 1000, 0.99, 100);
        const struct dp_charges *charges = LAPS_OF(event, 1);
        assert_false(dp_account_covers(DP_ACCOUNTANT_GDP, charges));
        assert_false(dp_account_covers(DP_ACCOUNTANT_PLD, charges));
        assert_false(dp_account_covers(DP_ACCOUNTANT_ZCDP, charges));
        struct dp_repeated_law law;
        dp_repeated_law(&(struct dp_repeated){rate, 1000, 0.99}, &law);
        double best = epsilon_of(DP_ACCOUNTANT_BEST, event, 1e-5, 1), exact = dp_repeated_epsilon(&law, 100, 1e-5);
        assert_true(best == exact && best == epsilon_of(DP_ACCOUNTANT_PROFILE, event, 1e-5, 1));
        double three = epsilon_of(DP_ACCOUNTANT_BEST, event, 1e-5, 3);
        assert_true(three > best && three <= 3 * dp_repeated_epsilon(&law, 100, 0.5e-5 / 3) * (1 + 1e-9));
        double factor, z;
        assert_int_equal(dp_calibrate_noise(DP_ACCOUNTANT_BEST, charges, best, 1e-5, &factor, &err), DP_OK);
        z = 100 * factor;
        assert_true(z > 99.9 && z < 100.1);
        /* Only the conversion is published. */
        double r, least = INFINITY;
        for (double order = 2; order <= 129; order++) {
            dp_rdp_repeated(&law, 100, &order, 1, &r);
            least = fmin(least, r - log(1e-5) / (order - 1));
        }
        assert_near(epsilon_of(DP_ACCOUNTANT_PUBLISHED, event, 1e-5, 1), least, 1e-9);
    }
}

TEST(published)
{
    struct dp_event event = dp_event_gaussian(DP_SAMPLING_POISSON, 0.004, 1.1, 0);
    double best = INFINITY;
    for (int order = 2; order <= 129; order++) {
        double alpha = order, r;
        dp_rdp_sampled_gaussian(0.004, 1.1, &alpha, 1, &r);
        best = fmin(best, 2442 * r + log(1e3) / (alpha - 1));
    }
    assert_near(epsilon_of(DP_ACCOUNTANT_PUBLISHED, event, 1e-3, 2442), best, 1e-12);
}

/* Theorems 2 and 3 of the DP-BLSGD paper, by hand. */
TEST(a_paper_claims_something_of_a_search_alone)
{
    struct dp_event event = {.rate = 1, .queries = 1};
    double laplace = INFINITY, gaussian = INFINITY;
    for (double order = 2; order <= 500; order++) {
        double threshold, one, rest = log(1e5) / (order - 1);
        dp_rdp_laplace(1 / 0.1, &order, 1, &threshold);
        dp_rdp_laplace(1 / 0.4, &order, 1, &one);
        laplace = fmin(laplace, 30 * (threshold + one) + rest);
        gaussian = fmin(gaussian, 30 * order * 0.05 + rest);
    }
    event.query[0] = (struct dp_query){.kind = DP_QUERY_SPARSE_LAPLACE, .epsilon = 0.1, .query_epsilon = 0.2, .most = 9};
    assert_near(epsilon_of(DP_ACCOUNTANT_BLSGD, event, 1e-5, 30), laplace, 1e-12);
    event.query[0] = (struct dp_query){.kind = DP_QUERY_SPARSE_GAUSSIAN, .rho = 0.05, .most = 9};
    assert_near(epsilon_of(DP_ACCOUNTANT_BLSGD, event, 1e-5, 30), gaussian, 1e-12);
    event = dp_event_gaussian(DP_SAMPLING_NONE, 1, 4, 0);
    assert_true(epsilon_of(DP_ACCOUNTANT_BLSGD, event, 1e-5, 30) > epsilon_of(DP_ACCOUNTANT_RDP, event, 1e-5, 30));
}

static double pld_of(const struct dp_pld_part *parts, size_t count)
{
    struct dp_pld_answer answer;
    assert_int_equal(dp_pld_epsilon(parts, count, 1e-6, &answer, NULL), DP_OK);
    return answer.upper;
}

/* Gaussians of 3 and 4 are one of 12/5; 1/5 of the Laplace, 0.1 + 2·0.05 of the sparse vector: with 0.3, ε = 0.7. */
TEST(queries_on_one_sample)
{
    const struct dp_query a = {.kind = DP_QUERY_GAUSSIAN, .multiplier = 3}, b = {.kind = DP_QUERY_GAUSSIAN, .multiplier = 4},
                          pure = {.kind = DP_QUERY_PURE, .epsilon = 0.3}, laplace = {.kind = DP_QUERY_LAPLACE, .multiplier = 5},
                          sparse = {.kind = DP_QUERY_SPARSE_LAPLACE, .epsilon = 0.1, .query_epsilon = 0.05, .most = 9},
                          never = {.kind = DP_QUERY_SPARSE_GAUSSIAN, .rho = 0.1, .most = 9};
    const struct dp_pld_part same[] = {
        {DP_PLD_JOINT, 0.1, 2.4, 0.3, 50}, {DP_PLD_JOINT, 0.1, 3, 0.7, 50}, {DP_PLD_PURE, 0.1, 0, 0.7, 50}};
    const struct dp_event events[] = {{DP_SAMPLING_POISSON, 0.1, 0, 0, 0, 3, {a, pure, b}, NULL},
                                      {DP_SAMPLING_POISSON, 0.1, 0, 0, 0, 4, {sparse, a, pure, laplace}, NULL},
                                      {DP_SAMPLING_POISSON, 0.1, 0, 0, 0, 3, {laplace, pure, sparse}, NULL}};
    for (int i = 0; i < 3; i++) {
        struct dp_answer pld = answer_of(DP_ACCOUNTANT_PLD, LAPS_OF(events[i], 50), 1e-6),
                         best = answer_of(DP_ACCOUNTANT_BEST, LAPS_OF(events[i], 50), 1e-6);
        double part = pld_of(&same[i], 1);
        assert_near(pld.upper / part, 1, 1e-6);
        /* A query that costs less than a pure mechanism of its epsilon has no lower bound. */
        assert_true(i == 0 ? pld.lower > 0.99 * part && pld.tight : pld.lower == 0 && !pld.tight);
        assert_true(best.upper <= pld.upper && best.upper <= answer_of(DP_ACCOUNTANT_RDP, LAPS_OF(events[i], 50), 1e-6).upper);
    }

    /* On every row they follow one another. */
    struct dp_event whole = {DP_SAMPLING_POISSON, 1, 0, 0, 0, 3, {a, pure, laplace}, NULL};
    const struct dp_pld_part apart[] = {
        {DP_PLD_GAUSSIAN, 1, 3, 0, 50}, {DP_PLD_PURE, 1, 0, 0.3, 50}, {DP_PLD_LAPLACE, 1, 5, 0, 50}};
    assert_near(answer_of(DP_ACCOUNTANT_PLD, LAPS_OF(whole, 50), 1e-6).upper / pld_of(apart, 3), 1, 1e-9);

    struct dp_event none = {DP_SAMPLING_POISSON, 0.1, 0, 0, 0, 2, {a, never}, NULL};
    assert_false(dp_account_covers(DP_ACCOUNTANT_PLD, LAPS_OF(none, 10)));
    none = (struct dp_event){DP_SAMPLING_SUBSTITUTED, 0.1, 0, 0, 0, 2, {a, pure}, NULL};
    assert_false(dp_account_covers(DP_ACCOUNTANT_PLD, LAPS_OF(none, 10)));
    none.rate = 1;
    assert_false(dp_account_covers(DP_ACCOUNTANT_PLD, LAPS_OF(none, 10)));
    none = (struct dp_event){DP_SAMPLING_VISIBLE, 0.1, 0, 0, 0, 2, {a, pure}, NULL};
    assert_false(dp_account_covers(DP_ACCOUNTANT_PLD, LAPS_OF(none, 10)));
}

/* A sparse vector's own Rényi curve is far below the curve of ε₁ + 2ε₂, so this must not become a lower bound. */
TEST(sparse_vectors_have_no_lower_bound)
{
    const struct dp_query query = {.kind = DP_QUERY_SPARSE_LAPLACE, .epsilon = 0.5, .query_epsilon = 0.25, .most = 30};
    const struct dp_event event = {.sampling = DP_SAMPLING_NONE, .rate = 1, .queries = 1, .query = {query}};
    struct dp_answer pld = answer_of(DP_ACCOUNTANT_PLD, LAPS_OF(event, 100), 1e-6),
                     best = answer_of(DP_ACCOUNTANT_BEST, LAPS_OF(event, 100), 1e-6);
    assert_true(pld.lower == 0 && best.lower == 0 && best.by == DP_ACCOUNTANT_RDP && best.upper < 0.75 * pld.upper);
}

TEST(refusals)
{
#define POSITIVE "the multiplier of a query of kind gaussian must be positive and finite, got "
    static const struct {
        enum dp_sampling sampling;
        double rate, multiplier;
        int queries;
        double delta;
        const char *sentence;
    } bad[] = {
        {DP_SAMPLING_POISSON, 0.1, 1, 1, 0,
         "delta 0 is for pure mechanisms (Laplace or gamma noise, the exponential mechanism, counts), and not all of "
         "these are pure"},
        {DP_SAMPLING_POISSON, 0.1, 1, 1, 1, "the accountant needs 0 <= delta < 1"},
        {DP_SAMPLING_POISSON, 0.1, 1, 1, (double)NAN, "the accountant needs 0 <= delta < 1"},
        {DP_SAMPLING_POISSON, 0.1, 0, 1, 0.1, POSITIVE "0"},
        {DP_SAMPLING_POISSON, 0.1, (double)INFINITY, 1, 0.1, POSITIVE "inf"},
        {DP_SAMPLING_POISSON, 0, 1, 1, 0.1, "an event needs a sampling rate in (0, 1], got 0"},
        {DP_SAMPLING_POISSON, 1.5, 1, 1, 0.1, "an event needs a sampling rate in (0, 1], got 1.5"},
        {DP_SAMPLING_SHUFFLED, 0.1, 1, 1, 0.1, "an event has epochs of 0 laps"},
        {DP_SAMPLING_POISSON, 0.1, 1, 0, 0.1, "an event has 0 queries, expected 1 to 4"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct dp_event event = dp_event_gaussian(bad[i].sampling, bad[i].rate, bad[i].multiplier, 0);
        struct dp_answer answer;
        double factor;
        event.queries = bad[i].queries;
        assert_fails(dp_account_epsilon(DP_ACCOUNTANT_RDP, LAPS_OF(event, 10), bad[i].delta, &answer, &err), DP_E_RUN,
                     bad[i].sentence);
        assert_int_equal(dp_calibrate_noise(DP_ACCOUNTANT_RDP, LAPS_OF(event, 10), 1, bad[i].delta, &factor, &err), DP_E_RUN);
    }
}

TEST(rounding_up)
{
    assert_true(dp_round_up(1.0000000001, 9) == 1.00000001);
    assert_true(dp_round_up(1.00000001, 9) == 1.00000001);
    assert_true(dp_round_up(9.99999999999, 9) == 10);
    assert_true(dp_round_up(0.1, 1) == 0.1);
    assert_true(dp_round_up(0.11, 1) == 0.2);
    assert_true(dp_round_up(123456.7, 3) == 124000);
    assert_true(dp_round_up(1.234e-17, 2) == 1.3e-17);
    assert_true(dp_round_up(0, 6) == 0);
    assert_true(isinf(dp_round_up(INFINITY, 6)));
    gsl_rng *rng = random_numbers();
    for (int i = 0; i < 20000; i++) {
        int digits = 1 + i % 12;
        double value = exp(60 * gsl_rng_uniform(rng) - 30), up = dp_round_up(value, digits), back;
        char text[40];
        snprintf(text, sizeof text, "%.*e", digits - 1, up);
        assert_true(dp_number_real(text, &back) && back == up);
        assert_true(up >= value && up <= value * (1 + pow(10, 1 - digits)) * (1 + 1e-15));
    }
}

static double slowest;

static void check_calibration(enum dp_accountant accountant, struct dp_event event, int64_t laps, double epsilon, double delta)
{
    struct dp_err err = {0};
    double z;
    clock_t start = clock();
    if (dp_calibrate_noise(accountant, LAPS_OF(event, laps), epsilon, delta, &z, &err) != DP_OK)
        fail_msg("sampling %d rate %g laps %lld epsilon %g delta %g: %s", event.sampling, event.rate, (long long)laps, epsilon,
                 delta, err.message);
    slowest = fmax(slowest, (double)(clock() - start) / CLOCKS_PER_SEC);
    char text[40];
    double printed;
    assert_true(dp_number_real(dp_number_print(z, text, sizeof text), &printed) && printed == z);
    int digits = 0;
    for (const char *p = text; *p != '\0' && *p != 'e'; p++)
        digits += *p >= '0' && *p <= '9' && (digits > 0 || *p != '0');
    event.query[0].multiplier = z;
    double met = epsilon_of(accountant, event, delta, laps);
    event.query[0].multiplier = z * (1 - 1e-12);
    double nearly = epsilon_of(accountant, event, delta, laps);
    event.query[0].multiplier = z * (1 - 1e-6);
    double missed = epsilon_of(accountant, event, delta, laps);
    if (digits > 9 || met > epsilon || nearly > epsilon || (missed <= epsilon && z > 1e-3))
        fail_msg("sampling %d rate %g laps %lld epsilon %g delta %g: %s spends %.17g, a little less noise %.17g",
                 event.sampling, event.rate, (long long)laps, epsilon, delta, text, met, missed);
}

LONG_TEST(calibration_meets_its_target)
{
    const double rates[] = {1e-6, 0.01, 1}, epsilons[] = {0.01, 1, 50}, deltas[] = {1e-12, 1e-5, 0.1};
    const int64_t laps[] = {1, 1000, 1000000};
    for (int i = 0; i < 81; i++) {
        struct dp_event event = dp_event_gaussian(DP_SAMPLING_POISSON, rates[i % 3], 1, 0);
        check_calibration(DP_ACCOUNTANT_RDP, event, laps[i / 3 % 3], epsilons[i / 9 % 3], deltas[i / 27]);
    }
    gsl_rng *rng = random_numbers();
    for (int i = 0; i < 80; i++) {
        const enum dp_sampling samplings[] = {DP_SAMPLING_POISSON, DP_SAMPLING_NONE, DP_SAMPLING_SHUFFLED, DP_SAMPLING_VISIBLE};
        enum dp_sampling sampling = samplings[i % 4];
        double rate = exp(log(1e-5) * gsl_rng_uniform(rng));
        int64_t epoch_laps = 1 + (int64_t)gsl_rng_uniform_int(rng, 1000);
        struct dp_event event = dp_event_gaussian(sampling, sampling == DP_SAMPLING_NONE ? 1 : rate, 1,
                                                  sampling == DP_SAMPLING_SHUFFLED ? epoch_laps : 0);
        int64_t count = 1 + (int64_t)exp(log(1e5) * gsl_rng_uniform(rng));
        double epsilon = exp(log(0.05) + log(400) * gsl_rng_uniform(rng));
        double delta = exp(log(1e-9) + log(1e8) * gsl_rng_uniform(rng));
        if (i % 5 == 0) /* orders up to 129 do not reach below ln(1/δ)/128 */
            check_calibration(DP_ACCOUNTANT_PUBLISHED, event, count, epsilon + 0.2, delta);
        else
            check_calibration(DP_ACCOUNTANT_RDP, event, count, epsilon, delta);
    }
    if (slowest > 2) /* 0.05 s; sanitizers and a busy machine are slower */
        fail_msg("a calibration took %g s", slowest);
}

TEST(what_cannot_be_reached)
{
    struct dp_event event = dp_event_gaussian(DP_SAMPLING_POISSON, 0.1, 1, 0);
    const struct dp_charges *charges = LAPS_OF(event, 10), none = {0};
    double z;
    assert_fails(dp_calibrate_noise(DP_ACCOUNTANT_RDP, charges, 1e-6, 1e-12, &z, &err), DP_E_RUN,
                 "no noise multiplier up to 1e+09 reaches epsilon 1e-06 at delta 1e-12");
    assert_fails(dp_calibrate_noise(DP_ACCOUNTANT_RDP, charges, 0, 1e-5, &z, &err), DP_E_RUN,
                 "cannot calibrate to epsilon = 0");
    assert_int_equal(dp_calibrate_noise(DP_ACCOUNTANT_RDP, &none, 1, 1e-5, &z, &err), DP_E_RUN);
}

/* Several queries on one batch are stretched together: two Gaussians are one of 1/z^2 = 1/z1^2 + 1/z2^2. */
TEST(queries_are_stretched_together)
{
    struct dp_event two = dp_event_gaussian(DP_SAMPLING_POISSON, 0.01, 1, 0);
    two.queries = 2;
    two.query[1] = (struct dp_query){.kind = DP_QUERY_GAUSSIAN, .multiplier = 2};
    const struct dp_event one = dp_event_gaussian(DP_SAMPLING_POISSON, 0.01, 1 / sqrt(1.25), 0);
    enum dp_accountant accountants[] = {DP_ACCOUNTANT_RDP, DP_ACCOUNTANT_PLD, DP_ACCOUNTANT_BEST};
    for (size_t i = 0; i < sizeof accountants / sizeof *accountants; i++) {
        double factor, expected;
        err = (struct dp_err){0};
        assert_int_equal(dp_calibrate_noise(accountants[i], LAPS_OF(two, 1000), 1, 1e-5, &factor, &err), DP_OK);
        assert_int_equal(dp_calibrate_noise(accountants[i], LAPS_OF(one, 1000), 1, 1e-5, &expected, &err), DP_OK);
        assert_near(factor, expected, 1e-7);
        struct dp_event stretched = two;
        stretched.query[0].multiplier *= factor;
        stretched.query[1].multiplier *= factor;
        assert_true(epsilon_of(accountants[i], stretched, 1e-5, 1000) <= 1);
    }
}

TESTS(NULL, NULL)
