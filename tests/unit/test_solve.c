/* Delta, laps and rate: the printed answer meets its target, and one step further does not. */
#include "charges.h"
#include "random.h"

#include "account/calibrate.h"
#include "priv/mixture.h"
#include "account/solve.h"
#include "base/round.h"

static double cost(struct dp_event event, int64_t laps, double delta)
{
    return answer_of(DP_ACCOUNTANT_RDP, LAPS_OF(event, laps), delta).upper;
}

static int solve_delta(struct dp_event event, int64_t laps, double epsilon, double *delta, struct dp_err *err)
{
    struct dp_answer answer;
    int rc = dp_solve_delta(DP_ACCOUNTANT_RDP, LAPS_OF(event, laps), epsilon, &answer, err);
    *delta = answer.upper;
    return rc;
}

TEST(every_answer_is_the_last_that_holds)
{
    gsl_rng *rng = random_numbers();
    for (int i = 0; i < 12; i++) {
        struct dp_event event =
            dp_event_gaussian(DP_SAMPLING_POISSON, exp(-7 * gsl_rng_uniform(rng)), 0.7 + 9 * gsl_rng_uniform(rng), 0);
        double epsilon = 0.1 + 5 * gsl_rng_uniform(rng), delta = pow(10, -3 - 7 * gsl_rng_uniform(rng)), found;
        int64_t laps;
        assert_int_equal(dp_solve_laps(DP_ACCOUNTANT_RDP, &event, epsilon, delta, &laps, &err), 0);
        assert_true(laps == 0 || cost(event, laps, delta) <= epsilon);
        assert_true(cost(event, laps + 1, delta) > epsilon);
        laps = laps > 0 ? laps : 1;
        if (solve_delta(event, laps, epsilon, &found, &err) == 0) {
            assert_true(cost(event, laps, found) <= epsilon);
            assert_true(found < 2e-300 || cost(event, laps, found * (1 - 1e-5)) > epsilon);
        }
        if (dp_solve_rate(DP_ACCOUNTANT_RDP, &event, laps, epsilon, delta, &found, &err) == 0) {
            struct dp_event solved = event;
            solved.rate = found;
            assert_true(cost(solved, laps, delta) <= epsilon);
            solved.rate = found * (1 + 1e-7);
            assert_true(found == 1 || cost(solved, laps, delta) > epsilon);
        }
    }
}

TEST(solving_back_and_forth)
{
    struct dp_event event = dp_event_gaussian(DP_SAMPLING_POISSON, 0.01, 1, 0);
    double z, rate, delta;
    int64_t laps;
    assert_int_equal(dp_calibrate_noise(DP_ACCOUNTANT_RDP, LAPS_OF(event, 1000), 2, 1e-6, &z, &err), 0);
    event.query[0].multiplier = z;
    assert_int_equal(dp_solve_laps(DP_ACCOUNTANT_RDP, &event, 2, 1e-6, &laps, &err), 0);
    assert_int_equal(laps, 1000);
    assert_int_equal(dp_solve_rate(DP_ACCOUNTANT_RDP, &event, 1000, 2, 1e-6, &rate, &err), 0);
    assert_near(rate, 0.01, 1e-7);
    assert_int_equal(solve_delta(event, 1000, 2, &delta, &err), 0);
    assert_true(delta <= 1e-6 && delta > 0.99999e-6);
}

/* Above the exact delta of a plain Gaussian (Balle and Wang), which Rényi DP cannot beat. */
TEST(delta_is_above_the_exact_one)
{
    struct dp_event event = dp_event_gaussian(DP_SAMPLING_NONE, 1, 2, 0);
    double delta;
    assert_int_equal(solve_delta(event, 4, 3, &delta, &err), 0);
    double exact = exp(dp_gaussian_log_delta(3, 1));
    assert_true(delta > exact && delta < 20 * exact);
}

