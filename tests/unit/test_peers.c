/* The kinds of cases that other accountants' tests have: one release at every delta, above 1/2 too, and pure sums. None is
 * refused, none is below the truth, and none is above it by more than the stated error. The table is of
 * tests/vectors/make-peers.py. */
#include "unit.h"

#include "account/solve.h"

static double delta_of(const struct dp_charge *charge, size_t count, double epsilon)
{
    const struct dp_charges charges = {.count = count, .charge = (struct dp_charge *)charge};
    struct dp_answer answer;
    struct dp_err err = {0};
    assert_ok(dp_solve_delta(DP_ACCOUNTANT_BEST, &charges, epsilon, &answer, &err));
    return answer.upper;
}

/* z is relative to the bound of one row; where a row is exchanged, the sum moves by two of these. */
static struct dp_charge release(const char *kind, double z, double q)
{
    bool coins = strcmp(kind, "coins") == 0;
    struct dp_query query = {.kind = strcmp(kind, "laplace") == 0 ? DP_QUERY_LAPLACE : DP_QUERY_GAUSSIAN,
                             .multiplier = coins ? z / 2 : z};
    enum dp_sampling sampling = q == 1 ? DP_SAMPLING_NONE : coins ? DP_SAMPLING_COINS : DP_SAMPLING_POISSON;
    return (struct dp_charge){{.sampling = sampling, .rate = q, .queries = 1, .query = {query}}, 1};
}

LONG_TEST(deltas_of_one_release)
{
    FILE *file = fopen("tests/vectors/peers.tsv", "r");
    char kind[16];
    double z, q, epsilon, truth;
    int cases = 0, weak = 0;
    assert_non_null(file);
    while (fscanf(file, "%15s %lf %lf %lf %lf", kind, &z, &q, &epsilon, &truth) == 5) {
        struct dp_charge charge = release(kind, z, q);
        double delta = delta_of(&charge, 1, epsilon);
        double error = epsilon < 0.1 ? 5e-4 : 2e-5; /* next to 0, grids have losses a thousand times as large as epsilon */
        cases++;
        weak += truth > 0.5;
        if (delta < truth * (1 - 1e-9) || delta > truth * (1 + error) + 1e-12)
            fail_msg("%s z %g q %g epsilon %g: %.9g, and %.9g is true", kind, z, q, epsilon, delta, truth);
    }
    fclose(file);
    assert_int_equal(cases, 216);
    assert_true(weak > 20);
}

/* Pure epsilons add up, and then delta is 0. */
TEST(pure_sums_have_no_delta)
{
    struct dp_charge charge[2] = {
        {{.sampling = DP_SAMPLING_NONE, .rate = 1, .queries = 1, .query = {{.kind = DP_QUERY_PURE, .epsilon = 1}}}, 1},
        {{.sampling = DP_SAMPLING_NONE, .rate = 1, .queries = 1, .query = {{.kind = DP_QUERY_PURE, .epsilon = 2}}}, 1}};
    assert_true(delta_of(charge, 2, 3) == 0);
    assert_true(delta_of(charge, 2, 2.999) > 0);
    charge[0] = release("laplace", 1, 1);
    charge[0].laps = 3;
    charge[1] = release("laplace", 2, 1);
    charge[1].laps = 2;
    assert_true(delta_of(charge, 2, 4) == 0);
    assert_true(delta_of(charge, 2, 3.99) > 0);
    for (int i = 1; i <= 8; i *= 2) {
        charge[0] = release("laplace", i, 1);
        assert_true(delta_of(charge, 1, 1. / i) == 0);
    }
}

TESTS(NULL, NULL)
