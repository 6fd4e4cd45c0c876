/* The Gaussian mechanism in closed form: calibration to the last digit, and composition. */
#include "charges.h"
#include "random.h"

#include "priv/gdp.h"
#include "account/calibrate.h"
#include "priv/mixture.h"

/* The multiplier that one release needs. */
static double multiplier(double epsilon, double delta)
{
    const struct dp_event event = dp_event_gaussian(DP_SAMPLING_NONE, 1, 1, 0);
    struct dp_err err = {0};
    double z;
    assert_ok(dp_calibrate_noise(DP_ACCOUNTANT_GDP, LAPS_OF(event, 1), epsilon, delta, &z, &err));
    return z;
}

TEST(check_value)
{
    /* δ = 1e-3, ε = 1: 2.575 where the classical formula √(2 ln(1.25/δ))/ε has 3.899·… */
    double z = multiplier(1, 1e-3);
    assert_near(z, 2.575, 5e-4 / 2.575);
    assert_true(z < 0.7 * sqrt(2 * log(1.25 / 1e-3)));
}

/* The printed number meets the target; a millionth less does not. */
TEST(multipliers_meet_their_target)
{
    gsl_rng *rng = random_numbers();
    for (int i = 0; i < 300; i++) {
        double epsilon = exp(log(1e-2) + log(1e4) * gsl_rng_uniform(rng));
        double delta = exp(log(1e-12) * gsl_rng_uniform(rng)) * 0.9, z = multiplier(epsilon, delta);
        char text[64];
        snprintf(text, sizeof text, "%.9g", z);
        assert_true(strtod(text, NULL) == z);
        assert_true(exp(dp_gaussian_log_delta(epsilon, 1 / z)) <= delta * (1 + 1e-12));
        if (!(exp(dp_gaussian_log_delta(epsilon, 1 / (z * (1 - 1e-6)))) > delta))
            fail_msg("epsilon=%.17g delta=%.17g: %s is more than is needed", epsilon, delta, text);
    }
}

TEST(epsilon_solves_for_delta)
{
    gsl_rng *rng = random_numbers();
    for (int i = 0; i < 300; i++) {
        double mu = exp(log(1e-3) + log(1e5) * gsl_rng_uniform(rng)), delta = exp(log(1e-15) * gsl_rng_uniform(rng));
        double epsilon = dp_gaussian_epsilon(mu, delta);
        assert_true(exp(dp_gaussian_log_delta(epsilon, mu)) <= delta * (1 + 1e-12));
        assert_true(epsilon == 0 || exp(dp_gaussian_log_delta(epsilon * (1 - 1e-9), mu)) > delta * (1 - 1e-12));
    }
    /* every row is in each of T laps, so the number of a person's laps is certain */
    assert_near(dp_gaussian_epsilon(sqrt(100) / 7.0, 1e-5), dp_mixture_epsilon(100, 1, 7, 1e-5), 1e-9);
    assert_true(dp_gaussian_epsilon(0, 1e-5) == 0);
    assert_true(isinf(dp_gaussian_epsilon(-1, 0.1)) && isinf(dp_gaussian_epsilon(NAN, 0.1)));
    assert_true(isinf(dp_gaussian_epsilon(1, 0)) && isinf(dp_gaussian_epsilon(INFINITY, 0.1)));
}

TEST(composition)
{
    const double zs[] = {3, 4};
    const int64_t once[] = {1, 1}, often[] = {9, 160}, never[] = {-1, 1};
    double one = dp_gaussian_mu(zs, once, 2); /* √(1/9 + 1/16) = 5/12 */
    assert_true(one >= 5.0 / 12 && one < 5.0 / 12 * (1 + 1e-14));
    assert_near(dp_gaussian_mu(zs, often, 2), sqrt(11), 1e-14);
    assert_true(dp_gaussian_mu(zs, once, 0) == 0);
    const double bad[] = {3, 0}, nan[] = {3, NAN};
    assert_true(isinf(dp_gaussian_mu(bad, once, 2)) && isinf(dp_gaussian_mu(nan, once, 2)));
    assert_true(isinf(dp_gaussian_mu(zs, never, 2)));
}

TESTS(NULL, NULL)
