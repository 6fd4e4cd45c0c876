#include "math/gaussian.h"

#include <gsl/gsl_cdf.h>

#include "base/isa.h"
#include "math/uniform.h"

static const double rows[DP_GAUSSIAN_ROWS][DP_GAUSSIAN_COEFFICIENTS] = {
#include "math/gaussian_table.inc"
};

static inline uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The double nearest to x < 2^63: two exact halves, and one rounding of their sum. Every CPU with vectors has vector
   instructions for this. */
static inline double nearest(uint64_t x)
{
    double high = from_bits((x >> 32) | bits_of(0x1p84)) - (0x1p84 + 0x1p52);
    return high + from_bits((x & UINT32_MAX) | bits_of(0x1p52));
}

/* y of the first word of a draw. *outside: the table does not reach V, and y means nothing. */
static inline double fast(uint64_t word, double scale, uint64_t *outside)
{
    const uint64_t first = (uint64_t)(1023 - DP_GAUSSIAN_OCTAVES) * DP_GAUSSIAN_PARTS, place = (UINT64_C(1) << 47) - 1;
    const double *table = rows[0]; /* with numeric indices the compiler combines the loads of several draws */
    double v = nearest(word & INT64_MAX) * 0x1p-63;
    uint64_t row = (bits_of(v) >> 47) - first; /* exponent and 5 bits of the mantissa */
    *outside = row >= DP_GAUSSIAN_ROWS;
    uint64_t c = (row & (*outside - 1)) * DP_GAUSSIAN_COEFFICIENTS;
    double t = from_bits((bits_of(v) & place) | bits_of(1)) - (1 + 0.5 / DP_GAUSSIAN_PARTS);
    double x = table[c + 7];
    x = table[c + 6] + t * x;
    x = table[c + 5] + t * x;
    x = table[c + 4] + t * x;
    x = table[c + 3] + t * x;
    x = table[c + 2] + t * x;
    x = table[c + 1] + t * x;
    x = table[c + 0] + t * x;
    double y = scale * x;
    return y;
}

/* The draws of `count` first words. open[i] says that the double precision of this function did not decide draw i. */
DP_KERNEL(void, draw_fast,
          (const uint64_t *restrict word, double scale, size_t count, int64_t *restrict out, uint64_t *restrict open),
          (word, scale, count, out, open))
{
    const double whole = 0x1.8p52; /* adding it rounds to an integer, which is then in the low bits of the sum */
    const double limit = 0.5 - scale * DP_GAUSSIAN_ERROR;
    for (size_t i = 0; i < count; i++) {
        uint64_t outside;
        double y = fast(word[i], scale, &outside), rounded = y + whole;
        int64_t magnitude = (int64_t)(bits_of(rounded) - bits_of(whole));
        int64_t sign = -(int64_t)(word[i] >> 63);
        out[i] = (magnitude ^ sign) - sign;
        open[i] = outside | !(fabs(y - (rounded - whole)) < limit);
    }
}

/* The known bits of one V, and workspace for the comparison with a boundary. */
struct exact {
    const struct dp_key *key;
    enum dp_purpose purpose;
    uint64_t lap, index, words;
    double scale;
    mpfr_t low, high; /* the bits so far, and one more in the last place */
    mpfr_t argument, least, most;
};

static void exact_extend(struct exact *s)
{
    mpfr_prec_t precision = (mpfr_prec_t)(64 * ++s->words + 64);
    dp_uniform_between(s->key, s->purpose, s->lap, s->index, s->words, 1, s->low, s->high);
    mpfr_set_prec(s->argument, precision);
    mpfr_set_prec(s->least, precision);
    mpfr_set_prec(s->most, precision);
}

