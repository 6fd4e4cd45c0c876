/* Composition of (ε, δ) guarantees: the formulas, and the exact δ of the worst mechanisms. */
#include "random.h"
#include "unit.h"

#include <gsl/gsl_randist.h>

#include "priv/compose.h"

/* T equal steps of (ε, δ₀), written out. */
TEST(advanced_formula)
{
    gsl_rng *rng = random_numbers();
    for (int i = 0; i < 200; i++) {
        int64_t times = 1 + (int64_t)exp(log(1e5) * gsl_rng_uniform(rng));
        double e = exp(log(1e-3) + log(3e3) * gsl_rng_uniform(rng)), t = (double)times;
        double step_delta = i % 2 ? 1e-8 * gsl_rng_uniform(rng) : 0;
        double slack = exp(log(1e-3) * (1 + 2 * gsl_rng_uniform(rng)));
        double delta = -expm1(log1p(-slack) + t * log1p(-step_delta));
        double mean = t * e * (exp(e) - 1) / (exp(e) + 1);
        double first = mean + sqrt(2 * t * e * e * log(1 / slack));
        double second = mean + sqrt(2 * t * e * e * log(exp(1) + sqrt(t * e * e) / slack));
        double expected = fmin(t * e, fmin(first, second));
        const struct dp_guarantee half[] = {{e, step_delta, times - times / 2}, {e, step_delta, times / 2}};
        double ours = dp_compose_advanced(half, 2, delta);
        if (!(ours >= expected * (1 - 1e-9) && ours <= expected * (1 + 1e-9)))
            fail_msg("T=%g epsilon=%.17g slack=%.17g: %.17g, expected %.17g", t, e, slack, ours, expected);
    }

    const struct dp_guarantee pure[] = {{0.1, 0, 10}}, loose[] = {{0.1, 1e-6, 10}};
    assert_near(dp_compose_advanced(pure, 1, 0), 1, 1e-14); /* no slack: the sum */
    assert_true(isinf(dp_compose_advanced(loose, 1, 9e-6)));
    assert_true(isfinite(dp_compose_advanced(loose, 1, 1.1e-5)));
    assert_true(isinf(dp_compose_advanced(pure, 1, NAN)) && isinf(dp_compose_advanced(pure, 1, 1)));
}

/* T times randomised response that reveals everything with probability δ₀: its δ at the claimed ε, by the binomial sum, is
   within the claim. */
TEST(claims_hold_for_the_worst_mechanism)
{
    gsl_rng *rng = random_numbers();
    for (int i = 0; i < 300; i++) {
        unsigned times = 1 + (unsigned)gsl_rng_uniform_int(rng, 300);
        double e = exp(log(1e-2) + log(1e2) * gsl_rng_uniform(rng));
        double step_delta = 1e-7 * gsl_rng_uniform(rng), delta = 1e-4 + 0.1 * gsl_rng_uniform(rng);
        const struct dp_guarantee steps[] = {{e, step_delta, times}};
        double claimed = dp_compose_advanced(steps, 1, delta), lost = 0, truth = 1 / (1 + exp(-e));
        for (unsigned k = 0; k <= times; k++) {
            double loss = e * (2 * (double)k - (double)times);
            lost += gsl_ran_binomial_pdf(k, truth, times) * fmax(0, -expm1(claimed - loss));
        }
        double told = -expm1(times * log1p(-step_delta));
        assert_true(told + (1 - told) * lost <= delta);
    }
}

TESTS(NULL, NULL)
