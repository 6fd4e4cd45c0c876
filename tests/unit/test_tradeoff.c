/* Persons found by an attacker, against closed forms, against the best test between two lists of probabilities, groups and pure
 * mechanisms. */
#include "unit.h"

#include <gsl/gsl_cdf.h>

#include "account/solve.h"
#include "account/tradeoff.h"

static struct dp_charges list_of(const struct dp_charge *charge, size_t count)
{
    struct dp_charges charges = {0};
    for (size_t i = 0; i < count; i++)
        assert_int_equal(dp_charges_add(&charges, &charge[i].event, charge[i].laps, NULL), 0);
    return charges;
}

static struct dp_tradeoff tradeoff_of(const struct dp_charge *charge, size_t count, double delta)
{
    struct dp_charges charges = list_of(charge, count);
    struct dp_tradeoff t;
    struct dp_err err = {0};
    assert_ok(dp_tradeoff_make(&charges, delta, &t, &err));
    dp_charges_free(&charges);
    return t;
}

static struct dp_charge gaussian(double rate, double z, int64_t laps)
{
    return (struct dp_charge){dp_event_gaussian(rate < 1 ? DP_SAMPLING_POISSON : DP_SAMPLING_NONE, rate, z, 0), laps};
}

static struct dp_charge other(enum dp_query_kind kind, double multiplier, double epsilon, int64_t laps)
{
    struct dp_event event = {.sampling = DP_SAMPLING_NONE, .rate = 1, .queries = 1};
    event.query[0] = (struct dp_query){.kind = kind, .multiplier = multiplier, .epsilon = epsilon};
    return (struct dp_charge){event, laps};
}

/* found(a) = Φ(Φ⁻¹(a) + μ). */
TEST(one_gaussian)
{
    const struct dp_charge fit[] = {gaussian(1, 8.225, 1), gaussian(1, 39.09, 128)};
    struct dp_tradeoff t = tradeoff_of(fit, 2, 1e-4);
    double mu = sqrt(1 / (8.225 * 8.225) + 128 / (39.09 * 39.09));
    assert_near(t.mu / mu, 1, 1e-12);
    assert_true(t.mu >= mu && t.but == 0);
    for (double a = 0.001; a < 1; a += 0.0173) {
        double exact = gsl_cdf_ugaussian_P(gsl_cdf_ugaussian_Pinv(a) + mu), ours = dp_tradeoff_found(&t, a);
        if (!(ours >= exact * (1 - 1e-12) && ours <= exact + 1e-3))
            fail_msg("alarms %g: %.12g, exactly %.12g", a, ours, exact);
    }
    assert_near(dp_tradeoff_even(&t), gsl_cdf_ugaussian_P(mu / 2), 1e-5);
    assert_true(dp_tradeoff_even(&t) >= gsl_cdf_ugaussian_P(mu / 2));
}

/* dp_accounting's figures; and μ covers the curve between its pairs, as closely as 1 %. */
LONG_TEST(sampled_runs)
{
    const struct dp_charge run = gaussian(0.01, 1, 1000);
    struct dp_tradeoff t = tradeoff_of(&run, 1, 1e-5);
    const double alarms[] = {0.01, 0.05, 0.1, 0.25}, found[] = {0.029, 0.111, 0.194, 0.396};
    for (int i = 0; i < 4; i++)
        if (!(dp_tradeoff_found(&t, alarms[i]) >= found[i] - 5e-4 && dp_tradeoff_found(&t, alarms[i]) <= found[i] + 1e-3))
            fail_msg("alarms %g: %g", alarms[i], dp_tradeoff_found(&t, alarms[i]));
    assert_near(dp_tradeoff_even(&t), 0.5806, 1e-4);
    struct dp_charges charges = list_of(&run, 1);
    double least = INFINITY;
    assert_true(t.but == 1e-5 && isfinite(t.mu));
    for (double epsilon = 0.003; epsilon < 2.5; epsilon += 0.0731) {
        const struct dp_charge one = gaussian(1, 1 / t.mu, 1);
        struct dp_charges like = list_of(&one, 1);
        struct dp_answer a, b;
        err = (struct dp_err){0};
        assert_int_equal(dp_solve_delta(DP_ACCOUNTANT_BEST, &charges, epsilon, &a, &err), 0);
        assert_int_equal(dp_solve_delta(DP_ACCOUNTANT_BEST, &like, epsilon, &b, &err), 0);
        if (!(a.lower <= b.upper + t.but))
            fail_msg("epsilon %g: delta %g, and %g at mu", epsilon, a.lower, b.upper);
        least = a.upper > 1e-5 ? fmin(least, b.upper / a.upper) : least;
        dp_charges_free(&like);
    }
    if (!(least < 1.1))
        fail_msg("mu %g: %g times the curve at least", t.mu, least);
    dp_charges_free(&charges);
}

