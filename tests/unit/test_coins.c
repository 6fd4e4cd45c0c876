/* Poisson sampling by chunks: its table against the exact binomial distribution, its draws by chi-square, and the same rows for
   any way of asking. Keys come from fixed seeds, so a test always passes or always fails; a test with chance in it would blame
   an honest key once in 10^6. */
#include "unit.h"

#include <gmp.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <mpfr.h>

#include "math/coins.h"

#define BLAME 1e-6

static const double rates[] = {1e-300, 1e-12, 1e-9, 3.7e-9, 1e-6,     0.0003,   100.0 / 347786, 0.001,  0.0039,
                               0.01,   0.05,  0.1,  0.2,    0.25,     0.3,      1.0 / 3,        0.4999, 0.5,
                               0.6,    0.75,  0.9,  0.99,   0.999999, 1 - 1e-9, 1 - 0x1p-53};
#define RATES (sizeof rates / sizeof *rates)

static struct dp_key key(int64_t seed)
{
    struct dp_key made;
    dp_key_derive(&made, seed, "coins", 0);
    return made;
}

/* Rows [from, to) of a lap, in a buffer that grows. */
struct batch {
    int64_t *row;
    size_t count, capacity;
};

static void toss(const struct dp_coins *coins, const struct dp_key *with, uint64_t lap, int64_t from, int64_t to,
                 struct batch *b)
{
    while (from < to) {
        if (b->capacity < b->count + DP_COINS_TOSSED) {
            b->capacity = 2 * b->capacity + DP_COINS_TOSSED;
            b->row = realloc(b->row, b->capacity * sizeof *b->row);
        }
        int64_t before = from;
        size_t count = dp_coins_toss(coins, with, lap, &from, to, b->row + b->count);
        assert_true(from > before && from <= to);
        for (size_t i = b->count; i < b->count + count; i++)
            assert_true(b->row[i] >= before && b->row[i] < from && (i == b->count || b->row[i] > b->row[i - 1]));
        b->count += count;
    }
}

/* --- the table */

#define DEEP 3000 /* bits */

/* Pr[X = k], X ~ Binomial(n, q), by its formula. */
static void exact_term(mpfr_t term, unsigned long n, unsigned long k, double q)
{
    mpz_t ways;
    mpfr_t power;
    mpz_init(ways);
    mpz_bin_uiui(ways, n, k);
    mpfr_init2(power, DEEP);
    mpfr_set_d(term, q, MPFR_RNDN);
    mpfr_ui_sub(power, 1, term, MPFR_RNDN);
    mpfr_pow_ui(power, power, n - k, MPFR_RNDN);
    mpfr_pow_ui(term, term, k, MPFR_RNDN);
    mpfr_mul(term, term, power, MPFR_RNDN);
    mpfr_mul_z(term, term, ways, MPFR_RNDN);
    mpz_clear(ways);
    mpfr_clear(power);
}

static void from_threshold(mpfr_t x, unsigned __int128 threshold)
{
    mpfr_set_ui(x, (unsigned long)(threshold >> 64), MPFR_RNDN);
    mpfr_mul_2ui(x, x, 64, MPFR_RNDN);
    mpfr_add_ui(x, x, (unsigned long)threshold, MPFR_RNDN);
    mpfr_div_2ui(x, x, 128, MPFR_RNDN);
}