LONG_TEST(a_delta_is_rounded_up)
{
    struct dp_event event = dp_event_gaussian(DP_SAMPLING_POISSON, 0.01, 1.2, 0);
    for (int64_t laps = 1; laps < 200; laps += 17) {
        const struct dp_charges *charges = LAPS_OF(event, laps);
        struct dp_answer exact, rounded;
        err = (struct dp_err){0};
        assert_int_equal(dp_account_pld_delta(charges, 0.7, &exact, &err), DP_OK);
        assert_int_equal(dp_solve_delta(DP_ACCOUNTANT_BEST, charges, 0.7, &rounded, &err), DP_OK);
        assert_true(rounded.upper >= exact.upper && rounded.upper <= exact.upper * (1 + 2e-5));
    }
}

TEST(what_cannot_be_had)
{
    struct dp_event event = dp_event_gaussian(DP_SAMPLING_NONE, 1, 0.01, 0);
    double found;
    int64_t laps;
    assert_int_equal(solve_delta(event, 10, 0.1, &found, &err), 0);
    assert_true(found == 1);
    assert_int_equal(dp_solve_laps(DP_ACCOUNTANT_RDP, &event, 0.1, 1e-5, &laps, &err), 0);
    assert_int_equal(laps, 0);
    event.query[0].multiplier = 1e9;
    assert_int_equal(dp_solve_laps(DP_ACCOUNTANT_RDP, &event, 1, 1e-5, &laps, &err), 0);
    assert_true(laps == 1000000000000);
    event.query[0].multiplier = -1;
    assert_int_equal(dp_solve_laps(DP_ACCOUNTANT_RDP, &event, 1, 1e-5, &laps, &err), DP_E_RUN);
}

TEST(rounding_down)
{
    gsl_rng *rng = random_numbers();
    char text[40];
    for (int i = 0; i < 20000; i++) {
        double value = exp(40 * gsl_rng_uniform(rng) - 20);
        double down = dp_round_down(value, 6);
        assert_true(down <= value && down >= value * (1 - 2.1e-5));
        snprintf(text, sizeof text, "%.5e", down);
        assert_true(strtod(text, NULL) == down);
    }
    /* the largest number with that many digits, also below powers of ten */
    assert_true(dp_round_down(1.0000001, 4) == 1 && dp_round_down(9.9999, 3) == 9.99 && dp_round_down(0.0999999, 2) == 0.099);
    assert_true(dp_round_down(1.82821, 4) == 1.828 && dp_round_down(nextafter(1, 0), 4) == 0.9999);
    assert_true(dp_round_down(0, 4) == 0 && isinf(dp_round_down((double)INFINITY, 4)));
    assert_true(dp_round_down(0.25, 3) == 0.25 && dp_round_down(1, 6) == 1 && dp_round_down(0.1, 6) == 0.1);
}

/* A mechanism that is 3-DP and has three answers. Its P1 and Q1, with the exchanged row in the batch, are (Ex, x, rest) and (x,
   Ex, rest); without it (x, x, rest), with E = e^3 and x = 1/(E + 2), so that all three are within E of one another. At q =
   0.01 a lap's loss is +L, −L or 0. The exact epsilon of 1000 laps at delta = 1e-5, by convolution in NumPy, is 8.4856; 200
   laps at q = 0.1: 44.997. */
TEST(exchanging_a_row_costs_at_least_what_a_mechanism_does)
{
    static const struct {
        double rate, exact;
        int64_t laps;
    } known[] = {{0.01, 8.4856, 1000}, {0.1, 44.997, 200}};
    for (size_t i = 0; i < 2; i++) {
        struct dp_event event = {.sampling = DP_SAMPLING_SUBSTITUTED,
                                 .rate = known[i].rate,
                                 .queries = 1,
                                 .query = {{.kind = DP_QUERY_PURE, .epsilon = 3}}};
        for (int a = DP_ACCOUNTANT_BEST; a <= DP_ACCOUNTANT_RDP; a++)
            assert_true(answer_of((enum dp_accountant)a, LAPS_OF(event, known[i].laps), 1e-5).upper >= known[i].exact);
        err = (struct dp_err){0};
        assert_ok(dp_solve_rate(DP_ACCOUNTANT_PLD, &event, 10, 1, 1e-5, &event.rate, &err));
        const double epsilon = answer_of(DP_ACCOUNTANT_PLD, LAPS_OF(event, 10), 1e-5).upper;
        assert_true(epsilon <= 1 && epsilon > 0.999);
    }
}

TESTS(NULL, NULL)
