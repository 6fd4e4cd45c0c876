/* The random sensitivity of draws within one lap: against every sequence of coins, sums over the binomial, tossed coins, and
 * closed forms of limiting cases. */
#include "random.h"
#include "unit.h"

#include <float.h>
#include <gsl/gsl_randist.h>
#include <time.h>

#include "priv/repeated.h"
#include "priv/gdp.h"
#include "priv/mixture.h"
#include "priv/output.h"
#include "priv/rdp.h"

#define C DP_REPEATED_ROUNDING
static struct dp_repeated_law law;

/* E of δ_G, or of e^(α(α−1)S²/2z²) − 1 if order > 1, over all 2^T coins. */
static double over_all_coins(const struct dp_repeated *of, double z, double epsilon, double order)
{
    int draws = (int)of->draws;
    double sum = 0;
    for (unsigned coins = 0; coins < 1u << draws; coins++) {
        double s = 0, chance = 1;
        for (int t = 0; t < draws; t++) {
            bool drawn = coins >> t & 1;
            s = s * of->contraction + (drawn ? 1 : 0);
            chance *= drawn ? of->rate : 1 - of->rate;
        }
        double mu = (s + C) / z;
        sum += chance * (order > 1 ? expm1(order * (order - 1) * mu * mu / 2) : exp(dp_gaussian_log_delta(epsilon, mu)));
    }
    return order > 1 ? log1p(sum) / (order - 1) : sum;
}

static struct dp_repeated some(gsl_rng *rng, unsigned most)
{
    return (struct dp_repeated){.rate = exp(log(1e-3) * gsl_rng_uniform(rng)),
                                .draws = 1 + (int64_t)gsl_rng_uniform_int(rng, most),
                                .contraction =
                                    gsl_rng_uniform(rng) < 0.2 ? 1 : 1 - exp(log(1e-3) * gsl_rng_uniform(rng)) * 0.99};
}

/* The bound is never below the exact value, and exceeds it by at most the error of the grid. */
TEST(delta_against_all_coins)
{
    gsl_rng *rng = random_numbers();
    for (int i = 0; i < 300; i++) {
        struct dp_repeated of = some(rng, 12);
        double z = exp(log(0.3) + log(100) * gsl_rng_uniform(rng));
        double most = of.rate * (double)of.draws / z, epsilon = i % 10 == 0 ? 0 : 5 * most * gsl_rng_uniform(rng);
        dp_repeated_law(&of, &law);
        double exact = over_all_coins(&of, z, epsilon, 0), ours = dp_repeated_delta(&law, z, epsilon);
        if (!(ours >= exact))
            fail_msg("q=%.17g T=%d rho=%.17g z=%.17g epsilon=%.17g: %.17g, all coins give %.17g", of.rate, (int)of.draws,
                     of.contraction, z, epsilon, ours, exact);
        /* If δ is small, so is the part above √(2ε), and the tangent there costs nothing. */
        if (exact > 1e-12 && exact < 1e-2 * of.rate)
            assert_true(ours <= exact * 1.01 + 1e-15);
    }
}

TEST(moments_against_all_coins)
{
    gsl_rng *rng = random_numbers();
    for (int i = 0; i < 300; i++) {
        struct dp_repeated of = some(rng, 12);
        double z = exp(log(0.3) + log(1000) * gsl_rng_uniform(rng)),
               order = 1 + exp(log(1e-2) + log(1e4) * gsl_rng_uniform(rng));
        double exact = over_all_coins(&of, z, 0, order), ours;
        dp_repeated_law(&of, &law);
        dp_rdp_repeated(&law, z, &order, 1, &ours);
        if (isfinite(exact) && !(ours >= exact * (1 - 1e-13) && ours <= exact * 1.01))
            fail_msg("q=%.17g T=%d rho=%.17g z=%.17g order=%.17g: %.17g, all coins give %.17g", of.rate, (int)of.draws,
                     of.contraction, z, order, ours, exact);
    }
}

/* Values that are too rare for the grid still count where they matter: beyond its end, and on it. */
TEST(rare_draws)
{
    const struct dp_repeated of[] = {{1e-45, 3, 0.9}, {1e-45, 2, 0.01}};
    const double multiplier[] = {0.12, 0.08}, order = 2;
    for (int i = 0; i < 2; i++) {
        double exact = over_all_coins(&of[i], multiplier[i], 0, order), ours;
        dp_repeated_law(&of[i], &law);
        dp_rdp_repeated(&law, multiplier[i], &order, 1, &ours);
        if (!(exact > 10 && ours >= exact))
            fail_msg("%.17g, exactly %.17g", ours, exact);
    }
}

