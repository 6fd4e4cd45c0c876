/* Narrow rows: whole numbers of 16 bits with a scale per column. Every kernel gives the same bits for 16-bit rows as for
   the same values in float32. */
#include "unit.h"

#include <unistd.h>

#include "math/moments.h"
#include "math/panels.h"
#include "math/rng.h"
#include "math/tally.h"
#include "math/vec.h"

enum { COLS = 203, OUTPUTS = 9 };

static struct dp_key key;
static uint64_t drawn;
static int16_t narrow[DP_ROWS][COLS];
static float scale[COLS], wide[DP_ROWS][COLS];
static double w[OUTPUTS * COLS];

static uint64_t draw(void)
{
    uint64_t bits[8];
    dp_draw(&key, DP_DRAW_NOISE, 1, drawn++ * sizeof bits, bits, sizeof bits);
    return bits[0];
}

/* Whole numbers of all sizes, with zero and the two extremes, and scales of many sizes. */
static void make_rows(void)
{
    static const int16_t ends[] = {0, 1, -1, INT16_MAX, INT16_MIN, -INT16_MAX};
    for (size_t j = 0; j < COLS; j++)
        scale[j] = (float)ldexp(1, -15 - (int)(draw() % 9));
    for (size_t i = 0; i < DP_ROWS; i++)
        for (size_t j = 0; j < COLS; j++) {
            uint64_t bits = draw();
            narrow[i][j] = (int16_t)(bits % 8 == 0 ? ends[bits / 8 % 6] : (int16_t)(bits >> 48) >> (bits / 8 % 16));
            wide[i][j] = (float)ldexp(narrow[i][j], ilogbf(scale[j]));
        }
    for (size_t at = 0; at < OUTPUTS * COLS; at++)
        w[at] = (double)(int64_t)draw() * 0x1p-63;
}

TEST(one_row)
{
    for (size_t cols = 1; cols <= COLS; cols++) {
        make_rows();
        struct dp_row a = dp_row_narrow(narrow[0], scale, cols), b = dp_row_dense(wide[0], cols);
        double x = dp_row_dot(a, w), y = dp_row_dot(b, w);
        assert_memory_equal(&x, &y, sizeof x);
        x = dp_row_norm2(a);
        y = dp_row_norm2(b);
        assert_memory_equal(&x, &y, sizeof x);
        double moved[2][COLS];
        int64_t sum[2][COLS] = {{0}};
        memcpy(moved[0], w, sizeof *moved);
        memcpy(moved[1], w, sizeof *moved);
        dp_row_axpy(0.3, a, moved[0]);
        dp_row_axpy(0.3, b, moved[1]);
        assert_memory_equal(moved[0], moved[1], sizeof *moved);
        dp_row_add_grid(-0.7f, 0x1p18, a, sum[0]);
        dp_row_add_grid(-0.7f, 0x1p18, b, sum[1]);
        assert_memory_equal(sum[0], sum[1], sizeof *sum);
        for (size_t j = 0; j < cols; j++) {
            assert_true(dp_row_value(&a, j) == wide[0][j] && dp_row_at(a, j) == (double)wide[0][j]);
            assert_true(dp_row_value(&b, j) == wide[0][j]);
        }
    }
}

