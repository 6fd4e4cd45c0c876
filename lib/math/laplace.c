#include "math/laplace.h"

#include "math/uniform.h"

struct laplace {
    double scale;
    uint64_t words;      /* words of V that the bounds below are for */
    mpfr_t least, most;  /* bounds of ln(2 / (1 + a)) */
    mpfr_t low, high;    /* bounds of V */
    mpfr_t below, above; /* bounds of y */
};

/* shift = −ln((1 + e^(−1/scale)) / 2), rounded in one direction */
static void set_shift(double scale, mpfr_rnd_t direction, mpfr_t shift)
{
    mpfr_rnd_t opposite = direction == MPFR_RNDD ? MPFR_RNDU : MPFR_RNDD;
    mpfr_set_si(shift, -1, MPFR_RNDN);
    mpfr_div_d(shift, shift, scale, opposite);
    mpfr_expm1(shift, shift, opposite);
    mpfr_div_2ui(shift, shift, 1, MPFR_RNDN);
    mpfr_log1p(shift, shift, opposite);
    mpfr_neg(shift, shift, MPFR_RNDN);
}

static void set_words(struct laplace *s, uint64_t words)
{
    mpfr_prec_t precision = (mpfr_prec_t)(64 * words + 64);
    if (s->words == words)
        return;
    mpfr_set_prec(s->least, precision);
    mpfr_set_prec(s->most, precision);
    mpfr_set_prec(s->below, precision);
    mpfr_set_prec(s->above, precision);
    set_shift(s->scale, MPFR_RNDD, s->least);
    set_shift(s->scale, MPFR_RNDU, s->most);
    s->words = words;
}

/* y = scale × (shift − ln v), rounded in one direction */
static void set_y(const struct laplace *s, const mpfr_t shift, const mpfr_t v, mpfr_rnd_t direction, mpfr_t y)
{
    mpfr_log(y, v, direction == MPFR_RNDD ? MPFR_RNDU : MPFR_RNDD);
    mpfr_sub(y, shift, y, direction);
    mpfr_mul_d(y, y, s->scale, direction);
    mpfr_floor(y, y);
}

static int64_t draw(struct laplace *s, const struct dp_key *key, enum dp_purpose purpose, uint64_t lap, uint64_t index)
{
    uint64_t words = 0;
    do { /* if all bits so far are zero, the upper bound of y may be infinite */
        set_words(s, ++words);
        dp_uniform_between(key, purpose, lap, index, words, 1, s->low, s->high);
        set_y(s, s->least, s->high, MPFR_RNDD, s->below);
        set_y(s, s->most, s->low, MPFR_RNDU, s->above);
    } while (!mpfr_equal_p(s->below, s->above));
    int64_t magnitude = mpfr_get_sj(s->below, MPFR_RNDN);
    return dp_draw_word(key, purpose, lap, index, 0) >> 63 ? -magnitude : magnitude;
}

/* In double precision, from the first word; false if this does not decide the draw. */
static bool draw_fast(uint64_t word, double scale, double shift, int64_t *out)
{
    double v = (double)(int64_t)(word & INT64_MAX) * 0x1p-63, y = scale * (shift - log(v)), below = floor(y);
    double error = scale * DP_LAPLACE_ERROR;
    if (!(v >= DP_LAPLACE_LEAST_V && y - below > error && below + 1 - y > error))
        return false;
    *out = word >> 63 ? -(int64_t)below : (int64_t)below;
    return true;
}

static void open(struct laplace *s, double scale)
{
    *s = (struct laplace){.scale = scale};
    mpfr_inits2(64, s->least, s->most, s->low, s->high, s->below, s->above, (mpfr_ptr)0);
}

static void finish(struct laplace *s)
{
    mpfr_clears(s->least, s->most, s->low, s->high, s->below, s->above, (mpfr_ptr)0);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
}

int64_t dp_laplace_exact(const struct dp_key *key, enum dp_purpose purpose, uint64_t lap, uint64_t index, double scale)
{
    struct laplace s;
    open(&s, scale);
    int64_t out = draw(&s, key, purpose, lap, index);
    finish(&s);
    return out;
}

int dp_laplace_draw(const struct dp_key *key, enum dp_purpose purpose, uint64_t lap, uint64_t first, double scale, int64_t *out,
                    size_t count)
{
    struct laplace s;
    bool slow = false;
    if (!(scale > 0 && scale <= DP_LAPLACE_MOST))
        return -1;
    double shift = -log1p(expm1(-1 / scale) / 2);
    for (size_t i = 0; i < count; i++) {
        if (draw_fast(dp_draw_word(key, purpose, lap, first + i, 0), scale, shift, &out[i]))
            continue;
        if (!slow)
            open(&s, scale);
        slow = true;
        out[i] = draw(&s, key, purpose, lap, first + i);
    }
    if (slow)
        finish(&s);
    return 0;
}
