/* The Gaussian is correctly rounded: its error bound is proved row by row, fast path, slow path and an independent inversion
   agree, and the draws have their distribution. */
#include "drawn.h"
#include "unit.h"

#include <gsl/gsl_cdf.h>
#include <mpfr.h>
#include <pthread.h>

#include "math/gaussian.h"

#define BITS 320

static const double table[DP_GAUSSIAN_ROWS][DP_GAUSSIAN_COEFFICIENTS] = {
#include "math/gaussian_table.inc"
};

/* out = erfc(x/√2) without MPFR's own: 1 − √(2/π) e^(−x²/2) Σ x^(2n+1) / (2n+1)!!, a series of positive terms. */
static void twice_tail(const mpfr_t x, mpfr_t out)
{
    mpfr_t term, square, sum;
    mpfr_inits2(BITS, term, square, sum, (mpfr_ptr)0);
    mpfr_set(term, x, MPFR_RNDN);
    mpfr_set(sum, x, MPFR_RNDN);
    mpfr_sqr(square, x, MPFR_RNDN);
    for (unsigned long n = 1; !mpfr_zero_p(term) && mpfr_get_exp(term) > mpfr_get_exp(sum) - BITS; n++) {
        mpfr_mul(term, term, square, MPFR_RNDN);
        mpfr_div_ui(term, term, 2 * n + 1, MPFR_RNDN);
        mpfr_add(sum, sum, term, MPFR_RNDN);
    }
    mpfr_div_si(square, square, -2, MPFR_RNDN);
    mpfr_exp(square, square, MPFR_RNDN);
    mpfr_mul(sum, sum, square, MPFR_RNDN);
    mpfr_const_pi(term, MPFR_RNDN);
    mpfr_ui_div(term, 2, term, MPFR_RNDN);
    mpfr_sqrt(term, term, MPFR_RNDN);
    mpfr_mul(sum, sum, term, MPFR_RNDN);
    mpfr_ui_sub(out, 1, sum, MPFR_RNDN);
    mpfr_clears(term, square, sum, (mpfr_ptr)0);
}

/* x with erfc(x/√2) = v to more than 200 bits: Newton from a double, until the step is below 2^-240. */
static void quantile(const mpfr_t v, mpfr_t x)
{
    mpfr_t step, slope, half;
    mpfr_inits2(BITS, step, slope, half, (mpfr_ptr)0);
    mpfr_set_d(x, gsl_cdf_ugaussian_Qinv(0.5 * mpfr_get_d(v, MPFR_RNDN)), MPFR_RNDN);
    for (int i = 0;; i++) {
        assert_true(i < 20);
        twice_tail(x, step);
        mpfr_sub(step, step, v, MPFR_RNDN);
        mpfr_sqr(slope, x, MPFR_RNDN);
        mpfr_div_ui(slope, slope, 2, MPFR_RNDN);
        mpfr_exp(slope, slope, MPFR_RNDN);
        mpfr_const_pi(half, MPFR_RNDN);
        mpfr_div_ui(half, half, 2, MPFR_RNDN);
        mpfr_sqrt(half, half, MPFR_RNDN);
        mpfr_mul(slope, slope, half, MPFR_RNDN);
        mpfr_mul(step, step, slope, MPFR_RNDN);
        mpfr_add(x, x, step, MPFR_RNDN);
        if (mpfr_zero_p(step) || mpfr_get_exp(step) < -240)
            break;
    }
    mpfr_clears(step, slope, half, (mpfr_ptr)0);
}

/* The eighth derivative of x at V = a, divided by 8!, from x'' = x x'² term by term. Also the first one. */
static double eighth(double a, double *first)
{
    double y[9], dd[9];
    y[0] = gsl_cdf_ugaussian_Qinv(a / 2);
    y[1] = -sqrt(M_PI_2) * exp(y[0] * y[0] / 2);
    for (int n = 0; n < 7; n++) {
        dd[n] = 0; /* coefficient n of x'² */
        for (int i = 0; i <= n; i++)
            dd[n] += (i + 1) * y[i + 1] * (n - i + 1) * y[n - i + 1];
        y[n + 2] = 0;
        for (int i = 0; i <= n; i++)
            y[n + 2] += y[i] * dd[n - i];
        y[n + 2] /= (n + 2) * (n + 1);
    }
    *first = fabs(y[1]);
    return fabs(y[8]);
}

