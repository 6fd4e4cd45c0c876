/* Releasing the state of a visible batch: the Gaussian's δ against long arithmetic, the mixture against a
 * plain sum. */
#include "random.h"
#include "unit.h"

#include <gsl/gsl_randist.h>
#include <mpfr.h>
#include <time.h>

#include "priv/gdp.h"
#include "priv/mixture.h"

/* ln(Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ)) with enough bits that nothing cancels */
static double exact_log_delta(double epsilon, double mu)
{
    mpfr_t a, b, half, e, m;
    mpfr_inits2(4000, a, b, half, e, m, (mpfr_ptr)0);
    mpfr_set_d(e, epsilon, MPFR_RNDN);
    mpfr_set_d(m, mu, MPFR_RNDN);
    mpfr_div(a, e, m, MPFR_RNDN);
    mpfr_div_ui(half, m, 2, MPFR_RNDN);
    mpfr_add(b, a, half, MPFR_RNDN); /* Φ(−x) = erfc(x/√2)/2 */
    mpfr_sub(a, a, half, MPFR_RNDN);
    mpfr_sqrt_ui(half, 2, MPFR_RNDN);
    mpfr_div(a, a, half, MPFR_RNDN);
    mpfr_div(b, b, half, MPFR_RNDN);
    mpfr_erfc(a, a, MPFR_RNDN);
    mpfr_erfc(b, b, MPFR_RNDN);
    mpfr_exp(e, e, MPFR_RNDN);
    mpfr_mul(b, b, e, MPFR_RNDN);
    mpfr_sub(a, a, b, MPFR_RNDN);
    mpfr_div_ui(a, a, 2, MPFR_RNDN);
    mpfr_log(a, a, MPFR_RNDN);
    double result = mpfr_get_d(a, MPFR_RNDN);
    mpfr_clears(a, b, half, e, m, (mpfr_ptr)0);
    return result;
}

LONG_TEST(gaussian_delta_against_long_arithmetic)
{
    assert_near(exp(dp_gaussian_log_delta(1, 1)), 0.12693673750664397, 1e-13);
    assert_near(exp(dp_gaussian_log_delta(0, 2)), erf(1 / sqrt(2)), 1e-13); /* 2Φ(μ/2) − 1 */
    assert_true(isinf(dp_gaussian_log_delta(1, 0)));
    gsl_rng *rng = random_numbers();
    for (int i = 0; i < 200; i++) {
        double mu = exp(log(1e-2) + gsl_rng_uniform(rng) * log(1e3));
        double epsilon = mu * mu / 2 + mu * 7 * gsl_rng_uniform(rng); /* δ down to about 1e-12 */
        double ours = dp_gaussian_log_delta(epsilon, mu), exact = exact_log_delta(epsilon, mu);
        if (!(ours >= exact && ours <= exact + 1e-7))
            fail_msg("epsilon=%.17g mu=%.17g: %.17g, exactly %.17g", epsilon, mu, ours, exact);
    }
}

TEST(delta_is_the_binomial_mean)
{
    gsl_rng *rng = random_numbers();
    for (int i = 0; i < 200; i++) {
        unsigned laps = 1 + (unsigned)gsl_rng_uniform_int(rng, 400);
        double q = exp(log(1e-4) * gsl_rng_uniform(rng)), z = 0.5 + 10 * gsl_rng_uniform(rng);
        double epsilon = 5 * gsl_rng_uniform(rng), sum = 0;
        for (unsigned j = 1; j <= laps; j++)
            sum += gsl_ran_binomial_pdf(j, q, laps) * exp(dp_gaussian_log_delta(epsilon, sqrt(j) / z));
        double ours = dp_mixture_delta(laps, q, z, epsilon, 1e-12);
        if (!(ours >= sum * (1 - 1e-11) && ours <= sum * (1 + 1e-9) + 1e-24))
            fail_msg("T=%u q=%.17g z=%.17g epsilon=%.17g: %.17g, the sum is %.17g", laps, q, z, epsilon, ours, sum);
    }
}

TEST(every_row_is_one_gaussian)
{
    for (int64_t laps = 1; laps < 1000; laps *= 3) {
        double expected = exp(dp_gaussian_log_delta(2, sqrt((double)laps) / 5));
        assert_true(dp_mixture_delta(laps, 1, 5, 2, 1e-9) == expected);
    }
}

TEST(check_value)
{
    /* q = .01, z = 1, T = 1000, δ = 1e-5, where releasing only v would cost 1.83 */
    assert_near(dp_mixture_epsilon(1000, 0.01, 1, 1e-5), 23.39, 0.005 / 23.39);
}

TEST(epsilon_solves_for_delta)
{
    gsl_rng *rng = random_numbers();
    for (int i = 0; i < 60; i++) {
        int64_t laps = 1 + (int64_t)exp(log(1e5) * gsl_rng_uniform(rng));
        double q = exp(log(1e-3) * gsl_rng_uniform(rng)), z = exp(log(0.5) + log(400) * gsl_rng_uniform(rng));
        double delta = exp(log(1e-12) * gsl_rng_uniform(rng));
        double epsilon = dp_mixture_epsilon(laps, q, z, delta);
        assert_true(dp_mixture_delta(laps, q, z, epsilon, delta) <= delta);
        assert_true(epsilon == 0 || dp_mixture_delta(laps, q, z, epsilon * (1 - 1e-9), delta) > delta);
        assert_true(dp_mixture_epsilon(laps + 1, q, z, delta) >= epsilon);
    }
    /* the probability of taking part at all is below delta: the cost is 0 */
    assert_true(dp_mixture_epsilon(10, 1e-7, 0.1, 1e-5) == 0);
    assert_true(isinf(dp_mixture_epsilon(1000, 0.5, 1e-6, 1e-5)));
}

TEST(many_laps)
{
    clock_t start = clock();
    double few = dp_mixture_epsilon(1000000, 0.001, 100, 1e-6), all = dp_mixture_epsilon(1000, 1, 100, 1e-6);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 2);
    /* a thousand participations always, or on average: close, and the second costs more */
    assert_true(few > all && few < 1.1 * all);
}

/* So many laps that the function does not sum over their number: a person is in half of them, within a thousandth. */
TEST(so_many_laps_that_they_are_not_summed)
{
    for (int64_t laps = 1000000000; laps <= 1000000000000; laps *= 10) {
        double z = 0.3 * sqrt((double)laps);
        double epsilon = dp_mixture_epsilon(laps, 0.5, z, 1e-6), mean = dp_gaussian_epsilon(sqrt(0.5 * (double)laps) / z, 1e-6);
        assert_true(epsilon >= mean && epsilon <= mean * 1.002);
    }
}

TESTS(NULL, NULL)
