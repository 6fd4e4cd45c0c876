/* Curves of pure mechanisms against 300-bit arithmetic and plain sums. */
#include "random.h"
#include "unit.h"

#include <float.h>
#include <mpfr.h>

#include "priv/pure.h"
#include "priv/rdp.h"

enum { N = DP_RDP_ORDER_COUNT };

/* sum += w e^{x y} */
static void add_exp(mpfr_t sum, mpfr_t w, mpfr_t x, mpfr_t y)
{
    mpfr_t t;
    mpfr_init2(t, 300);
    mpfr_mul(t, x, y, MPFR_RNDN);
    mpfr_exp(t, t, MPFR_RNDN);
    mpfr_mul(t, t, w, MPFR_RNDN);
    mpfr_add(sum, sum, t, MPFR_RNDN);
    mpfr_clear(t);
}

/* ln[v e^{(α−1)ε} + w e^{−αε}] / (α−1): randomised response with v = 1/(1+e^{−ε}) = w, Laplace with
   v = α/(2α−1) = 1 − w. */
static double exact(double epsilon, double order, int is_laplace)
{
    mpfr_t a, e, v, w, x, sum;
    mpfr_inits2(300, a, e, v, w, x, sum, (mpfr_ptr)0);
    mpfr_set_d(a, order, MPFR_RNDN);
    mpfr_set_d(e, epsilon, MPFR_RNDN);
    if (is_laplace) {
        mpfr_ui_div(e, 1, e, MPFR_RNDN); /* given as a multiplier */
        mpfr_mul_ui(w, a, 2, MPFR_RNDN);
        mpfr_sub_ui(w, w, 1, MPFR_RNDN);
        mpfr_div(v, a, w, MPFR_RNDN);
        mpfr_ui_sub(w, 1, v, MPFR_RNDN);
    } else {
        mpfr_neg(v, e, MPFR_RNDN);
        mpfr_exp(v, v, MPFR_RNDN);
        mpfr_add_ui(v, v, 1, MPFR_RNDN);
        mpfr_ui_div(v, 1, v, MPFR_RNDN);
        mpfr_set(w, v, MPFR_RNDN);
    }
    mpfr_set_zero(sum, 1);
    mpfr_sub_ui(x, a, 1, MPFR_RNDN);
    add_exp(sum, v, x, e);
    mpfr_neg(x, a, MPFR_RNDN);
    add_exp(sum, w, x, e);
    mpfr_log(sum, sum, MPFR_RNDN);
    mpfr_sub_ui(x, a, 1, MPFR_RNDN);
    mpfr_div(sum, sum, x, MPFR_RNDN);
    double result = mpfr_get_d(sum, MPFR_RNDN);
    mpfr_clears(a, e, v, w, x, sum, (mpfr_ptr)0);
    return result;
}

TEST(curves_against_long_arithmetic)
{
    gsl_rng *rng = random_numbers();
    for (int i = 0; i < 4000; i++) {
        double order = 1 + random_between(rng, 1e-2, 1e4), epsilon = random_between(rng, 1e-8, 1e3), ours;
        dp_rdp_pure(epsilon, &order, 1, &ours);
        double truth = exact(epsilon, order, 0);
        if (!(ours >= truth && ours <= truth * (1 + 1e-12)))
            fail_msg("pure %.17g order %.17g: %.17g, exactly %.17g", epsilon, order, ours, truth);
        dp_rdp_laplace(1 / epsilon, &order, 1, &ours);
        truth = exact(1 / epsilon, order, 1);
        if (!(ours >= truth && ours <= truth * (1 + 1e-11)))
            fail_msg("Laplace 1/%.17g order %.17g: %.17g, exactly %.17g", epsilon, order, ours, truth);
    }
}

TEST(discrete_laplace_is_the_sum)
{
    gsl_rng *rng = random_numbers();
    for (int i = 0; i < 100; i++) {
        double order = 1 + random_between(rng, 1e-2, 60), epsilon = random_between(rng, 1e-2, 4), ours;
        int steps = 1 + (int)gsl_rng_uniform_int(rng, 30);
        long double theta = expl(-(long double)epsilon / steps), sum = 0;
        for (int x = -(int)(50 * steps / epsilon) - 9; x <= (int)(50 * steps / epsilon) + steps; x++)
            sum += (1 - theta) / (1 + theta) *
                   powl(theta, (long double)order * abs(x) + (1 - (long double)order) * abs(x - steps));
        double truth = (double)(logl(sum) / ((long double)order - 1));
        dp_rdp_discrete_laplace(epsilon, steps, &order, 1, &ours);
        if (!(ours >= truth * (1 - 1e-12) && ours <= truth * (1 + 1e-13) + 1e-12 / (order - 1)))
            fail_msg("epsilon %.17g steps %d order %.17g: %.17g, the sum is %.17g", epsilon, steps, order, ours, truth);
    }

    double one[N], most[N], many[N], real[N];
    dp_rdp_discrete_laplace(0.7, 1, dp_rdp_orders, N, one);
    dp_rdp_pure(0.7, dp_rdp_orders, N, most);
    dp_rdp_discrete_laplace(0.7, 1 << 20, dp_rdp_orders, N, many);
    dp_rdp_laplace(1 / 0.7, dp_rdp_orders, N, real);
    for (int i = 0; i < N; i++) {
        assert_true(one[i] == most[i] && many[i] <= one[i]);
        assert_near(many[i], real[i], 1e-11);
    }
}

