/* The discrete Laplace is the exact one: it agrees with an independent inversion and has its distribution. */
#include "drawn.h"
#include "unit.h"

#include <gsl/gsl_cdf.h>
#include <mpfr.h>

#include "math/laplace.h"

#define BITS 400

/* sign × the smallest k with V ≥ 2 a^(k+1) / (1 + a), by bisection on those powers, with 4 words of V at 400 bits. Returns
   whether the first 63 bits of V do not decide it. */
static int by_powers(const struct dp_key *key, uint64_t index, double scale, int64_t *draw)
{
    int64_t found[3];
    mpfr_t v, a, power;
    mpfr_inits2(BITS, v, a, power, (mpfr_ptr)0);
    for (int part = 0; part < 3; part++) { /* all bits of V; then its first 63 bits, and the same with one more in the last
                                            * place */
        mpfr_set_zero(v, 1);
        for (uint64_t j = part == 0 ? 4 : 1; j-- > 0;) {
            uint64_t word = dp_draw_word(key, DP_DRAW_NOISE, 1, index, j);
            mpfr_add_ui(v, v, (j == 0 ? word & INT64_MAX : word) + (part == 2), MPFR_RNDN);
            mpfr_div_2ui(v, v, j == 0 ? 63 : 64, MPFR_RNDN);
        }
        int64_t low = -1, high = (int64_t)1 << 55; /* too small, large enough */
        while (high - low > 1) {
            int64_t k = low + (high - low) / 2;
            mpfr_set_d(a, -1, MPFR_RNDN);
            mpfr_div_d(a, a, scale, MPFR_RNDN);
            mpfr_mul_si(power, a, k + 1, MPFR_RNDN);
            mpfr_exp(power, power, MPFR_RNDN);
            mpfr_exp(a, a, MPFR_RNDN);
            mpfr_add_ui(a, a, 1, MPFR_RNDN);
            mpfr_mul_ui(power, power, 2, MPFR_RNDN);
            mpfr_div(power, power, a, MPFR_RNDN);
            if (mpfr_greaterequal_p(v, power))
                high = k;
            else
                low = k;
        }
        found[part] = high;
    }
    mpfr_clears(v, a, power, (mpfr_ptr)0);
    *draw = dp_draw_word(key, DP_DRAW_NOISE, 1, index, 0) >> 63 ? -found[0] : found[0];
    return found[1] != found[2];
}

/* At 2^48 some V are so small that their first word does not decide the draw. */
TEST(draws_agree_with_powers)
{
    enum { DRAWS = 50, SEARCHED = 1 << 20 };
    static uint64_t word[SEARCHED];
    const double scales[] = {0.01, 0.7, 1e3, 1e6, 0x1p48};
    int64_t expected, got;
    int open = 0, small = 0;
    const struct dp_key key = key_of(1, "powers");
    for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++) {
        for (uint64_t i = 0; i < DRAWS; i++) {
            by_powers(&key, i, scales[s], &expected);
            assert_int_equal(dp_laplace_draw(&key, DP_DRAW_NOISE, 1, i, scales[s], &got, 1), 0);
            assert_int_equal(got, expected);
        }
    }
    dp_draw(&key, DP_DRAW_NOISE, 1, 0, word, sizeof word);
    for (uint64_t i = 0; i < SEARCHED; i++) {
        if ((word[i] & INT64_MAX) >> 48 != 0) /* V < 2^-15 */
            continue;
        small++;
        open += by_powers(&key, i, 0x1p48, &expected);
        assert_int_equal(dp_laplace_draw(&key, DP_DRAW_NOISE, 1, i, 0x1p48, &got, 1), 0);
        assert_int_equal(got, expected);
    }
    assert_true(small > 10 && open > 5);
}

/* This also holds near the limits of double precision, where it decides some draws and not others. */
LONG_TEST(the_fast_path_is_the_slow_one)
{
    enum { DRAWS = 2000 };
    static int64_t draw[DRAWS];
    const double scales[] = {1e-300, 0.01, 0.7, 5, 1e3, 3e6, 1e9, 0x1p36, 1e12, 2e13, 0x1p45, 0x1p48};
    const struct dp_key key = key_of(4, "fast");
    for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++) {
        assert_int_equal(dp_laplace_draw(&key, DP_DRAW_NOISE, s, 0, scales[s], draw, DRAWS), 0);
        for (uint64_t i = 0; i < DRAWS; i++)
            assert_int_equal(draw[i], dp_laplace_exact(&key, DP_DRAW_NOISE, s, i, scales[s]));
    }
}

