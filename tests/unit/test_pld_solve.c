/* Unknowns of a budget, by privacy loss distributions: the answer holds when checked, and a little more does not. */
#include "unit.h"

#include "priv/mixture.h"
#include "priv/pld_solve.h"
#include "base/round.h"

static double spent(const struct dp_pld_part *parts, size_t count, double delta)
{
    struct dp_pld_answer answer;
    struct dp_err err = {0};
    assert_ok(dp_pld_epsilon(parts, count, delta, &answer, &err));
    return answer.upper;
}

static double lower(const struct dp_pld_part *parts, size_t count, double delta)
{
    struct dp_pld_answer answer;
    struct dp_err err = {0};
    assert_ok(dp_pld_epsilon(parts, count, delta, &answer, &err));
    return answer.lower;
}

static const struct dp_pld_part runs[] = {
    {DP_PLD_GAUSSIAN, 0.01, 1, 0, 1000}, {DP_PLD_GAUSSIAN, 0.2, 4, 0, 50},         {DP_PLD_GAUSSIAN_REPLACED, 0.02, 3, 0, 200},
    {DP_PLD_LAPLACE, 0.1, 5, 0, 100},    {DP_PLD_PURE, 0.3, 0, 0.2, 60},           {DP_PLD_GAUSSIAN, 0.004, 0.7, 0, 3},
    {DP_PLD_JOINT, 0.05, 3, 0.4, 100},   {DP_PLD_GAUSSIAN_COINS, 0.02, 1, 0, 200},
};
enum { RUNS = sizeof runs / sizeof runs[0] };

static struct dp_pld_part scaled(struct dp_pld_part part, double factor)
{
    part.multiplier *= factor;
    part.epsilon /= factor;
    return part;
}

TEST(multiplier)
{
    for (int i = 0; i < RUNS; i++)
        for (double epsilon = 0.3; epsilon < 10; epsilon *= 9) {
            double factor;
            if (dp_pld_scale_multiplier(&runs[i], 1, epsilon, 1e-6, &factor, &err) != DP_OK)
                fail_msg("run %d epsilon %g: %s", i, epsilon, err.message);
            assert_true(factor == dp_round_up(factor, 9));
            struct dp_pld_part part = scaled(runs[i], factor);
            assert_true(spent(&part, 1, 1e-6) <= epsilon);
            part = scaled(runs[i], factor * (1 - 1e-12));
            assert_true(spent(&part, 1, 1e-6) <= epsilon);
            part = scaled(runs[i], factor * (1 - 1e-3));
            assert_true(lower(&part, 1, 1e-6) > epsilon);
        }
}

/* Parts keep their ratio; plain Gaussians have a closed form: μ = √(Σ T/z²) / factor. */
TEST(several_parts)
{
    const struct dp_pld_part parts[] = {{DP_PLD_GAUSSIAN, 1, 5, 0, 10}, {DP_PLD_GAUSSIAN, 1, 2, 0, 3}};
    for (double epsilon = 0.1; epsilon < 20; epsilon *= 5) {
        double factor, mu = sqrt(10 / 25.0 + 3 / 4.0);
        assert_int_equal(dp_pld_scale_multiplier(parts, 2, epsilon, 1e-5, &factor, &err), DP_OK);
        assert_true(dp_gaussian_log_delta(epsilon, mu / factor) <= log(1e-5) + 1e-11);
        assert_true(dp_gaussian_log_delta(epsilon, mu / (factor * (1 - 1e-4))) > log(1e-5));
    }
}

TEST(laps)
{
    for (int i = 0; i < RUNS; i++) {
        struct dp_pld_part part = runs[i];
        int64_t found;
        double epsilon = 1.3 * spent(&part, 1, 1e-6);
        assert_int_equal(dp_pld_laps(&part, epsilon, 1e-6, &found, &err), DP_OK);
        assert_true(found >= runs[i].laps);
        part.laps = found;
        assert_true(spent(&part, 1, 1e-6) <= epsilon);
        part.laps = found + 1;
        assert_true(spent(&part, 1, 1e-6) > epsilon);
    }
    int64_t none = 7;
    assert_int_equal(dp_pld_laps(&runs[1], 1e-3, 1e-12, &none, &err), DP_OK);
    assert_int_equal(none, 0);
}

