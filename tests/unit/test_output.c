/* The sensitivity of gradient descent, over all rows and over a permutation of them: the check value of the literature,
   descents that differ in one row, and the bound on their rounding. */
#include "unit.h"

#include "priv/output.h"

TEST(check_values)
{
    double eta = 2 / (0.01 + 0.26);
    double ours = dp_descent_sensitivity(10000, 0.01, 0.26, 1, eta, 100, true);
    assert_true(ours > 0.01998 && ours < 0.02);
    /* the value in the paper on RRPSGD: 5 L (mu + beta) / (n mu beta) */
    double paper = 5 * (0.01 + 0.26) / (10000 * 0.01 * 0.26);
    assert_true(paper > 0.05191 && paper < 0.05193 && paper > 2.5 * ours);
    assert_near(dp_descent_sensitivity(10000, 0.01, 0.26, 1, eta, 100, false), ours / 2, 1e-15);
    /* without strong convexity it grows lap by lap */
    assert_near(dp_descent_sensitivity(100, 0, 1, 3, 0.5, 7, true), 2 * 0.5 * 3 / 100 * 7, 1e-11);
}

/* Quadratics of curvature between mu and beta, one row's gradient as large as possible: the distance comes close to the bound,
   and never exceeds it. */
TEST(descents_stay_within)
{
    const double mu = 0.05, beta = 1, lipschitz = 2;
    for (int64_t laps = 1; laps <= 200; laps += 13) {
        for (int e = 1; e <= 8; e++) {
            double eta = 0.25 * e, most = 0;
            for (int c = 0; c <= 10; c++) { /* curvature */
                double curvature = mu + (beta - mu) * c / 10, a = 0.3, b = 0.3;
                for (int64_t t = 0; t < laps; t++) {
                    /* the direction of the differing row's gradient may change from lap to lap */
                    double sign = (1 - eta * curvature) < 0 && t % 2 ? -1 : 1;
                    a -= eta * (curvature * a + sign * lipschitz / 50);
                    b -= eta * (curvature * b - sign * lipschitz / 50);
                }
                most = fmax(most, fabs(a - b));
            }
            double bound = dp_descent_sensitivity(50, mu, beta, lipschitz, eta, laps, true);
            assert_true(most <= bound * (1 + 1e-9));
            assert_true(most > 0.99 * bound);
        }
    }
}

/* Gradients of the logistic loss in double and in long double, in one chain of equal rows, so that their errors are equal, too:
   their distance is at most the bound, and more than a hundredth of it. */
TEST(gradients_round_within_their_bound)
{
    enum { ROWS = 300, COLS = 40 };
    static double x[ROWS][COLS];
    double most = 0;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++)
            x[i][j] = (0.9 + 0.1 * sin(j)) / sqrt(COLS);
    for (double size = 1e-3; size < 1e7; size *= 1.7) {
        const struct dp_descent d = {.mu = 1e-3, .beta = 0.251, .lipschitz = 1, .eta = 1};
        const struct dp_arithmetic a = {.cols = COLS, .chain = ROWS, .slope = 8 * 0x1p-53};
        double w[COLS], gradient[COLS] = {0}, norm = 0, apart = 0;
        long double exact[COLS] = {0};
        for (int j = 0; j < COLS; j++) {
            w[j] = size * (1 + 0.1 * cos(j)) / sqrt(COLS);
            norm += w[j] * w[j];
        }
        for (int i = 0; i < ROWS; i++) {
            double u = 0;
            long double v = 0;
            for (int j = 0; j < COLS; j++) {
                u += x[i][j] * w[j];
                v += (long double)x[i][j] * w[j];
            }
            double slope = -1 / (1 + exp(u));
            long double true_slope = -1 / (1 + expl(v));
            for (int j = 0; j < COLS; j++) {
                gradient[j] += slope * x[i][j];
                exact[j] += true_slope * x[i][j];
            }
        }
        for (int j = 0; j < COLS; j++) {
            double off = (double)(gradient[j] / ROWS + d.mu * w[j] - (exact[j] / ROWS + (long double)d.mu * w[j]));
            apart += off * off;
        }
        double bound = dp_gradient_rounding(&d, &a, sqrt(norm));
        assert_true(sqrt(apart) <= bound);
        most = fmax(most, sqrt(apart) / bound);
    }
    assert_true(most > 1e-2);
    assert_true(
        isinf(dp_gradient_rounding(&(struct dp_descent){1e-3, 1, 1, 1, false}, &(struct dp_arithmetic){.cols = 1e14}, 1)));
}

