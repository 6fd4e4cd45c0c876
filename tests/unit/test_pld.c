/* Privacy loss distributions against reference figures, closed forms and the Rényi accountant. */
#include "unit.h"

#include <stdio.h>

#include "priv/mixture.h"
#include "priv/pld.h"
#include "priv/rdp.h"

static struct dp_pld_answer epsilon_of(double q, double z, int64_t laps, double delta)
{
    struct dp_pld_answer answer;
    struct dp_err err = {0};
    struct dp_pld_part run = {.kind = DP_PLD_GAUSSIAN, .rate = q, .multiplier = z, .laps = laps};
    if (dp_pld_epsilon(&run, 1, delta, &answer, &err) != DP_OK)
        fail_msg("q=%g z=%g T=%g delta=%g: %s", q, z, (double)laps, delta, err.message);
    assert_true(answer.lower >= 0 && answer.lower <= answer.upper);
    assert_true(!answer.tight || answer.upper - answer.lower <= 0.01 * answer.upper);
    return answer;
}

static struct dp_pld_answer delta_of(double q, double z, int64_t laps, double epsilon)
{
    struct dp_pld_answer answer;
    struct dp_err err = {0};
    struct dp_pld_part run = {.kind = DP_PLD_GAUSSIAN, .rate = q, .multiplier = z, .laps = laps};
    if (dp_pld_delta(&run, 1, epsilon, &answer, &err) != DP_OK)
        fail_msg("q=%g z=%g T=%g epsilon=%g: %s", q, z, (double)laps, epsilon, err.message);
    assert_true(answer.lower >= 0 && answer.lower <= answer.upper);
    assert_true(!answer.tight || answer.upper - answer.lower <= 0.01 * answer.upper);
    return answer;
}

static double renyi(double q, double z, double laps, double delta)
{
    double r[DP_RDP_ORDER_COUNT];
    dp_rdp_sampled_gaussian(q, z, dp_rdp_orders, DP_RDP_ORDER_COUNT, r);
    for (int i = 0; i < DP_RDP_ORDER_COUNT; i++)
        r[i] *= laps;
    return dp_rdp_epsilon(dp_rdp_orders, r, DP_RDP_ORDER_COUNT, delta, NULL);
}

/* Also: better than Rényi, δ(ε(δ)) is δ, and in time. */
static void vectors(void **state)
{
    (void)state;
    FILE *file = fopen("tests/vectors/sampled-gaussian.tsv", "r");
    assert_non_null(file);
    char line[256];
    int rows = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        double q, z, laps, delta, reference, upper, lower;
        if (line[0] == '#')
            continue;
        assert_int_equal(
            sscanf(line, "%lf %lf %lf %lf %lf %lf %lf", &q, &z, &laps, &delta, &reference, &upper, &lower),
            7);
#ifdef __SANITIZE_ADDRESS__
        if (rows++ % 6 != 0) /* under sanitizers a few must do */
            continue;
        rows--;
#endif
        struct dp_pld_answer a = epsilon_of(q, z, (int64_t)laps, delta);
        if (!(a.upper >= lower && a.upper <= upper * (1 + 1e-6) && a.lower <= upper && a.tight))
            fail_msg("q=%g z=%g T=%g delta=%g: %.9g to %.9g, expected %.9g to %.9g", q, z, laps, delta,
                     a.lower, a.upper, lower, upper);
        assert_true(a.upper < renyi(q, z, laps, delta) * 0.97);
        struct dp_pld_answer back = delta_of(q, z, (int64_t)laps, a.upper);
        if (!(back.lower <= delta && back.upper >= delta * 0.98 && back.upper <= delta * 1.01))
            fail_msg("q=%g z=%g T=%g: delta %g to %g, expected %g", q, z, laps, back.lower, back.upper,
                     delta);
        rows++;
    }
    fclose(file);
    assert_int_equal(rows, 36);
}

/* T Gaussians are one of μ = √T / z. Deep losses too: z = .1 has ratios of e^-60. */
static void full_batch_is_the_gaussian(void **state)
{
    (void)state;
    const struct {
        double z;
        int64_t laps;
    } runs[] = {{1, 1}, {0.3, 1}, {0.1, 1}, {0.5, 3}, {3, 40}, {20, 1000}, {500, 100000}};
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        double mu = sqrt((double)runs[i].laps) / runs[i].z;
        for (double delta = 1e-3; delta > 1e-12; delta *= 1e-4) {
            struct dp_pld_answer a = epsilon_of(1, runs[i].z, runs[i].laps, delta);
            double at_upper = dp_gaussian_log_delta(a.upper, mu),
                   at_lower = dp_gaussian_log_delta(a.lower, mu);
            double above = dp_gaussian_log_delta(a.upper * (1 - 2e-5), mu);
            if (!(at_upper <= log(delta) + 1e-11 && at_lower >= log(delta) && above > log(delta) && a.tight))
                fail_msg("z=%g T=%g delta=%g: %.9g to %.9g, ln delta %.9g", runs[i].z, (double)runs[i].laps,
                         delta, a.lower, a.upper, at_upper);
        }
    }
}

static double upper_tail(double x)
{
    return erfc(x / sqrt(2)) / 2;
}

