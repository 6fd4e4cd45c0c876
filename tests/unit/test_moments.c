/* Sums of second moments: each whole number that a row adds is the product of two truncated numbers, and together they are
   within the bound, exactly; dense and sparse rows add the same, in any order and in blocks of any numbers. */
#include "drawn.h"
#include "unit.h"

#include "audit/bound.h"
#include "math/grid.h"
#include "math/moments.h"

enum { COLS = 150, SIZE = COLS * (COLS + 1) / 2 };

static struct dp_stream stream;
static int64_t sum[SIZE], zero[SIZE];

static int start(void **state)
{
    (void)state;
    stream = stream_of(1, "moments");
    return 0;
}

static double uniform(void)
{
    return uniform_of(&stream);
}

/* The sum that one row makes. */
static void add_one(struct dp_row row, size_t cols, const float *tail, size_t tails, double bound)
{
    struct dp_moments m;
    dp_moments_open(&m, cols, bound);
    memset(sum, 0, sizeof sum);
    dp_moments_add(&m, row, tail, tails, sum);
    dp_moments_flush(&m, sum);
    dp_moments_close(&m);
}

static bool within(size_t cols, double bound)
{
    return !dp_audit_exceeds(dp_audit_distance2(sum, zero, dp_moments_size(cols)), bound, dp_moments_grid(bound));
}

/* For two numbers, in units of h = 2^-14: q is x truncated, r is the root of 2 x² truncated, so |r| ≤ √2 |x| to the last
 * digit. */
LONG_TEST(whole_numbers_are_truncated)
{
    for (int i = 0; i < 300000; i++) {
        float x[2] = {(float)(uniform() - 0.5), (float)(uniform() - 0.5)};
        add_one(dp_row_dense(x, 2), 2, NULL, 0, 1);
        int64_t q[2] = {(int64_t)((double)x[0] * 0x1p14), (int64_t)((double)x[1] * 0x1p14)};
        assert_int_equal(sum[0], q[0] * q[0]);
        assert_int_equal(sum[2], q[1] * q[1]);
        if (q[1] == 0)
            continue;
        assert_int_equal(sum[1] % q[1], 0);
        int64_t r = sum[1] / q[1];
        quad square = 2 * (quad)x[0] * (quad)x[0] * 0x1p28;
        assert_true((quad)(r * r) <= square && (double)r * (double)x[0] >= 0);
        assert_true(fabs((double)r) > M_SQRT2 * 0x1p14 * fabs((double)x[0]) * (1 - 0x1p-25) - 1);
    }
}

/* h is a power of two from √(bound / 2) 2^-14 to twice that. */
TEST(the_grid_follows_the_bound)
{
    assert_true(dp_moments_grid(1) == 0x1p-28 && dp_moments_grid(2) == 0x1p-28 && dp_moments_grid(1.25) == 0x1p-28);
    for (double bound = 0x1p-900; bound < 0x1p1020; bound *= 1.37) {
        double grid = dp_moments_grid(bound), h = sqrt(grid);
        int exponent;
        assert_true(h * h == grid && frexp(h, &exponent) == 0.5);
        assert_true(grid >= bound * 0x1p-29 && grid < 4 * (bound * 0x1p-29));
    }
}

/* At a bound of 2 an entry and √2 times an entry come as close to 2^14.5 and 2^15 as they can. */
TEST(the_largest_numbers_have_16_bits)
{
    static const int32_t columns[2] = {0, 1};
    for (int sign = -1; sign <= 1; sign += 2) {
        const float x[2] = {(float)sign * 2, 0x1p-13f}; /* twice the square of the norm that the bound permits */
        for (int sparse = 0; sparse < 2; sparse++) {
            add_one(sparse ? dp_row_sparse(x, columns, 2) : dp_row_dense(x, 2), 2, NULL, 0, 2);
            assert_int_equal(sum[0], 23170 * 23170);
            assert_int_equal(sum[1], sign * 32767);
            assert_int_equal(sum[2], 1);
        }
    }
}

/* Rows of every length and shape, also rows whose length is all in the tail. */
TEST(what_a_row_adds_is_within_the_bound)
{
    const double bounds[] = {1, 1.25, 0.003, 2, 1e6, 1e-12};
    for (int i = 0; i < 3000; i++) {
        float x[COLS], tail[2] = {(float)(uniform() * 2), (float)-uniform()};
        size_t cols = 1 + (size_t)i % 12;
        double bound = bounds[i % 6], size = pow(10, 12 * uniform() - 6);
        for (size_t j = 0; j < cols; j++)
            x[j] = (float)(size * (i % 3 == 0 ? 1 : uniform() - 0.5));
        add_one(dp_row_dense(x, cols), cols, NULL, 0, bound);
        assert_true(within(cols, bound));
        add_one(dp_row_dense(x, cols), cols + 2, tail, 2, bound);
        assert_true(within(cols + 2, bound));
        for (size_t j = 0; j < cols; j++) /* norms as close to the bound as possible */
            x[j] = (float)sqrt(bound / (double)cols);
        add_one(dp_row_dense(x, cols), cols, NULL, 0, bound);
        assert_true(within(cols, bound));
        double grid = dp_moments_grid(bound), length = 0;
        for (size_t j = 0; j < dp_moments_size(cols); j++)
            length += grid * (double)sum[j] * (grid * (double)sum[j]);
        assert_true(sqrt(length) > bound * (1 - 0x1p-12));
    }
}

