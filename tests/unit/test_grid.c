/* The clip bound holds for the whole numbers of any row; sums are exact; the noise has its distribution. */
#include "random.h"
#include "drawn.h"
#include "unit.h"

#include <gsl/gsl_cdf.h>

#include "math/grid.h"

TEST(grid_is_a_power_of_two)
{
    const double bounds[] = {1e-6, 0.01, 0.02, 0.1, 0.5, 1, 3, 1e5};
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        int exponent;
        double grid = dp_grid_for(bounds[i]);
        assert_true(frexp(grid, &exponent) == 0.5);
        assert_true(grid <= bounds[i] * 0x1p-20 && 2 * grid > bounds[i] * 0x1p-20);
    }
}

/* Σ k² ≤ (C/grid)² in exact arithmetic (__int128), for adversarial rows. */
static void check_bound(const double *zeta, size_t classes, double bound, const float *x, size_t cols)
{
    float coefficient[16];
    int64_t *sum = calloc(classes * cols, sizeof *sum);
    struct dp_row row = dp_row_dense(x, cols);
    double grid = dp_grid_for(bound), units = bound / grid;
    dp_grid_clip(zeta, classes, bound, dp_row_norm2(row), cols, coefficient);
    for (size_t k = 0; k < classes; k++)
        if (coefficient[k] != 0)
            dp_row_add_grid(coefficient[k], 1 / grid, row, sum + k * cols);
    __int128 total = 0;
    for (size_t i = 0; i < classes * cols; i++)
        total += (__int128)sum[i] * sum[i];
    assert_true((long double)total <= (long double)units * units);
    free(sum);
}

TEST(bound_holds_on_the_grid)
{
    gsl_rng *rng = random_numbers();
    for (int round = 0; round < 4000; round++) {
        size_t cols = 1 + gsl_rng_uniform_int(rng, 200), classes = 1 + gsl_rng_uniform_int(rng, 10);
        float *x = calloc(cols, sizeof *x);
        double zeta[16], bound = exp(6 * gsl_rng_uniform(rng) - 5), norm2 = 0;
        int kind = round % 6;
        for (size_t j = 0; j < cols; j++) {
            x[j] = (float)(2 * gsl_rng_uniform(rng) - 1);
            if (kind == 1)
                x[j] = 1; /* all equal: every product rounds alike */
            norm2 += (double)x[j] * (double)x[j];
        }
        for (size_t j = 0; j < cols && kind != 2; j++)  /* kind 2 stays far above norm 1 */
            x[j] = (float)((double)x[j] / sqrt(norm2)); /* norms just above 1: rounding goes up as often as down */
        if (kind == 3)
            x[0] = 3e38f;
        for (size_t k = 0; k < classes; k++)
            zeta[k] = (2 * gsl_rng_uniform(rng) - 1) * (kind == 4 ? 1e300 : kind == 5 ? 1.79e308 : 10);
        if (kind == 5) { /* limit / norm is a denormal number */
            for (size_t j = 0; j < cols; j++)
                x[j] = ldexpf(x[j], (int)gsl_rng_uniform_int(rng, 2) * 44);
            bound *= pow(2, -(double)gsl_rng_uniform_int(rng, 60));
        }
        check_bound(zeta, classes, bound, x, cols);
        free(x);
    }
}

