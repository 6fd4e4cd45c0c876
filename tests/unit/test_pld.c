/* Privacy loss distributions against reference figures, closed forms and the Rényi accountant. */
#include "unit.h"

#include "priv/joint.h"
#include "priv/mixture.h"
#include "priv/pld.h"
#include "priv/pld_cells.h"
#include "priv/pure.h"
#include "priv/rdp.h"

static struct dp_pld_answer checked(struct dp_pld_answer answer)
{
    assert_true(answer.lower >= 0 && answer.lower <= answer.upper);
    assert_true(!answer.tight || answer.upper - answer.lower <= 0.01 * answer.upper);
    return answer;
}

static struct dp_pld_answer epsilon_of_parts(const struct dp_pld_part *parts, size_t count, double delta)
{
    struct dp_pld_answer answer;
    struct dp_err err = {0};
    if (dp_pld_epsilon(parts, count, delta, &answer, &err) != DP_OK)
        fail_msg("%zu parts, q=%g z=%g T=%g delta=%g: %s", count, parts->rate, parts->multiplier, (double)parts->laps, delta,
                 err.message);
    return checked(answer);
}

static struct dp_pld_answer delta_of_parts(const struct dp_pld_part *parts, size_t count, double epsilon)
{
    struct dp_pld_answer answer;
    struct dp_err err = {0};
    if (dp_pld_delta(parts, count, epsilon, &answer, &err) != DP_OK)
        fail_msg("%zu parts, q=%g z=%g T=%g epsilon=%g: %s", count, parts->rate, parts->multiplier, (double)parts->laps,
                 epsilon, err.message);
    return checked(answer);
}

static struct dp_pld_answer epsilon_of(double q, double z, int64_t laps, double delta)
{
    const struct dp_pld_part run = {DP_PLD_GAUSSIAN, q, z, 0, laps};
    return epsilon_of_parts(&run, 1, delta);
}

static struct dp_pld_answer delta_of(double q, double z, int64_t laps, double epsilon)
{
    const struct dp_pld_part run = {DP_PLD_GAUSSIAN, q, z, 0, laps};
    return delta_of_parts(&run, 1, epsilon);
}

static double renyi(double q, double z, double laps, double delta)
{
    double r[DP_RDP_ORDER_COUNT];
    dp_rdp_sampled_gaussian(q, z, dp_rdp_orders, DP_RDP_ORDER_COUNT, r);
    for (int i = 0; i < DP_RDP_ORDER_COUNT; i++)
        r[i] *= laps;
    return dp_rdp_epsilon(dp_rdp_orders, r, DP_RDP_ORDER_COUNT, delta, NULL);
}

/* Also checks that bounds are better than Rényi's, that δ(ε(δ)) is δ, and that the time is short. */
TEST(vectors)
{
    FILE *file = fopen("tests/vectors/sampled-gaussian.tsv", "r");
    assert_non_null(file);
    char line[256];
    int rows = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        double q, z, laps, delta, reference, upper, lower;
        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line, "%lf %lf %lf %lf %lf %lf %lf", &q, &z, &laps, &delta, &reference, &upper, &lower), 7);
#ifdef __SANITIZE_ADDRESS__
        if (rows++ % 6 != 0) /* under sanitizers a few must suffice */
            continue;
        rows--;
#endif
        struct dp_pld_answer a = epsilon_of(q, z, (int64_t)laps, delta);
        const double rounded = 5e-7; /* the expected values have six digits */
        if (!(a.upper >= lower && a.upper <= upper * (1 + 1e-6) && a.lower <= upper + rounded && a.tight))
            fail_msg("q=%g z=%g T=%g delta=%g: %.9g to %.9g, expected %.9g to %.9g", q, z, laps, delta, a.lower, a.upper, lower,
                     upper);
        assert_true(a.upper < renyi(q, z, laps, delta) * 0.97);
        struct dp_pld_answer back = delta_of(q, z, (int64_t)laps, a.upper);
        if (!(back.lower <= delta && back.upper >= delta * 0.98 && back.upper <= delta * 1.01))
            fail_msg("q=%g z=%g T=%g: delta %g to %g, expected %g", q, z, laps, back.lower, back.upper, delta);
        rows++;
    }
    fclose(file);
    assert_int_equal(rows, 36);
}