/* A row that is too long keeps its direction. */
TEST(rows_that_are_too_long_are_scaled_down)
{
    float x[3] = {3e20f, 0, -4e20f}, tail[1] = {1};
    add_one(dp_row_dense(x, 3), 4, tail, 1, 1);
    assert_near((double)sum[0] * 0x1p-28, 0.36, 1e-4);
    assert_near((double)sum[2] * 0x1p-28, -0.48 * M_SQRT2, 1e-4);
    assert_near((double)sum[7] * 0x1p-28, 0.64, 1e-4);
    assert_int_equal(sum[9], 0);
}

TEST(what_is_not_finite_adds_nothing)
{
    const float bad[] = {INFINITY, -INFINITY, NAN};
    for (int i = 0; i < 3; i++) {
        float x[3] = {0.5f, bad[i], 0.25f}, good[3] = {0.5f, 0, 0.25f};
        int32_t columns[] = {0, 4, 7};
        add_one(dp_row_dense(x, 3), 3, NULL, 0, 1);
        assert_memory_equal(sum, zero, sizeof sum);
        add_one(dp_row_sparse(x, columns, 3), 9, NULL, 0, 1);
        assert_memory_equal(sum, zero, sizeof sum);
        add_one(dp_row_dense(good, 3), 4, &bad[i], 1, 1);
        assert_memory_equal(sum, zero, sizeof sum);
    }
}

/* Bounds at which a double can hardly represent the inverse of the grid, and at which it cannot. */
TEST(smallest_bounds)
{
    static const int32_t columns[3] = {0, 1, 2};
    static const float x[3] = {1, -3, 0x1p-149f};
    for (int exponent = -1074; exponent < -900; exponent++) {
        add_one(dp_row_dense(x, 3), 3, NULL, 0, ldexp(1, exponent));
        assert_true(within(3, ldexp(1, exponent)));
        add_one(dp_row_sparse(x, columns, 3), 3, NULL, 0, ldexp(1, exponent));
        assert_true(within(3, ldexp(1, exponent)));
    }
}

/* Entries so large that 32 bits have room for only a few products, in columns of one panel and of two, and of either sign. */
TEST(large_entries_have_room)
{
    enum { ROWS = 999 };
    static int64_t all[SIZE];
    struct dp_moments m;
    float x[COLS] = {[3] = 0.7071f, [4] = -0.577f, [COLS - 1] = -0.7071f};
    for (int shape = 0; shape < 3; shape++) { /* two entries, three, one of the largest size */
        x[4] = shape == 1 ? -0.577f : 0;
        x[3] = shape == 2 ? 0 : 0.7071f;
        x[COLS - 1] = shape == 2 ? 1 : -0.7071f;
        dp_moments_open(&m, COLS, 2);
        memset(all, 0, sizeof all);
        for (size_t i = 0; i < ROWS; i++)
            dp_moments_add(&m, dp_row_dense(x, COLS), NULL, 0, all);
        dp_moments_flush(&m, all);
        dp_moments_close(&m);
        add_one(dp_row_dense(x, COLS), COLS, NULL, 0, 2);
        for (size_t j = 0; j < SIZE; j++)
            assert_true(all[j] == ROWS * sum[j]);
    }
}

/* So many rows that dense rows are added in blocks, with some left over; more columns than one panel; some rows of zeros. */
TEST(dense_and_sparse_rows_add_the_same)
{
    enum { ROWS = 601 };
    static float x[ROWS][COLS], value[COLS];
    static int64_t sparse[SIZE], backward[SIZE], exact[SIZE];
    int32_t column[COLS];
    float tail[2] = {0.5f, 0};
    struct dp_moments m;
    const size_t features = COLS - 2;
    dp_moments_open(&m, COLS, 1.25);
    memset(sum, 0, sizeof sum);
    for (size_t i = 0; i < ROWS; i++) {
        size_t count = 0;
        for (size_t j = 0; j < features; j++) {
            x[i][j] = i % 7 == 0 || uniform() < 0.6 ? 0 : (float)(uniform() - 0.5) / (float)(i % 3 + 1);
            if (x[i][j] != 0) {
                value[count] = x[i][j];
                column[count++] = (int32_t)j;
            }
        }
        tail[1] = (float)i / ROWS;
        dp_moments_add(&m, dp_row_sparse(value, column, count), tail, 2, sparse);
        dp_moments_add(&m, dp_row_dense(x[i], features), tail, 2, sum);
    }
    dp_moments_flush(&m, sum);
    assert_memory_equal(sum, sparse, sizeof sum);
    assert_true(sum[SIZE - 1] > 0);
    for (size_t i = ROWS; i-- > 0;) {
        tail[1] = (float)i / ROWS;
        dp_moments_add(&m, dp_row_dense(x[i], features), tail, 2, backward);
    }
    dp_moments_flush(&m, backward);
    dp_moments_flush(&m, backward); /* no rows wait any more */
    assert_memory_equal(sum, backward, sizeof sum);
    dp_moments_close(&m);
    for (size_t i = 0; i < ROWS; i++) { /* the sum equals the sum of the parts that each row adds */
        tail[1] = (float)i / ROWS;
        add_one(dp_row_dense(x[i], features), COLS, tail, 2, 1.25);
        for (size_t j = 0; j < SIZE; j++)
            exact[j] += sum[j];
    }
    assert_memory_equal(exact, backward, sizeof exact);
}

TEST(along_a_vector)
{
    float x[3] = {0.5f, -0.25f, 0.125f};
    const double z[2] = {1, 2};
    add_one(dp_row_dense(x, 3), 3, NULL, 0, 1);
    /* (x·z)² over the first two columns */
    assert_near(dp_moments_along(sum, 3, z, 2) * 0x1p-28, 0, 1e-4);
    const double w[3] = {1, 0, 4};
    assert_near(dp_moments_along(sum, 3, w, 3) * 0x1p-28, 1, 1e-4);
}

TESTS(start, NULL)