/* This also holds if norms and entries differ so much that a row is negligible against the next. */
TEST(several_rows_are_clipped_as_each)
{
    static const double odd[] = {0, -0.0, 1e-320, 1e308, (double)NAN, (double)INFINITY, -(double)INFINITY};
    const size_t kinds = sizeof odd / sizeof *odd;
    gsl_rng *rng = random_numbers();
    for (int round = 0; round < 20000; round++) {
        size_t rows = gsl_rng_uniform_int(rng, DP_GRID_ROWS + 1), classes = 1 + gsl_rng_uniform_int(rng, 3);
        double zeta[3 * DP_GRID_ROWS], norm2[DP_GRID_ROWS], bound = exp(6 * gsl_rng_uniform(rng) - 5);
        float out[3 * DP_GRID_ROWS], alone[3];
        size_t entries[DP_GRID_ROWS];
        for (size_t i = 0; i < rows; i++) {
            norm2[i] = gsl_rng_uniform_int(rng, 8) == 0 ? fabs(odd[gsl_rng_uniform_int(rng, kinds)])
                                                        : exp(8 * gsl_rng_uniform(rng) - 4);
            entries[i] = gsl_rng_uniform_int(rng, 2) == 0 ? 90 : (size_t)1 << gsl_rng_uniform_int(rng, 40);
            for (size_t k = 0; k < classes; k++)
                zeta[i * classes + k] = gsl_rng_uniform_int(rng, 8) == 0 ? odd[gsl_rng_uniform_int(rng, kinds)]
                                                                         : (2 * gsl_rng_uniform(rng) - 1) * bound;
        }
        dp_grid_clip_rows(zeta, classes, bound, norm2, entries, rows, out);
        for (size_t i = 0; i < rows; i++) {
            dp_grid_clip(zeta + i * classes, classes, bound, norm2[i], entries[i], alone);
            assert_memory_equal(out + i * classes, alone, classes * sizeof *alone);
            for (size_t k = 0; k < classes; k++)
                assert_true(isfinite(out[i * classes + k]) && (isfinite(norm2[i]) || out[i * classes + k] == 0));
        }
    }
}

TEST(small_updates_are_left_alone)
{
    double zeta[2] = {0.25, -0.5};
    float out[2];
    dp_grid_clip(zeta, 2, 1.0, 1.0, 4, out);
    assert_true(out[0] == 0.25f && out[1] == -0.5f);
    double large[2] = {30, -40};
    dp_grid_clip(large, 2, 1.0, 0.5, 4, out);
    assert_near((double)out[0], 0.6, 1e-6);
    assert_near((double)out[1], -0.8, 1e-6);
    dp_grid_clip(large, 2, 1.0, 4.0, 4, out); /* a row of norm 2: half the bound */
    assert_near((double)out[0], 0.3, 1e-6);
}

TEST(what_is_not_finite_counts_nothing)
{
    const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    for (int i = 0; i < 3; i++) {
        double zeta[2] = {bad[i], 1};
        float out[2] = {9, 9};
        dp_grid_clip(zeta, 2, 1.0, 1.0, 3, out);
        assert_true(out[0] == 0 && out[1] == 0);
        double fine[2] = {1, 1};
        dp_grid_clip(fine, 2, 1.0, bad[i], 3, out);
        assert_true(out[0] == 0 && out[1] == 0);
    }
}

/* The sum does not depend on the order of the rows. */
TEST(sums_are_exact)
{
    enum { ROWS = 300, COLS = 37 };
    static float x[ROWS][COLS];
    int64_t up[COLS] = {0}, down[COLS] = {0};
    gsl_rng *rng = random_numbers();
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++)
            x[i][j] = (float)(gsl_rng_uniform(rng) - 0.5);
    for (int i = 0; i < ROWS; i++)
        dp_row_add_grid(0.37f, 0x1p20, dp_row_dense(x[i], COLS), up);
    for (int i = ROWS - 1; i >= 0; i--)
        dp_row_add_grid(0.37f, 0x1p20, dp_row_dense(x[i], COLS), down);
    assert_memory_equal(up, down, sizeof up);
    int64_t one = 0;
    for (int i = 0; i < ROWS; i++)
        one += (int64_t)((double)0.37f * (double)x[i][5] * 0x1p20); /* truncation toward zero, row by row */
    assert_int_equal(one, up[5]);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Kolmogorov–Smirnov on n draws of the noise with scale s against N(0, claimed²); returns sqrt(n) D. */
