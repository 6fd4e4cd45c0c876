/* Rényi bounds against reference figures, 200-bit arithmetic and numerical integration; conversion to (ε, δ).
 */
#include "random.h"
#include "unit.h"

#include <float.h>
#include <gsl/gsl_integration.h>
#include <mpfr.h>
#include <time.h>

#include "priv/mixture.h"
#include "priv/rdp.h"

enum { N = DP_RDP_ORDER_COUNT };

static double rdp_at(double q, double z, double order)
{
    double r;
    dp_rdp_sampled_gaussian(q, z, &order, 1, &r);
    return r;
}

TEST(orders_ascend)
{
    assert_true(dp_rdp_orders[0] > 1);
    for (int i = 1; i < N; i++)
        assert_true(dp_rdp_orders[i] > dp_rdp_orders[i - 1]);
    assert_true(dp_rdp_orders[N - 1] >= 1024);
}

/* eps_rdp was computed with other, fewer orders: our epsilon is no larger, and never below the true one. */
TEST(vectors)
{
    FILE *file = fopen("tests/vectors/sampled-gaussian.tsv", "r");
    assert_non_null(file);
    char line[256];
    int rows = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        double q, z, laps, delta, reference, upper, lower, r[N];
        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line, "%lf %lf %lf %lf %lf %lf %lf", &q, &z, &laps, &delta, &reference, &upper, &lower), 7);
        dp_rdp_sampled_gaussian(q, z, dp_rdp_orders, N, r);
        for (int i = 0; i < N; i++)
            r[i] *= laps;
        double epsilon = dp_rdp_epsilon(dp_rdp_orders, r, N, delta, NULL);
        if (epsilon > reference * (1 + 1e-4) || epsilon < lower)
            fail_msg("q=%g z=%g T=%g delta=%g: %.9g, expected between %.9g and %.9g", q, z, laps, delta, epsilon, lower,
                     reference);
        rows++;
    }
    fclose(file);
    assert_int_equal(rows, 36);
}

TEST(full_batch_is_the_gaussian)
{
    const double zs[] = {0.05, 0.5, 1, 3, 1e4};
    double r[N], s[N];
    for (size_t k = 0; k < sizeof zs / sizeof zs[0]; k++) {
        dp_rdp_gaussian(zs[k], dp_rdp_orders, N, r);
        dp_rdp_sampled_gaussian(1, zs[k], dp_rdp_orders, N, s);
        for (int i = 0; i < N; i++) {
            double exact = dp_rdp_orders[i] / (2 * zs[k] * zs[k]);
            assert_true(r[i] >= exact && r[i] <= exact * (1 + 1e-14));
            assert_true(s[i] == r[i]);
        }
        dp_rdp_sampled_gaussian(0, zs[k], dp_rdp_orders, N, s);
        for (int i = 0; i < N; i++)
            assert_true(s[i] == 0);
    }
}

TEST(what_is_no_number_is_no_bound)
{
    assert_true(isinf(rdp_at(NAN, 1, 2)));
    assert_true(isinf(rdp_at(0.1, NAN, 2)));
    assert_true(isinf(rdp_at(0.1, 0, 2)));
    assert_true(isinf(rdp_at(0, 0, 2)));
    assert_true(isinf(rdp_at(-0.1, 1, 2)));
    assert_true(isinf(rdp_at(0.1, -1, 2)));
    assert_true(isinf(rdp_at(1e-8, 1e-200, 2)));
    assert_true(rdp_at(1e-300, 1, 2) > 0);
}

