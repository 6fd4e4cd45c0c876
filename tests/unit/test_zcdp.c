/* zCDP: its conversion against a dense search over orders and against the looser classical one. */
#include "random.h"
#include "unit.h"

#include "priv/gdp.h"
#include "priv/pure.h"
#include "priv/rdp.h"
#include "priv/zcdp.h"

TEST(mechanisms)
{
    assert_near(dp_zcdp_gaussian(2), 0.125, 1e-15);
    assert_near(dp_zcdp_pure(0.5), 0.125, 1e-15);
    assert_true(dp_zcdp_gaussian(3) >= 1 / 18.0 && dp_zcdp_pure(0.1) >= 0.1 * 0.1 / 2);
    assert_true(isinf(dp_zcdp_gaussian(0)) && isinf(dp_zcdp_gaussian(NAN)));
    assert_true(isinf(dp_zcdp_pure(-1)) && isinf(dp_zcdp_pure(NAN)));
    /* a line above each curve */
    double gaussian[DP_RDP_ORDER_COUNT], pure[DP_RDP_ORDER_COUNT];
    dp_rdp_gaussian(1.7, dp_rdp_orders, DP_RDP_ORDER_COUNT, gaussian);
    dp_rdp_pure(0.8, dp_rdp_orders, DP_RDP_ORDER_COUNT, pure);
    for (int i = 0; i < DP_RDP_ORDER_COUNT; i++) {
        assert_true(gaussian[i] <= dp_zcdp_gaussian(1.7) * dp_rdp_orders[i] * (1 + 1e-14));
        assert_true(pure[i] <= dp_zcdp_pure(0.8) * dp_rdp_orders[i]);
    }
}

TEST(conversion)
{
    gsl_rng *rng = random_numbers();
    for (int i = 0; i < 200; i++) {
        double rho = exp(log(1e-8) + log(1e11) * gsl_rng_uniform(rng)), delta = exp(log(1e-15) * gsl_rng_uniform(rng));
        double ours = dp_zcdp_epsilon(rho, delta), best = INFINITY;
        for (double x = -12; x < 16; x += 1.0 / 512) {
            double order = 1 + exp(x);
            best = fmin(best, rho * order + log1p(-1 / order) - (log(delta) + log(order)) / (order - 1));
        }
        best = fmax(best, 0);
        if (!(ours <= best * (1 + 1e-12) + 1e-14 && ours >= best * (1 - 1e-4) - 1e-6 * rho))
            fail_msg("rho=%.17g delta=%.17g: %.17g, searched %.17g", rho, delta, ours, best);
        assert_true(ours <= rho + 2 * sqrt(rho * -log(delta)));
        /* the Gaussian of the same ρ costs still less */
        assert_true(dp_gaussian_epsilon(sqrt(2 * rho), delta) <= ours * (1 + 1e-9) + 1e-12);
    }
    assert_true(dp_zcdp_epsilon(0, 1e-5) == 0);
    /* If rho is so large that the best order rounds to 1, there is no bound. */
    assert_true(isinf(dp_zcdp_epsilon(1e40, 1e-5)) && isinf(dp_zcdp_epsilon(INFINITY, 1e-5)));
    assert_true(isinf(dp_zcdp_epsilon(-1, 0.1)) && isinf(dp_zcdp_epsilon(NAN, 0.1)) && isinf(dp_zcdp_epsilon(1, 0)));
}

TESTS(NULL, NULL)
