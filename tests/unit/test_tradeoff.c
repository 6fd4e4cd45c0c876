/* Persons found by an attacker, against closed forms, against the best test between two lists of probabilities, groups and pure
 * mechanisms. */
#include "charges.h"

#include <gsl/gsl_cdf.h>

#include "account/solve.h"
#include "account/tradeoff.h"

static struct dp_tradeoff tradeoff_of(const struct dp_charges *charges, double delta)
{
    struct dp_tradeoff t;
    struct dp_err err = {0};
    assert_ok(dp_tradeoff_make(charges, delta, &t, &err));
    return t;
}

static struct dp_answer delta_at(const struct dp_charges *charges, double epsilon)
{
    struct dp_answer answer;
    struct dp_err err = {0};
    assert_ok(dp_solve_delta(DP_ACCOUNTANT_BEST, charges, epsilon, &answer, &err));
    return answer;
}

/* The answer for a group of `persons` persons */
static struct dp_answer group_of(const struct dp_charges *charges, int64_t persons, double delta, bool *exact)
{
    struct dp_answer answer;
    struct dp_err err = {0};
    assert_ok(dp_solve_group(charges, persons, delta, &answer, exact, &err));
    return answer;
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
    struct dp_charge fit[] = {gaussian(1, 8.225, 1), gaussian(1, 39.09, 128)};
    struct dp_tradeoff t = tradeoff_of(CHARGES_OF(fit), 1e-4);
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
    struct dp_charge run[] = {gaussian(0.01, 1, 1000)};
    struct dp_tradeoff t = tradeoff_of(CHARGES_OF(run), 1e-5);
    const double alarms[] = {0.01, 0.05, 0.1, 0.25}, found[] = {0.029, 0.111, 0.194, 0.396};
    for (int i = 0; i < 4; i++)
        if (!(dp_tradeoff_found(&t, alarms[i]) >= found[i] - 5e-4 && dp_tradeoff_found(&t, alarms[i]) <= found[i] + 1e-3))
            fail_msg("alarms %g: %g", alarms[i], dp_tradeoff_found(&t, alarms[i]));
    assert_near(dp_tradeoff_even(&t), 0.5806, 1e-4);
    double least = INFINITY;
    assert_true(t.but == 1e-5 && isfinite(t.mu));
    for (double epsilon = 0.003; epsilon < 2.5; epsilon += 0.0731) {
        struct dp_charge like[] = {gaussian(1, 1 / t.mu, 1)};
        const struct dp_answer a = delta_at(CHARGES_OF(run), epsilon), b = delta_at(CHARGES_OF(like), epsilon);
        if (!(a.lower <= b.upper + t.but))
            fail_msg("epsilon %g: delta %g, and %g at mu", epsilon, a.lower, b.upper);
        least = a.upper > 1e-5 ? fmin(least, b.upper / a.upper) : least;
    }
    if (!(least < 1.1))
        fail_msg("mu %g: %g times the curve at least", t.mu, least);
}

/* Laplace noise of one number: the best test of Lap(0) against Lap(1/z). */
TEST(pure_mechanisms)
{
    struct dp_charge laplace[] = {other(DP_QUERY_LAPLACE, 0.5, 0, 1)};
    struct dp_tradeoff t = tradeoff_of(CHARGES_OF(laplace), 0);
    assert_true(t.but == 0 && isfinite(t.mu));
    for (double a = 0.01; a < 0.5; a += 0.07) { /* reject beyond x: alarms e^{−x}/2, found 1 − e^{x−2}/2 or e^{2−x}/2 */
        double x = -log(2 * a), exact = x < 2 ? 1 - exp(x - 2) / 2 : exp(2 - x) / 2, ours = dp_tradeoff_found(&t, a);
        if (!(ours >= exact - 1e-9 && ours <= exact + 0.02))
            fail_msg("alarms %g: %g, exactly %g", a, ours, exact);
    }
    struct dp_charge three[] = {other(DP_QUERY_PURE, 0, 1, 1), other(DP_QUERY_PURE, 0, 2, 1)},
                     four[] = {other(DP_QUERY_LAPLACE, 1, 0, 3), other(DP_QUERY_LAPLACE, 2, 0, 2)},
                     mixed[] = {three[0], gaussian(1, 3, 1)};
    const struct {
        const struct dp_charges *charges;
        double epsilon;
    } rows[] = {{CHARGES_OF(three), 3}, {CHARGES_OF(four), 4}};
    for (int i = 0; i < 2; i++) {
        assert_true(delta_at(rows[i].charges, rows[i].epsilon).upper == 0);
        assert_true(delta_at(rows[i].charges, rows[i].epsilon * (1 - 1e-3)).upper > 0);
        assert_true(answer_of(DP_ACCOUNTANT_BEST, rows[i].charges, 0).upper == rows[i].epsilon);
    }
    struct dp_answer none;
    assert_int_equal(dp_account_epsilon(DP_ACCOUNTANT_BEST, CHARGES_OF(mixed), 0, &none, &err), DP_E_RUN);
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
    bool exact;
    struct dp_charge full[] = {gaussian(1, 20, 4)}, four[] = {gaussian(1, 5, 4)}, sampled[] = {gaussian(0.01, 1, 1000)},
                     pure[] = {other(DP_QUERY_PURE, 0, 0.25, 2)},
                     loud[] = {other(DP_QUERY_PURE, 0, 1, 1000)}; /* e^(k epsilon) overflows */
    assert_near(group_of(CHARGES_OF(full), 4, 1e-5, &exact).upper / answer_of(DP_ACCOUNTANT_BEST, CHARGES_OF(four), 1e-5).upper,
                1, 1e-9);
    assert_true(exact);
    const double three = group_of(CHARGES_OF(pure), 3, 0, &exact).upper;
    assert_near(three, 1.5, 1e-5);
    assert_true(three >= 1.5 && !exact);
    for (int i = 0; i < 2; i++)
        assert_near(group_of(CHARGES_OF(loud), 3, i * 1e-5, &exact).upper, 3000, 1e-9);
    for (double x = 0; x < 300; x = 2 * x + 1e-9) {
        double ratio = x > 0 ? expm1(2 * x) / expm1(x) : 2;
        assert_true(dp_group_growth(x, 2) >= log(ratio));
        assert_near(dp_group_growth(x, 2), log(ratio), 1e-8);
    }
    const double two = group_of(CHARGES_OF(sampled), 2, 1e-5, &exact).upper, x = two / 2;
    assert_true(!exact && two > 2);
    double bound = delta_at(CHARGES_OF(sampled), x).upper * expm1(2 * x) / expm1(x);
    assert_true(bound <= 1e-5 * (1 + 1e-5) && bound > 0.99e-5);
}

TESTS(NULL, NULL)