/* Without contraction S is the number of draws that had the row. */
static double over_binomial(unsigned draws, double q, double z, double epsilon, double order)
{
    double sum = 0;
    for (unsigned j = 0; j <= draws; j++) {
        double mu = ((double)j + C) / z, square = order * (order - 1) * mu * mu / 2;
        double chance = gsl_ran_binomial_pdf(j, q, draws);
        if (chance > 0)
            sum += order > 1 ? exp(log(chance) + square) : chance * exp(dp_gaussian_log_delta(epsilon, mu));
    }
    return order > 1 ? log(sum) / (order - 1) : sum;
}

TEST(without_contraction_against_the_binomial)
{
    gsl_rng *rng = random_numbers();
    for (int i = 0; i < 100; i++) {
        unsigned draws = 1 + (unsigned)exp(log(1e4) * gsl_rng_uniform(rng));
        struct dp_repeated of = {exp(log(1e-4) * gsl_rng_uniform(rng)), draws, 1};
        double mean = of.rate * (double)draws, deviation = sqrt(mean * (1 - of.rate));
        double z = (mean + deviation + 1) * (0.3 + 5 * gsl_rng_uniform(rng));
        dp_repeated_law(&of, &law);
        double epsilon = dp_repeated_epsilon(&law, z, 1e-6), exact = over_binomial(draws, of.rate, z, epsilon, 0);
        if (!(exact <= 1e-6 && (epsilon == 0 || exact >= 0.98e-6)))
            fail_msg("T=%u q=%.17g z=%.17g: epsilon %.17g, where delta is %.17g", draws, of.rate, z, epsilon, exact);
    }
}

/* A lap with a visible batch and one draw are the same: a Gaussian with probability q. From two draws on they differ. With
   visible batches each lap has its own noise, and j laps are √j apart; here they share one release, and are j apart. */
TEST(one_draw_is_a_visible_batch)
{
    for (double q = 1e-4; q < 1; q *= 7) {
        const struct dp_repeated one = {q, 1, 0.5}, two = {q, 2, 1};
        dp_repeated_law(&one, &law);
        double visible = dp_mixture_delta(1, q, 2 / (1 + C), 0.5, 1e-12);
        assert_true(dp_repeated_delta(&law, 2, 0.5) >= visible && dp_repeated_delta(&law, 2, 0.5) <= visible * (1 + 1e-9));
        dp_repeated_law(&two, &law);
        assert_true(dp_repeated_delta(&law, 2, 0.5) > dp_mixture_delta(2, q, 2, 0.5, 1e-12) * (1 + 0.1 * q));
    }
}

/* Every row in every draw: gradient descent, whose sensitivity is one number. */
TEST(always_drawn_is_one_gaussian)
{
    for (int64_t draws = 1; draws < 100000; draws *= 7) {
        const struct dp_repeated of = {1, draws, 0.999};
        double s = dp_descent_sensitivity(1, 1e-3, 1, 1, 1, draws, false) + C, r, order = 3;
        dp_repeated_law(&of, &law);
        assert_near(dp_repeated_delta(&law, 0.5 * s, 2), exp(dp_gaussian_log_delta(2, 2)), 1e-10);
        assert_true(dp_repeated_delta(&law, 0.5 * s, 2) >= exp(dp_gaussian_log_delta(2, 2)) * (1 - 1e-10));
        assert_near(dp_repeated_epsilon(&law, 0.5 * s, 1e-5), dp_gaussian_epsilon(2, 1e-5), 1e-8);
        dp_rdp_repeated(&law, 0.5 * s, &order, 1, &r);
        assert_near(r, 6, 1e-10);
    }
}

/* Tossed coins: a mean over 2·10^5 tosses, which is off by six of its deviations once in 10^9. */
LONG_TEST(delta_against_tossed_coins)
{
    const struct {
        struct dp_repeated of;
        double z;
    } cases[] = {{{0.001, 50000, 0.996}, 4}, {{0.05, 3000, 0.99}, 20}, {{0.3, 1000, 0.9}, 6}, {{0.01, 2000, 1}, 40}};
    gsl_rng *rng = random_numbers();
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        enum { TIMES = 200000 };
        const struct dp_repeated *of = &cases[c].of;
        double sum = 0, squares = 0;
        dp_repeated_law(of, &law);
        double epsilon = dp_repeated_epsilon(&law, cases[c].z, 1e-3);
        for (int i = 0; i < TIMES; i++) {
            double s = 0;
            /* Goes back from each draw that had the row to the draw before it that had the row. */
            for (double back = gsl_ran_geometric(rng, of->rate) - 1; back < (double)of->draws;
                 back += gsl_ran_geometric(rng, of->rate))
                s += pow(of->contraction, back);
            double delta = s > 0 ? exp(dp_gaussian_log_delta(epsilon, s / cases[c].z)) : 0;
            sum += delta;
            squares += delta * delta;
        }
        double mean = sum / TIMES, off = sqrt(fmax(squares / TIMES - mean * mean, 0) / TIMES);
        if (!(mean <= 1e-3 + 6 * off && mean >= 0.98e-3 - 6 * off))
            fail_msg("case %zu: %.6g of tossed coins, off by %.2g, for 0.001 at epsilon %.6g", c, mean, off, epsilon);
    }
}

