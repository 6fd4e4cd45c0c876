/* Newton's method by products: functions with known minima, to the last digits, from tests/vectors/minimisers.tsv (made by
 * make-minimisers.py), and its result if it does not converge. */
#include "unit.h"

#include <float.h>

#include "math/loss.h"
#include "math/newton.h"
#include "math/vec.h"

enum { SIZE = 30 };

/* Σ scale_j (cosh(w_j − j) − 1). Scales span `spread` powers of ten. */
struct bowl {
    double scale[SIZE], at[SIZE];
    int calls;
    bool kinked; /* |w_j − j| beyond 1 is linear, with a little strong convexity */
};

static double at(void *self, const double *w, double *g)
{
    struct bowl *b = self;
    double value = 0;
    b->calls++;
    for (int j = 0; j < SIZE; j++) {
        double x = w[j] - j, far = fabs(x);
        value += b->scale[j] * (b->kinked ? (far < 1 ? x * x / 2 : far - 0.5) + 0.005 * x * x : cosh(x) - 1);
        g[j] = b->scale[j] * (b->kinked ? fmax(-1, fmin(1, x)) + 0.01 * x : sinh(x));
    }
    return value;
}

static void bend_at(void *self, const double *w)
{
    struct bowl *b = self;
    b->calls++;
    memcpy(b->at, w, sizeof b->at);
}

static void bend(void *self, const double *v, double *product)
{
    struct bowl *b = self;
    b->calls++;
    for (int j = 0; j < SIZE; j++) {
        double x = b->at[j] - j;
        product[j] = b->scale[j] * (b->kinked ? (fabs(x) < 1) + 0.01 : cosh(x)) * v[j];
    }
}

static struct dp_bowl bowl_of(struct bowl *b, double spread)
{
    for (int j = 0; j < SIZE; j++)
        b->scale[j] = pow(10, -spread * j / SIZE);
    return (struct dp_bowl){.size = SIZE, .at = at, .bend_at = bend_at, .bend = bend, .self = b};
}

TEST(it_gets_to_the_last_digits)
{
    for (int kinked = 0; kinked < 2; kinked++)
        for (double spread = 0; spread < 6; spread += 2.5) {
            struct bowl b = {.kinked = kinked != 0};
            struct dp_bowl f = bowl_of(&b, spread);
            struct dp_minimum found = {0};
            double w[SIZE], g[SIZE];
            for (int j = 0; j < SIZE; j++)
                w[j] = j + 2.0 * sin(j);
            dp_newton(&f, 1e-14, 100000, w, &found);
            assert_int_equal(found.end, DP_MINIMUM_REACHED);
            assert_int_equal(found.evaluations, b.calls);
            assert_true(at(&b, w, g) == found.value && sqrt(dp_norm2(g, SIZE)) == found.norm && found.norm <= 1e-14);
            for (int j = 0; j < SIZE; j++)
                assert_near(w[j], j, 1e-14 / b.scale[j] * 2);
        }
}

TEST(it_says_where_it_did_not_get)
{
    struct bowl b = {0};
    struct dp_bowl f = bowl_of(&b, 3);
    struct dp_minimum found = {0};
    double w[SIZE] = {0};
    dp_newton(&f, 1e-12, 7, w, &found);
    assert_true(found.end == DP_MINIMUM_MOST && found.norm > 1e-12 && b.calls <= 7);
    dp_newton(&f, 0, 100000, w, &found);
    assert_true(found.end == DP_MINIMUM_REACHED ? found.norm == 0 : found.end == DP_MINIMUM_STUCK);
    w[3] = NAN;
    dp_newton(&f, 1, 100, w, &found);
    assert_int_equal(found.end, DP_MINIMUM_INFINITE);
    /* it begins where it ends */
    memset(w, 0, sizeof w);
    dp_newton(&f, 1e300, 100, w, &found);
    assert_true(found.end == DP_MINIMUM_REACHED && found.evaluations == 1 && w[5] == 0);
}

enum { N = 40, D = 5 };

struct problem {
    enum dp_loss loss;
    double lambda;
    int calls;
    double w[D]; /* where the second derivative is taken */
};

static double label(enum dp_loss loss, int i)
{
    return loss != DP_LOSS_LOGISTIC ? i % 4 : cos(3.0 * i) + 0.5 * cos(i + 1.0) > 0 ? 1 : -1;
}

/* The row's columns; returns its score. */
static double row_of(const struct problem *p, int i, const double *w, double x[D])
{
    double u = 0;
    for (int j = 0; j < D; j++) {
        x[j] = cos((i + 1.0) * (j + 1)) / (p->loss == DP_LOSS_SQUARED ? pow(10, j) : 1);
        u += x[j] * w[j];
    }
    return u;
}