static double kolmogorov(double scale, double claimed, size_t n)
{
    const struct dp_key key = key_of(20, "test");
    int64_t *sum = calloc(n, sizeof *sum);
    double *draw = calloc(n, sizeof *draw), distance = 0;
    assert_int_equal(dp_grid_add_gaussian(&key, DP_DRAW_NOISE, 1, 0, scale, sum, n), 0);
    for (size_t i = 0; i < n; i++)
        draw[i] = (double)sum[i];
    qsort(draw, n, sizeof *draw, compare);
    for (size_t i = 0; i < n; i++) {
        double f = gsl_cdf_gaussian_P(draw[i], claimed);
        distance = fmax(distance, fmax(fabs(f - (double)i / (double)n), fabs((double)(i + 1) / (double)n - f)));
    }
    free(sum);
    free(draw);
    return sqrt((double)n) * distance;
}

/* Fixed seed; the false-alarm rate over seeds is 1e-6 (sqrt(n) D > 2.69). The mutant has sigma 2 % too small. */
TEST(noise_is_gaussian)
{
    enum { DRAWS = 400000 };
    assert_true(kolmogorov(1e6, 1e6, DRAWS) < 2.69);
    assert_true(kolmogorov(0.98e6, 1e6, DRAWS) > 2.69);
    assert_true(kolmogorov(1e6, 1.02e6, DRAWS) > 2.69);
}

TEST(noise_is_addressed)
{
    int64_t whole[1000] = {0}, parts[1000] = {0}, other[1000] = {0};
    const struct dp_key key = key_of(3, "test");
    assert_int_equal(dp_grid_add_gaussian(&key, DP_DRAW_NOISE, 9, 0, 1e6, whole, 1000), 0);
    const size_t cuts[] = {0, 1, 8, 13, 512, 700, 1000};
    for (size_t i = 0; i + 1 < sizeof cuts / sizeof cuts[0]; i++)
        dp_grid_add_gaussian(&key, DP_DRAW_NOISE, 9, cuts[i], 1e6, parts + cuts[i], cuts[i + 1] - cuts[i]);
    assert_memory_equal(whole, parts, sizeof whole);
    dp_grid_add_gaussian(&key, DP_DRAW_NOISE, 10, 0, 1e6, other, 1000);
    int same = 0;
    for (int i = 0; i < 1000; i++)
        same += whole[i] == other[i];
    assert_true(same < 10);
}

TEST(overflow_is_seen)
{
    int64_t sum[8];
    const struct dp_key key = key_of(3, "test");
    memset(sum, 0, sizeof sum);
    assert_int_not_equal(dp_grid_add_gaussian(&key, DP_DRAW_NOISE, 1, 0, 1e30, sum, 8), 0);
    assert_int_not_equal(dp_grid_add_gaussian(&key, DP_DRAW_NOISE, 1, 0, 0x1.1p48, sum, 8), 0);
    assert_int_not_equal(dp_grid_add_gaussian(&key, DP_DRAW_NOISE, 1, 0, (double)NAN, sum, 8), 0);
    for (int i = 0; i < 8; i++)
        sum[i] = i % 2 ? INT64_MAX : INT64_MIN;
    assert_int_not_equal(dp_grid_add_gaussian(&key, DP_DRAW_NOISE, 1, 0, 1e6, sum, 8), 0);
}

/* At the largest noise the low bits are as random as the others: 7 bits of 4096 draws, chi-square, false alarms 1e-6. */
TEST(low_bits_are_noise)
{
    enum { DRAWS = 4096 };
    static int64_t sum[DRAWS];
    double chi = 0, count[128] = {0};
    const struct dp_key key = key_of(5, "test");
    memset(sum, 0, sizeof sum);
    assert_int_equal(dp_grid_add_gaussian(&key, DP_DRAW_NOISE, 1, 0, DP_GRID_MOST_NOISE, sum, DRAWS), 0);
    for (int i = 0; i < DRAWS; i++)
        count[sum[i] & 127]++;
    for (int i = 0; i < 128; i++)
        chi += (count[i] - DRAWS / 128.0) * (count[i] - DRAWS / 128.0) / (DRAWS / 128.0);
    assert_true(gsl_cdf_chisq_Q(chi, 127) > 1e-6);
}

TESTS(NULL, NULL)
