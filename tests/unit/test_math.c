/* Addressed randomness and row kernels. */
#include "random.h"
#include "drawn.h"
#include "unit.h"

#include <gsl/gsl_cdf.h>
#include <sodium.h>

#include "math/vec.h"

TEST(draws_are_addressed)
{
    unsigned char whole[1024], part[1024];
    const struct dp_key key = key_of(1, "a");
    dp_draw(&key, DP_DRAW_COINS, 5, 0, whole, sizeof whole);
    for (size_t at = 0; at < sizeof whole; at += 128)
        dp_draw(&key, DP_DRAW_COINS, 5, at, part + at, 128);
    assert_memory_equal(whole, part, sizeof whole);
    dp_draw(&key, DP_DRAW_COINS, 5, 64, part, 10);
    assert_memory_equal(whole + 64, part, 10);
}

TEST(addresses_do_not_collide)
{
    struct dp_key key, other;
    unsigned char a[64], b[64];
    dp_key_derive(&key, 1, "a", 0);
    dp_draw(&key, DP_DRAW_COINS, 5, 0, a, sizeof a);
    dp_draw(&key, DP_DRAW_NOISE, 5, 0, b, sizeof b);
    assert_memory_not_equal(a, b, sizeof a);
    dp_draw(&key, DP_DRAW_COINS, 6, 0, b, sizeof b);
    assert_memory_not_equal(a, b, sizeof a);
    const struct {
        int64_t seed;
        const char *name;
        int64_t ordinal;
    } others[] = {{2, "a", 0}, {1, "b", 0}, {1, "a", 1}};
    for (int i = 0; i < 3; i++) {
        dp_key_derive(&other, others[i].seed, others[i].name, others[i].ordinal);
        dp_draw(&other, DP_DRAW_COINS, 5, 0, b, sizeof b);
        assert_memory_not_equal(a, b, sizeof a);
    }
    dp_key_fresh(&key);
    dp_key_fresh(&other);
    assert_memory_not_equal(key.bytes, other.bytes, sizeof key.bytes);
}

/* Each of the 256 bits of a fresh key is 0 in some of 64 keys and 1 in others; with honest keys 2^-54 of all runs would
   fail. */
TEST(fresh_keys_are_random_in_every_bit)
{
    unsigned char any[32] = {0}, all[32];
    memset(all, 0xff, sizeof all);
    for (int n = 0; n < 64; n++) {
        struct dp_key key = {{0}};
        dp_key_fresh(&key);
        for (int i = 0; i < 32; i++) {
            any[i] |= key.bytes[i];
            all[i] &= key.bytes[i];
        }
    }
    for (int i = 0; i < 32; i++) {
        assert_int_equal(any[i], 0xff);
        assert_int_equal(all[i], 0);
    }
}

/* The cipher is ChaCha20 itself: RFC 8439's first block for an all-zero key and nonce. */
TEST(the_cipher_is_chacha20)
{
    static const unsigned char expected[8] = {0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90};
    struct dp_key key = {{0}};
    unsigned char out[8];
    dp_draw(&key, (enum dp_purpose)0, 0, 0, out, sizeof out);
    assert_memory_equal(out, expected, sizeof out);
}

/* Words of infinite strings, by tests/vectors/noise.py: the key 00 01 … 1f, lap 7, draw 3. */
TEST(strings_go_on)
{
    const struct dp_key key = counted_key();
    assert_true(dp_draw_word(&key, DP_DRAW_NOISE, 7, 3, 0) == 0x59a971de75de11ee);
    assert_true(dp_draw_word(&key, DP_DRAW_NOISE, 7, 3, 1) == 0x6487bd828be6eae0);
    assert_true(dp_draw_word(&key, DP_DRAW_NOISE, 7, 3, 9) == 0x9fdf0f7119163d6c);
}