/* T Gaussians are one Gaussian of μ = √T / z. This also holds for large losses: z = .1 has ratios of e^-60. */
TEST(full_batch_is_the_gaussian)
{
    const struct {
        double z;
        int64_t laps;
    } runs[] = {{1, 1}, {0.3, 1}, {0.1, 1}, {0.5, 3}, {3, 40}, {20, 1000}, {500, 100000}};
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        double mu = sqrt((double)runs[i].laps) / runs[i].z;
        for (double delta = 1e-3; delta > 1e-12; delta *= 1e-4) {
            struct dp_pld_answer a = epsilon_of(1, runs[i].z, runs[i].laps, delta);
            double at_upper = dp_gaussian_log_delta(a.upper, mu), at_lower = dp_gaussian_log_delta(a.lower, mu);
            double above = dp_gaussian_log_delta(a.upper * (1 - 2e-5), mu);
            if (!(at_upper <= log(delta) + 1e-11 && at_lower >= log(delta) && above > log(delta) && a.tight))
                fail_msg("z=%g T=%g delta=%g: %.9g to %.9g, ln delta %.9g", runs[i].z, (double)runs[i].laps, delta, a.lower,
                         a.upper, at_upper);
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

TEST(one_lap_in_closed_form)
{
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
            if (!(a.upper >= exact * (1 - 1e-9) && a.lower <= exact * (1 + 1e-9) && (!a.tight || a.upper <= exact * 1.011)))
                fail_msg("q=%g z=%g epsilon=%g: %.12g to %.12g, exactly %.12g", q, z, epsilon, a.lower, a.upper, exact);
        }
    }
    assert_true(count > 10 && tight == count);
}

