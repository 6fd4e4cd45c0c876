/* AboveThreshold's curve: against a dense search for the supremum, exactly computed games, and figures of a reference
 * computation. */
#include "random.h"
#include "unit.h"

#include "priv/pure.h"
#include "priv/rdp.h"
#include "priv/sparse_vector.h"

enum { N = DP_RDP_ORDER_COUNT };

static double laplace_at(double threshold, double query, int64_t steps, int64_t queries, double order)
{
    double r;
    dp_rdp_sparse_vector_laplace(threshold, query, steps, queries, &order, 1, &r);
    return r;
}

static double gaussian_at(double threshold, double query, int64_t queries, double order)
{
    double r;
    dp_rdp_sparse_vector_gaussian(threshold, query, queries, &order, 1, &r);
    return r;
}

TEST(reference_figures)
{
    assert_near(laplace_at(0.5, 0.25, 0, 30, 2), 0.4570, 5e-5);
    assert_near(laplace_at(0.5, 0.25, 0, 30, 8), 0.821295, 5e-6); /* .82129… */
    double rho = 0.1;
    assert_near(gaussian_at(sqrt(1.5 / rho), sqrt(3 / rho), 30, 2), 0.4417, 5e-5);
    assert_near(gaussian_at(sqrt(1.5 / rho), sqrt(3 / rho), 30, 8), 1.0689, 5e-5);
}

/* Pr[ν >= t] */
static double gaussian_tail(double scale, double t)
{
    return erfc(t / scale / M_SQRT2) / 2;
}

static double laplace_tail(double scale, double t)
{
    return t >= 0 ? exp(-t / scale) / 2 : 1 - exp(t / scale) / 2;
}

/* V_m by a dense search over t and s: not above the supremum, and close to it. */
static double searched(double (*tail)(double, double), double scale, int queries, double order)
{
    double v = 1;
    for (int j = 0; j < queries; j++) {
        double best = v;
        for (double t = -2 - 12 * scale; t < (12 + 2 * order) * scale; t += scale / 512) {
            for (double s = 2; s > 1; s -= 0.5) { /* and s = 0 gives at most v */
                double h = tail(scale, t), h2 = tail(scale, t + s), u = tail(scale, -t), u2 = tail(scale, -t - s);
                if (h2 > 1e-280 && u2 > 1e-280)
                    best = fmax(best, pow(h, order) * pow(h2, 1 - order) + v * pow(u, order) * pow(u2, 1 - order));
            }
        }
        v = best;
    }
    return log(v) / (order - 1);
}

TEST(the_supremum_is_met)
{
    const double cases[][3] = {{2, 3, 2}, {6, 5, 3}, {5.5, 4, 8}, {20, 6, 1.5}, {1.2, 2, 4}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        double scale = cases[k][0], order = cases[k][2];
        int queries = (int)cases[k][1];
        double expected = searched(gaussian_tail, scale, queries, order) + order / (2 * 9);
        double ours = gaussian_at(3, scale, queries, order);
        if (!(ours >= expected - 1e-13 && ours <= expected * (1 + 1e-4)))
            fail_msg("Gaussian %g, %d queries, order %g: %.10g, found %.10g", scale, queries, order, ours, expected);
        /* the threshold costs so much that the pure bound is not the smaller one */
        double threshold;
        dp_rdp_laplace(1 / 3.0, &order, 1, &threshold);
        expected = fmin(searched(laplace_tail, scale, queries, order), 2 / scale) + threshold;
        double pure;
        dp_rdp_pure(3 + 2 / scale, &order, 1, &pure);
        expected = fmin(expected, pure);
        ours = laplace_at(3, 1 / scale, 0, queries, order);
        if (!(ours >= expected - 1e-13 && ours <= expected * (1 + 1e-6)))
            fail_msg("Laplace %g, %d queries, order %g: %.10g, found %.10g", scale, queries, order, ours, expected);
    }
}

/* Computes the whole game exactly, for integer queries that are known in advance, discrete Laplace noise, and every neighbour
   ±1. The law of the halting index under both data sets, by summing over the threshold's noise. */
static double game(double threshold, double query, const int *value, const int *other, int queries, double order)
{
    enum { FAR = 400 };
    double theta = exp(-threshold), kappa = exp(-query), ratio = 0;
    static double p[64], q[64];
    for (int k = 0; k <= queries; k++)
        p[k] = q[k] = 0;
    for (int x = -FAR; x <= FAR; x++) {
        double weight = (1 - theta) / (1 + theta) * pow(theta, abs(x)), keep[2] = {weight, weight};
        for (int k = 0; k < queries; k++)
            for (int side = 0; side < 2; side++) {
                int t = x - (side ? other : value)[k]; /* noise must be at least this */
                double h = t >= 1 ? pow(kappa, t) / (1 + kappa) : 1 - pow(kappa, 1 - t) / (1 + kappa);
                (side ? q : p)[k] += keep[side] * h;
                keep[side] *= 1 - h;
            }
        p[queries] += keep[0];
        q[queries] += keep[1];
    }
    for (int k = 0; k <= queries; k++)
        ratio += pow(p[k], order) * pow(q[k], 1 - order);
    return log(ratio) / (order - 1);
}

