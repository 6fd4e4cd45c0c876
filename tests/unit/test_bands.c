/* Correlated noise: its coefficients, what they cost, the recursion in whole numbers, and the law of what comes out. */
#include "unit.h"

#include "base/mem.h"
#include "math/gaussian.h"
#include "priv/bands.h"

enum { MOST = 1024 };

/* Σ_t (Σ_j c_(t − jb))²: the squared norm of C S for a person in laps 1, 1 + b, … of `laps`. */
static double squares(int64_t bands, int64_t apart, int64_t laps)
{
    int64_t c[DP_BANDS_MOST];
    double sum = 0;
    dp_bands_coefficients(c, bands);
    for (int64_t t = 0; t < laps; t++) {
        double shift = 0;
        for (int64_t from = 0; from <= t; from += apart)
            shift += t - from < bands ? (double)c[t - from] / DP_BANDS_UNIT : 0;
        sum += shift * shift;
    }
    return sum;
}

TEST(coefficients_and_norms_are_those_of_the_root)
{
    int64_t c[DP_BANDS_MOST];
    dp_bands_coefficients(c, DP_BANDS_MOST);
    assert_true(c[0] == 4096 && c[1] == 2048 && c[2] == 1536 && c[3] == 1280);
    for (int k = 1; k < DP_BANDS_MOST; k++)
        assert_true(c[k] > 0 && c[k] <= c[k - 1]);
    assert_true(dp_bands_norm(1) >= 1 && dp_bands_norm(1) < 1 + 1e-15);
    for (int64_t bands = 1; bands <= DP_BANDS_MOST; bands = bands * 3 - 1) {
        double norm = dp_bands_norm(bands);
        assert_true(norm * norm >= squares(bands, bands, bands) && norm * norm < squares(bands, bands, bands) * (1 + 1e-14));
        bands += bands == 1;
    }
    assert_near(squares(4, 4, 4), 1.48828125, 0);
    assert_near(dp_bands_norm(64), 1.545625, 1e-6);
    assert_near(squares(1024, 1024, 1024), 3.27255, 1e-4);
}

/* Two laps of a person that are B apart cost as two mechanisms; closer together they cost more. */
TEST(laps_that_are_apart_add_up)
{
    assert_near(squares(4, 4, 8), 2 * 1.48828125, 0);
    assert_near(squares(8, 4, 8), 4.299739, 1e-4);
    assert_near(squares(16, 16, 128), 8 * squares(16, 16, 16), 1e-15);
    assert_true(squares(17, 16, 128) > 8 * squares(17, 17, 17) * 1.01);
}

/* The recursion on C S + z gives S + r: so S + r is a function of it. Half of the steps are such that z ends on a tie. */
TEST(what_is_released_follows_from_c_s_plus_z)
{
    enum { LAPS = 300, BANDS = 7 };
    int64_t c[BANDS], s[LAPS], z[LAPS];
    struct dp_bands noise, all;
    uint64_t seed = 1;
    dp_bands_open(&noise, BANDS, 1);
    dp_bands_open(&all, BANDS, 1);
    dp_bands_coefficients(c, BANDS);
    for (int t = 0; t < LAPS; t++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        s[t] = (int64_t)(seed >> 40) - (1 << 23);
        z[t] = (int64_t)(seed << 20 >> 30) - ((int64_t)1 << 33);
        if (t % 2 == 0) { /* r before rounding is a half */
            int64_t past = 0;
            for (int k = 1; k < BANDS && k <= t; k++)
                past += c[k] * noise.ring[(t - k) % BANDS];
            z[t] = ((z[t] - past) / DP_BANDS_UNIT) * DP_BANDS_UNIT + DP_BANDS_UNIT / 2 + past;
        }
        *dp_bands_slot(&noise) = *dp_bands_slot(&all) = z[t];
        for (int k = 0; k < BANDS && k <= t; k++)
            *dp_bands_slot(&all) += c[k] * s[t - k];
        const int64_t r = *dp_bands_step(&noise);
        assert_true(*dp_bands_step(&all) == s[t] + r);
    }
    dp_bands_close(&noise);
    dp_bands_close(&all);
}

/* Against a recursion that keeps all steps: as many numbers as fill no register, one, and some; more bands than steps ahead and
   fewer. Both signs; numbers of 20 bits, then some beyond 32 bits, then of 31 bits. */
TEST(any_count_of_numbers_follows_the_recursion)
{
    enum { LAPS = 200, WIDEST = 82, MOST_BANDS = 40 };
    static const size_t counts[] = {1, 7, 8, 17, 31, 33, WIDEST};
    static const int64_t bands[] = {1, 2, 3, 8, 9, MOST_BANDS};
    static int64_t r[LAPS][WIDEST];
    int64_t c[MOST_BANDS];
    uint64_t seed = 7;
    dp_bands_coefficients(c, MOST_BANDS);
    for (size_t i = 0; i < 42; i++) {
        const size_t n = counts[i % 7];
        struct dp_bands b;
        dp_bands_open(&b, bands[i / 7], n);
        for (int64_t t = 0; t < LAPS; t++) {
            const int bits = t < 60 ? 32 : t < 63 ? 55 : 42;
            int64_t *now = dp_bands_slot(&b);
            assert_true(now == b.ring + (size_t)(t % b.bands) * n);
            for (size_t j = 0; j < n; j++) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                now[j] = r[t][j] = (int64_t)(seed >> (63 - bits)) - ((int64_t)1 << bits);
                for (int64_t k = 1; k < b.bands && k <= t; k++)
                    r[t][j] -= c[k] * r[t - k][j];
                r[t][j] = (int64_t)floor(ldexp((double)(r[t][j] >> 11), -1) + 0.5);
            }
            assert_true(dp_bands_step(&b) == now);
            assert_memory_equal(now, r[t], n * sizeof *now);
        }
        dp_bands_close(&b);
    }
}