/* The five parts of the proof in math/gaussian.h, for the numbers of each row. 1.01 covers the test's roundings. */
TEST(error_bound_is_proved)
{
    enum { N = DP_GAUSSIAN_COEFFICIENTS };
    const double u = 0x1p-53, most = 0.5 / DP_GAUSSIAN_PARTS, lebesgue = 2 / M_PI * log(N) + 1;
    double worst = 0;
    mpfr_t node, v, x, p;
    mpfr_inits2(BITS, node, v, x, p, (mpfr_ptr)0);
    for (int row = 0; row < DP_GAUSSIAN_ROWS; row++) {
        const double *c = table[row];
        double octave = dp_gaussian_row_octave(row), middle = dp_gaussian_row_middle(row), at_node = 0;
        for (int i = 0; i < N; i++) {
            mpfr_const_pi(node, MPFR_RNDN);
            mpfr_mul_si(node, node, 2 * i + 1, MPFR_RNDN);
            mpfr_div_si(node, node, 2 * N, MPFR_RNDN);
            mpfr_cos(node, node, MPFR_RNDN);
            mpfr_mul_d(node, node, most, MPFR_RNDN);
            mpfr_add_d(v, node, middle, MPFR_RNDN);
            mpfr_mul_d(v, v, octave, MPFR_RNDN);
            quantile(v, x);
            mpfr_set_d(p, c[N - 1], MPFR_RNDN);
            for (int j = N - 2; j >= 0; j--) {
                mpfr_mul(p, p, node, MPFR_RNDN);
                mpfr_add_d(p, p, c[j], MPFR_RNDN);
            }
            mpfr_sub(p, p, x, MPFR_RNDN);
            at_node = fmax(at_node, fabs(mpfr_get_d(p, MPFR_RNDA)));
        }
        double a = octave * (middle - most), first;
        double remainder = eighth(a, &first) * pow(octave * most, 8) / 128;
        double horner = 0, above = fabs(c[N - 1]);
        for (int j = N - 2; j >= 0; j--) {
            double here = fabs(c[j]) + most * above;
            horner = most * (horner + u * above) + u * here;
            above = here;
        }
        double bits = 0x1p-63 * first, input = octave * u * first, product = u * above;
        worst = fmax(worst, 1.01 * (lebesgue * at_node + remainder + horner + bits + input + product));
    }
    mpfr_clears(node, v, x, p, (mpfr_ptr)0);
    assert_true(worst > 0x1p-53); /* no double is nearer */
    if (!(2 * worst <= DP_GAUSSIAN_ERROR))
        fail_msg("an error of %a is possible, the interval has %a", worst, DP_GAUSSIAN_ERROR);
}

/* The draw by inversion to more than 200 bits. Returns 1 if the first 63 bits of V do not decide it at 200 bits of
   precision. */
static int inverted(const struct dp_key *key, uint64_t index, double scale, int64_t *draw)
{
    int64_t rounded[3];
    mpfr_t v, x;
    mpfr_inits2(BITS, v, x, (mpfr_ptr)0);
    for (int part = 0; part < 3; part++) { /* 0: all bits of V; 1: its first 63 bits; 2: these, plus one in the last place */
        mpfr_set_zero(v, 1);
        for (uint64_t j = 4; j-- > 0;) {
            uint64_t word = dp_draw_word(key, DP_DRAW_NOISE, 1, index, j);
            if (part > 0 && j > 0)
                continue;
            mpfr_add_ui(v, v, (j == 0 ? word & INT64_MAX : word) + (part == 2), MPFR_RNDN);
            mpfr_div_2ui(v, v, j == 0 ? 63 : 64, MPFR_RNDN);
        }
        quantile(v, x);
        mpfr_mul_d(x, x, scale, MPFR_RNDN);
        mpfr_round(x, x);
        rounded[part] = mpfr_get_sj(x, MPFR_RNDN);
    }
    mpfr_clears(v, x, (mpfr_ptr)0);
    *draw = dp_draw_word(key, DP_DRAW_NOISE, 1, index, 0) >> 63 ? -rounded[0] : rounded[0];
    return rounded[1] != rounded[2];
}