TEST(rate)
{
    for (int i = 0; i < RUNS; i++) {
        struct dp_pld_part part = runs[i];
        double found, epsilon = 1.5 * spent(&part, 1, 1e-6);
        assert_int_equal(dp_pld_rate(&part, epsilon, 1e-6, &found, &err), DP_OK);
        assert_true(found > runs[i].rate && found == dp_round_down(found, 9));
        part.rate = found;
        assert_true(spent(&part, 1, 1e-6) <= epsilon);
        part.rate = found * (1 + 1e-3);
        assert_true(found == 1 || lower(&part, 1, 1e-6) > epsilon);
    }
    double all;
    assert_int_equal(dp_pld_rate(&runs[1], 100, 1e-6, &all, &err), DP_OK);
    assert_true(all == 1);
}

TEST(refused)
{
    double x;
    int64_t n;
    struct dp_pld_part bad = runs[0];
    bad.multiplier = -1;
    assert_int_equal(dp_pld_scale_multiplier(runs, 1, 0, 1e-5, &x, &err), DP_E_RUN);
    assert_int_equal(dp_pld_scale_multiplier(runs, 1, NAN, 1e-5, &x, &err), DP_E_RUN);
    assert_int_equal(dp_pld_scale_multiplier(runs, 1, 1, 0, &x, &err), DP_E_RUN);
    assert_int_equal(dp_pld_scale_multiplier(runs, 0, 1, 1e-5, &x, &err), DP_E_RUN);
    assert_int_equal(dp_pld_scale_multiplier(&bad, 1, 1, 1e-5, &x, &err), DP_E_RUN);
    assert_int_equal(dp_pld_laps(&bad, 1, 1e-5, &n, &err), DP_E_RUN);
    assert_int_equal(dp_pld_rate(&bad, 1, 1e-5, &x, &err), DP_E_RUN);
    assert_int_equal(dp_pld_rate(&runs[0], 1, 2, &x, &err), DP_E_RUN);
}

/* Where the bound is not smooth in the number of laps, the search once stopped a fifth too low. */
TEST(laps_to_the_last_one)
{
    struct dp_pld_part part = {DP_PLD_GAUSSIAN, 0.00013312128233857295, 0.629039860830923, 0, 1};
    assert_int_equal(dp_pld_laps(&part, 0.8838, 9.385894043925967e-08, &part.laps, &err), DP_OK);
    assert_true(part.laps >= 12484 && spent(&part, 1, 9.385894043925967e-08) <= 0.8838);
    part.laps += 2;
    assert_true(spent(&part, 1, 9.385894043925967e-08) > 0.8838);
}

/* Here rounding of the FFT limits the bound: with too fine a grid the search once found more noise than needed, and the bound
   jumped. */
TEST(noise_at_a_tiny_rate)
{
    struct dp_pld_part part = {DP_PLD_GAUSSIAN, 1e-6, 1, 0, 1000000};
    double factor;
    assert_int_equal(dp_pld_scale_multiplier(&part, 1, 1, 1e-12, &factor, &err), DP_OK);
    assert_true(factor < 0.556);
    part.multiplier = factor;
    assert_true(spent(&part, 1, 1e-12) <= 1);
    part.multiplier = factor * (1 - 1e-4);
    assert_true(spent(&part, 1, 1e-12) > 1);
}

/* The rough answer at the start of a search is near the final one. */
TEST(roughly)
{
    for (int i = 0; i < RUNS; i++) {
        struct dp_pld_answer rough;
        double epsilon = spent(&runs[i], 1, 1e-6);
        assert_int_equal(dp_pld_rough(&runs[i], 1, 1e-6, &rough, &err), DP_OK);
        assert_true(fabs(rough.upper / epsilon - 1) < 0.02);
    }
    struct dp_pld_part bad = {DP_PLD_GAUSSIAN, 0.1, -1, 0, 10};
    struct dp_pld_answer unused;
    assert_int_equal(dp_pld_rough(&bad, 1, 1e-6, &unused, &err), DP_E_RUN);
}

TESTS(NULL, NULL)