TEST(monotone)
{
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

LONG_TEST(never_above_renyi)
{
    const double qs[] = {1e-8, 1e-3, 0.5, 1}, zs[] = {0.05, 0.7, 10, 1e4};
    for (int i = 0; i < 16; i++)
        for (int64_t laps = 1; laps <= 1000; laps *= 1000)
            assert_true(epsilon_of(qs[i % 4], zs[i / 4], laps, 1e-7).upper <= renyi(qs[i % 4], zs[i / 4], (double)laps, 1e-7));
    assert_true(epsilon_of(1e-3, 10, 1, 0.5).upper == 0);
}

/* Published figures: 1.3987; replace-one 14.82, null-record 1.83. */
TEST(parts_and_replacement)
{
    const struct dp_pld_part two[] = {{DP_PLD_GAUSSIAN, 0.01, 1, 0, 500}, {DP_PLD_GAUSSIAN, 0.01, 2, 0, 500}};
    struct dp_pld_answer a = epsilon_of_parts(two, 2, 1e-5);
    assert_true(a.tight && a.lower <= 1.39875 && a.upper >= 1.39865 * (1 - 1e-5) && a.upper <= 1.3987 * 1.01);
    const struct dp_pld_part replaced = {DP_PLD_GAUSSIAN_REPLACED, 0.01, 0.5, 0, 1000};
    a = epsilon_of_parts(&replaced, 1, 1e-5);
    assert_true(a.tight && a.upper >= 14.815 && a.upper < 14.825 && a.lower > 14.815);
    a = epsilon_of(0.01, 1, 1000, 1e-5);
    assert_true(a.upper >= 1.825 && a.upper < 1.835);
}

/* Parts of one mechanism are that mechanism; order does not matter; the bounds of one contain the other's. */
LONG_TEST(parts_add_up)
{
    const enum dp_pld_kind kinds[] = {
        DP_PLD_GAUSSIAN, DP_PLD_GAUSSIAN_REPLACED, DP_PLD_GAUSSIAN_COINS, DP_PLD_LAPLACE, DP_PLD_PURE, DP_PLD_JOINT};
    for (int i = 0; i < 6; i++) {
        const struct dp_pld_part whole = {kinds[i], 0.02, 1.5, 0.8, 300};
        struct dp_pld_part split[] = {whole, whole, whole};
        split[0].laps = 1;
        split[1].laps = 99;
        split[2].laps = 200;
        struct dp_pld_answer a = epsilon_of_parts(&whole, 1, 1e-6), b = epsilon_of_parts(split, 3, 1e-6);
        assert_true(a.tight && b.tight && a.lower > 0);
        assert_near(b.upper / a.upper, 1, 1e-9);
        assert_near(b.lower / a.lower, 1, 1e-6);
        a = delta_of_parts(&whole, 1, a.upper);
        b = delta_of_parts(split, 3, epsilon_of_parts(&whole, 1, 1e-6).upper);
        assert_near(b.upper / a.upper, 1, 1e-9);
    }
    struct dp_pld_part mixed[] = {{DP_PLD_GAUSSIAN, 0.02, 1, 0, 300},
                                  {DP_PLD_LAPLACE, 0.1, 8, 0, 50},
                                  {DP_PLD_PURE, 0.5, 0, 0.1, 20},
                                  {DP_PLD_GAUSSIAN, 1, 30, 0, 5}};
    struct dp_pld_answer a = epsilon_of_parts(mixed, 4, 1e-6), c = epsilon_of_parts(mixed, 1, 1e-6);
    struct dp_pld_part swap = mixed[0];
    mixed[0] = mixed[2];
    mixed[2] = swap;
    struct dp_pld_answer b = epsilon_of_parts(mixed, 4, 1e-6);
    assert_true(a.tight && b.tight && a.lower > c.upper);
    assert_near(b.upper / a.upper, 1, 1e-9);
}

/* T Gaussians of multipliers z are one of Σ 1/z², for any kind of part. */
TEST(unequal_gaussians_are_one)
{
    const struct dp_pld_part parts[] = {
        {DP_PLD_GAUSSIAN, 1, 5, 0, 10}, {DP_PLD_GAUSSIAN_REPLACED, 1, 2, 0, 1}, {DP_PLD_GAUSSIAN, 1, 30, 0, 100}};
    double mu = sqrt(10 / 25.0 + 1 / 4.0 + 100 / 900.0);
    for (double delta = 1e-2; delta > 1e-10; delta *= 1e-3) {
        struct dp_pld_answer a = epsilon_of_parts(parts, 3, delta);
        assert_true(a.tight && dp_gaussian_log_delta(a.upper, mu) <= log(delta) + 1e-11 &&
                    dp_gaussian_log_delta(a.lower, mu) >= log(delta) &&
                    dp_gaussian_log_delta(a.upper * (1 - 2e-5), mu) > log(delta));
    }
}

static void holds_between(const struct dp_pld_part *part, double epsilon, double exact)
{
    struct dp_pld_answer a = delta_of_parts(part, 1, epsilon);
    if (!(a.upper >= exact * (1 - 1e-9) && a.lower <= exact * (1 + 1e-9) && a.tight && a.upper <= exact * 1.01))
        fail_msg("kind %d q=%g T=%g epsilon=%g: %.12g to %.12g, exactly %.12g", part->kind, part->rate, (double)part->laps,
                 epsilon, a.lower, a.upper, exact);
}

/* Sampled randomised response has one of two losses: T of them are a binomial. */
static double pure_delta(double q, double pure, int laps, double epsilon)
{
    double worst = 0;
    double high = log1p(q * expm1(pure)), low = log1p(q * expm1(-pure));
    double b_high = 1 / (1 + exp(pure)), b_low = 1 / (1 + exp(-pure));
    for (int add = 0; add < 2; add++) {
        double p = add ? b_high : b_high * exp(high), r = add ? b_low : b_low * exp(low), sum = 0;
        for (int k = 0; k <= laps; k++) {
            double loss = (k * high + (laps - k) * low) * (add ? -1 : 1);
            double log_mass = lgamma(laps + 1) - lgamma(k + 1) - lgamma(laps - k + 1) + k * log(p) + (laps - k) * log(r);
            if (loss > epsilon)
                sum += exp(log_mass) * -expm1(epsilon - loss);
        }
        worst = fmax(worst, sum);
    }
    return worst;
}

TEST(pure_is_a_binomial)
{
    const double qs[] = {1, 0.3, 0.01}, pures[] = {0.05, 1, 4};
    int count = 0;
    for (int i = 0; i < 9; i++)
        for (int laps = 1; laps <= 100; laps *= 10) {
            const struct dp_pld_part run = {DP_PLD_PURE, qs[i % 3], 0, pures[i / 3], laps};
            for (double share = 0.02; share < 1; share *= 5) {
                double epsilon = share * laps * log1p(run.rate * expm1(run.epsilon));
                double exact = pure_delta(run.rate, run.epsilon, laps, epsilon);
                if (exact < 1e-13)
                    continue;
                holds_between(&run, epsilon, exact);
                count++;
            }
        }
    assert_true(count >= 40);
    /* One plain response has δ = (1 − e^{ε−1})/(1 + e^−1), and ε is never more than its largest loss. */
    const struct dp_pld_part one = {DP_PLD_PURE, 1, 0, 1, 1}, large = {DP_PLD_PURE, 1, 0, 700, 3};
    double exact = 1 + log1p(-1e-9 * (1 + exp(-1))), upper = epsilon_of_parts(&one, 1, 1e-9).upper;
    assert_true(upper >= exact - 1e-13 && upper <= exact + 1e-11);
    assert_true(epsilon_of_parts(&large, 1, 1e-9).upper == 2100);
    assert_true(delta_of_parts(&one, 1, 1).upper == 0);
}

/* One sampled Laplace: where the loss crosses ε the two densities are known. */
static double laplace_delta(double q, double mu, double epsilon)
{
    double v = log1p(expm1(epsilon) / q), remove = 0, add = 0, u = (v + mu) / 2;
    if (v < mu) /* mass beyond u: e^-u/2 under B, 1 - e^(u-mu)/2 under P */
        remove = q * (1 - exp(u - mu) / 2) + (1 - q - exp(epsilon)) * exp(-u) / 2;
    double ratio = 1 + expm1(-epsilon) / q;
    if (ratio > exp(-mu)) {
        u = (log(ratio) + mu) / 2; /* mass below u: 1 - e^-u/2 under B, e^(u-mu)/2 under P */
        add = (1 - exp(-u) / 2) * (1 - exp(epsilon) * (1 - q)) - exp(epsilon) * q * exp(u - mu) / 2;
    }
    return fmax(remove, add);
}

TEST(one_laplace_in_closed_form)
{
    const double qs[] = {1, 0.3, 0.001}, zs[] = {0.2, 1, 20};
    for (int i = 0; i < 9; i++) {
        const struct dp_pld_part run = {DP_PLD_LAPLACE, qs[i % 3], zs[i / 3], 0, 1};
        for (double share = 0.1; share < 1; share += 0.2) {
            double epsilon = share * log1p(run.rate * expm1(1 / run.multiplier));
            holds_between(&run, epsilon, laplace_delta(run.rate, 1 / run.multiplier, epsilon));
        }
    }
}

/* Two plain Laplaces, δ(ε) = E[(1 − e^{ε−L₁−L₂})₊]: the first loss by quadrature (atoms e^{-μ}/2 at −μ and 1/2 at μ,
   density e^{(l−μ)/2}/4 between), the second in closed form for any sign of what is left of ε. */
static double laplace_profile(double mu, double epsilon)
{
    if (epsilon >= mu)
        return 0;
    if (epsilon <= -mu)
        return -expm1(epsilon);
    return -expm1((epsilon - mu) / 2);
}

TEST(two_laplaces_by_quadrature)
{
    for (double mu = 0.3; mu < 4; mu *= 3) {
        const struct dp_pld_part run = {DP_PLD_LAPLACE, 1, 1 / mu, 0, 2};
        for (double share = 0.05; share < 1; share += 0.3) {
            double epsilon = share * 2 * mu;
            double exact = exp(-mu) / 2 * laplace_profile(mu, epsilon + mu) + laplace_profile(mu, epsilon - mu) / 2;
            int points = 200000;
            for (int i = 0; i < points; i++) {
                double loss = -mu + 2 * mu * (i + 0.5) / points;
                exact += 2 * mu / points * exp((loss - mu) / 2) / 4 * laplace_profile(mu, epsilon - loss);
            }
            struct dp_pld_answer a = delta_of_parts(&run, 1, epsilon);
            assert_true(a.tight && a.upper >= exact * (1 - 1e-8) && a.lower <= exact * (1 + 1e-8) && a.upper <= exact * 1.001);
        }
    }
}

/* One lap with replaced rows costs what the remove pair costs: its H_{e^ε}, for ε >= 0. */
LONG_TEST(one_replaced_in_closed_form)
{
    const double qs[] = {0.01, 0.3, 0.9}, zs[] = {0.5, 1, 3};
    for (int i = 0; i < 9; i++) {
        const struct dp_pld_part run = {DP_PLD_GAUSSIAN_REPLACED, qs[i % 3], zs[i / 3], 0, 1};
        double q = run.rate, mu = 1 / run.multiplier;
        for (double epsilon = 0.01; epsilon < 3; epsilon *= 6) {
            double u = (log1p(expm1(epsilon) / q) + mu * mu / 2) / mu;
            double exact = q * upper_tail(u - mu) + (1 - q - exp(epsilon)) * upper_tail(u);
            if (exact > 1e-12)
                holds_between(&run, epsilon, exact);
        }
    }
}

/* A Gaussian and an ε₀-DP mechanism on one batch, in one direction. One lap: for each of the two answers the u where the
   loss crosses ε, and the masses beyond it. Two laps: the trapezoidal rule over the first. */
static double joint_delta(const struct dp_pld_part *part, bool add, int laps, double epsilon)
{
    double q = part->rate, mu = 1 / part->multiplier, sum = 0, step = 1.0 / 512;
    for (int sign = -1; sign <= 1; sign += 2) {
        double shift = sign * part->epsilon, of_b = 1 / (1 + exp(shift)), of_p = of_b * exp(shift);
        for (double u = -9; laps > 1 && u < mu + 9; u += step) {
            double loss = log(1 - q + q * exp(u * mu - mu * mu / 2 + shift));
            double b = of_b * step * exp(-u * u / 2) / sqrt(2 * M_PI);
            sum += add ? b * joint_delta(part, add, laps - 1, epsilon + loss)
                       : b * exp(loss) * joint_delta(part, add, laps - 1, epsilon - loss);
        }
        if (laps > 1)
            continue;
        double v = log((exp(add ? -epsilon : epsilon) - (1 - q)) / q); /* NaN: below every loss */
        double u = isnan(v) ? -INFINITY : (v - shift + mu * mu / 2) / mu;
        if (!add)
            sum += (1 - q - exp(epsilon)) * of_b * upper_tail(u) + q * of_p * upper_tail(u - mu);
        else if (!isnan(v))
            sum += (1 - (1 - q) * exp(epsilon)) * of_b * upper_tail(-u) - q * exp(epsilon) * of_p * upper_tail(mu - u);
    }
    return sum;
}

static const struct dp_pld_part joints[] = {
    {DP_PLD_JOINT, 0.1, 2, 1, 1},   {DP_PLD_JOINT, 0.01, 1, 1, 1},  {DP_PLD_JOINT, 0.6, 0.7, 0.3, 1},
    {DP_PLD_JOINT, 0.3, 4, 2.5, 1}, {DP_PLD_JOINT, 1, 1.5, 0.7, 1},
};
enum { JOINTS = sizeof joints / sizeof joints[0] };

TEST(joint_laps_by_quadrature)
{
    int count = 0;
    for (int i = 0; i < JOINTS; i++)
        for (int laps = 1; laps <= 2; laps++)
            for (double epsilon = 0.15; epsilon < 5; epsilon *= 2) {
                struct dp_pld_part run = joints[i];
                run.laps = laps;
                double exact = fmax(joint_delta(&run, false, laps, epsilon), joint_delta(&run, true, laps, epsilon));
                if (exact < 1e-9)
                    continue;
                holds_between(&run, epsilon, exact);
                count++;
            }
    assert_true(count >= 40);
}

/* The largest possible grids: one for each direction, and no further grid that would gain nothing. */
TEST(the_largest_grids_once)
{
    struct dp_pld_part part = {DP_PLD_GAUSSIAN, 0.5, 118669.908, 0, 1000000000};
    struct dp_pld_answer answer;
    assert_int_equal(dp_pld_epsilon(&part, 1, 1e-15, &answer, &err), DP_OK);
    assert_true(answer.upper > 0.999 && answer.upper < 1.0001);
    assert_true(answer.work > 0 && answer.work <= 2.0 * (1 << 21));
    part = (struct dp_pld_part){DP_PLD_GAUSSIAN, 0.004, 20, 0, 8000};
    assert_int_equal(dp_pld_epsilon(&part, 1, 1e-5, &answer, &err), DP_OK);
    assert_true(answer.tight && answer.work <= 300000);
}

/* B of add draws from Q only: its tails are cut around Q, and no cell is spent on values that only P reaches. */
TEST(cells_of_add_end_with_q)
{
    const struct dp_pld_part part = {DP_PLD_GAUSSIAN, 1e-9, 0.08, 0, 1};
    struct dp_pld_cells cells;
    double sum = 0;
    dp_pld_cells_new(&cells, &part, true, 9, 0.01);
    for (size_t k = 0; k < cells.count; k++)
        sum += exp(cells.log_mass[k]);
    assert_true(fabs(sum - 1) < 1e-12);
    assert_true(dp_pld_cells_loss(&cells, 0) > -20 && dp_pld_cells_loss(&cells, 0) < -10);
    dp_pld_cells_free(&cells);
}

/* On the grid's own points splitting a mass moves nothing: each direction is exact there. */
TEST(joint_cells_in_both_directions)
{
    const double h = 1.0 / 128;
    int count = 0;
    for (int i = 0; i < 2 * JOINTS; i++) {
        bool add = i >= JOINTS;
        const struct dp_pld_part *part = &joints[i % JOINTS];
        struct dp_pld_cells cells;
        dp_pld_cells_new(&cells, part, add, 9, h);
        for (int j = 0; j < 400; j += 13) {
            double sum = 0, exact = joint_delta(part, add, 1, j * h);
            for (size_t k = 0; k < cells.count; k++) {
                double loss = dp_pld_cells_loss(&cells, k);
                if (loss > j * h)
                    sum += exp(cells.log_mass[k]) * -expm1(j * h - loss);
            }
            if (fabs(sum - exact) > 1e-14 + 1e-9 * exact)
                fail_msg("case %d add %d epsilon %g: %.17g, exactly %.17g", i % JOINTS, add, j * h, sum, exact);
            count += exact > 1e-9;
        }
        dp_pld_cells_free(&cells);
    }
    assert_true(count > 100);
}

/* ε by Rényi: the curve of the sum, amplified, with orders to 256 here. */
static double joint_renyi(const struct dp_pld_part *part, double delta)
{
    double order[257], sum[257], more[257], r[DP_RDP_ORDER_COUNT];
    for (int l = 2; l <= 256; l++)
        order[l] = l;
    dp_rdp_gaussian(part->multiplier, order + 2, 255, sum + 2);
    dp_rdp_pure(part->epsilon, order + 2, 255, more + 2);
    for (int l = 2; l <= 256; l++)
        sum[l] += more[l];
    dp_rdp_sampled_symmetric(part->rate, sum, 256, dp_rdp_orders, DP_RDP_ORDER_COUNT, r);
    for (int i = 0; i < DP_RDP_ORDER_COUNT; i++)
        r[i] *= (double)part->laps;
    return dp_rdp_epsilon(dp_rdp_orders, r, DP_RDP_ORDER_COUNT, delta, NULL);
}

/* The published epsilons are 6.41 and 3.30. If each query had its own batch, they would be 5.41 and 2.27. */
TEST(joint_check_values)
{
    const struct dp_pld_part runs[] = {{DP_PLD_JOINT, 0.1, 2, 1, 100}, {DP_PLD_JOINT, 0.01, 1, 1, 1000}};
    const double truth[] = {6.41, 3.30};
    for (int i = 0; i < 2; i++) {
        struct dp_pld_answer a = epsilon_of_parts(&runs[i], 1, 1e-5);
        assert_true(a.tight && a.upper >= truth[i] - 0.005 && a.upper <= truth[i] * 1.005 && a.lower <= truth[i] + 0.005 &&
                    a.lower > truth[i] * 0.995);
    }
    for (int i = 0; i < JOINTS; i++) {
        struct dp_pld_part run = joints[i];
        for (run.laps = 1; run.laps <= 100; run.laps *= 10)
            assert_true(epsilon_of_parts(&run, 1, 1e-6).upper < joint_renyi(&run, 1e-6));
    }
    /* Where the grid does not reach, Rényi answers. */
    struct dp_pld_answer a = epsilon_of_parts(&runs[0], 1, 1e-40);
    double by_renyi = joint_renyi(&runs[0], 1e-40);
    assert_true(!a.tight && a.lower == 0);
    assert_near(a.upper / by_renyi, 1, 1e-9);
}

/* At rate 1 the two mechanisms of a joint part are composed one after the other. If one of them is negligible, the part costs
 * what the other costs. */
TEST(joint_limits)
{
    for (int64_t laps = 1; laps <= 100; laps *= 10) {
        const struct dp_pld_part joint = {DP_PLD_JOINT, 1, 4, 0.5, laps};
        const struct dp_pld_part apart[] = {{DP_PLD_GAUSSIAN, 1, 4, 0, laps}, {DP_PLD_PURE, 1, 0, 0.5, laps}};
        struct dp_pld_answer a = epsilon_of_parts(&joint, 1, 1e-6), b = epsilon_of_parts(apart, 2, 1e-6);
        assert_true(a.tight && b.tight && a.lower <= b.upper && b.lower <= a.upper);
        assert_near(a.upper / b.upper, 1, 2e-5);

        const struct dp_pld_part gaussian[] = {{DP_PLD_JOINT, 0.1, 1, 1e-7, laps}, {DP_PLD_GAUSSIAN, 0.1, 1, 0, laps}};
        const struct dp_pld_part pure[] = {{DP_PLD_JOINT, 0.1, 1e8, 0.5, laps}, {DP_PLD_PURE, 0.1, 0, 0.5, laps}};
        assert_near(epsilon_of_parts(gaussian, 1, 1e-6).upper / epsilon_of_parts(gaussian + 1, 1, 1e-6).upper, 1, 2e-5);
        assert_near(epsilon_of_parts(pure, 1, 1e-6).upper / epsilon_of_parts(pure + 1, 1, 1e-6).upper, 1, 2e-5);
    }
}

/* Every question gets bounds, and ε is not below the ε of a single lap. */
LONG_TEST(far_corners)
{
    const struct dp_pld_part runs[] = {
        {DP_PLD_GAUSSIAN, 1e-6, 0.6, 0, 1000000},
        {DP_PLD_GAUSSIAN, 1e-8, 1e4, 0, 1000},
        {DP_PLD_GAUSSIAN, 1, 2000, 0, 1000000},
        {DP_PLD_GAUSSIAN_REPLACED, 1e-5, 0.5, 0, 100000},
        {DP_PLD_LAPLACE, 1e-4, 1, 0, 100000},
        {DP_PLD_PURE, 1e-6, 0, 3, 1000000},
        {DP_PLD_GAUSSIAN_REPLACED, 0.5, 1e-3, 0, 9},
        {DP_PLD_GAUSSIAN_COINS, 1e-5, 0.3, 0, 100000},
        {DP_PLD_GAUSSIAN_COINS, 0.5, 1e-3, 0, 9},
        {DP_PLD_GAUSSIAN_COINS, 1e-6, 1e4, 0, 9},
        {DP_PLD_PURE, 0.5, 0, 700, 3},
        {DP_PLD_LAPLACE, 1, 1e-3, 0, 2},
        {DP_PLD_JOINT, 1e-6, 0.6, 3, 1000000},
        {DP_PLD_JOINT, 0.5, 2, 700, 3},
        {DP_PLD_JOINT, 0.3, 1e4, 1e-5, 100},
    };
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        struct dp_pld_part one = runs[i];
        one.laps = 1;
        struct dp_pld_answer a = epsilon_of_parts(&runs[i], 1, 1e-10), b = epsilon_of_parts(&one, 1, 1e-10);
        assert_true(isfinite(a.upper) && a.upper >= b.lower);
    }
    /* Losses far below rounding of 1 keep their digits: q = 1e-8, z = 1e4 once fell back to Rényi. */
    assert_true(epsilon_of(1e-8, 1e4, 1000, 1e-7).upper == 0);
    struct dp_pld_answer tiny = epsilon_of(1e-8, 1e4, 1000, 1e-12);
    /* S is normal, of variance T q²/z² and mean half of that: the Gaussian of that μ. */
    double mu = sqrt(1000) * 1e-12;
    double x = -tiny.upper / mu, y = -tiny.lower / mu; /* δ = μ (φ(x) + x Φ(x)) as μ → 0 */
    double at_upper = mu * (exp(-x * x / 2) / sqrt(2 * M_PI) + x * upper_tail(-x));
    double at_lower = mu * (exp(-y * y / 2) / sqrt(2 * M_PI) + y * upper_tail(-y));
    assert_true(tiny.tight && at_upper <= 1e-12 * (1 + 1e-4) && at_lower >= 1e-12 * (1 - 1e-4));
}

