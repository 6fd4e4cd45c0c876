/* Rows that are made of cells: against the formulas, for cells that no import writes, and for several threads. */
#include "unit.h"

#include <pthread.h>

#include "data/row_maker.h"

static const char schema[] =
    "{\"header\": false, \"row_norm\": \"unit\", \"bias\": true, \"quantised\": false, \"basis\": \"cosines\", \"columns\": ["
    "{\"name\": \"a\", \"type\": \"numeric\", \"bounds\": [0, 10], \"fill\": 5, \"indicator\": true},"
    "{\"name\": \"b\", \"type\": \"categorical\", \"categories\": [\"x\", \"y\", \"z\"], \"unknown\": \"zero\"},"
    "{\"name\": \"c\", \"type\": \"numeric\", \"bounds\": [-1, 1]},"
    "{\"name\": \"l\", \"type\": \"label\", \"classes\": [\"0\", \"1\"]}]}";
enum { COLS = 10 + 3 + 9 + 1 };

static struct dp_row_maker *open_maker(void)
{
    struct dp_row_maker *maker = NULL;
    assert_int_equal(dp_row_maker_open(&maker, schema, "t", NULL), DP_OK);
    assert_int_equal(dp_row_maker_cells(maker), 3);
    assert_int_equal(dp_row_maker_cols(maker), COLS);
    return maker;
}

/* The row of a, b and c, in double. */
static void expected(double a, double b, double c, double x[COLS])
{
    double sum = 0;
    memset(x, 0, COLS * sizeof *x);
    x[9] = isnan(a);
    a = isnan(a) ? 5 : a;
    x[0] = a / 10;
    x[13] = (c + 1) / 2;
    for (int k = 1; k <= 8; k++) {
        x[k] = cos(M_PI * k * a / 10) / k;
        x[13 + k] = cos(M_PI * k * (c + 1) / 2) / k;
    }
    if (b > 0)
        x[9 + (int)b] = 1;
    x[22] = 1;
    for (int j = 0; j < COLS; j++)
        sum += x[j] * x[j];
    for (int j = 0; j < COLS; j++)
        x[j] /= sqrt(sum);
}

TEST(rows_are_those_of_the_formulas)
{
    struct dp_row_maker *maker = open_maker();
    for (int i = 0; i < 400; i++) {
        const double cells[] = {i % 7 == 0 ? (double)NAN : i % 101 * 0.1, i % 4, i % 11 * 0.2 - 1};
        double x[COLS];
        struct dp_row row = dp_row_maker_row(maker, cells);
        expected(cells[0], cells[1], cells[2], x);
        assert_int_equal(row.count, COLS);
        for (int j = 0; j < COLS; j++)
            assert_true(fabs((double)row.values[j] - x[j]) < 1e-6);
        assert_true(dp_row_norm2(row) <= 1);
    }
    dp_row_maker_close(maker);
}

static bool is_zero(struct dp_row row)
{
    bool zero = row.count == COLS;
    for (size_t j = 0; j < row.count; j++)
        zero &= row.values[j] == 0;
    return zero;
}

TEST(null_rows_and_cells_that_no_import_writes_are_zeros)
{
    struct dp_row_maker *maker = open_maker();
    static const double good[] = {3, 1, 0.5};
    static const double number[] = {INFINITY, -INFINITY}, category[] = {-1, 4, 1.5, 1e300, INFINITY, -INFINITY, NAN};
    assert_true(is_zero(dp_row_maker_row(maker, NULL)) && !is_zero(dp_row_maker_row(maker, good)));
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        assert_true(is_zero(dp_row_maker_row(maker, (double[]){number[i], 1, 0.5})));
    for (size_t i = 0; i < sizeof category / sizeof *category; i++)
        assert_true(is_zero(dp_row_maker_row(maker, (double[]){3, category[i], 0.5})));
    assert_true(is_zero(dp_row_maker_row(maker, (double[]){3, 1, NAN})));      /* has no fill */
    struct dp_row far = dp_row_maker_row(maker, (double[]){1e300, 0, -1e300}); /* finite: as at the bounds */
    double x[COLS];
    expected(10, 0, -1, x);
    for (int j = 0; j < COLS; j++)
        assert_true(fabs((double)far.values[j] - x[j]) < 1e-6);
    dp_row_maker_close(maker);
}

enum { THREADS = 4 };
static pthread_barrier_t barrier;

/* Takes many rows, at the same time as other threads; each stays until as many as the header states have been taken after it. */
static void *take_many(void *self)
{
    struct dp_row kept[DP_ROW_MAKER_KEPT];
    bool *good = malloc(sizeof *good);
    *good = true;
    for (int i = 0; i < 8 * DP_ROW_MAKER_KEPT; i++) {
        if (i % 32 == 0)
            pthread_barrier_wait(&barrier);
        const int before = i - DP_ROW_MAKER_KEPT + 1;
        kept[i % DP_ROW_MAKER_KEPT] = dp_row_maker_row(self, (double[]){i % 97 * 0.1, i % 4, 0});
        for (int k = before < 0 ? 0 : before; k <= i && i % 64 == 0; k++) {
            double x[COLS];
            expected(k % 97 * 0.1, k % 4, 0, x);
            for (int j = 0; j < COLS; j++)
                *good &= fabs((double)kept[k % DP_ROW_MAKER_KEPT].values[j] - x[j]) < 1e-6;
        }
    }
    return good;
}

TEST(rows_stay_as_long_as_the_header_says_in_each_thread)
{
    struct dp_row_maker *maker = open_maker();
    pthread_t thread[THREADS];
    void *good;
    assert_int_equal(pthread_barrier_init(&barrier, NULL, THREADS), 0);
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&thread[t], NULL, take_many, maker), 0);
    for (int t = 0; t < THREADS; t++) {
        pthread_join(thread[t], &good);
        assert_true(*(bool *)good);
        free(good);
    }
    pthread_barrier_destroy(&barrier);
    dp_row_maker_close(maker);
}

TEST(schemas_of_which_no_rows_are_made)
{
    struct dp_row_maker *maker;
    assert_int_equal(dp_row_maker_open(&maker, "[]", "t", &err), DP_E_RUN);
    assert_fails(dp_row_maker_open(&maker,
                                   "{\"header\": false, \"row_norm\": \"none\", \"bias\": true, \"quantised\": false, "
                                   "\"columns\": [{\"name\": \"a\", \"type\": \"numeric\", \"bounds\": [0, 1]}, {\"name\": "
                                   "\"l\", \"type\": \"label\", \"classes\": [\"0\", \"1\"]}]}",
                                   "t", &err),
                 DP_E_RUN, "t: rows are not made of cells: rows may have any norm");
}

TESTS(NULL, NULL)
