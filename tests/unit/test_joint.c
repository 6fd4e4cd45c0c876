/* Compares sampled curves with plain sums of the formulas, integration of product pairs, and the sum of separately
 * amplified curves. */
#include "random.h"
#include "unit.h"

#include "priv/joint.h"
#include "priv/pure.h"
#include "priv/rdp.h"

enum { LARGEST = 256, N = DP_RDP_ORDER_COUNT };

/* curve[l] += the curve of a Gaussian (z > 0) and of randomised response at integer orders */
static void add_curves(double z, double epsilon, double *curve)
{
    for (int l = 2; l <= LARGEST; l++) {
        double order = l, r;
        if (z > 0) {
            dp_rdp_gaussian(z, &order, 1, &r);
            curve[l] += r;
        }
        dp_rdp_pure(epsilon, &order, 1, &r);
        curve[l] += r;
    }
}

/* ln E_B[(1 − q + q t)^power] for t the ratio of the pair Gaussian × randomised response: the trapezoidal
   rule, which converges exponentially for such an integrand. */
static double product_pair(double q, double z, double epsilon, double power)
{
    double mu = 1 / z, step = 1.0 / 64, sum = 0, yes = 1 / (1 + exp(epsilon));
    for (double u = -12 - fabs(power) * mu; u < 12 + (1 + fabs(power)) * mu; u += step) {
        double up = log1p(q * expm1(u * mu - mu * mu / 2 + epsilon));
        double down = log1p(q * expm1(u * mu - mu * mu / 2 - epsilon));
        sum += exp(-u * u / 2) * (yes * expm1(power * up) + (1 - yes) * expm1(power * down));
    }
    return log1p(sum * step / sqrt(2 * M_PI));
}

TEST(formulas_summed_plainly)
{
    gsl_rng *rng = random_numbers();
    for (int i = 0; i < 300; i++) {
        double q = exp(log(1e-3) * gsl_rng_uniform(rng)), r[41], general, symmetric;
        int top = 2 + (int)gsl_rng_uniform_int(rng, 39);
        double scale = exp(log(0.01) + log(300) * gsl_rng_uniform(rng));
        for (int l = 0; l <= top; l++)
            r[l] = l < 2 ? NAN : scale * l / (1 + 0.1 * l);
        long double ours[2], choices = 1, rest = 1 - (long double)q;
        ours[0] = ours[1] = powl(rest, top - 1) * (top * (long double)q - q + 1);
        for (int l = 1; l <= top; l++) {
            choices *= (long double)(top - l + 1) / l;
            if (l < 2)
                continue;
            long double term = choices * powl(rest, top - l) * powl(q, l) * expl((l - 1) * (long double)r[l]);
            ours[0] += l == 2 ? term : 3 * term;
            ours[1] += term;
        }
        double order = top, bound = r[top] * (1 + 1e-14);
        dp_rdp_sampled(q, r, top, &order, 1, &general);
        dp_rdp_sampled_symmetric(q, r, top, &order, 1, &symmetric);
        ours[0] = fminl(ours[0], 2 * ours[1] - 1);
        double exact[2] = {fmin((double)(logl(ours[0]) / (top - 1)), r[top]),
                           fmin((double)(logl(ours[1]) / (top - 1)), r[top])};
        if (!(general >= exact[0] * (1 - 1e-13) && general <= exact[0] * (1 + 1e-10) && general <= bound))
            fail_msg("q=%.17g order %d: %.17g, the sum is %.17g", q, top, general, exact[0]);
        if (!(symmetric >= exact[1] * (1 - 1e-13) && symmetric <= exact[1] * (1 + 1e-10) && symmetric <= general))
            fail_msg("q=%.17g order %d: %.17g, the sum is %.17g", q, top, symmetric, exact[1]);
    }
}

/* ln E_Q[(1 − q + q P/Q)^power] */
static double moment(const double *p, const double *q, int n, double rate, double power)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += q[i] * pow(1 - rate + rate * p[i] / q[i], power);
    return log(sum);
}