/* For the same U: G >= F, by less than the last place, and X − K is below 2^-120 on average. */
TEST(table_is_exact)
{
    mpfr_t term, below, ours, off, short_of;
    mpfr_inits2(DEEP, term, below, ours, off, short_of, (mpfr_ptr)0);
    for (size_t r = 0; r < RATES; r++) {
        static struct dp_coins coins;
        dp_coins_prepare(&coins, rates[r], DP_DRAW_COINS);
        unsigned long n = 1ul << coins.bits;
        assert_true(!coins.certain && coins.bits >= 5 && coins.bits <= 32);
        assert_true((double)n * rates[r] >= 16 || coins.bits == 32);
        assert_true((double)n / 2 * rates[r] < 16);
        assert_true(coins.counts <= n && coins.counts < DP_COINS_MOST);
        mpfr_set_ui(below, 0, MPFR_RNDN);
        mpfr_set_ui(short_of, 0, MPFR_RNDN);
        unsigned long behind = coins.counts + 400 < n ? coins.counts + 400 : n;
        for (unsigned long k = 0; k < behind; k++) {
            exact_term(term, n, k, rates[r]);
            mpfr_add(below, below, term, MPFR_RNDN);
            if (k < coins.counts)
                from_threshold(ours, coins.threshold[k]);
            else
                mpfr_set_ui(ours, 1, MPFR_RNDN);
            mpfr_sub(off, ours, below, MPFR_RNDN);
            mpfr_add(short_of, short_of, off, MPFR_RNDN);
            mpfr_mul_2ui(off, off, 128, MPFR_RNDN);
            if (mpfr_sgn(off) < 0 || mpfr_cmp_d(off, 1 + 1e-9) > 0)
                fail_msg("rate %.17g: Pr[K <= %lu] is off by %g of the last place", rates[r], k, mpfr_get_d(off, MPFR_RNDN));
        }
        if (mpfr_cmp_ui_2exp(short_of, 1, -120) >= 0)
            fail_msg("rate %.17g: %g rows short", rates[r], mpfr_get_d(short_of, MPFR_RNDN));
    }
    mpfr_clears(term, below, ours, off, short_of, (mpfr_ptr)0);
    mpfr_free_cache();
}

/* Checks the number of rows for each U, at each threshold and just below it. */
TEST(numbers_are_those_of_the_table)
{
    for (size_t r = 0; r < RATES; r++) {
        static struct dp_coins coins;
        dp_coins_prepare(&coins, rates[r], DP_DRAW_COINS);
        assert_int_equal(dp_coins_number(&coins, ~(unsigned __int128)0), coins.counts);
        for (size_t k = 0; k < coins.counts; k++) {
            unsigned __int128 t = coins.threshold[k], last = k == 0 ? 0 : coins.threshold[k - 1];
            assert_true(t >= last);
            if (t == last)
                continue;
            assert_int_equal(dp_coins_number(&coins, t - 1), k);
            assert_int_equal(dp_coins_number(&coins, last), k);
            assert_true(dp_coins_number(&coins, t) > k);
        }
    }
}

/* --- the draws */

/* Fails if Pearson's sum over cells of these counts is too large. Cells with small expected counts are combined. */
static void chi_square(const char *what, double rate, const double *seen, const double *expected, size_t cells)
{
    double sum = 0, s = 0, e = 0;
    int freedom = -1;
    for (size_t i = 0; i < cells; i++) {
        s += seen[i];
        e += expected[i];
        if (e < 20 && i + 1 < cells)
            continue;
        if (e > 0)
            sum += (s - e) * (s - e) / e;
        else
            assert_true(s == 0);
        freedom++;
        s = e = 0;
    }
    if (freedom > 0 && sum > gsl_cdf_chisq_Qinv(BLAME, freedom))
        fail_msg("%s at rate %.17g: %.6g with %d degrees of freedom", what, rate, sum, freedom);
}

#define LAPS 4000

TEST(numbers_are_binomial)
{
    const struct dp_key with = key(1);
    struct batch b = {0};
    for (size_t r = 1; r < RATES; r++) {
        static struct dp_coins coins;
        double seen[DP_COINS_MOST + 1] = {0}, expected[DP_COINS_MOST + 1];
        dp_coins_prepare(&coins, rates[r], DP_DRAW_COINS);
        int64_t n = (int64_t)1 << coins.bits;
        for (uint64_t lap = 0; lap < LAPS; lap++) {
            b.count = 0;
            toss(&coins, &with, lap, 3 * n, 4 * n, &b);
            assert_true(b.count <= coins.counts);
            seen[b.count]++;
        }
        for (size_t k = 0; k <= coins.counts; k++)
            expected[k] = LAPS * gsl_ran_binomial_pdf((unsigned)k, rates[r], (unsigned)(n > UINT32_MAX ? UINT32_MAX : n));
        chi_square("numbers", rates[r], seen, expected, coins.counts + 1);
    }
    free(b.row);
}

#define CELLS 32

/* All rows are equally frequent, by their first and by their last five bits, in all chunks and in the chunks that need more
 * words than most. */