/* ln A / (α − 1) by the plain binomial sum. */
static double exact_integer(double q, double z, int order)
{
    mpfr_t sum, term, power, keep, rate;
    mpfr_inits2(200, sum, term, power, keep, rate, (mpfr_ptr)0);
    mpfr_set_zero(sum, 1);
    mpfr_set_d(rate, q, MPFR_RNDN);
    mpfr_ui_sub(keep, 1, rate, MPFR_RNDN);
    for (int k = 0; k <= order; k++) {
        mpz_t choose;
        mpz_init(choose);
        mpz_bin_uiui(choose, (unsigned long)order, (unsigned long)k);
        mpfr_set_d(term, z, MPFR_RNDN);
        mpfr_sqr(term, term, MPFR_RNDN);
        mpfr_mul_ui(term, term, 2, MPFR_RNDN);
        mpfr_ui_div(term, (unsigned long)k * (unsigned long)(k > 0 ? k - 1 : 0), term, MPFR_RNDN);
        mpfr_exp(term, term, MPFR_RNDN);
        mpfr_mul_z(term, term, choose, MPFR_RNDN);
        mpfr_pow_ui(power, rate, (unsigned long)k, MPFR_RNDN);
        mpfr_mul(term, term, power, MPFR_RNDN);
        mpfr_pow_ui(power, keep, (unsigned long)(order - k), MPFR_RNDN);
        mpfr_mul(term, term, power, MPFR_RNDN);
        mpfr_add(sum, sum, term, MPFR_RNDN);
        mpz_clear(choose);
    }
    mpfr_log(sum, sum, MPFR_RNDN);
    mpfr_div_ui(sum, sum, (unsigned long)(order - 1), MPFR_RNDN);
    double result = mpfr_get_d(sum, MPFR_RNDN);
    mpfr_clears(sum, term, power, keep, rate, (mpfr_ptr)0);
    return result;
}

TEST(integer_orders_against_long_arithmetic)
{
    gsl_rng *rng = random_numbers();
    const int far[] = {100, 128, 256, 500, 1024, 2048};
    for (int i = 0; i < 400; i++) {
        double q = random_between(rng, 1e-8, 1), z = random_between(rng, 0.05, 1e4);
        int order = i % 8 == 0 ? far[i / 8 % 6] : 2 + (int)gsl_rng_uniform_int(rng, 63);
        if (i % 4 == 0) /* cases where ln A is small and its terms are large */
            z = sqrt(order / (2 * -log(q))) * (0.95 + 0.1 * gsl_rng_uniform(rng));
        double ours = rdp_at(q, z, order), exact = exact_integer(q, z, order);
        if (!(ours >= exact * (1 - DBL_EPSILON) && ours <= exact * (1 + 1e-10)))
            fail_msg("q=%.17g z=%.17g order %d: %.17g, exactly %.17g", q, z, order, ours, exact);
    }
}

struct integrand {
    double q, z, order, shift;
};

/* ln of φ(u) ((1−q) + q e^{(2zu−1)/2z²})^α */
static double log_integrand(double u, const struct integrand *p)
{
    double a = log1p(-p->q), b = log(p->q) + (2 * p->z * u - 1) / (2 * p->z * p->z);
    double mixture = fmax(a, b) + log1p(exp(-fabs(a - b)));
    return p->order * mixture - u * u / 2 - 0.5 * log(2 * M_PI);
}

static double integrand(double u, void *context)
{
    const struct integrand *p = context;
    return exp(log_integrand(u, p) - p->shift);
}

/* ln A / (α − 1) by integration over the base distribution. */
static double integrated(double q, double z, double order)
{
    gsl_integration_workspace *w = gsl_integration_workspace_alloc(2000);
    struct integrand p = {q, z, order, -INFINITY};
    double peak = order / z; /* deviation of the component; the base has its own at 0 */
    for (int i = 0; i <= 1000; i++)
        p.shift = fmax(p.shift, log_integrand(peak * i / 1000, &p));
    gsl_function f = {integrand, &p};
    double left, right, middle, error;
    gsl_integration_qagil(&f, 0, 0, 1e-10, 2000, w, &left, &error);
    gsl_integration_qag(&f, 0, peak, 0, 1e-10, 2000, GSL_INTEG_GAUSS61, w, &middle, &error);
    gsl_integration_qagiu(&f, peak, 0, 1e-10, 2000, w, &right, &error);
    gsl_integration_workspace_free(w);
    return (p.shift + log(left + middle + right)) / (order - 1);
}