/* At the edge of 32 bits. */
TEST(numbers_of_32_bits_are_exact)
{
    enum { LAPS = 600, BANDS = 256 };
    struct dp_bands b;
    int64_t c[BANDS], r[LAPS];
    dp_bands_coefficients(c, BANDS);
    dp_bands_open(&b, BANDS, 1);
    for (int64_t t = 0; t < LAPS; t++) {
        int64_t past = 0, wanted = t % 2 == 0 ? INT32_MIN : t % 5 == 0 && t > 300 ? (int64_t)INT32_MAX + 1 : INT32_MAX;
        for (int64_t k = 1; k < BANDS && k <= t; k++)
            past += c[k] * r[t - k];
        r[t] = wanted;
        *dp_bands_slot(&b) = wanted * DP_BANDS_UNIT + past;
        assert_true(*dp_bands_step(&b) == wanted);
    }
    dp_bands_close(&b);
}

/* The first row of C^-1. */
static void inverse(int64_t bands, int64_t laps, double *out)
{
    int64_t c[DP_BANDS_MOST];
    dp_bands_coefficients(c, bands);
    for (int64_t t = 0; t < laps; t++) {
        out[t] = t == 0;
        for (int64_t k = 1; k < bands && k <= t; k++)
            out[t] -= (double)c[k] / DP_BANDS_UNIT * out[t - k];
    }
}

/* The RMS error of running totals, in z C. */
static double error(int64_t bands, int64_t laps)
{
    double row[MOST], total = 0, variance = 0, sum = 0;
    inverse(bands, laps, row);
    for (int64_t t = 0; t < laps; t++) {
        total += row[t];
        variance += total * total;
        sum += variance;
    }
    return sqrt(sum / (double)laps) * dp_bands_norm(bands);
}

TEST(running_totals_have_small_errors)
{
    assert_near(error(1, 256), sqrt(128.5), 1e-12);
    assert_true(error(256, 256) < 2.7 && error(64, 256) < 2.81 && error(1024, 1024) < 3.2);
}

/* Moments of r over 2,000 numbers: each is within 5.5 deviations of what C^-1 C^-T says, which true noise misses with
   a probability of 4e-8; 7 of them. The key is fixed. */
TEST(noise_has_the_covariance_that_is_stated)
{
    enum { LAPS = 64, BANDS = 16, COUNT = 2000, AT = 3 };
    static const int one[] = {0, 20, 63}, other[] = {0, 17, 40}; /* laps */
    int64_t *r = dp_new((size_t)LAPS * COUNT, sizeof *r);
    struct dp_bands b;
    double row[LAPS], z = 1000; /* in steps */
    struct dp_key key;
    dp_key_derive(&key, 5, "test_bands", 1);
    dp_bands_open(&b, BANDS, COUNT);
    inverse(BANDS, LAPS, row);
    for (int t = 0; t < LAPS; t++) {
        assert_int_equal(dp_gaussian_draw(&key, DP_DRAW_NOISE, (uint64_t)t + 1, 0, z * DP_BANDS_UNIT, dp_bands_slot(&b), COUNT),
                         0);
        memcpy(r + (size_t)t * COUNT, dp_bands_step(&b), COUNT * sizeof *r);
    }
    for (int pair = 0; pair < AT * 2 + 1; pair++) {
        double sum = 0, expected = 0, a = 0, d = 0;
        bool total = pair == AT * 2;
        int s = pair < AT ? one[pair] : total ? LAPS - 1 : other[pair - AT], t = pair < AT || total ? s : one[pair - AT];
        for (int j = 0; j < COUNT; j++) {
            double x = (double)r[(size_t)s * COUNT + (size_t)j], y = (double)r[(size_t)t * COUNT + (size_t)j];
            for (int k = 0; total && k < s; k++)
                x += (double)r[(size_t)k * COUNT + (size_t)j];
            sum += x * (total ? x : y) / (z * z);
        }
        double u = 0, v = 0;
        for (int k = 0; k <= s || k <= t; k++) {
            u = (k <= s ? row[k] : 0) + (total ? u : 0);
            a += u * u;
            v = k <= t ? row[k] : 0;
            d += v * v;
            int lag = s > t ? s - t : t - s;
            expected += total ? u * u : k + lag <= (s > t ? s : t) ? row[k] * row[k + lag] : 0;
        }
        d = total ? a : d;
        assert_near(sum / COUNT, expected, 5.5 * sqrt((a * d + expected * expected) / COUNT) / fmax(1, fabs(expected)));
    }
    dp_bands_close(&b);
    free(r);
}

TESTS(NULL, NULL)