TEST(rows_are_uniform)
{
    const struct dp_key with = key(2);
    struct batch b = {0};
    for (size_t r = 1; r < RATES; r++) {
        static struct dp_coins coins;
        double high[2][CELLS] = {{0}}, low[2][CELLS] = {{0}}, expected[2][CELLS] = {{0}};
        dp_coins_prepare(&coins, rates[r], DP_DRAW_COINS);
        int64_t n = (int64_t)1 << coins.bits;
        for (uint64_t lap = 0; lap < LAPS; lap++) {
            b.count = 0;
            toss(&coins, &with, lap, 5 * n, 6 * n, &b);
            for (size_t i = 0; i < b.count; i++) {
                int64_t row = b.row[i] - 5 * n;
                high[b.count > 44][row >> (coins.bits - 5)]++;
                low[b.count > 44][row % CELLS]++;
            }
            for (size_t c = 0; c < CELLS; c++)
                expected[b.count > 44][c] += (double)b.count / CELLS;
        }
        for (int many = 0; many < 2; many++) {
            chi_square("first bits of rows", rates[r], high[many], expected[many], CELLS);
            chi_square("last bits of rows", rates[r], low[many], expected[many], CELLS);
        }
    }
    free(b.row);
}

/* Any two rows of a chunk are sampled independently, and so is one row in two chunks or two laps. The products of the
   deviations of their coins have mean 0 and are uncorrelated, so the squares of their sums have a mean of one each. A sum of
   that many products is nearly Gaussian, and exceeds 5 of its standard deviations once in 10^6. */
LONG_TEST(pairs_are_independent)
{
    enum { MOST = 256, PAIR_LAPS = 6000 };
    static const double of[] = {0.0625, 0.1, 0.24, 0.45, 0.5, 0.6, 0.9};
    static double product[MOST][MOST], coin[MOST], before[MOST];
    const struct dp_key with = key(3);
    struct batch b = {0};
    for (size_t r = 0; r < sizeof of / sizeof *of; r++) {
        static struct dp_coins coins;
        dp_coins_prepare(&coins, of[r], DP_DRAW_COINS);
        size_t n = (size_t)1 << coins.bits, rows = 2 * n < MOST ? 2 * n : MOST; /* two chunks if there is room */
        memset(product, 0, sizeof product);
        for (uint64_t lap = 0; lap < PAIR_LAPS; lap++) {
            memcpy(before, coin, sizeof coin);
            for (size_t i = 0; i < rows; i++)
                coin[i] = -of[r];
            b.count = 0;
            toss(&coins, &with, lap, 0, (int64_t)rows, &b);
            for (size_t i = 0; i < b.count; i++)
                coin[b.row[i]] += 1;
            for (size_t i = 0; i < rows; i++) {
                for (size_t j = 0; j < i; j++)
                    product[i][j] += coin[i] * coin[j];
                product[i][i] += lap > 0 ? coin[i] * before[i] : 0;
            }
        }
        double sum = 0, all = 0, pairs = (double)(rows * (rows + 1) / 2), deviation = of[r] * (1 - of[r]) * sqrt(PAIR_LAPS);
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j <= i; j++) {
                sum += product[i][j] * product[i][j] / (deviation * deviation);
                all += product[i][j] / deviation;
                assert_true(fabs(product[i][j]) < 7.5 * deviation);
            }
        if (fabs(sum - pairs) > 5 * sqrt(2.5 * pairs) || fabs(all) > 5 * sqrt(pairs))
            fail_msg("rate %.17g: squares of %.0f pairs are %.6g, their sum is %.6g", of[r], pairs, sum, all);
    }
    free(b.row);
}

/* --- different ways of asking */

TEST(parts_are_the_whole)
{
    static const double of[] = {1e-9, 1e-4, 0.003, 0.1, 0.4, 0.7, 0.99, 1 - 1e-9, 1};
    const struct dp_key with = key(4);
    struct batch whole = {0}, parts = {0};
    for (size_t r = 0; r < sizeof of / sizeof *of; r++) {
        static struct dp_coins coins;
        dp_coins_prepare(&coins, of[r], DP_DRAW_COINS);
        int64_t rows = of[r] < 0.001 ? (int64_t)(3000 / of[r]) : 30011;
        for (int64_t base = 0; base >= 0; base = base == 0 ? ((int64_t)1 << 48) - rows : -1) {
            whole.count = 0;
            toss(&coins, &with, 7, base, base + rows, &whole);
            assert_true(of[r] < 1 || whole.count == (size_t)rows);
            assert_true(of[r] == 1 ||
                        fabs((double)whole.count - of[r] * (double)rows) <= 6 * sqrt(of[r] * (1 - of[r]) * (double)rows) + 1);
            for (uint64_t way = 0; way < 20; way++) {
                parts.count = 0;
                for (int64_t at = base, end; at < base + rows; at = end) {
                    uint64_t step = dp_draw_word(&with, DP_DRAW_NOISE, way, (uint64_t)(at - base), 0);
                    end = at + 1 + (int64_t)(step % ((uint64_t)rows / (1 + way % 7 * 40)));
                    toss(&coins, &with, 7, at, end < base + rows ? end : base + rows, &parts);
                }
                assert_int_equal(parts.count, whole.count);
                assert_memory_equal(parts.row, whole.row, whole.count * sizeof *whole.row);
            }
        }
    }
    free(whole.row);
    free(parts.row);
}

