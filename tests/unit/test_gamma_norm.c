/* Gamma noise: it agrees with its formula at 400 bits, its norm has a gamma distribution and its direction a uniform
   one. */
#include "drawn.h"
#include "unit.h"

#include <gsl/gsl_cdf.h>
#include <mpfr.h>

#include "math/gamma_norm.h"

#define BITS 400

/* u = the number that 4 words of string j of the vector make */
static void uniform(const struct dp_key *key, uint64_t index, uint64_t j, mpfr_t u)
{
    mpfr_set_zero(u, 1);
    for (uint64_t word = 4; word-- > 0;) {
        mpfr_add_ui(u, u, dp_draw_word(key, DP_DRAW_NOISE, 1, (index << 20) + j, word), MPFR_RNDN);
        mpfr_div_2ui(u, u, 64, MPFR_RNDN);
    }
}

/* The formula of math/gamma_norm.h, without intervals. */
static void by_formula(const struct dp_key *key, uint64_t index, double scale, size_t d, int64_t *out)
{
    mpfr_t u, turn, radius, norm, *g = malloc((d + 1) * sizeof *g);
    mpfr_inits2(BITS, u, turn, radius, norm, (mpfr_ptr)0);
    mpfr_set_zero(radius, 1);
    mpfr_set_zero(norm, 1);
    for (size_t j = 0; j < d; j++) {
        uniform(key, index, j, u);
        mpfr_log(u, u, MPFR_RNDN);
        mpfr_sub(radius, radius, u, MPFR_RNDN);
    }
    for (size_t j = 0; j <= d; j++)
        mpfr_init2(g[j], BITS);
    for (size_t j = 0; j < d; j++) {
        uniform(key, index, d + j / 2 * 2 + 1, turn);
        mpfr_const_pi(u, MPFR_RNDN);
        mpfr_mul(turn, turn, u, MPFR_RNDN);
        mpfr_mul_ui(turn, turn, 2, MPFR_RNDN);
        if (j % 2 == 0)
            mpfr_cos(g[j], turn, MPFR_RNDN);
        else
            mpfr_sin(g[j], turn, MPFR_RNDN);
        uniform(key, index, d + j / 2 * 2, u);
        mpfr_log(u, u, MPFR_RNDN);
        mpfr_mul_si(u, u, -2, MPFR_RNDN);
        mpfr_sqrt(u, u, MPFR_RNDN);
        mpfr_mul(g[j], g[j], u, MPFR_RNDN);
        mpfr_sqr(u, g[j], MPFR_RNDN);
        mpfr_add(norm, norm, u, MPFR_RNDN);
    }
    mpfr_sqrt(norm, norm, MPFR_RNDN);
    for (size_t j = 0; j < d; j++) {
        mpfr_mul(g[j], g[j], radius, MPFR_RNDN);
        mpfr_mul_d(g[j], g[j], scale, MPFR_RNDN);
        mpfr_div(g[j], g[j], norm, MPFR_RNDN);
        mpfr_round(g[j], g[j]);
        out[j] = mpfr_get_sj(g[j], MPFR_RNDN);
    }
    for (size_t j = 0; j <= d; j++)
        mpfr_clear(g[j]);
    mpfr_clears(u, turn, radius, norm, (mpfr_ptr)0);
    free(g);
}

/* At 2^48 points the first words of the numbers do not decide 301 coordinates. */
TEST(vectors_agree_with_the_formula)
{
    const size_t dimensions[] = {1, 2, 3, 10, 301};
    const double scales[] = {0.05, 1, 1e6, 0x1p48};
    int64_t expected[301], got[301];
    const struct dp_key key = key_of(1, "formula");
    for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++)
        for (size_t i = 0; i < sizeof dimensions / sizeof dimensions[0]; i++) {
            size_t d = dimensions[i];
            by_formula(&key, 17 + i, scales[s], d, expected);
            assert_int_equal(dp_gamma_norm_draw(&key, DP_DRAW_NOISE, 1, 17 + i, scales[s], d, got, &err), DP_OK);
            assert_memory_equal(got, expected, d * sizeof *got);
        }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* sqrt(n) times the Kolmogorov–Smirnov distance of n values of a distribution function from uniform. */