/* (1/(α−1)) ln Σ_i p_i^α q_i^(1−α) of the exponential mechanism, on scores u and on u + s. */
static double between(const double *u, const double *s, int count, double order)
{
    long double total[2] = {0}, sum = 0;
    for (int i = 0; i < count; i++) {
        total[0] += expl(-(long double)u[i]);
        total[1] += expl(-(long double)u[i] - (long double)s[i]);
    }
    for (int i = 0; i < count; i++) {
        long double p = expl(-(long double)u[i]) / total[0], q = expl(-(long double)u[i] - (long double)s[i]) / total[1];
        sum += powl(p, (long double)order) * powl(q, 1 - (long double)order);
    }
    return (double)(logl(sum) / ((long double)order - 1));
}

/* One person adds up to epsilon to each score, and takes it away again. */
TEST(the_exponential_mechanism_costs_no_more)
{
    enum { CANDIDATES = 6 };
    gsl_rng *rng = random_numbers();
    double closest = 0;
    for (int i = 0; i < 20000; i++) {
        double u[CANDIDATES], s[CANDIDATES], more[CANDIDATES], back[CANDIDATES], charged;
        double order = 1 + random_between(rng, 1e-1, 60), epsilon = random_between(rng, 1e-2, 3);
        int count = 2 + (int)gsl_rng_uniform_int(rng, CANDIDATES - 1);
        for (int j = 0; j < count; j++) {
            u[j] = 4 * gsl_rng_uniform(rng) * (double)gsl_rng_uniform_int(rng, 2);
            s[j] = epsilon * (i % 2 == 0 ? gsl_rng_uniform(rng) : (double)gsl_rng_uniform_int(rng, 2));
            more[j] = u[j] + s[j];
            back[j] = -s[j];
        }
        dp_rdp_exponential(epsilon, &order, 1, &charged);
        double cost = fmax(between(u, s, count, order), between(more, back, count, order));
        assert_true(cost <= charged * (1 + 1e-9) + 1e-15);
        closest = fmax(closest, cost / charged);
    }
    assert_true(closest > 0.95);

    const double order[] = {2, 5000};
    double r[2], all[2];
    dp_rdp_exponential(0.1, order, 2, r);
    dp_rdp_pure(0.1, order, 2, all);
    assert_near(r[0], 0.0025, 1e-15);
    assert_true(r[0] < 0.26 * all[0] && r[1] == all[1]);
}

TEST(sampling)
{
    assert_near(dp_pure_sampled(0.1, 1), log(1 + 0.1 * (M_E - 1)), 1e-15);
    assert_near(dp_pure_sampled(0.1, 800), 800 + log(0.1), 1e-15);
    assert_true(dp_pure_sampled(1, 0.3) == 0.3 && dp_pure_sampled(0, 0.3) == 0);
    assert_true(dp_pure_sampled(1e-12, 1e-3) >= 1e-15);
    assert_true(isinf(dp_pure_sampled(1.1, 1)) && isinf(dp_pure_sampled(NAN, 1)) && isinf(dp_pure_sampled(1, -1)));
}

TEST(what_is_no_number_is_no_bound)
{
    const double order = 2, bad[] = {-1, NAN};
    double r;
    for (int i = 0; i < 2; i++) {
        dp_rdp_pure(bad[i], &order, 1, &r);
        assert_true(isinf(r));
        dp_rdp_exponential(bad[i], &order, 1, &r);
        assert_true(isinf(r));
        dp_rdp_laplace(bad[i], &order, 1, &r);
        assert_true(isinf(r));
        dp_rdp_discrete_laplace(bad[i], 5, &order, 1, &r);
        assert_true(isinf(r));
    }
    dp_rdp_laplace(0, &order, 1, &r);
    assert_true(isinf(r));
    dp_rdp_discrete_laplace(1, 0, &order, 1, &r);
    assert_true(isinf(r));
    dp_rdp_pure(INFINITY, &order, 1, &r);
    assert_true(isinf(r));
    dp_rdp_pure(0, &order, 1, &r);
    assert_true(r == 0);
}

TESTS(NULL, NULL)