/* At 1e13 one draw in seven needs the slow path, at 2^48 all do; at 2^57 it also needs further words. */
TEST(slow_path_agrees_with_an_inversion)
{
    const double scales[] = {0.3, 1e6, 1e13, 0x1p48, 0x1p57};
    const struct dp_key key = key_of(1, "inversion");
    for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++) {
        int extended = 0;
        for (uint64_t i = 0; i < 100; i++) {
            int64_t expected, fast;
            extended += inverted(&key, i, scales[s], &expected);
            assert_int_equal(dp_gaussian_exact(&key, DP_DRAW_NOISE, 1, i, scales[s]), expected);
            if (scales[s] <= DP_GAUSSIAN_MOST) {
                assert_int_equal(dp_gaussian_draw(&key, DP_DRAW_NOISE, 1, i, scales[s], &fast, 1), 0);
                assert_int_equal(fast, expected);
            }
        }
        assert_true(scales[s] < 0x1p57 || extended >= 3);
    }
}

/* Decisions in double precision equal the exact comparison, for scales at which the last bits matter. */
TEST(fast_path_agrees_with_the_slow_one)
{
    enum { DRAWS = 4000 };
    static int64_t draw[DRAWS];
    const double scales[] = {0.01, 0.3, 1, 1e3, 1e6, 3e11, 5e12};
    const struct dp_key key = key_of(2, "paths");
    for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++) {
        assert_int_equal(dp_gaussian_draw(&key, DP_DRAW_NOISE, 3, 0, scales[s], draw, DRAWS), 0);
        for (int i = 0; i < DRAWS; i++)
            assert_int_equal(draw[i], dp_gaussian_exact(&key, DP_DRAW_NOISE, 3, (uint64_t)i, scales[s]));
    }
}

/* The tail, which is beyond the table: of a million draws, those above 4.3 standard deviations. */
TEST(the_tail_is_there)
{
    enum { DRAWS = 1000000 };
    static int64_t draw[DRAWS];
    int beyond = 0;
    const struct dp_key key = key_of(4, "tail");
    assert_int_equal(dp_gaussian_draw(&key, DP_DRAW_NOISE, 1, 0, 1e9, draw, DRAWS), 0);
    for (int i = 0; i < DRAWS; i++) {
        int64_t expected;
        if (llabs(draw[i]) < 4300000000)
            continue;
        inverted(&key, (uint64_t)i, 1e9, &expected);
        assert_int_equal(draw[i], expected);
        beyond++;
    }
    /* 17.08 are expected; the test assumes a Poisson law, with false alarms below 1e-6 on each side */
    assert_in_range(beyond, 3, 42);
}

/* Returns the p-value of a chi-square test: n draws at `scale` against the probabilities of whole numbers at `claimed`. */
static double chi_square(double scale, double claimed)
{
    enum { DRAWS = 400000, CELLS = 129, HALF = CELLS / 2 };
    static int64_t draw[DRAWS];
    double seen[CELLS] = {0}, chi = 0, tail_seen = 0, tail = 0;
    int cells = 0;
    const struct dp_key key = key_of(8, "chi-square");
    assert_int_equal(dp_gaussian_draw(&key, DP_DRAW_NOISE, 1, 0, scale, draw, DRAWS), 0);
    for (int i = 0; i < DRAWS; i++)
        if (draw[i] >= -HALF && draw[i] <= HALF)
            seen[draw[i] + HALF]++;
        else
            tail_seen++;
    for (int k = -HALF; k <= HALF; k++) {
        double near = (abs(k) - 0.5) / claimed, far = (abs(k) + 0.5) / claimed;
        double p = 0.5 * (erfc(near * M_SQRT1_2) - erfc(far * M_SQRT1_2));
        if (p * DRAWS < 20) { /* combined */
            tail_seen += seen[k + HALF];
            tail += p * DRAWS;
            continue;
        }
        chi += (seen[k + HALF] - p * DRAWS) * (seen[k + HALF] - p * DRAWS) / (p * DRAWS);
        cells++;
    }
    tail += DRAWS * erfc((HALF + 0.5) / claimed * M_SQRT1_2);
    if (tail < 1) /* almost nothing is left: one draw there is no reason for an alarm */
        return gsl_cdf_chisq_Q(chi, cells - 1);
    chi += (tail_seen - tail) * (tail_seen - tail) / tail;
    return gsl_cdf_chisq_Q(chi, cells);
}