/* The distance of two descents whose person is at position m, from the recursion itself. */
static long double at_position(const struct dp_descent *d, int64_t rows, int64_t batch, int64_t passes, int64_t m)
{
    int64_t batches = rows / batch;
    long double distance = 0;
    for (int64_t t = 1; t <= passes * batches; t++) {
        long double eta = d->inverse ? fminl(d->eta, 1 / ((long double)d->mu * t)) : (long double)d->eta;
        distance *= fmaxl(fabsl(1 - eta * d->mu), fabsl(1 - eta * d->beta));
        if ((t - 1) % batches == m)
            distance += eta * d->lipschitz / (rows / batches);
    }
    return distance;
}

TEST(the_worst_position_is_found)
{
    for (int i = 0; i < 240; i++) {
        const struct dp_descent d = {.mu = i % 4 == 0 ? 0 : 0.1 * (i % 4),
                                     .beta = 1,
                                     .lipschitz = 0.7,
                                     .eta = 0.25 * (1 + i / 4 % 8),
                                     .inverse = i % 4 != 0 && i % 2 == 1};
        int64_t rows = 60 + i % 7, batch = 1 + i % 20, passes = 1 + i % 5;
        long double most = 0;
        for (int64_t m = 0; m < rows / batch; m++)
            most = fmaxl(most, at_position(&d, rows, batch, passes, m));
        double bound = dp_permutation_sensitivity(&d, rows, batch, passes, false);
        assert_true(bound >= (double)most);
        if (!d.inverse || d.eta <= 2 / (d.mu + d.beta))
            assert_near(bound, (double)most, 1e-10);
        assert_true(dp_permutation_sensitivity(&d, rows, batch, passes, true) == 2 * bound);
    }
    /* without strong convexity only the number of passes counts; the same holds for steps of 1/(mu t) */
    const struct dp_descent flat = {.beta = 1, .lipschitz = 3, .eta = 0.5},
                            inverse = {.mu = 0.1, .beta = 1, .lipschitz = 3, .eta = 1, .inverse = true};
    assert_near(dp_permutation_sensitivity(&flat, 100, 5, 7, false), 7 * 0.5 * 3 / 5, 1e-11);
    assert_near(dp_permutation_sensitivity(&inverse, 100, 5, 7, false), 3 / (0.1 * 100), 1e-11);
    /* one batch of all rows is a descent */
    assert_near(dp_permutation_sensitivity(&flat, 100, 100, 7, false), dp_descent_sensitivity(100, 0, 1, 3, 0.5, 7, false),
                1e-15);
    /* 100 rows make 11 batches of nine rows or ten */
    assert_near(dp_permutation_sensitivity(&flat, 100, 9, 1, false), 0.5 * 3 / 9, 1e-11);
    assert_near(dp_permutation_sensitivity(&flat, 100, 51, 1, false), 0.5 * 3 / 100, 1e-11);
}

/* If rho is near 1, a sum of a million of its powers must include the rounding error of 1 − rho. */
TEST(many_steps_are_not_rounded_down)
{
    for (int i = 1; i < 200; i++) {
        double mu = 1e-6 * i / 37, eta = 0.7;
        long double rho = 1 - (long double)eta * mu, sum = -expm1l(1e6L * log1pl(-(long double)eta * mu)) / (1 - rho);
        double bound = dp_descent_sensitivity(1000, mu, 1, 1, eta, 1000000, false), exact = (double)(sum * eta / 1000);
        assert_true(bound >= exact && bound <= exact * (1 + 1e-8));
    }
}