TEST(fractional_orders_against_integration)
{
    gsl_rng *rng = random_numbers();
    int compared = 0;
    for (int i = 0; i < 600; i++) {
        double q = random_between(rng, 1e-4, 0.999), z = random_between(rng, 0.3, 20);
        double order = 1.01 + 10.9 * gsl_rng_uniform(rng);
        if (order == floor(order))
            continue;
        double reference = integrated(q, z, order), ours = rdp_at(q, z, order);
        double noise = 1e-9 / (order - 1); /* of the integral */
        if (!(ours >= reference - noise && ours <= reference * (1 + 1e-8) + noise))
            fail_msg("q=%.17g z=%.17g order %.17g: %.17g, by integration %.17g", q, z, order, ours, reference);
        compared += reference > 1e3 * noise;
    }
    assert_true(compared > 300);
}

TEST(monotone_and_below_the_gaussian)
{
    const double qs[] = {1e-8, 1e-6, 1e-4, 1e-2, 0.1, 0.5, 0.9, 0.9999999, 1};
    const double zs[] = {0.05, 0.1, 0.3, 0.7, 1, 3, 10, 100, 1e4};
    enum { QS = sizeof qs / sizeof qs[0], ZS = sizeof zs / sizeof zs[0] };
    static double r[QS][ZS][N];
    for (int a = 0; a < QS; a++)
        for (int b = 0; b < ZS; b++)
            dp_rdp_sampled_gaussian(qs[a], zs[b], dp_rdp_orders, N, r[a][b]);
    for (int a = 0; a < QS; a++) {
        for (int b = 0; b < ZS; b++) {
            for (int i = 0; i < N; i++) {
                double noise = 2e-11 + 1e-9 * r[a][b][i];
                assert_true(isfinite(r[a][b][i]) && r[a][b][i] > 0);
                assert_true(r[a][b][i] <= dp_rdp_orders[i] / (2 * zs[b] * zs[b]) * (1 + 1e-14));
                assert_true(i == 0 || r[a][b][i] >= r[a][b][i - 1] - noise);
                assert_true(a == 0 || r[a][b][i] >= r[a - 1][b][i] - noise);
                assert_true(b == 0 || r[a][b][i] <= r[a][b - 1][i] + noise);
            }
        }
    }
}

/* ln A is convex in α: that keeps fractional orders sharp where the series are lost in rounding. */
TEST(fractional_orders_keep_their_digits)
{
    const double qs[] = {1e-8, 1e-6, 1e-3, 0.1}, zs[] = {0.5, 2, 100, 1e4};
    for (int i = 0; i < 16; i++) {
        double q = qs[i % 4], z = zs[i / 4];
        for (int order = 2; order < 10; order++) {
            double low = (order - 1) * rdp_at(q, z, order), high = order * rdp_at(q, z, order + 1);
            double between = (order - 0.5) * rdp_at(q, z, order + 0.5);
            assert_true(between > low * (1 - 1e-12) && between <= (low + high) / 2 * (1 + 1e-12));
        }
        assert_true(0.5 * rdp_at(q, z, 1.5) <= 0.5 * rdp_at(q, z, 2) * (1 + 1e-12));
    }
}

TEST(small_rates_grow_as_their_square)
{
    /* A_2 − 1 = q² (e^{1/z²} − 1) exactly */
    assert_near(rdp_at(1e-3, 1, 2) * 1e6, log1p(1e-6 * expm1(1.0)) * 1e6, 1e-12);
    assert_near(rdp_at(1e-8, 2, 2) * 1e16, expm1(0.25), 1e-9);
    assert_near(rdp_at(1e-8, 1e4, 2) * 1e24, 1e8 * expm1(1e-8), 1e-9);
}