/* bound = erfc((k + ½) / (scale √2)), rounded in one direction. */
static void exact_bound(struct exact *s, int64_t k, mpfr_rnd_t direction, mpfr_t bound)
{
    mpfr_rnd_t opposite = direction == MPFR_RNDD ? MPFR_RNDU : MPFR_RNDD;
    mpfr_sqrt_ui(s->argument, 8, direction);
    mpfr_mul_d(s->argument, s->argument, s->scale, direction);
    mpfr_si_div(s->argument, 2 * k + 1, s->argument, opposite);
    mpfr_erfc(bound, s->argument, direction);
}

/* |draw| ≤ k? */
static bool exact_at_most(struct exact *s, int64_t k)
{
    for (;; exact_extend(s)) {
        exact_bound(s, k, MPFR_RNDU, s->most);
        if (mpfr_greaterequal_p(s->low, s->most))
            return true;
        exact_bound(s, k, MPFR_RNDD, s->least);
        if (mpfr_lessequal_p(s->high, s->least))
            return false;
    }
}

/* The smallest k with |draw| ≤ k, from a guess. A bad guess only takes more time. */
static int64_t exact_search(struct exact *s)
{
    double middle = 0.5 * mpfr_get_d(s->low, MPFR_RNDN) + 0x1p-65;
    int64_t k = (int64_t)(s->scale * fmax(0, gsl_cdf_ugaussian_Qinv(middle)));
    if (exact_at_most(s, k))
        while (k > 0 && exact_at_most(s, k - 1))
            k--;
    else
        do
            k++;
        while (!exact_at_most(s, k));
    return k;
}

/* y: |draw| is ⌊y⌋ or the number after it; NAN if nothing is known. */
static int64_t exact_draw(struct exact *s, double y)
{
    bool negative = dp_draw_word(s->key, s->purpose, s->lap, s->index, 0) >> 63;
    mpfr_inits2(64, s->low, s->high, s->argument, s->least, s->most, (mpfr_ptr)0);
    exact_extend(s);
    int64_t k = isnan(y) ? exact_search(s) : (int64_t)y + !exact_at_most(s, (int64_t)y);
    mpfr_clears(s->low, s->high, s->argument, s->least, s->most, (mpfr_ptr)0);
    return negative ? -k : k;
}

int64_t dp_gaussian_exact(const struct dp_key *key, enum dp_purpose purpose, uint64_t lap, uint64_t index, double scale)
{
    return exact_draw(&(struct exact){.key = key, .purpose = purpose, .lap = lap, .index = index, .scale = scale}, NAN);
}

int dp_gaussian_draw(const struct dp_key *key, enum dp_purpose purpose, uint64_t lap, uint64_t first, double scale,
                     int64_t *out, size_t count)
{
    enum { BLOCK = 512, GROUP = 32 }; /* 256 bytes of the stream at once: faster than single reads if most of them are used */
    uint64_t word[BLOCK];
    uint64_t open[BLOCK];
    bool slow = false;
    if (!(scale > 0 && scale <= DP_GAUSSIAN_MOST))
        return -1;
    for (size_t j = 0; j < count;) {
        /* Addresses are whole 64-byte blocks: eight draws each. */
        uint64_t at = first + j;
        size_t skip = at % 8;
        size_t take = BLOCK - skip < count - j ? BLOCK - skip : count - j;
        size_t words = skip + take <= 8 ? 8 : (skip + take + GROUP - 1) / GROUP * GROUP;
        dp_draw(key, purpose, lap, (at - skip) * sizeof word[0], word, words * sizeof word[0]);
        draw_fast(word + skip, scale, take, out + j, open);
        for (size_t i = 0; i < take; i++) {
            if (!open[i])
                continue;
            struct exact exact = {.key = key, .purpose = purpose, .lap = lap, .index = at + i, .scale = scale};
            uint64_t outside;
            double y = fast(word[skip + i], scale, &outside);
            /* If the error of y may be more than a half, y does not say that the draw is one of two. */
            out[j + i] = exact_draw(&exact, outside || scale * DP_GAUSSIAN_ERROR >= 0.5 ? (double)NAN : y);
            slow = true;
        }
        j += take;
    }
    if (slow)
        mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
    return 0;
}