TEST(rounding_is_what_the_formula_says)
{
    const double u = 0x1p-53;
    const struct dp_descent d = {.mu = 0.01, .beta = 0.26, .lipschitz = 1, .eta = 2};
    const struct dp_arithmetic a = {.cols = 40, .chain = 700, .slope = 8 * u, .start = 3};
    /* w is 3 + 1/mu after many steps, and 3 + 2 · 5 after five; each is 1 % larger */
    double w = 1.01 * 13, error = 1.02 * u * (2 * (0.25 * 40 * w + 8 + 700 + 5 + 0.04 * w) + 2 * w), sum = 0;
    for (int t = 0; t < 5; t++)
        sum = 0.98 * sum + 1;
    assert_near(dp_descent_rounding(&d, 5, &a) / (2 * (sum * error + 2 * u * w)), 1, 1e-9);
    w = 1.01 * 103, error = 1.02 * u * (2 * (0.25 * 40 * w + 713 + 0.04 * w) + 2 * w);
    assert_near(dp_descent_rounding(&d, 1000000, &a) / (2 * (50 * error + 2 * u * w)), 1, 1e-9);
    const struct dp_descent inverse = {.mu = 0.01, .beta = 0.26, .lipschitz = 1, .eta = 2, .inverse = true};
    assert_near(dp_descent_rounding(&inverse, 100000, &a) / (2 * (100000 * error + 2 * u * w)), 1, 1e-9);
    /* beyond that the terms of higher order are not small */
    assert_true(isinf(dp_descent_rounding(&d, 100000000000, &a)));
    assert_true(isnan(dp_descent_rounding(&d, 0, &a)));
}

/* A descent on one column, where no row has an effect and each step is w ← w − eta (s x + mu w) with s from a rounded score, in
   double and in long double. From a distant start the two results differ by a good part of the bound, and never by more than
   the bound. */
TEST(descents_round_within_their_bound)
{
    double closest = 0;
    for (int i = 0; i < 2000; i++) {
        const struct dp_descent d = {
            .mu = i % 2 ? 0.01 : 0, .beta = 1 + (i % 2 ? 0.01 : 0), .lipschitz = 1, .eta = 0.1 + 0.0009 * i};
        double start = pow(10, i % 9) * (1 + 0.37 * i), w = start, x = 1 / 1.01 + 1e-5 * i / 2000.0;
        long double exact = start;
        for (int t = 1; t <= 20; t++) { /* Huber of width 1, and labels near the score */
            double y = x * w + 0.7 * sin(i + t), slope = fmin(fmax(x * w - y, -1), 1);
            w -= d.eta * (slope * x / 1 + d.mu * w);
            long double is = fminl(fmaxl((long double)x * exact - y, -1), 1);
            exact -= (long double)d.eta * (is * x + (long double)d.mu * exact);
            const struct dp_arithmetic a = {.cols = 1, .chain = 1, .slope = 0x1p-51, .start = start};
            double bound = dp_descent_rounding(&d, t, &a) / 2, off = (double)fabsl(w - exact);
            assert_true(off <= bound);
            closest = fmax(closest, off / bound);
        }
    }
    assert_true(closest > 0.05);
}

TEST(nonsense)
{
    const struct dp_descent good = {.mu = 0.1, .beta = 1, .lipschitz = 1, .eta = 1},
                            far = {.mu = 0.1, .beta = 1, .lipschitz = 1, .eta = 2.1},
                            none = {.beta = 1, .lipschitz = 1, .eta = 1, .inverse = true};
    assert_true(isnan(dp_permutation_sensitivity(&good, 10, 11, 1, false)) &&
                isnan(dp_permutation_sensitivity(&good, 10, 0, 1, false)));
    assert_true(isnan(dp_permutation_sensitivity(&good, 10, 5, 0, false)) &&
                isnan(dp_permutation_sensitivity(&far, 10, 5, 1, false)));
    assert_true(isnan(dp_permutation_sensitivity(&none, 10, 5, 1, false)));
    assert_true(isnan(dp_descent_sensitivity(0, 0.1, 1, 1, 1, 1, true)));
    assert_true(isnan(dp_descent_sensitivity(10, 2, 1, 1, 1, 1, true)));
    assert_true(isnan(dp_descent_sensitivity(10, 0.1, 1, 1, 2.1, 1, true)));
    assert_true(isnan(dp_descent_sensitivity(10, 0.1, 1, 1, 0, 1, true)));
    assert_true(isnan(dp_descent_sensitivity(10, 0.1, 1, NAN, 1, 1, true)));
    assert_true(isnan(dp_descent_sensitivity(10, 0.1, 1, 1, 1, 0, true)));
}

TESTS(NULL, NULL)
