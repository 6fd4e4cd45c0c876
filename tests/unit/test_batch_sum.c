/* Sums over a batch: public numbers decide the number of threads, and the sum is the same with any number. */
#include "unit.h"

#include "stages/batch_sum.h"

/* How many entries of rows each thread adds, in units of 2^18. With one output an entry counts half as much as with eight. */
static double work_of_each(int threads, double rows, size_t cols, size_t outputs)
{
    return rows * (double)cols * (outputs == 1 ? 1.125 : 2) / threads / 0x1p18;
}

/* The number of threads is the largest with which each thread has enough work. It never falls when the work grows. */
TEST(threads_are_those_that_pay)
{
    const int there[] = {1, 2, 8, 64};
    for (size_t t = 0; t < 4; t++)
        for (size_t outputs = 1; outputs <= 8; outputs += 7) {
            int before = 1, seen = 0;
            for (double rows = 1; rows < 1e9; rows *= 1.3) {
                int threads = dp_batch_sum_pay(there[t], rows, 90, outputs);
                assert_true(threads >= before && threads <= there[t]);
                assert_true(threads == 1 || work_of_each(threads, rows, 90, outputs) >= 1);
                assert_true(threads == there[t] || work_of_each(threads + 1, rows, 90, outputs) < 1);
                assert_int_equal(dp_batch_sum_pay(there[t], rows / 30, 2700, outputs), threads); /* entries count, not rows */
                seen += threads > before;
                before = threads;
            }
            assert_true(before == there[t] && (seen > 0 || there[t] == 1));
        }
    assert_int_equal(dp_batch_sum_pay(8, 1e18, 784, 10), 8);
    assert_int_equal(dp_batch_sum_pay(8, 0, 784, 10), 1);
    assert_int_equal(dp_batch_sum_pay(8, (double)NAN, 784, 10), 1);
    struct dp_batch_sum batch_sum = {0};
    dp_batch_sum_allow(&batch_sum, 3);
    assert_true(batch_sum.threads == 3 && !batch_sum.choose);
    dp_batch_sum_allow(&batch_sum, INT64_MIN);
    assert_true(batch_sum.threads >= 1 && batch_sum.choose);
}

static void update(void *context, size_t thread, const struct dp_block *block, float *coefficient)
{
    size_t *seen = context;
    (void)thread;
    for (size_t i = 0; i < block->count; i++) {
        coefficient[i] = (float)(block->first + i) * 0x1p-10f;
#pragma omp atomic
        seen[block->first + i]++;
    }
}

/* Batches whose last block is cut anywhere, also with fewer blocks than threads; only the expected number of rows decides the
   number of threads. */
TEST(every_row_is_in_the_sum_once)
{
    enum { ROWS = 61, COLS = 5 };
    static float x[ROWS * COLS];
    static double y[ROWS];
    for (size_t i = 0; i < ROWS * COLS; i++)
        x[i] = (float)(i % 7) / 8;
    for (size_t count = 0; count <= ROWS; count++) {
        int64_t sum[2][COLS + 1];
        for (int threads = 1; threads <= 9; threads++) {
            struct dp_batch_sum batch_sum = {0};
            size_t seen[ROWS] = {0};
            struct dp_batch batch = {.count = count,
                                     .features = COLS,
                                     .cols = COLS + 1,
                                     .sum_cols = COLS + 1,
                                     .expected = 1e9,
                                     .intercept = 0.5f,
                                     .x = x,
                                     .y = y};
            dp_batch_sum_allow(&batch_sum, threads);
            batch_sum.choose = threads > 5;
            dp_batch_sum_make(&batch_sum, &batch, 1, 1, update, seen, sum[threads > 1]);
            for (size_t i = 0; i < ROWS; i++)
                assert_int_equal(seen[i], i < count);
            assert_memory_equal(sum[0], sum[threads > 1], sizeof *sum);
            dp_batch_sum_close(&batch_sum);
        }
        int64_t expected[COLS + 1] = {0};
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j <= COLS; j++)
                expected[j] += (int64_t)((double)i * 0x1p10 * (j < COLS ? (double)x[i * COLS + j] : 0.5));
        assert_memory_equal(sum[0], expected, sizeof expected);
    }
}

static void last_thread(void *context, size_t thread, const struct dp_block *block, float *coefficient)
{
    size_t *last = context;
    memset(coefficient, 0, block->count * sizeof *coefficient);
#pragma omp critical
    *last = thread > *last ? thread : *last;
}

/* The size of a batch is secret, so the time of a lap should reveal as little as possible about it. */
TEST(the_expected_size_decides)
{
    enum { ROWS = 80, COLS = 5 };
    static float x[ROWS * COLS];
    static double y[ROWS];
    for (int large = 0; large < 2; large++) {
        struct dp_batch_sum batch_sum = {.threads = 3, .choose = true};
        struct dp_batch batch = {.count = ROWS, .features = COLS, .cols = COLS, .sum_cols = COLS, .x = x, .y = y};
        int64_t sum[COLS];
        size_t last = 0;
        batch.expected = large ? 1e9 : 1;
        dp_batch_sum_make(&batch_sum, &batch, 1, 1, last_thread, &last, sum);
        assert_int_equal(last, large ? 2 : 0);
        dp_batch_sum_close(&batch_sum);
    }
}

TESTS(NULL, NULL)
