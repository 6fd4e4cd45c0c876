/* The minimiser against tests/vectors/minimisers.tsv (made by make-minimisers.py), and how it ends where there is no minimum.
 */
#include "unit.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "math/loss.h"
#include "math/minimise.h"
#include "math/vec.h"

enum { N = 40, D = 5 };

struct problem {
    enum dp_loss loss;
    double lambda;
    int calls;
};

static double label(enum dp_loss loss, int i)
{
    return loss != DP_LOSS_LOGISTIC ? i % 4 : cos(3.0 * i) + 0.5 * cos(i + 1.0) > 0 ? 1 : -1;
}

static double problem_at(void *self, const double *w, double *g)
{
    struct problem *p = self;
    double value = p->lambda / 2 * dp_norm2(w, D);
    p->calls++;
    for (int j = 0; j < D; j++)
        g[j] = p->lambda * w[j];
    for (int i = 0; i < N; i++) {
        double x[D], u = 0, y = label(p->loss, i);
        for (int j = 0; j < D; j++) {
            x[j] = cos((i + 1.0) * (j + 1)) / (p->loss == DP_LOSS_SQUARED ? pow(10, j) : 1);
            u += x[j] * w[j];
        }
        value += dp_loss_value(p->loss, 1, y, u) / N;
        for (int j = 0; j < D; j++)
            g[j] += dp_loss_slope(p->loss, 1, y, u) * x[j] / N;
    }
    return value;
}

/* What the norm of the gradient promises: F − min F ≤ norm²/(2 lambda) and ‖w − minimiser‖ ≤ norm/lambda. */
static void check(const struct problem *p, const struct dp_minimum *found, double tolerance, const double *w, double value,
                  const double *expected)
{
    double far = 0;
    for (int j = 0; j < D; j++)
        far += (w[j] - expected[j]) * (w[j] - expected[j]);
    assert_int_equal(found->end, DP_MINIMUM_REACHED);
    assert_true(found->norm <= tolerance);
    assert_int_equal(found->evaluations, p->calls);
    assert_true(found->value - value <= found->norm * found->norm / (2 * p->lambda) + 4 * DBL_EPSILON);
    assert_true(found->value >= value - 4 * DBL_EPSILON);
    assert_true(sqrt(far) <= found->norm / p->lambda);
}

static void minimisers_are_those_of_newton(void **state)
{
    (void)state;
    FILE *file = fopen("tests/vectors/minimisers.tsv", "r");
    struct problem p = {0};
    char name[40];
    double value, expected[D], g[D];
    int lines = 0;
    assert_non_null(file);
    for (; fscanf(file, "%39s %lf %lf %lf %lf %lf %lf %lf", name, &p.lambda, &value, &expected[0], &expected[1], &expected[2],
                  &expected[3], &expected[4]) == 8;
         lines++) {
        assert_int_equal(dp_loss_parse(name, &p.loss), 0);
        const double tolerances[] = {1e-2, 1e-5, 3e-8};
        for (int t = 0; t < 3; t++) {
            struct dp_smooth f = {D, problem_at, &p};
            struct dp_minimum found;
            double w[D] = {0.5, -1, 2, 0, 3};
            p.calls = 0;
            assert_int_equal(dp_minimise(&f, tolerances[t], 10000, w, &found, NULL), DP_OK);
            check(&p, &found, tolerances[t], w, value, expected);
            assert_true(problem_at(&p, w, g) == found.value && sqrt(dp_norm2(g, D)) == found.norm);
        }
    }
    assert_int_equal(lines, 4);
    fclose(file);
}

static void says_how_it_ended(void **state)
{
    (void)state;
    struct problem p = {DP_LOSS_LOGISTIC, 1e-5, 0};
    struct dp_smooth f = {D, problem_at, &p};
    struct dp_minimum found;
    double w[D] = {0}, g[D];
    assert_int_equal(dp_minimise(&f, 1e-7, 4, w, &found, NULL), DP_OK);
    assert_int_equal(found.end, DP_MINIMUM_MOST);
    assert_int_equal(found.evaluations, 4);
    assert_true(problem_at(&p, w, g) == found.value && sqrt(dp_norm2(g, D)) == found.norm && found.norm > 1e-7);
    /* It stands still where values say no more, in reasonable time. */
    assert_int_equal(dp_minimise(&f, 1e-30, 1000000, w, &found, NULL), DP_OK);
    assert_int_equal(found.end, DP_MINIMUM_STUCK);
    assert_true(found.norm < 1e-7 && found.evaluations < 2000);
    /* Begins where it is least: no step is needed. */
    p.calls = 0;
    assert_int_equal(dp_minimise(&f, 1e-7, 1, w, &found, NULL), DP_OK);
    assert_int_equal(found.end, DP_MINIMUM_REACHED);
    assert_int_equal(p.calls, 1);
    w[2] = (double)NAN;
    assert_int_equal(dp_minimise(&f, 1e-7, 100, w, &found, NULL), DP_OK);
    assert_int_equal(found.end, DP_MINIMUM_INFINITE);
}

/* e^{50 u} overflows at a first step that is too long, and the search comes back from it. */
static double steep_at(void *self, const double *w, double *g)
{
    (void)self;
    g[0] = 50 * exp(50 * w[0]) - 1e6;
    return exp(50 * w[0]) - 1e6 * w[0];
}

static void comes_back_from_where_it_is_infinite(void **state)
{
    (void)state;
    struct dp_smooth f = {1, steep_at, NULL};
    struct dp_minimum found;
    for (double start = -5; start < 2; start += 0.75) {
        double w[1] = {start};
        assert_int_equal(dp_minimise(&f, 1, 10000, w, &found, NULL), DP_OK);
        assert_int_equal(found.end, DP_MINIMUM_REACHED);
        assert_near(w[0], log(2e4) / 50, 1e-8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(minimisers_are_those_of_newton),
        cmocka_unit_test(says_how_it_ended),
        cmocka_unit_test(comes_back_from_where_it_is_infinite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