/* Fixed seed; the false-alarm rate over seeds is 1e-6 for each scale. Each would detect a scale that is 2 % too small. */
TEST(whole_numbers_have_their_probabilities)
{
    const double scales[] = {0.3, 1, 2.5, 7, 12.9};
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        assert_true(chi_square(scales[i], scales[i]) > 1e-6);
        assert_true(chi_square(0.98 * scales[i], scales[i]) < 1e-6);
    }
}

struct part {
    const struct dp_key *key;
    uint64_t first;
    size_t count;
    int64_t *out;
};

static void *draw_part(void *argument)
{
    struct part *p = argument;
    dp_gaussian_draw(p->key, DP_DRAW_NOISE, 6, p->first, 3e11, p->out, p->count);
    return NULL;
}

TEST(threads_and_pieces_do_not_matter)
{
    enum { DRAWS = 5000, THREADS = 4 };
    static int64_t whole[DRAWS], parts[DRAWS];
    const size_t cuts[THREADS + 1] = {0, 7, 1234, 3001, DRAWS};
    struct part part[THREADS];
    pthread_t thread[THREADS];
    const struct dp_key key = key_of(9, "threads");
    assert_int_equal(dp_gaussian_draw(&key, DP_DRAW_NOISE, 6, 100, 3e11, whole, DRAWS), 0);
    for (int t = 0; t < THREADS; t++) {
        part[t] = (struct part){&key, 100 + cuts[t], cuts[t + 1] - cuts[t], parts + cuts[t]};
        assert_int_equal(pthread_create(&thread[t], NULL, draw_part, &part[t]), 0);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    assert_memory_equal(whole, parts, sizeof whole);
}

/* Computed by tests/vectors/noise.py: the key 00 01 … 1f, lap 7. */
TEST(known_answers)
{
    static const struct {
        double scale;
        int64_t draw[10];
    } known[] = {
        {1.5, {0, 3, 2, 1, 0, -3, 0, 1, 0, 0}},
        {1000.0, {-191, 1937, 1020, 385, 138, -2156, 91, 910, 62, -42}},
        {1000000.0, {-191151, 1936543, 1019553, 384668, 137724, -2156417, 90870, 909731, 62492, -41762}},
    };
    const struct dp_key key = counted_key();
    for (size_t s = 0; s < sizeof known / sizeof known[0]; s++) {
        int64_t draw[10];
        assert_int_equal(dp_gaussian_draw(&key, DP_DRAW_NOISE, 7, 0, known[s].scale, draw, 10), 0);
        assert_memory_equal(draw, known[s].draw, sizeof draw);
    }
}

TEST(what_is_no_scale_is_refused)
{
    const double bad[] = {0, -1, 0x1.0000000000001p48, (double)INFINITY, (double)NAN};
    int64_t draw;
    const struct dp_key key = key_of(3, "test");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_not_equal(dp_gaussian_draw(&key, DP_DRAW_NOISE, 1, 0, bad[i], &draw, 1), 0);
    assert_int_equal(dp_gaussian_draw(&key, DP_DRAW_NOISE, 1, 0, 0x1p-1074, &draw, 1), 0);
    assert_int_equal(draw, 0);
}

TESTS(NULL, NULL)