/* Blocks of narrow rows, and blocks that also have rows of the other kinds. */
TEST(blocks)
{
    static int64_t sum[2][OUTPUTS * COLS];
    static int32_t columns[COLS];
    float c[DP_ROWS * OUTPUTS];
    double dot[2][DP_ROWS * OUTPUTS], norm2[2][DP_ROWS];
    float unpacked[DP_ROWS][COLS];
    struct dp_tally tally = {0};
    for (int32_t j = 0; j < COLS; j++)
        columns[j] = j;
    for (size_t trial = 0; trial < 3 * 7 * DP_ROWS * OUTPUTS; trial++) {
        static const size_t cols_of[] = {1, 15, 16, 64, 65, 90, COLS};
        size_t cols = cols_of[trial % 7], outputs = trial / 7 % OUTPUTS + 1, count = trial / 7 / OUTPUTS % DP_ROWS + 1;
        size_t mixed = trial / 7 / OUTPUTS / DP_ROWS; /* narrow rows with nothing, with dense rows, with a sparse row */
        struct dp_row a[DP_ROWS], b[DP_ROWS];
        make_rows();
        for (size_t i = 0; i < count; i++) {
            b[i] = dp_row_dense(wide[i], cols);
            a[i] = mixed == 1 && i % 2 == 0       ? b[i]
                   : mixed == 2 && i == count / 2 ? dp_row_sparse(wide[i], columns, cols)
                                                  : dp_row_narrow(narrow[i], scale, cols);
        }
        for (size_t at = 0; at < count * outputs; at++)
            c[at] = draw() % 5 == 0 ? 0.0f : (float)((double)(int64_t)draw() * 0x1p-63);
        dp_rows_dot(a, count, trial % 2 ? a : NULL, w, outputs, cols, dot[0], norm2[0]);
        dp_rows_dot(b, count, NULL, w, outputs, cols, dot[1], norm2[1]);
        assert_memory_equal(dot[0], dot[1], count * outputs * sizeof **dot);
        assert_memory_equal(norm2[0], norm2[1], count * sizeof **norm2);
        memset(sum, 0, sizeof sum);
        for (size_t i = 0; i < count; i++)
            a[i] = a[i].columns == NULL ? dp_row_dense(dp_row_floats(&a[i], unpacked[i]), cols) : a[i];
        for (int kind = 0; kind < 2; kind++) {
            dp_tally_begin(&tally, outputs, cols, 0, 0x1p-20);
            dp_tally_add(&tally, c, kind == 0 ? a : b, count);
            dp_tally_end(&tally, sum[kind]);
        }
        assert_memory_equal(sum[0], sum[1], outputs * cols * sizeof **sum);
    }
    dp_tally_close(&tally);
}

TEST(moments)
{
    enum { FEATURES = 21, ALL = FEATURES + 1 };
    static int64_t sum[2][ALL * (ALL + 1) / 2];
    const float tail = 0.5f;
    make_rows();
    for (int kind = 0; kind < 2; kind++) {
        struct dp_moments m;
        dp_moments_open(&m, ALL, 1);
        for (size_t i = 0; i < DP_ROWS; i++)
            dp_moments_add(&m, kind == 0 ? dp_row_narrow(narrow[i], scale, FEATURES) : dp_row_dense(wide[i], FEATURES), &tail,
                           1, sum[kind]);
        dp_moments_flush(&m, sum[kind]);
        dp_moments_close(&m);
    }
    assert_memory_equal(sum[0], sum[1], sizeof *sum);
    assert_true(sum[0][0] > 0);
}

TEST(panels)
{
    struct dp_panels p = {0};
    struct dp_row a[DP_ROWS], b[DP_ROWS];
    double products[2][DP_ROWS * OUTPUTS], *room;
    make_rows();
    for (size_t i = 0; i < DP_ROWS; i++) {
        a[i] = dp_row_narrow(narrow[i], scale, COLS - 1);
        b[i] = dp_row_dense(wide[i], COLS - 1);
    }
    dp_panels_open(&p, w, OUTPUTS, COLS);
    assert_non_null(room = calloc(dp_panels_room(&p), sizeof *room));
    dp_panels_multiply(&p, a, DP_ROWS, COLS - 1, 0.5, room, products[0]);
    dp_panels_multiply(&p, b, DP_ROWS, COLS - 1, 0.5, room, products[1]);
    assert_memory_equal(products[0], products[1], sizeof *products);
    free(room);
    dp_panels_close(&p);
}

int main(void)
{
    dp_key_derive(&key, 1, "narrow rows", 0);
    return all_tests(NULL, NULL);
}