/* Chi-square over 10 cells, 100000 draws, fixed seed; false-alarm rate over seeds 1e-6. */
TEST(below_is_uniform)
{
    double count[10] = {0}, chi = 0;
    struct dp_stream stream = stream_of(1, "uniform");
    for (int i = 0; i < 100000; i++)
        count[dp_stream_below(&stream, 10)]++;
    for (int i = 0; i < 10; i++)
        chi += (count[i] - 10000) * (count[i] - 10000) / 10000;
    assert_true(gsl_cdf_chisq_Q(chi, 9) > 1e-6);
    for (int i = 0; i < 100; i++)
        assert_int_equal(dp_stream_below(&stream, 1), 0);
    /* above 2^63 about half the words are rejected: still in range */
    for (int i = 0; i < 100; i++)
        assert_true(dp_stream_below(&stream, ((uint64_t)1 << 63) + 1) <= (uint64_t)1 << 63);
}

/* Tests 48000 shuffles of four by chi-square over their 24 orders, with a false-alarm rate of 1e-6. In a long list some
   hundreds of half words are rejected; they are compared with the definition. */
TEST(orders_are_uniform)
{
    struct dp_stream stream, again;
    double count[256] = {0}, chi = 0;
    const struct dp_key key = key_of(1, "orders");
    dp_stream_start(&stream, &key, DP_DRAW_PERMUTATION, 1);
    for (int i = 0; i < 48000; i++) {
        uint32_t list[] = {0, 1, 2, 3};
        dp_stream_shuffle(&stream, list, 4);
        count[list[0] << 6 | list[1] << 4 | list[2] << 2 | list[3]]++;
    }
    for (uint32_t a = 0; a < 4; a++)
        for (uint32_t b = 0; b < 4; b++)
            for (uint32_t c = 0; c < 4; c++) {
                double seen = count[a << 6 | b << 4 | c << 2 | (6 - a - b - c) % 4];
                if (a != b && b != c && a != c)
                    chi += (seen - 2000) * (seen - 2000) / 2000;
            }
    assert_true(gsl_cdf_chisq_Q(chi, 23) > 1e-6);

    size_t many = 2000000, passed = 0;
    uint32_t *list = malloc(many * sizeof *list), *expected = malloc(many * sizeof *list);
    assert_true(list != NULL && expected != NULL);
    for (size_t i = 0; i < many; i++)
        list[i] = expected[i] = (uint32_t)i;
    dp_stream_start(&stream, &key, DP_DRAW_PERMUTATION, 2);
    dp_stream_shuffle(&stream, list, many);
    dp_stream_start(&again, &key, DP_DRAW_PERMUTATION, 2);
    uint64_t word = 0;
    bool upper = true;
    for (uint64_t n = many; n > 1; n--)
        for (;;) {
            upper = !upper;
            word = upper ? word >> 32 : dp_stream_next(&again);
            uint64_t half = word & UINT32_MAX, at = half * n / 0x100000000;
            if (half * n % 0x100000000 >= 0x100000000 % n) {
                uint32_t swap = expected[at];
                expected[at] = expected[n - 1];
                expected[n - 1] = swap;
                break;
            }
            passed++;
        }
    assert_true(passed > 100);
    assert_memory_equal(list, expected, many * sizeof *list);
    free(list);
    free(expected);
}

/* Compares dense kernels with long double, and sparse kernels with dense ones. */
TEST(kernels_agree)
{
    gsl_rng *rng = random_numbers();
    for (size_t cols = 1; cols < 200; cols += 7) {
        float x[200], packed[200];
        double w[200], dense[200] = {0}, sparse[200] = {0};
        int32_t columns[200];
        size_t stored = 0;
        long double dot = 0, norm = 0;
        for (size_t j = 0; j < cols; j++) {
            x[j] = gsl_rng_uniform(rng) < 0.5 ? 0.0f : (float)(gsl_rng_uniform(rng) - 0.5);
            w[j] = gsl_rng_uniform(rng) - 0.5;
            dot += (long double)x[j] * (long double)w[j];
            norm += (long double)x[j] * (long double)x[j];
            if (x[j] != 0) {
                columns[stored] = (int32_t)j;
                packed[stored++] = x[j];
            }
        }
        struct dp_row full = dp_row_dense(x, cols), few = dp_row_sparse(packed, columns, stored);
        assert_near(dp_row_dot(full, w), (double)dot, 1e-14);
        double one = dp_row_dot(full, w), other = dp_row_dot(few, w);
        assert_memory_equal(&one, &other, sizeof one);
        assert_near(dp_row_norm2(full), (double)norm, 1e-14);
        one = dp_row_norm2(full);
        other = dp_row_norm2(few);
        assert_memory_equal(&one, &other, sizeof one);
        dp_row_axpy(0.3, full, dense);
        dp_row_axpy(0.3, few, sparse);
        assert_memory_equal(dense, sparse, sizeof dense);
        int64_t a[200] = {0}, b[200] = {0};
        dp_row_add_grid(-0.7f, 0x1p18, full, a);
        dp_row_add_grid(-0.7f, 0x1p18, few, b);
        assert_memory_equal(a, b, sizeof a);
        for (size_t j = 0; j < cols; j++) {
            assert_true(dp_row_at(full, j) == (double)x[j] && dp_row_at(few, j) == (double)x[j]);
            assert_true(fabs((double)a[j]) <= fabs(-0.7f * (double)x[j] * 0x1p18));
        }
    }
}

