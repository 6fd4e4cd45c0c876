/* The sensitivity of gradient descent: the check value of the literature, and descents that differ in one row. */
#include "unit.h"

#include <math.h>

#include "priv/output.h"

static void check_values(void **state)
{
    (void)state;
    double eta = 2 / (0.01 + 0.26);
    double ours = dp_descent_sensitivity(10000, 0.01, 0.26, 1, eta, 100, true);
    assert_true(ours > 0.01998 && ours < 0.02);
    /* what the paper of RRPSGD's authors has: 5 L (mu + beta) / (n mu beta) */
    double paper = 5 * (0.01 + 0.26) / (10000 * 0.01 * 0.26);
    assert_true(paper > 0.05191 && paper < 0.05193 && paper > 2.5 * ours);
    assert_near(dp_descent_sensitivity(10000, 0.01, 0.26, 1, eta, 100, false), ours / 2, 1e-15);
    /* without strong convexity it grows lap by lap */
    assert_near(dp_descent_sensitivity(100, 0, 1, 3, 0.5, 7, true), 2 * 0.5 * 3 / 100 * 7, 1e-11);
}

/* Quadratics of curvature between mu and beta, one row's gradient pulling as hard as it may: the distance comes close to the
   bound, and never passes it. */
static void descents_stay_within(void **state)
{
    (void)state;
    const double mu = 0.05, beta = 1, lipschitz = 2;
    for (int64_t laps = 1; laps <= 200; laps += 13) {
        for (int e = 1; e <= 8; e++) {
            double eta = 0.25 * e, most = 0;
            for (int c = 0; c <= 10; c++) { /* curvature */
                double curvature = mu + (beta - mu) * c / 10, a = 0.3, b = 0.3;
                for (int64_t t = 0; t < laps; t++) {
                    /* the direction that the differing row pulls in may change from lap to lap */
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

/* Gradients of the logistic loss in double and in long double, rows in one chain, all of them alike so that their errors are:
   apart by no more than the bound, and by so much that a hundredth of it would not do. */
static void gradients_round_within_their_bound(void **state)
{
    (void)state;
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

static void nonsense(void **state)
{
    (void)state;
    assert_true(isnan(dp_descent_sensitivity(0, 0.1, 1, 1, 1, 1, true)));
    assert_true(isnan(dp_descent_sensitivity(10, 2, 1, 1, 1, 1, true)));
    assert_true(isnan(dp_descent_sensitivity(10, 0.1, 1, 1, 2.1, 1, true)));
    assert_true(isnan(dp_descent_sensitivity(10, 0.1, 1, 1, 0, 1, true)));
    assert_true(isnan(dp_descent_sensitivity(10, 0.1, 1, NAN, 1, 1, true)));
    assert_true(isnan(dp_descent_sensitivity(10, 0.1, 1, 1, 1, 0, true)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_values),
        cmocka_unit_test(descents_stay_within),
        cmocka_unit_test(gradients_round_within_their_bound),
        cmocka_unit_test(nonsense),
    };
    return cmocka_run_group_tests_name("output", tests, NULL, NULL);
}