/* The number of rows of one chunk that two draws share, if rows are in with probability q. */
static void unlike(const struct dp_coins *coins, const struct dp_key *with, uint64_t lap, int64_t base, uint64_t other_lap,
                   int64_t other_base)
{
    struct batch a = {0}, b = {0};
    int64_t n = (int64_t)1 << coins->bits;
    size_t shared = 0, j = 0;
    toss(coins, with, lap, base, base + n, &a);
    toss(coins, with, other_lap, other_base, other_base + n, &b);
    for (size_t i = 0; i < a.count; i++) {
        while (j < b.count && b.row[j] - other_base < a.row[i] - base)
            j++;
        shared += j < b.count && b.row[j] - other_base == a.row[i] - base;
    }
    /* a mean of q² n = 0.03: five rows are shared once in 10^9 */
    assert_true(shared < 5);
    free(a.row);
    free(b.row);
}

TEST(laps_and_chunks_are_drawn_anew)
{
    static struct dp_coins coins, others;
    const struct dp_key with = key(5);
    const double many = 31.9 / 32768; /* some of its chunks need more words */
    dp_coins_prepare(&coins, many, DP_DRAW_COINS);
    dp_coins_prepare(&others, many, DP_DRAW_STEP_COINS);
    int64_t n = (int64_t)1 << coins.bits;
    for (unsigned k = 0; k < 40; k++)
        unlike(&coins, &with, 1, 0, 1 + ((uint64_t)1 << k), 0);
    for (unsigned k = 0; k + coins.bits < 48; k++)
        unlike(&coins, &with, 1, 0, 1, n << k);
    struct batch a = {0}, b = {0};
    toss(&coins, &with, 1, 0, n, &a);
    toss(&others, &with, 1, 0, n, &b);
    assert_true(a.count != b.count || memcmp(a.row, b.row, a.count * sizeof *a.row) != 0);
    free(a.row);
    free(b.row);
}

/* Chunks of more than 44 rows need more words than other chunks, and no two chunks share these words. */
LONG_TEST(more_words_are_drawn_anew)
{
    static struct dp_coins coins;
    const struct dp_key with = key(6);
    dp_coins_prepare(&coins, 31.9 / 0x1p28, DP_DRAW_COINS);
    assert_int_equal(coins.bits, 28);
    enum { FOUND = 600 };
    static int64_t place[FOUND * DP_COINS_MOST];
    struct batch b = {0};
    size_t found = 0, rows = 0;
    for (int64_t chunk = 0; found < FOUND; chunk++) {
        b.count = 0;
        toss(&coins, &with, (uint64_t)chunk / 64, chunk % 64 << 28, (chunk % 64 + 1) << 28, &b);
        found += b.count > 44;
        for (size_t i = 0; b.count > 44 && i < b.count; i++)
            place[rows++] = b.row[i] & ((1 << 28) - 1);
    }
    /* about rows²/2^29 = 1.5 pairs are alike */
    size_t alike = 0;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < i; j++)
            alike += place[i] == place[j];
    assert_true(alike < 12);
    free(b.row);
}

/* --- the size of a batch */

TEST(largest_is_rarely_passed)
{
    for (size_t r = 1; r < RATES; r++)
        for (size_t rows = 1; rows < 2000000000; rows = rows * 3 + 1) {
            size_t most = dp_coins_largest(rates[r], rows);
            assert_true(most <= rows);
            if (most < rows && gsl_cdf_binomial_Q((unsigned)most, rates[r], (unsigned)rows) >= 0x1p-64)
                fail_msg("rate %.17g: %zu of %zu rows", rates[r], most, rows);
            assert_true((double)most <= rates[r] * (double)rows + 10 * sqrt(rates[r] * (double)rows) + 61);
        }
    assert_int_equal(dp_coins_largest(1, 12345), 12345);
}

TESTS(NULL, NULL)