static double problem_at(void *self, const double *w, double *g)
{
    struct problem *p = self;
    double value = p->lambda / 2 * dp_norm2(w, D), x[D];
    p->calls++;
    for (int j = 0; j < D; j++)
        g[j] = p->lambda * w[j];
    for (int i = 0; i < N; i++) {
        double u = row_of(p, i, w, x), y = label(p->loss, i);
        value += dp_loss_value(p->loss, 1, y, u) / N;
        for (int j = 0; j < D; j++)
            g[j] += dp_loss_slope(p->loss, 1, y, u) * x[j] / N;
    }
    return value;
}

static void problem_bend_at(void *self, const double *w)
{
    struct problem *p = self;
    p->calls++;
    memcpy(p->w, w, sizeof p->w);
}

static void problem_bend(void *self, const double *v, double *product)
{
    struct problem *p = self;
    double x[D];
    p->calls++;
    for (int j = 0; j < D; j++)
        product[j] = p->lambda * v[j];
    for (int i = 0; i < N; i++) {
        double q = row_of(p, i, v, x), part = dp_loss_curvature(p->loss, 1, label(p->loss, i), row_of(p, i, p->w, x)) * q / N;
        for (int j = 0; j < D; j++)
            product[j] += part * x[j];
    }
}

static struct dp_bowl problem_of(struct problem *p)
{
    return (struct dp_bowl){D, problem_at, problem_bend_at, problem_bend, p};
}

/* Checks the bounds from the norm of the gradient: F − min F ≤ norm²/(2 lambda) and ‖w − minimiser‖ ≤ norm/lambda. */
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

TEST(minimisers_are_those_of_numpy)
{
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
            struct dp_bowl f = problem_of(&p);
            struct dp_minimum found;
            double w[D] = {0.5, -1, 2, 0, 3};
            p.calls = 0;
            dp_newton(&f, tolerances[t], 10000, w, &found);
            check(&p, &found, tolerances[t], w, value, expected);
            assert_true(problem_at(&p, w, g) == found.value && sqrt(dp_norm2(g, D)) == found.norm);
        }
    }
    assert_int_equal(lines, 4);
    fclose(file);
}

TEST(says_how_it_ended)
{
    struct problem p = {.loss = DP_LOSS_LOGISTIC, .lambda = 1e-5};
    struct dp_bowl f = problem_of(&p);
    struct dp_minimum found;
    double w[D] = {0}, g[D];
    dp_newton(&f, 1e-7, 4, w, &found);
    assert_int_equal(found.end, DP_MINIMUM_MOST);
    assert_int_equal(found.evaluations, 4);
    assert_true(problem_at(&p, w, g) == found.value && sqrt(dp_norm2(g, D)) == found.norm && found.norm > 1e-7);
    /* The search stops, in reasonable time, where values do not differ any more. */
    dp_newton(&f, 1e-30, 1000000, w, &found);
    assert_int_equal(found.end, DP_MINIMUM_STUCK);
    assert_true(found.norm < 1e-7 && found.evaluations < 2000);
    /* The search starts at the minimum: no step is needed. */
    p.calls = 0;
    dp_newton(&f, 1e-7, 1, w, &found);
    assert_int_equal(found.end, DP_MINIMUM_REACHED);
    assert_int_equal(p.calls, 1);
    w[2] = (double)NAN;
    dp_newton(&f, 1e-7, 100, w, &found);
    assert_int_equal(found.end, DP_MINIMUM_INFINITE);
}

/* e^{50 u} overflows at a first step that is too long; the search recovers. */
static double steep_at(void *self, const double *w, double *g)
{
    (void)self;
    g[0] = 50 * exp(50 * w[0]) - 1e6;
    return exp(50 * w[0]) - 1e6 * w[0];
}

static void steep_bend_at(void *self, const double *w)
{
    *(double *)self = w[0];
}

static void steep_bend(void *self, const double *v, double *product)
{
    product[0] = 2500 * exp(50 * *(const double *)self) * v[0];
}

TEST(comes_back_from_where_it_is_infinite)
{
    double place;
    struct dp_bowl f = {1, steep_at, steep_bend_at, steep_bend, &place};
    struct dp_minimum found;
    for (double start = -5; start < 2; start += 0.75) {
        double w[1] = {start};
        dp_newton(&f, 0.1, 10000, w, &found);
        assert_int_equal(found.end, DP_MINIMUM_REACHED);
        assert_near(w[0], log(2e4) / 50, 1e-8);
    }
}

TESTS(NULL, NULL)
