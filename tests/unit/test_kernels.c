/* Kernels over rows, with each set of instructions of this CPU: against their definition, computed one entry at a time, and
   sums on the grid against whole numbers. */
#include "unit.h"

#include <fenv.h>
#include <gsl/gsl_rng.h>
#include <sys/mman.h>
#include <unistd.h>

#include "math/grid.h"
#include "math/kernels.h"
#include "math/tally.h"

static gsl_rng *rng;

static float any(void)
{
    return (float)(2 * gsl_rng_uniform(rng) - 1);
}

/* --- sums of doubles -------------------------------------------------------------------------------------------- */
static double fold_here(const double lane[16])
{
    double half[8], quarter[4];
    for (int i = 0; i < 8; i++)
        half[i] = lane[i] + lane[i + 8];
    for (int i = 0; i < 4; i++)
        quarter[i] = half[i] + half[i + 4];
    return (quarter[0] + quarter[2]) + (quarter[1] + quarter[3]);
}

static double dot_here(const float *x, const double *w, size_t count)
{
    volatile double product; /* never combined with the sum */
    double lane[16] = {0};
    for (size_t j = 0; j < count; j++) {
        product = (double)x[j] * w[j];
        lane[j % 16] += product;
    }
    return fold_here(lane);
}

/* `bytes` bytes at the end of a page, followed by a page that cannot be read. */
static void *before_nothing(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
    char *at = mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(at != MAP_FAILED);
    assert_int_equal(mprotect(at + whole, page, PROT_NONE), 0);
    return at + whole - bytes;
}

/* Rows and weights end before unreadable memory; the rows to prefetch are not memory at all. */
TEST(sums_are_those_of_the_definition)
{
    enum { COLS = 150 };
    float *x = before_nothing(DP_ROWS * COLS * sizeof *x);
    double *w = before_nothing(COLS * sizeof *w), dot[DP_ROWS], norm2[DP_ROWS], wide[COLS];
    for (size_t i = 0; i < COLS; i++)
        w[i] = gsl_rng_uniform(rng) - 0.5;
    for (size_t i = 0; i < DP_ROWS * COLS; i++)
        x[i] = any();
    for (size_t cols = 0; cols <= COLS; cols++) {
        struct dp_row rows[DP_ROWS], next[DP_ROWS];
        const double *v = w + COLS - cols;
        for (size_t i = 0; i < DP_ROWS; i++) {
            rows[i] = dp_row_dense(x + (DP_ROWS - i) * COLS - cols, cols);
            next[i] = dp_row_dense((const float *)(uintptr_t)4096, cols);
        }
        for (size_t j = 0; j < cols; j++)
            wide[j] = (double)rows[0].values[j];
        dp_rows_dot(rows, cols % DP_ROWS + 1, next, v, 1, cols, dot, norm2);
        for (size_t i = 0; i <= cols % DP_ROWS; i++) {
            double one = dot_here(rows[i].values, v, cols), own = dp_row_dot(rows[i], v);
            assert_memory_equal(&dot[i], &one, sizeof one);
            assert_memory_equal(&own, &one, sizeof one);
            own = dp_row_norm2(rows[i]);
            assert_memory_equal(&norm2[i], &own, sizeof own);
        }
        double squares = dot_here(rows[0].values, wide, cols), own = dp_norm2(wide, cols);
        assert_memory_equal(&norm2[0], &squares, sizeof squares);
        assert_memory_equal(&own, &squares, sizeof squares);
    }
}

/* --- sums of whole numbers -------------------------------------------------------------------------------------- */
static int64_t whole_of(float x, int *exponent)
{
    double fraction = frexp((double)x, exponent);
    *exponent -= 24;
    return (int64_t)ldexp(fraction, 24);
}

/* trunc(a x / grid) with whole numbers only. */
static int64_t term(float a, float x, double grid)
{
    int ea, ex, eg;
    __int128 product = (__int128)whole_of(a, &ea) * whole_of(x, &ex);
    frexp(grid, &eg);
    int shift = ea + ex - (eg - 1);
    if (shift >= 0)
        return (int64_t)(product << shift);
    return shift > -64 ? (int64_t)(product / ((__int128)1 << -shift)) : 0;
}

/* Sums of more rows than the lanes hold, of every shape, in blocks of any size. */
TEST(sums_are_exact)
{
    enum { MOST = 200, OUTPUTS = 5, ROWS = 2500 };
    static const size_t outputs_of[] = {1, 3, OUTPUTS}, cols_of[] = {1, 9, 16, 90, 127, 128, 129, MOST};
    static float x[ROWS][MOST], a[ROWS * OUTPUTS];
    struct dp_tally tally = {0};
    for (size_t n = 0; n < 3 * 8 * 4; n++) {
        size_t outputs = outputs_of[n % 3], cols = cols_of[n / 3 % 8], rows = n % 5 ? 300 : ROWS;
        bool sparse = n / 24 % 2;
        float constant = n / 48 ? 0.7f : 0;
        size_t all = cols + (n / 48 ? 1 : 0);
        double bound = n % 7 ? 1.9 : 3e-30, grid = dp_grid_for(bound);
        int64_t *expected = calloc(outputs * all, sizeof *expected), *sum = calloc(outputs * all + 1, sizeof *sum);
        int32_t columns[MOST];
        sum[outputs * all] = 12345;
        dp_tally_begin(&tally, outputs, cols, constant, grid);
        for (size_t j = 0; j < cols; j++)
            columns[j] = (int32_t)j;
        for (size_t i = 0, count; i < rows; i += count) {
            struct dp_row block[DP_ROWS];
            count = 1 + gsl_rng_uniform_int(rng, DP_ROWS);
            count = count < rows - i ? count : rows - i;
            for (size_t r = i; r < i + count; r++) {
                bool out = gsl_rng_uniform(rng) < 0.1;
                for (size_t j = 0; j < cols; j++)
                    x[r][j] = out ? NAN : any();
                for (size_t k = 0; k < outputs; k++) {
                    a[r * outputs + k] = out || (outputs > 1 && gsl_rng_uniform(rng) < 0.2) ? 0 : any() * (float)bound;
                    for (size_t j = 0; !out && j < all; j++)
                        expected[k * all + j] += term(a[r * outputs + k], j < cols ? x[r][j] : constant, grid);
                }
                block[r - i] = dp_row_sparse(x[r], sparse ? columns : NULL, cols);
            }
            dp_tally_add(&tally, a + i * outputs, block, count);
        }
        dp_tally_end(&tally, sum);
        assert_memory_equal(sum, expected, outputs * all * sizeof *sum);
        assert_int_equal(sum[outputs * all], 12345);
        free(expected);
        free(sum);
    }
    dp_tally_close(&tally);
}

