/* The replace-one curve against the dominating pair integrated term by term, its limits, and a figure from a privacy loss
 * distribution. */
#include "random.h"
#include "unit.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_integration.h>

#include "priv/rdp.h"
#include "priv/replaced.h"

enum { N = DP_RDP_ORDER_COUNT };

static double replaced(double q, double multiplier, double order)
{
    double r;
    dp_rdp_replaced_gaussian(q, multiplier, &order, 1, &r);
    return r;
}

struct pair {
    double q, mu, order;
};

/* E[t^α] over ratios above and below 1, as the pair is defined, relative to N(0,1)'s mass */
static double moments(double u, void *context)
{
    const struct pair *p = context;
    double x = 1 - p->q + p->q * exp(u * p->mu - p->mu * p->mu / 2);
    double density = exp(-u * u / 2) / sqrt(2 * M_PI);
    return density * (pow(x, p->order) + x * pow(1 / x, p->order));
}

TEST(pair_by_integration)
{
    gsl_set_error_handler_off(); /* GSL reports "roundoff" at the last digits */
    gsl_integration_workspace *w = gsl_integration_workspace_alloc(2000);
    gsl_rng *rng = random_numbers();
    for (int i = 0; i < 200; i++) {
        double multiplier = 0.3 + 4 * gsl_rng_uniform(rng), q = exp(log(1e-3) * gsl_rng_uniform(rng));
        double order = 1.05 + 8 * pow(gsl_rng_uniform(rng), 2) * fmin(multiplier, 1);
        struct pair p = {q, 1 / multiplier, order};
        gsl_function f = {moments, &p};
        double value, error, middle = p.mu / 2 + 1, end = p.mu * order + 14, far;
        gsl_integration_qag(&f, p.mu / 2, middle, 0, 1e-11, 2000, GSL_INTEG_GAUSS61, w, &value, &error);
        gsl_integration_qag(&f, middle, end, 0, 1e-11, 2000, GSL_INTEG_GAUSS61, w, &far, &error);
        /* the rest of the second distribution has ratio 1 */
        double atom =
            1 - gsl_cdf_ugaussian_Q(p.mu / 2) - ((1 - q) * gsl_cdf_ugaussian_Q(p.mu / 2) + q * gsl_cdf_ugaussian_Q(-p.mu / 2));
        double exact = log(value + far + atom) / (order - 1), ours = replaced(q, multiplier, order);
        double cancelled = 1e-12 / (order - 1);
        if (!(ours >= exact * (1 - 1e-10) - cancelled && ours <= exact * (1 + 1e-9) + cancelled))
            fail_msg("q=%.17g z=%.17g order %.17g: %.17g, integrated %.17g", q, multiplier, order, ours, exact);
    }
    gsl_integration_workspace_free(w);
}

/* For q → 1 the integral itself must be the Gaussian's: ∫ φ (x^α − 1)(1 − x^{1−α}) = e^{α(α−1)μ²/2} − 1. */
TEST(full_batch_is_the_gaussian)
{
    const double zs[] = {0.2, 1, 5, 100};
    for (size_t k = 0; k < sizeof zs / sizeof zs[0]; k++)
        for (int i = 0; i < N; i++) {
            double order = dp_rdp_orders[i], exact = order / (2 * zs[k] * zs[k]);
            double whole = replaced(1, zs[k], order), nearly = replaced(1 - 1e-14, zs[k], order);
            assert_true(whole >= exact && whole <= exact * (1 + 1e-14));
            if (!(nearly >= exact * (1 - 1e-11) && nearly <= whole))
                fail_msg("z=%g order %g: %.17g, expected %.17g", zs[k], order, nearly, exact);
        }
}

/* The lower bound is the plain removal of a row of the same pair, the upper bound the unsampled Gaussian. */
TEST(between_its_neighbours)
{
    gsl_rng *rng = random_numbers();
    double remove[N], gaussian[N], ours[N];
    for (int k = 0; k < 12; k++) {
        double q = exp(log(1e-6) * gsl_rng_uniform(rng)), z = exp(log(0.1) + log(1e4) * gsl_rng_uniform(rng));
        dp_rdp_sampled_gaussian(q, z, dp_rdp_orders, N, remove);
        dp_rdp_gaussian(z, dp_rdp_orders, N, gaussian);
        dp_rdp_replaced_gaussian(q, z, dp_rdp_orders, N, ours);
        for (int i = 0; i < N; i++) {
            bool exact = dp_rdp_orders[i] == floor(dp_rdp_orders[i]); /* not a chord */
            if (!((!exact || ours[i] >= remove[i] * (1 - 1e-10)) && ours[i] <= gaussian[i]))
                fail_msg("q=%.17g z=%.17g order %g: %.17g, not in [%.17g, %.17g]", q, z, dp_rdp_orders[i], ours[i], remove[i],
                         gaussian[i]);
            /* r rises with the order, except perhaps where the unsampled bound replaces it */
            if (i > 0 && dp_rdp_orders[i] / z <= 200)
                assert_true(ours[i] >= ours[i - 1] * (1 - 1e-9));
        }
    }
}

/* sigma = C, so half the sensitivity of a replaced row; q = .01, T = 1000, δ = 1e-5: exactly ε = 14.82. */
TEST(check_value)
{
    double r[N];
    dp_rdp_replaced_gaussian(0.01, 0.5, dp_rdp_orders, N, r);
    for (int i = 0; i < N; i++)
        r[i] *= 1000;
    double epsilon = dp_rdp_epsilon(dp_rdp_orders, r, N, 1e-5, NULL);
    if (!(epsilon >= 14.815 && epsilon < 14.82 * 1.2))
        fail_msg("epsilon %.17g", epsilon);
}

TEST(edges)
{
    assert_true(replaced(0, 1, 2) == 0);
    assert_true(isinf(replaced(NAN, 1, 2)) && isinf(replaced(-0.1, 1, 2)));
    assert_true(isinf(replaced(0.1, 0, 2)) && isinf(replaced(0.1, NAN, 2)));
    assert_true(replaced(1e-300, 1, 2) > 0 && replaced(1e-300, 1, 2) < 1e-40);
    assert_true(replaced(0.1, 1e-9, 2) <= 1.0000001e18);
}

TEST(all_orders_grow)
{
    double r[N];
    const double zs[] = {0.5, 1, 10, 40};
    for (int k = 0; k < 4; k++) {
        dp_rdp_replaced_gaussian(0.01, zs[k], dp_rdp_orders, N, r);
        for (int i = 1; i < N; i++)
            assert_true(isfinite(r[i]) && r[i] >= r[i - 1] && r[i] > 0);
    }
}

TESTS(NULL, NULL)