/* y / scale in double precision, as in dp_laplace_draw, against MPFR: the error is at most a fifth of the bound. */
TEST(the_error_of_the_fast_path_is_as_proved)
{
    const double scales[] = {1e-3, 0.3, 1, 2, 10, 1e3, 1e6, 1e12};
    double worst = 0;
    mpfr_t exact, a;
    mpfr_inits2(200, exact, a, (mpfr_ptr)0);
    const struct dp_key key = key_of(5, "error");
    for (uint64_t i = 0; i < 20000; i++) {
        double scale = scales[i % 8];
        uint64_t word = dp_draw_word(&key, DP_DRAW_NOISE, 1, i, 0) & INT64_MAX;
        word = i % 3 == 0 ? word >> i % 12 : word;
        double v = (double)(int64_t)word * 0x1p-63;
        if (v < DP_LAPLACE_LEAST_V)
            continue;
        double x = -log1p(expm1(-1 / scale) / 2) - log(v);
        mpfr_set_d(a, -1, MPFR_RNDN);
        mpfr_div_d(a, a, scale, MPFR_RNDN);
        mpfr_exp(a, a, MPFR_RNDN);
        mpfr_add_ui(a, a, 1, MPFR_RNDN);
        mpfr_ui_div(a, 2, a, MPFR_RNDN);
        mpfr_set_ui(exact, word, MPFR_RNDN);
        mpfr_div_2ui(exact, exact, 63, MPFR_RNDN);
        mpfr_div(exact, a, exact, MPFR_RNDN);
        mpfr_log(exact, exact, MPFR_RNDN);
        mpfr_sub_d(exact, exact, x, MPFR_RNDN);
        worst = fmax(worst, fabs(mpfr_get_d(exact, MPFR_RNDN)));
    }
    mpfr_clears(exact, a, (mpfr_ptr)0);
    assert_true(worst > 0 && 5 * worst < DP_LAPLACE_ERROR);
}

/* Compares whole numbers with their probabilities by chi-square; the seed is fixed, and the false-alarm rate over seeds is 1e-6
   for each scale. */
TEST(whole_numbers_have_their_probabilities)
{
    enum { DRAWS = 60000, HALF = 100 };
    static int64_t draw[DRAWS];
    const double scales[] = {0.5, 3, 10};
    const struct dp_key key = key_of(2, "chi-square");
    for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++) {
        double seen[2 * HALF + 1] = {0}, rest = DRAWS, rest_seen = DRAWS, chi = 0, a = exp(-1 / scales[s]);
        int cells = 0;
        assert_int_equal(dp_laplace_draw(&key, DP_DRAW_NOISE, s, 0, scales[s], draw, DRAWS), 0);
        for (int i = 0; i < DRAWS; i++)
            if (llabs(draw[i]) <= HALF)
                seen[draw[i] + HALF]++;
        for (int k = -HALF; k <= HALF; k++) {
            double p = (1 - a) / (1 + a) * pow(a, abs(k)) * DRAWS;
            if (p < 20)
                continue;
            chi += (seen[k + HALF] - p) * (seen[k + HALF] - p) / p;
            rest -= p;
            rest_seen -= seen[k + HALF];
            cells++;
        }
        assert_true(rest > 10);
        chi += (rest_seen - rest) * (rest_seen - rest) / rest;
        assert_true(gsl_cdf_chisq_Q(chi, cells) > 1e-6);
    }
}

/* How far the mean of |k|, drawn at `scale`, is from its value at `claimed`, 2a / (1 − a²), in standard errors. The variance of
   |k| follows from E k² = 2a / (1 − a)². */
static double mean_size(double scale, double claimed)
{
    enum { DRAWS = 150000 };
    static int64_t draw[DRAWS];
    double sum = 0, a = exp(-1 / claimed), mean = 2 * a / ((1 - a) * (1 + a));
    double variance = 2 * a / ((1 - a) * (1 - a)) - mean * mean;
    const struct dp_key key = key_of(3, "mean");
    assert_int_equal(dp_laplace_draw(&key, DP_DRAW_NOISE, 1, 0, scale, draw, DRAWS), 0);
    for (int i = 0; i < DRAWS; i++)
        sum += fabs((double)draw[i]);
    return (sum / DRAWS - mean) / sqrt(variance / DRAWS);
}

/* Fixed seed; false-alarm rate over seeds 1e-6 (4.89 standard errors). A scale 2 % too small would be detected. */
TEST(the_scale_is_right)
{
    assert_true(fabs(mean_size(50, 50)) < 4.89);
    assert_true(fabs(mean_size(49, 50)) > 4.89);
}

/* Computed by tests/vectors/noise.py: the key 00 01 … 1f, lap 7. */
TEST(known_answers)
{
    static const struct {
        double scale;
        int64_t draw[10];
    } known[] = {
        {0.5, {0, 1, 0, 0, 0, -2, 0, 0, 0, 0}},
        {20, {-3, 59, 24, 7, 2, -69, 1, 20, 1, -1}},
        {1000000.0, {-164395, 2941221, 1177849, 355984, 116019, -3472121, 75159, 1013451, 51113, -33879}},
    };
    const struct dp_key key = counted_key();
    for (size_t s = 0; s < sizeof known / sizeof known[0]; s++) {
        int64_t draw[10];
        assert_int_equal(dp_laplace_draw(&key, DP_DRAW_NOISE, 7, 0, known[s].scale, draw, 4), 0);
        assert_int_equal(dp_laplace_draw(&key, DP_DRAW_NOISE, 7, 4, known[s].scale, draw + 4, 6), 0);
        assert_memory_equal(draw, known[s].draw, sizeof draw);
    }
}

TEST(what_is_no_scale_is_refused)
{
    const double bad[] = {0, -1, 0x1.0000000000001p48, (double)INFINITY, (double)NAN};
    int64_t draw;
    const struct dp_key key = key_of(3, "test");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_not_equal(dp_laplace_draw(&key, DP_DRAW_NOISE, 1, 0, bad[i], &draw, 1), 0);
    assert_int_equal(dp_laplace_draw(&key, DP_DRAW_NOISE, 1, 0, 0x1p-1074, &draw, 1), 0);
    assert_int_equal(draw, 0);
}

TESTS(NULL, NULL)