/* The largest term that a bound allows, with both signs, in more rows than 32 bits hold. */
TEST(tallies_do_not_overflow)
{
    enum { COLS = 20, BLOCKS = 1000 };
    float x[COLS], a[2 * DP_ROWS];
    int64_t sum[2 * COLS] = {0};
    double bound = 0x1.fffffep0, grid = dp_grid_for(bound);
    struct dp_tally tally = {0};
    struct dp_row rows[DP_ROWS];
    for (size_t j = 0; j < COLS; j++)
        x[j] = 1;
    for (size_t i = 0; i < DP_ROWS; i++) {
        rows[i] = dp_row_dense(x, COLS);
        a[2 * i] = (float)bound;
        a[2 * i + 1] = -(float)bound;
    }
    assert_int_equal(term((float)bound, 1, grid), (1 << 21) - 1);
    dp_tally_begin(&tally, 2, COLS, 0, grid);
    for (int b = 0; b < BLOCKS; b++)
        dp_tally_add(&tally, a, rows, DP_ROWS);
    dp_tally_end(&tally, sum);
    for (size_t j = 0; j < COLS; j++) {
        assert_int_equal(sum[j], (int64_t)BLOCKS * DP_ROWS * ((1 << 21) - 1));
        assert_int_equal(sum[COLS + j], -sum[j]);
    }
    dp_tally_close(&tally);
}

/* (1 + 2^-23)(1 − 2^-23) is below 1, and 1 to the nearest float. If a coefficient over the grid is not a float, the product is
   computed in double. Afterwards the rounding mode is the caller's again. */
TEST(products_are_truncated)
{
    enum { COLS = 40 };
    float x[COLS], a[2] = {0x1.000002p0f, -0x1.000002p0f};
    struct dp_row rows[2] = {dp_row_dense(x, COLS), dp_row_dense(x, COLS)};
    struct dp_tally tally = {0};
    int64_t sum[COLS] = {0}, few[COLS] = {0};
    for (size_t j = 0; j < COLS; j++)
        x[j] = 0x1.fffffcp-1f;
    dp_tally_begin(&tally, 1, COLS, 0, 0x1p-20);
    dp_tally_add(&tally, a, rows, 1);
    dp_tally_add(&tally, a, rows, 2);
    dp_tally_add(&tally, a + 1, rows, 1);
    dp_tally_add(&tally, a, rows, 1);
    dp_tally_end(&tally, sum);
    for (size_t j = 0; j < COLS; j++)
        assert_int_equal(sum[j], 0xfffff);
    assert_int_equal(fegetround(), FE_TONEAREST);
    /* Here the coefficient over the grid has one bit too many for a float, and the exact product is 2 + 2^-23 − 2^-46. Rounded
       to a float, the product would be below 2. */
    a[0] = 0x1.000002p-100f;
    a[1] = -a[0];
    for (size_t j = 0; j < COLS; j++)
        x[j] = 0x1.fffffep127f;
    dp_tally_begin(&tally, 1, COLS, 0, 0x1p27);
    dp_tally_add(&tally, a, rows, 2);
    dp_tally_add(&tally, a, rows, 1);
    dp_tally_end(&tally, few);
    for (size_t j = 0; j < COLS; j++)
        assert_int_equal(few[j], 2);
    dp_tally_close(&tally);
}

/* Numbers before unreadable memory; a negative zero has a bit that is 1. */
TEST(numbers_that_are_packed_can_be_unpacked)
{
    enum { MOST = 256 };
    for (size_t count = 0; count <= MOST; count++) {
        float *x = (float *)before_nothing((count + 1) * sizeof *x) + 1;
        unsigned char bits[MOST / 8] = {0};
        uint32_t kept[MOST + LANES], word;
        size_t used = 0;
        for (size_t j = 0; j < count; j++)
            x[j] = gsl_rng_uniform(rng) < 0.5 ? 0 : gsl_rng_uniform(rng) < 0.1 ? -0.0f : any();
        const size_t all = dp_kernels()->pack(x, count, bits, kept);
        for (size_t j = 0; j < count; j++) {
            memcpy(&word, &x[j], sizeof word);
            assert_int_equal(bits[j / 8] >> j % 8 & 1, word != 0);
            if (word != 0)
                assert_int_equal(kept[used++], word);
        }
        assert_int_equal(all, used);
    }
}

int main(void)
{
    rng = gsl_rng_alloc(gsl_rng_mt19937);
    int failed = all_tests(NULL, NULL);
    gsl_rng_free(rng);
    return failed;
}