/* One lap: the larger of both directions, from where the loss crosses ε. */
static double one_lap(double q, double z, double epsilon)
{
    double mu = 1 / z, u = (log1p(expm1(epsilon) / q) + mu * mu / 2) / mu;
    double remove = q * upper_tail(u - mu) + (1 - q - exp(epsilon)) * upper_tail(u), add = 0;
    double v = 1 + expm1(-epsilon) / q;
    if (v > 0) {
        double w = (log(v) + mu * mu / 2) / mu;
        add = upper_tail(-w) * (1 - exp(epsilon) * (1 - q)) - exp(epsilon) * q * upper_tail(mu - w);
    }
    return fmax(remove, add);
}

static void one_lap_in_closed_form(void **state)
{
    (void)state;
    const double qs[] = {0.01, 0.3, 0.999999}, zs[] = {0.6, 2};
    int count = 0, tight = 0;
    for (int i = 0; i < 6; i++) {
        double q = qs[i % 3], z = zs[i / 3];
        for (double epsilon = 0.1; epsilon < 5; epsilon *= 6) {
            double exact = one_lap(q, z, epsilon);
            if (exact < 1e-12)
                continue;
            count++;
            struct dp_pld_answer a = delta_of(q, z, 1, epsilon);
            tight += a.tight;
            if (!(a.upper >= exact * (1 - 1e-9) && a.lower <= exact * (1 + 1e-9) &&
                  (!a.tight || a.upper <= exact * 1.011)))
                fail_msg("q=%g z=%g epsilon=%g: %.12g to %.12g, exactly %.12g", q, z, epsilon, a.lower,
                         a.upper, exact);
        }
    }
    assert_true(count > 10 && tight > count / 2);
}

static void monotone(void **state)
{
    (void)state;
    double before = 0;
    for (int64_t laps = 1; laps <= 4096; laps *= 4) {
        double upper = epsilon_of(0.02, 1.1, laps, 1e-6).upper;
        assert_true(upper > before);
        before = upper;
    }
    before = INFINITY;
    for (double delta = 1e-12; delta < 0.1; delta *= 100) {
        double upper = epsilon_of(0.02, 1.1, 500, delta).upper;
        assert_true(upper < before);
        before = upper;
    }
    before = 1;
    for (double epsilon = 0.25; epsilon < 5; epsilon *= 2) {
        double upper = delta_of(0.02, 1.1, 500, epsilon).upper;
        assert_true(upper < before);
        before = upper;
    }
}

static void never_above_renyi(void **state)
{
    (void)state;
    const double qs[] = {1e-8, 1e-3, 0.5, 1}, zs[] = {0.05, 0.7, 10, 1e4};
    for (int i = 0; i < 16; i++)
        for (int64_t laps = 1; laps <= 1000; laps *= 1000)
            assert_true(epsilon_of(qs[i % 4], zs[i / 4], laps, 1e-7).upper <=
                        renyi(qs[i % 4], zs[i / 4], (double)laps, 1e-7));
    assert_true(epsilon_of(1e-3, 10, 1, 0.5).upper == 0);
}

static void refused(void **state)
{
    (void)state;
    const struct dp_pld_part good = {DP_PLD_GAUSSIAN, 0.1, 1, 0, 1};
    const struct dp_pld_part bad[] = {
        {DP_PLD_GAUSSIAN, 0, 1, 0, 1},          {DP_PLD_GAUSSIAN, 1.1, 1, 0, 1},
        {DP_PLD_GAUSSIAN, NAN, 1, 0, 1},        {DP_PLD_GAUSSIAN, 0.1, 0, 0, 1},
        {DP_PLD_GAUSSIAN, 0.1, INFINITY, 0, 1}, {DP_PLD_GAUSSIAN, 0.1, 1, 0, 0},
        {DP_PLD_GAUSSIAN, 0.1, 1e-200, 0, 1},   {DP_PLD_LAPLACE, 0.1, -1, 0, 1},
        {DP_PLD_PURE, 0.1, 1, 0, 1},            {DP_PLD_PURE, 0.1, 1, INFINITY, 1},
        {DP_PLD_GAUSSIAN_REPLACED, 0.1, 1, 0, 1},
    };
    struct dp_pld_answer a;
    struct dp_err err = {0};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(dp_pld_epsilon((struct dp_pld_part[]){good, bad[i]}, 2, 0.1, &a, &err), DP_E_RUN);
    assert_int_equal(dp_pld_epsilon(&good, 0, 0.1, &a, &err), DP_E_RUN);
    assert_int_equal(dp_pld_epsilon(&good, 1, 0, &a, &err), DP_E_RUN);
    assert_int_equal(dp_pld_epsilon(&good, 1, 1, &a, &err), DP_E_RUN);
    assert_int_equal(dp_pld_delta(&good, 1, -1, &a, &err), DP_E_RUN);
    assert_int_equal(dp_pld_delta(&good, 1, NAN, &a, &err), DP_E_RUN);
    assert_int_equal(dp_pld_epsilon(&good, 1, 0.1, &a, &err), DP_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors),
        cmocka_unit_test(full_batch_is_the_gaussian),
        cmocka_unit_test(one_lap_in_closed_form),
        cmocka_unit_test(monotone),
        cmocka_unit_test(never_above_renyi),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests_name("pld", tests, NULL, NULL);
}