static double divergence(const double *p, const double *q, int n, double order)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += p[i] * pow(p[i] / q[i], order - 1);
    return log(sum) / (order - 1);
}

/* Pairs of distributions of which only the curve is known, in both directions. */
TEST(any_two_distributions)
{
    gsl_rng *rng = random_numbers();
    double closest = 0;
    for (int i = 0; i < 3000; i++) {
        double p[6], q[6], sum[2] = {0, 0}, curve[13] = {0}, bound, order = 2 + (int)gsl_rng_uniform_int(rng, 11);
        int n = 2 + (int)gsl_rng_uniform_int(rng, 5);
        double rate = pow(gsl_rng_uniform(rng), 3), spread = 4 * pow(gsl_rng_uniform(rng), 4);
        for (int k = 0; k < n; k++) {
            q[k] = pow(gsl_rng_uniform_pos(rng), 1 + 3 * (i % 2));
            p[k] = q[k] * exp(spread * (gsl_rng_uniform(rng) - 0.5));
            sum[0] += p[k], sum[1] += q[k];
        }
        for (int k = 0; k < n; k++)
            p[k] /= sum[0], q[k] /= sum[1];
        for (int l = 2; l <= (int)order; l++)
            curve[l] = fmax(divergence(p, q, n, l), divergence(q, p, n, l));
        dp_rdp_sampled(rate, curve, (int)order, &order, 1, &bound);
        for (int side = 0; side < 4; side++) {
            double power = side & 1 ? order : 1 - order;
            double cost = moment(side & 2 ? p : q, side & 2 ? q : p, n, rate, power) / (order - 1);
            if (!(cost <= bound * (1 + 1e-9) + 1e-15))
                fail_msg("pair %d, rate %g, order %g: costs %.12g of %.12g", i, rate, order, cost, bound);
            if (bound > 1e-9)
                closest = fmax(closest, cost / bound);
        }
    }
    assert_true(closest > 0.9);
}

TEST(product_pairs_by_integration)
{
    const double cases[][3] = {{0.1, 2, 1}, {0.01, 1, 1}, {0.3, 4, 0.2}, {0.001, 0.7, 3}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        double q = cases[k][0], z = cases[k][1], epsilon = cases[k][2], curve[LARGEST + 1] = {0};
        add_curves(z, epsilon, curve);
        for (double order = 1.25; order <= 8; order += 0.25) {
            double ours;
            dp_rdp_sampled_symmetric(q, curve, LARGEST, &order, 1, &ours);
            double remove = product_pair(q, z, epsilon, order) / (order - 1);
            double add = product_pair(q, z, epsilon, 1 - order) / (order - 1);
            bool integer = order == floor(order);
            if (!(ours >= remove * (1 - 1e-11) && ours >= add && (!integer || ours <= remove * (1 + 1e-9))))
                fail_msg("q=%g z=%g epsilon=%g order %g: %.17g, remove %.17g, add %.17g", q, z, epsilon, order, ours, remove,
                         add);
        }
    }
}

TEST(a_gaussian_is_the_sampled_gaussian)
{
    double curve[LARGEST + 1] = {0}, ours[N], theirs[N];
    add_curves(1.5, 0, curve);
    dp_rdp_sampled_symmetric(0.02, curve, LARGEST, dp_rdp_orders, N, ours);
    dp_rdp_sampled_gaussian(0.02, 1.5, dp_rdp_orders, N, theirs);
    for (int i = 0; i < N; i++) {
        if (dp_rdp_orders[i] > LARGEST)
            assert_true(isinf(ours[i]));
        else if (dp_rdp_orders[i] == floor(dp_rdp_orders[i]))
            assert_true(fabs(ours[i] / theirs[i] - 1) < 1e-11);
        else
            assert_true(ours[i] >= theirs[i] * (1 - 1e-11));
    }
}