TEST(conversion)
{
    const double orders[] = {2, 4}, rdp[] = {0.1, 3};
    double order;
    /* .1 + ln(1/2) − (ln 1e-5 + ln 2), and 3 + ln(3/4) − (ln 1e-5 + ln 4)/3 */
    assert_near(dp_rdp_epsilon(orders, rdp, 1, 1e-5, &order), 0.1 - 2 * log(2) - log(1e-5), 1e-13);
    assert_true(order == 2);
    assert_near(dp_rdp_epsilon(orders, rdp, 2, 1e-5, &order), 3 + log(0.75) - (log(1e-5) + log(4)) / 3, 1e-13);
    assert_true(order == 4);
    const double nothing[] = {0, 0}, everything[] = {INFINITY, INFINITY};
    assert_true(dp_rdp_epsilon(orders, nothing, 2, 0.5, NULL) == 0);
    assert_true(isinf(dp_rdp_epsilon(orders, everything, 2, 1e-5, NULL)));
    for (int i = 0; i < N; i++)
        assert_true(dp_rdp_penalty(dp_rdp_orders[i], 1e-5) < -log(1e-5) / (dp_rdp_orders[i] - 1));
}

/* The true δ of a Gaussian at its claimed ε must not exceed δ, and must be close to it. */
TEST(claimed_epsilon_of_a_gaussian_holds)
{
    gsl_rng *rng = random_numbers();
    for (int i = 0; i < 300; i++) {
        double z = random_between(rng, 0.2, 100), delta = random_between(rng, 1e-12, 0.1), r[N];
        dp_rdp_gaussian(z, dp_rdp_orders, N, r);
        double epsilon = dp_rdp_epsilon(dp_rdp_orders, r, N, delta, NULL);
        double spent = dp_gaussian_log_delta(epsilon, 1 / z);
        if (spent > log(delta) || (spent < log(delta) - 4 && epsilon > 0.1))
            fail_msg("z=%g delta=%g: epsilon %g spends delta %g", z, delta, epsilon, exp(spent));
    }
}

TEST(no_parameters_take_long)
{
    double r[N];
    clock_t start = clock();
    for (double q = 1e-8; q < 1; q *= 30)
        for (double z = 0.05; z < 2e4; z *= 30)
            dp_rdp_sampled_gaussian(q, z, dp_rdp_orders, N, r);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 5);
}

/* One lap of a visible batch: the moments of the mixture "nothing with 1 − q, the Gaussian with q", after conversion they are
   no less than the mixture over the number of participations. */
TEST(visible_batch)
{
    double r[N], g[N];
    dp_rdp_visible_batch(0.01, 1, dp_rdp_orders, N, r);
    for (int i = 0; i < N; i++) {
        long double order = dp_rdp_orders[i], rise = order * (order - 1) / 2;
        double exact = (double)(logl(0.99L + 0.01L * expl(rise)) / (order - 1));
        if (rise < 11000 && !(r[i] >= exact * (1 - DBL_EPSILON) && r[i] <= exact * (1 + 1e-12)))
            fail_msg("order %g: %.17g, exactly %.17g", dp_rdp_orders[i], r[i], exact);
        assert_true(r[i] <= order / 2 * (1 + 1e-14L));
        r[i] *= 1000;
    }
    double epsilon = dp_rdp_epsilon(dp_rdp_orders, r, N, 1e-5, NULL);
    assert_true(epsilon >= dp_mixture_epsilon(1000, 0.01, 1, 1e-5) && epsilon > 23.39 && epsilon < 1.3 * 23.39);
    dp_rdp_gaussian(3, dp_rdp_orders, N, g);
    dp_rdp_visible_batch(1, 3, dp_rdp_orders, N, r);
    for (int i = 0; i < N; i++)
        assert_true(r[i] == g[i]);
    const double two = 2;
    dp_rdp_visible_batch(NAN, 1, &two, 1, r);
    assert_true(isinf(r[0]));
    dp_rdp_visible_batch(0, 1, &two, 1, r);
    assert_true(r[0] == 0);
}

TESTS(NULL, NULL)