/* Laplace noise of one number: the best test of Lap(0) against Lap(1/z). */
TEST(pure_mechanisms)
{
    const struct dp_charge laplace = other(DP_QUERY_LAPLACE, 0.5, 0, 1);
    struct dp_tradeoff t = tradeoff_of(&laplace, 1, 0);
    assert_true(t.but == 0 && isfinite(t.mu));
    for (double a = 0.01; a < 0.5; a += 0.07) { /* reject beyond x: alarms e^{−x}/2, found 1 − e^{x−2}/2 or e^{2−x}/2 */
        double x = -log(2 * a), exact = x < 2 ? 1 - exp(x - 2) / 2 : exp(2 - x) / 2, ours = dp_tradeoff_found(&t, a);
        if (!(ours >= exact - 1e-9 && ours <= exact + 0.02))
            fail_msg("alarms %g: %g, exactly %g", a, ours, exact);
    }
    const struct dp_charge three[] = {other(DP_QUERY_PURE, 0, 1, 1), other(DP_QUERY_PURE, 0, 2, 1)},
                           four[] = {other(DP_QUERY_LAPLACE, 1, 0, 3), other(DP_QUERY_LAPLACE, 2, 0, 2)};
    const struct {
        const struct dp_charge *charge;
        double epsilon;
    } rows[] = {{three, 3}, {four, 4}};
    for (int i = 0; i < 2; i++) {
        struct dp_charges charges = list_of(rows[i].charge, 2);
        struct dp_answer answer;
        err = (struct dp_err){0};
        assert_int_equal(dp_solve_delta(DP_ACCOUNTANT_BEST, &charges, rows[i].epsilon, &answer, &err), 0);
        assert_true(answer.upper == 0);
        assert_int_equal(dp_solve_delta(DP_ACCOUNTANT_BEST, &charges, rows[i].epsilon * (1 - 1e-3), &answer, &err), 0);
        assert_true(answer.upper > 0);
        assert_int_equal(dp_account_epsilon(DP_ACCOUNTANT_BEST, &charges, 0, &answer, &err), 0);
        assert_true(answer.upper == rows[i].epsilon);
        dp_charges_free(&charges);
    }
    const struct dp_charge mixed[] = {three[0], gaussian(1, 3, 1)};
    struct dp_charges charges = list_of(mixed, 2);
    struct dp_answer answer;
    assert_int_equal(dp_account_epsilon(DP_ACCOUNTANT_BEST, &charges, 0, &answer, &err), DP_E_RUN);
    dp_charges_free(&charges);
}

TEST(one_pair)
{
    struct dp_tradeoff t = dp_tradeoff_of_pair(1, 1e-4);
    assert_near(dp_tradeoff_found(&t, 0.05), 0.05 * exp(1) + 1e-4, 1e-12);
    assert_near(dp_tradeoff_found(&t, 0.9), 1 - exp(-1) * (1 - 1e-4 - 0.9), 1e-12);
    assert_near(dp_tradeoff_even(&t), (exp(1) + 1e-4) / (exp(1) + 1), 1e-12);
}

/* k persons of one Gaussian are one of k μ, and of pure mechanisms k epsilon; else the bound holds where it is checked. */
TEST(groups)
{
    struct dp_answer answer, one;
    bool exact;
    const struct dp_charge full = gaussian(1, 20, 4), four = gaussian(1, 5, 4), sampled = gaussian(0.01, 1, 1000),
                           pure = other(DP_QUERY_PURE, 0, 0.25, 2);
    struct dp_charges a = list_of(&full, 1), b = list_of(&four, 1), c = list_of(&sampled, 1), d = list_of(&pure, 1);
    assert_int_equal(dp_solve_group(&a, 4, 1e-5, &answer, &exact, &err), 0);
    assert_int_equal(dp_account_epsilon(DP_ACCOUNTANT_BEST, &b, 1e-5, &one, &err), 0);
    assert_true(exact);
    assert_near(answer.upper / one.upper, 1, 1e-9);
    assert_int_equal(dp_solve_group(&d, 3, 0, &answer, &exact, &err), 0);
    assert_near(answer.upper, 1.5, 1e-5);
    assert_true(answer.upper >= 1.5 && !exact);
    const struct dp_charge loud = other(DP_QUERY_PURE, 0, 1, 1000); /* e^(k epsilon) overflows */
    struct dp_charges e = list_of(&loud, 1);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(dp_solve_group(&e, 3, i * 1e-5, &answer, &exact, &err), 0);
        assert_near(answer.upper, 3000, 1e-9);
    }
    dp_charges_free(&e);
    for (double x = 0; x < 300; x = 2 * x + 1e-9) {
        double ratio = x > 0 ? expm1(2 * x) / expm1(x) : 2;
        assert_true(dp_group_growth(x, 2) >= log(ratio));
        assert_near(dp_group_growth(x, 2), log(ratio), 1e-8);
    }
    assert_int_equal(dp_solve_group(&c, 2, 1e-5, &answer, &exact, &err), 0);
    assert_true(!exact && answer.upper > 2);
    double x = answer.upper / 2;
    assert_int_equal(dp_solve_delta(DP_ACCOUNTANT_BEST, &c, x, &one, &err), 0);
    double bound = one.upper * expm1(2 * x) / expm1(x);
    assert_true(bound <= 1e-5 * (1 + 1e-5) && bound > 0.99e-5);
    dp_charges_free(&a);
    dp_charges_free(&b);
    dp_charges_free(&c);
    dp_charges_free(&d);
}

TESTS(NULL, NULL)