static double kolmogorov(double *f, size_t n)
{
    double distance = 0;
    qsort(f, n, sizeof *f, compare);
    for (size_t i = 0; i < n; i++)
        distance = fmax(distance, fmax(fabs(f[i] - (double)i / (double)n), fabs((double)(i + 1) / (double)n - f[i])));
    return sqrt((double)n) * distance;
}

enum { VECTORS = 4000 };
static double norm_at[VECTORS], first_at[VECTORS], turn_at[VECTORS];

/* Distribution functions at the norm, at the first coordinate of the direction, and at the angle of the last two. */
static void sample(double scale, double claimed, size_t d)
{
    const struct dp_key key = key_of(2, "distribution");
    for (size_t i = 0; i < VECTORS; i++) {
        int64_t z[64];
        double square = 0;
        struct dp_err err;
        assert_int_equal(dp_gamma_norm_draw(&key, DP_DRAW_NOISE, 1, i, scale, d, z, &err), DP_OK);
        for (size_t j = 0; j < d; j++)
            square += (double)z[j] * (double)z[j];
        norm_at[i] = gsl_cdf_gamma_P(sqrt(square), (double)d, claimed);
        double c = (double)z[0] / sqrt(square), half = ((double)d - 1) / 2; /* c² is beta(1/2, (d − 1)/2) */
        first_at[i] = 0.5 + copysign(0.5, c) * gsl_cdf_beta_P(c * c, 0.5, half);
        turn_at[i] = 0.5 + atan2((double)z[d - 1], (double)z[d - 2]) / (2 * M_PI);
    }
}

/* Fixed seed; the false-alarm rate over seeds is 1e-6 each (sqrt(n) D > 2.69). In 50 dimensions the norm shows a scale
   that is 2 % too small: its relative deviation is only 1/√50. */
LONG_TEST(distributions_are_right)
{
    const size_t dimensions[] = {3, 4, 50};
    for (size_t i = 0; i < 3; i++) {
        sample(1e6, 1e6, dimensions[i]);
        assert_true(kolmogorov(norm_at, VECTORS) < 2.69);
        assert_true(kolmogorov(first_at, VECTORS) < 2.69);
        assert_true(kolmogorov(turn_at, VECTORS) < 2.69);
    }
    sample(0.98e6, 1e6, 50);
    assert_true(kolmogorov(norm_at, VECTORS) > 2.69);
}

/* Computed by tests/vectors/noise.py: the key 00 01 … 1f, lap 7, vector 2, scale 1e6. */
TEST(known_answers)
{
    static const struct {
        size_t d;
        int64_t draw[5];
    } known[] = {
        {1, {1849817}},
        {4, {4949200, -2283017, 3535790, -1677720}},
        {5, {-2408148, -3672858, -3723952, 2433700, -4184827}},
    };
    const struct dp_key key = counted_key();
    for (size_t s = 0; s < sizeof known / sizeof known[0]; s++) {
        int64_t draw[5];
        assert_int_equal(dp_gamma_norm_draw(&key, DP_DRAW_NOISE, 7, 2, 1e6, known[s].d, draw, &err), DP_OK);
        assert_memory_equal(draw, known[s].draw, known[s].d * sizeof draw[0]);
    }
}

TEST(what_does_not_fit_is_refused)
{
    const double bad[] = {0, -1, 0x1.0000000000001p48, (double)INFINITY, (double)NAN};
    int64_t draw;
    const struct dp_key key = key_of(3, "test");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(dp_gamma_norm_draw(&key, DP_DRAW_NOISE, 1, 0, bad[i], 1, &draw, &err), DP_E_RUN);
    assert_int_equal(dp_gamma_norm_draw(&key, DP_DRAW_NOISE, 1, 0, 1, 0, &draw, &err), DP_E_RUN);
    assert_fails(dp_gamma_norm_draw(&key, DP_DRAW_NOISE, 1, 0, 1, 1 << 19, &draw, &err), DP_E_RUN,
                 "no gamma noise in 524288 dimensions, at most 524287");
}

TESTS(NULL, NULL)