/* A moment that lies completely beyond the grid, where the person is always drawn. */
TEST(moments_beyond_the_grid)
{
    const struct dp_repeated of = {1e-3, 120, 1};
    double order, ours;
    dp_repeated_law(&of, &law);
    assert_true(law.low + DP_REPEATED_CELLS * law.step < 60);
    assert_true(over_binomial(120, 1e-3, 5, 0, 2.4) > 50);
    for (order = 1.2; order < 2.5; order += 0.1) {
        double exact = over_binomial(120, 1e-3, 5, 0, order);
        dp_rdp_repeated(&law, 5, &order, 1, &ours);
        if (!(ours >= exact && ours <= order * (120 + C) * (120 + C) / 50 * (1 + 1e-12)))
            fail_msg("order %g: %.17g, exactly %.17g", order, ours, exact);
    }
}

/* More draws, a larger rate, less contraction and less noise cost more. */
TEST(costs_more)
{
    const struct dp_repeated base = {0.01, 500, 0.99};
    struct dp_repeated more[3] = {base, base, base};
    more[0].rate *= 1.1;
    more[1].draws += 20;
    more[2].contraction = 0.991;
    dp_repeated_law(&base, &law);
    double epsilon = dp_repeated_epsilon(&law, 5, 1e-5);
    assert_true(dp_repeated_epsilon(&law, 4.9, 1e-5) > epsilon);
    for (int i = 0; i < 3; i++) {
        dp_repeated_law(&more[i], &law);
        assert_true(dp_repeated_epsilon(&law, 5, 1e-5) > epsilon);
    }
}

TEST(epsilon_solves_for_delta)
{
    gsl_rng *rng = random_numbers();
    for (int i = 0; i < 60; i++) {
        struct dp_repeated of = some(rng, 100000);
        double z = exp(log(0.5) + log(400) * gsl_rng_uniform(rng)), delta = exp(log(1e-12) * gsl_rng_uniform(rng));
        dp_repeated_law(&of, &law);
        double epsilon = dp_repeated_epsilon(&law, z, delta), r[DP_RDP_ORDER_COUNT];
        assert_true(dp_repeated_delta(&law, z, epsilon) <= delta);
        assert_true(epsilon == 0 || dp_repeated_delta(&law, z, epsilon * (1 - 1e-9)) > delta);
        /* The cost of the worst coins, and Rényi's bound, are no smaller. */
        assert_true(epsilon <= dp_gaussian_epsilon((law.most + C) / z * (1 + 1e-12), delta) * 1.001);
        dp_rdp_repeated(&law, z, dp_rdp_orders, DP_RDP_ORDER_COUNT, r);
        assert_true(delta > 0.01 || dp_rdp_epsilon(dp_rdp_orders, r, DP_RDP_ORDER_COUNT, delta, NULL) >= epsilon * 0.999);
    }
}

/* The time does not grow with the draws, and no number leaves its range. */
LONG_TEST(many_draws)
{
    clock_t start = clock();
    for (int64_t draws = 1; draws <= 1000000000000; draws *= 10)
        for (double q = 1e-300; q < 1; q = q < 1e-9 ? 1e-9 : q * 31)
            for (double gap = 1e-15; gap < 1; gap *= 1e3) {
                const struct dp_repeated of = {q, draws, 1 - gap};
                dp_repeated_law(&of, &law);
                double mean = q * (double)draws, sum = law.above;
                for (size_t i = 0; i < DP_REPEATED_CELLS; i++)
                    sum += law.weight[i];
                assert_true(sum >= 1 && sum < 1 + 1e-12 * (double)draws + 1e-9);
                double delta = dp_repeated_delta(&law, mean + 10, 1);
                assert_true(delta >= 0 && delta <= 1);
            }
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 20);
    /* A million draws at a rate of a thousandth: about as many as a thousand certain draws, and close to their cost. */
    const struct dp_repeated of = {1e-3, 1000000, 1};
    dp_repeated_law(&of, &law);
    double few = dp_repeated_epsilon(&law, 4000, 1e-6), all = dp_gaussian_epsilon(0.25, 1e-6);
    assert_true(few > all && few < 1.1 * all);
}

TESTS(NULL, NULL)
