/* Newton's method by products: functions whose minima are known, to the last digits, and what it says where it does not get
 * there. */
#include "unit.h"

#include <stdbool.h>
#include <string.h>

#include "math/newton.h"
#include "math/vec.h"

enum { SIZE = 30 };

/* Σ scale_j (cosh(w_j − j) − 1)/… : as far as cosh, whose slope is sinh. Scales span `spread` powers of ten. */
struct bowl {
    double scale[SIZE], at[SIZE];
    int calls;
    bool kinked; /* |w_j − j| beyond 1 is linear, with a little strong convexity */
};

static void slope(void *self, const double *w, double *g)
{
    struct bowl *b = self;
    b->calls++;
    for (int j = 0; j < SIZE; j++) {
        double x = w[j] - j;
        g[j] = b->scale[j] * (b->kinked ? fmax(-1, fmin(1, x)) + 0.01 * x : sinh(x));
    }
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
    return (struct dp_bowl){.size = SIZE, .slope = slope, .bend_at = bend_at, .bend = bend, .self = b};
}

static void it_gets_to_the_last_digits(void **state)
{
    (void)state;
    for (int kinked = 0; kinked < 2; kinked++)
        for (double spread = 0; spread < 6; spread += 2.5) {
            struct bowl b = {.kinked = kinked != 0};
            struct dp_bowl f = bowl_of(&b, spread);
            struct dp_minimum found = {0};
            struct dp_err err = {0};
            double w[SIZE], g[SIZE];
            for (int j = 0; j < SIZE; j++)
                w[j] = j + 2.0 * sin(j);
            assert_int_equal(dp_newton(&f, 1e-14, 100000, w, &found, &err), DP_OK);
            assert_int_equal(found.end, DP_MINIMUM_REACHED);
            assert_int_equal(found.evaluations, b.calls);
            slope(&b, w, g);
            assert_true(sqrt(dp_norm2(g, SIZE)) == found.norm && found.norm <= 1e-14);
            for (int j = 0; j < SIZE; j++)
                assert_near(w[j], j, 1e-14 / b.scale[j] * 2);
        }
}

static void it_says_where_it_did_not_get(void **state)
{
    (void)state;
    struct bowl b = {0};
    struct dp_bowl f = bowl_of(&b, 3);
    struct dp_minimum found = {0};
    struct dp_err err = {0};
    double w[SIZE] = {0};
    assert_int_equal(dp_newton(&f, 1e-12, 7, w, &found, &err), DP_OK);
    assert_true(found.end == DP_MINIMUM_MOST && found.norm > 1e-12 && b.calls <= 7);
    assert_int_equal(dp_newton(&f, 0, 100000, w, &found, &err), DP_OK);
    assert_true(found.end == DP_MINIMUM_REACHED ? found.norm == 0 : found.end == DP_MINIMUM_STUCK);
    w[3] = NAN;
    assert_int_equal(dp_newton(&f, 1, 100, w, &found, &err), DP_OK);
    assert_int_equal(found.end, DP_MINIMUM_INFINITE);
    /* it begins where it ends */
    memset(w, 0, sizeof w);
    assert_int_equal(dp_newton(&f, 1e300, 100, w, &found, &err), DP_OK);
    assert_true(found.end == DP_MINIMUM_REACHED && found.evaluations == 1 && w[5] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_gets_to_the_last_digits),
        cmocka_unit_test(it_says_where_it_did_not_get),
    };
    return cmocka_run_group_tests_name("newton", tests, NULL, NULL);
}