/* A rate so small that δ comes from one lap with a large loss: T times the δ of one lap, in closed form. Rounding of the FFT
   once counted for more than δ there. */
TEST(tiny_rates)
{
    static const struct {
        double q, z;
        int64_t laps;
        double delta;
    } cases[] = {{3.96e-8, 0.4323, 798, 2.14e-11}, {2.2e-8, 0.588, 27, 2.3e-12}, {7.5e-6, 0.6276, 127, 1.8e-12}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double q = cases[i].q, mu = 1 / cases[i].z, low = 1e-9, high = 10;
        while (high / low > 1 + 1e-9) {
            double epsilon = sqrt(low * high), v = log1p(expm1(epsilon) / q);
            double one = q * (upper_tail(v / mu - mu / 2) - exp(v) * upper_tail(v / mu + mu / 2));
            *((double)cases[i].laps * one > cases[i].delta ? &low : &high) = epsilon;
        }
        struct dp_pld_answer a = epsilon_of(q, cases[i].z, cases[i].laps, cases[i].delta);
        assert_true(a.upper >= low * (1 - 1e-4) && a.upper <= low * 1.02);
        assert_true(a.lower <= a.upper && a.lower <= low * 1.02);
    }
}

TEST(refused)
{
    const struct dp_pld_part good = {DP_PLD_GAUSSIAN, 0.1, 1, 0, 1};
    const struct dp_pld_part bad[] = {
        {DP_PLD_GAUSSIAN, 0, 1, 0, 1},          {DP_PLD_GAUSSIAN, 1.1, 1, 0, 1},
        {DP_PLD_GAUSSIAN, NAN, 1, 0, 1},        {DP_PLD_GAUSSIAN, 0.1, 0, 0, 1},
        {DP_PLD_GAUSSIAN, 0.1, INFINITY, 0, 1}, {DP_PLD_GAUSSIAN, 0.1, 1, 0, 0},
        {DP_PLD_LAPLACE, 0.1, -1, 0, 1},        {DP_PLD_PURE, 0.1, 1, 0, 1},
        {DP_PLD_PURE, 0.1, 1, INFINITY, 1},     {DP_PLD_JOINT, 0.1, 1, 0, 1},
        {DP_PLD_JOINT, 0.1, 0, 1, 1},           {DP_PLD_JOINT, 0.1, NAN, 1, 1},
        {DP_PLD_JOINT, 0.1, 1, NAN, 1},
    };
    struct dp_pld_answer a;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(dp_pld_epsilon((struct dp_pld_part[]){good, bad[i]}, 2, 0.1, &a, &err), DP_E_RUN);
    const struct dp_pld_part both[] = {good, {DP_PLD_GAUSSIAN_REPLACED, 0.1, 1, 0, 1}};
    assert_int_equal(dp_pld_epsilon(both, 2, 0.1, &a, &err), DP_E_RUN);
    assert_int_equal(dp_pld_epsilon(&good, 0, 0.1, &a, &err), DP_E_RUN);
    assert_int_equal(dp_pld_epsilon(&good, 1, 0, &a, &err), DP_E_RUN);
    assert_int_equal(dp_pld_epsilon(&good, 1, 1, &a, &err), DP_E_RUN);
    assert_int_equal(dp_pld_delta(&good, 1, -1, &a, &err), DP_E_RUN);
    assert_int_equal(dp_pld_delta(&good, 1, NAN, &a, &err), DP_E_RUN);
    assert_int_equal(dp_pld_epsilon(&good, 1, 0.1, &a, &err), DP_OK);
    /* With so little noise that nothing bounds the loss, there is an answer, not a failure. */
    const struct dp_pld_part bare = {DP_PLD_GAUSSIAN, 0.1, 1e-200, 0, 1};
    assert_int_equal(dp_pld_epsilon(&bare, 1, 0.1, &a, &err), DP_OK);
    assert_true(isinf(a.upper) && !a.tight);
}

TESTS(NULL, NULL)