static double epsilon_of(double laps, const double *r)
{
    double total[N];
    for (int i = 0; i < N; i++)
        total[i] = laps * r[i];
    return dp_rdp_epsilon(dp_rdp_orders, total, N, 1e-5, NULL);
}

/* A Gaussian and a 1-DP mechanism on one batch: the exact privacy loss distribution of the product pair has ε = 6.41 and 3.30;
   composing the amplified pairs as if their batches were independent gives only 5.41 and 2.27. */
TEST(same_batch_costs_more_than_two_batches)
{
    const double cases[][5] = {{0.1, 2, 100, 6.41, 5.41}, {0.01, 1, 1000, 3.30, 2.27}};
    for (int k = 0; k < 2; k++) {
        double q = cases[k][0], z = cases[k][1], laps = cases[k][2], truth = cases[k][3];
        double both[LARGEST + 1] = {0}, pure[LARGEST + 1] = {0};
        add_curves(z, 1, both);
        add_curves(0, 1, pure);
        double general[N], symmetric[N], split[N], gaussian[N];
        dp_rdp_sampled(q, both, LARGEST, dp_rdp_orders, N, general);
        dp_rdp_sampled_symmetric(q, both, LARGEST, dp_rdp_orders, N, symmetric);
        dp_rdp_sampled_symmetric(q, pure, LARGEST, dp_rdp_orders, N, split);
        dp_rdp_sampled_gaussian(q, z, dp_rdp_orders, N, gaussian);
        for (int i = 0; i < N; i++)
            split[i] += gaussian[i];
        double exact = epsilon_of(laps, symmetric), apart = epsilon_of(laps, split);
        assert_true(exact >= truth - 0.005 && exact <= 1.15 * truth);
        assert_true(epsilon_of(laps, general) >= exact && epsilon_of(laps, general) <= 1.4 * truth);
        assert_true(apart >= cases[k][4] - 0.005 && apart < truth);
    }
}

TEST(edges)
{
    const double curve[] = {NAN, NAN, 0.5, 0.75, 1}, orders[] = {2, 3, 4, 3.5, 4.5, 1.5};
    double r[6];
    dp_rdp_sampled(1, curve, 4, orders, 6, r);
    assert_near(r[0], 0.5, 1e-14);
    assert_near(r[2], 1, 1e-14);
    assert_near(r[3], (1.5 + 3) / 2 / 2.5, 1e-14); /* the chord of (α−1)r */
    assert_true(isinf(r[4]));
    assert_near(r[5], 0.5, 1e-14);
    dp_rdp_sampled(0, curve, 4, orders, 6, r);
    assert_true(r[0] == 0);
    dp_rdp_sampled(NAN, curve, 4, orders, 6, r);
    assert_true(isinf(r[0]));
    dp_rdp_sampled(1.5, curve, 4, orders, 6, r);
    assert_true(isinf(r[0]));
    const double unbounded[] = {0, 0, 1, INFINITY};
    dp_rdp_sampled(0.5, unbounded, 3, orders, 2, r);
    assert_true(r[0] <= 1 && isinf(r[1]));

    const double zs[] = {3, 4};
    assert_true(dp_gaussian_joint(zs, 2) <= 2.4 && dp_gaussian_joint(zs, 2) > 2.4 - 1e-14); /* 12/5 */
    const double bad[] = {3, 0};
    assert_true(dp_gaussian_joint(bad, 2) == 0 && isinf(dp_gaussian_joint(bad, 0)));
}

TEST(orders_of_thousands_of_queries)
{
    static double curve[8193];
    double r[N];
    for (int l = 2; l <= 8192; l++)
        curve[l] = 1e-3 * l;
    dp_rdp_sampled(0.01, curve, 8192, dp_rdp_orders, N, r);
    assert_true(r[N - 1] <= curve[8192] * (1 + 1e-12));
}

TESTS(NULL, NULL)