TEST(games_stay_below)
{
    gsl_rng *rng = random_numbers();
    double closest = 0;
    for (int i = 0; i < 150; i++) {
        int value[20], other[20], queries = 1 + (int)gsl_rng_uniform_int(rng, 20);
        int level = 4 - (int)gsl_rng_uniform_int(rng, 20);
        for (int k = 0; k < queries; k++) {
            value[k] = level + (i % 3 == 0 ? (int)gsl_rng_uniform_int(rng, 7) : 0);
            other[k] = value[k] + (k + 1 == queries || i % 2 ? 1 : -1) * (i % 5 ? 1 : -1);
        }
        double threshold = 0.3 + gsl_rng_uniform(rng), query = 0.2 + gsl_rng_uniform(rng);
        double order = 1.2 + 6 * gsl_rng_uniform(rng);
        double bound = laplace_at(threshold, query, 1, queries, order);
        double played = game(threshold, query, value, other, queries, order);
        if (!(played <= bound * (1 + 1e-12)))
            fail_msg("order %g, %d queries: a game reaches %.9g of %.9g", order, queries, played, bound);
        closest = fmax(closest, played / bound);
    }
    assert_true(closest > 1.0 / 3); /* the games come close to the bound */
}

TEST(bounds_are_bounds)
{
    double few[N], many[N], fine[N], real[N], threshold[N];
    dp_rdp_sparse_vector_laplace(0.5, 0.25, 0, 10, dp_rdp_orders, N, few);
    dp_rdp_sparse_vector_laplace(0.5, 0.25, 0, 1000, dp_rdp_orders, N, many);
    dp_rdp_sparse_vector_laplace(0.5, 0.25, 1 << 20, 1000, dp_rdp_orders, N, fine);
    for (int i = 0; i < N; i++) {
        assert_true(few[i] > 0 && few[i] <= many[i] && many[i] <= 1);
        assert_near(fine[i], many[i], 1e-9);
    }
    dp_rdp_sparse_vector_gaussian(4, 6, 10, dp_rdp_orders, N, few);
    dp_rdp_sparse_vector_gaussian(4, 6, 1000, dp_rdp_orders, N, many);
    dp_rdp_gaussian(4, dp_rdp_orders, N, threshold);
    dp_rdp_gaussian(3, dp_rdp_orders, N, real);
    for (int i = 0; i < N; i++) {
        assert_true(few[i] > threshold[i] && few[i] <= many[i] && few[i] <= (threshold[i] + 10 * real[i]) * (1 + 1e-12));
        assert_true(i == 0 || few[i] >= few[i - 1] * (1 - 1e-3));
    }
    /* one query is a coin of the Gaussian */
    assert_true(gaussian_at(4, 6, 1, 3) < threshold[0] + gaussian_at(4, 6, 1, 3));
    assert_true(gaussian_at(4, 1e4, 1, 3) - 3.0 / 32 <= 3.0 / 2 * 4e-8 * (1 + 1e-4));
    /* beyond the steps that are computed one by one the bound is a straight line above them */
    double walked = gaussian_at(4, 6, 4096, 2), far = gaussian_at(4, 6, 8192, 2);
    assert_true(far > walked && far < walked * 1.2);
}

/* A finer grid costs less, whether or not its points include the points of the coarser one; the reals cost least. */
TEST(finer_grids_cost_less)
{
    static const int64_t steps[] = {1, 2, 3, 5, 8, 20, 100, 1000, 1 << 20, (1 << 20) + 1, 1500001, 1 << 21, 1LL << 40};
    const double cases[][3] = {{0.5, 0.25, 2}, {2, 1, 1.5}, {0.1, 0.7, 8}, {5, 3, 64}, {0.002, 0.001, 184}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double before = INFINITY, finest = laplace_at(cases[c][0], cases[c][1], 0, 30, cases[c][2]);
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
            double r = laplace_at(cases[c][0], cases[c][1], steps[i], 30, cases[c][2]);
            /* The finer curve lies within the coarser one. The polygons around them have different corners, so this holds
               only up to their error. */
            assert_true(r <= before * (1 + 1e-10) && r >= finest * (1 - 1e-10));
            before = r;
        }
    }
}

TEST(what_is_no_number_is_no_bound)
{
    assert_true(isinf(laplace_at(0, 1, 0, 1, 2)) && isinf(laplace_at(1, NAN, 0, 1, 2)));
    assert_true(isinf(laplace_at(1, 1, -1, 1, 2)) && isinf(laplace_at(1, 1, 0, 0, 2)));
    assert_true(isinf(gaussian_at(0, 1, 1, 2)) && isinf(gaussian_at(1, NAN, 1, 2)) && isinf(gaussian_at(1, 1, 0, 2)));
    assert_true(isfinite(gaussian_at(1, 1e-3, 5, 2)) && isfinite(gaussian_at(1, 1e9, 1000000, 8192)));
    assert_true(isfinite(laplace_at(1, 600, 0, 5, 8192)) && isfinite(laplace_at(1, 1e-9, 0, 1000000, 8192)));
}

TEST(all_orders_are_finite)
{
    double r[N];
    dp_rdp_sparse_vector_laplace(0.5, 0.25, 0, 1000, dp_rdp_orders, N, r);
    assert_true(isfinite(r[N - 1]) && r[N - 1] >= r[0]);
    dp_rdp_sparse_vector_gaussian(4, 6, 1000, dp_rdp_orders, N, r);
    assert_true(isfinite(r[N - 1]) && r[N - 1] >= r[0]);
}

TESTS(NULL, NULL)