/* Compares blocks of rows with the kernels for one row: the bits are the same for every shape, dense, sparse and mixed. */
TEST(blocks_are_rows)
{
    enum { COLS = 75, OUTPUTS = 70 };
    gsl_rng *rng = random_numbers();
    static float x[DP_ROWS][COLS];
    static double w[OUTPUTS * COLS], dot[DP_ROWS * OUTPUTS], norm2[DP_ROWS];
    static int32_t columns[COLS];
    static const size_t outputs_of[] = {1, 2, 3, 10, 64, 65, OUTPUTS}, cols_of[] = {1, 15, 16, 31, 32, 33, 64, COLS};
    for (int j = 0; j < COLS; j++)
        columns[j] = j;
    for (size_t i = 0; i < OUTPUTS * COLS; i++)
        w[i] = gsl_rng_uniform(rng) - 0.5;
    for (size_t n = 0; n < 7 * 8 * DP_ROWS * 2; n++) {
        size_t outputs = outputs_of[n % 7], cols = cols_of[n / 7 % 8], count = n / 56 % DP_ROWS + 1;
        bool sparse = n / 56 / DP_ROWS;
        struct dp_row rows[DP_ROWS];
        for (size_t i = 0; i < count; i++) {
            for (size_t j = 0; j < cols; j++)
                x[i][j] = (float)(2 * gsl_rng_uniform(rng) - 1);
            rows[i] = dp_row_sparse(x[i], sparse && i == count / 2 ? columns : NULL, cols);
        }
        dp_rows_dot(rows, count, n % 2 ? rows : NULL, w, outputs, cols, dot, n % 3 ? norm2 : NULL);
        for (size_t i = 0; i < count; i++) {
            double single = dp_row_norm2(rows[i]);
            if (n % 3)
                assert_memory_equal(&norm2[i], &single, sizeof single);
            for (size_t k = 0; k < outputs; k++) {
                single = dp_row_dot(rows[i], w + k * cols);
                assert_memory_equal(&dot[i * outputs + k], &single, sizeof single);
            }
        }
    }
}

/* The lanes are part of the definition: the sum of a fixed row has exactly these bits on every CPU. */
TEST(sums_have_a_fixed_order)
{
    float x[100];
    double w[100], lane[16] = {0}, half[8], quarter[4];
    for (int j = 0; j < 100; j++) {
        x[j] = 1.0f / (float)(j + 1);
        w[j] = 1.0 / (3.0 + j);
        lane[j % 16] += (double)x[j] * w[j];
    }
    for (int i = 0; i < 8; i++)
        half[i] = lane[i] + lane[i + 8];
    for (int i = 0; i < 4; i++)
        quarter[i] = half[i] + half[i + 4];
    double expected = (quarter[0] + quarter[2]) + (quarter[1] + quarter[3]);
    double got = dp_row_dot(dp_row_dense(x, 100), w);
    assert_memory_equal(&got, &expected, sizeof got);
}

int main(void)
{
    return sodium_init() < 0 ? 1 : all_tests(NULL, NULL);
}
