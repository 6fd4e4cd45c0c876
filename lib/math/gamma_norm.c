#include "math/gamma_norm.h"

#include "base/mem.h"
#include "math/uniform.h"

struct interval {
    mpfr_t low, high;
};

static void interval_open(struct interval *a)
{
    mpfr_inits2(64, a->low, a->high, (mpfr_ptr)0);
}

static void interval_close(struct interval *a)
{
    mpfr_clears(a->low, a->high, (mpfr_ptr)0);
}

static void interval_precision(struct interval *a, mpfr_prec_t precision) /* sets it to zero */
{
    mpfr_set_prec(a->low, precision);
    mpfr_set_prec(a->high, precision);
    mpfr_set_zero(a->low, 1);
    mpfr_set_zero(a->high, 1);
}

/* out = a b for b ≥ 0; out may be a. */
static void interval_times(const struct interval *a, const struct interval *b, struct interval *out)
{
    mpfr_mul(out->low, a->low, mpfr_signbit(a->low) ? b->high : b->low, MPFR_RNDD);
    mpfr_mul(out->high, a->high, mpfr_signbit(a->high) ? b->low : b->high, MPFR_RNDU);
}

/* sum += a² */
static void interval_add_square(const struct interval *a, struct interval *square, struct interval *sum)
{
    bool across = mpfr_signbit(a->low) != mpfr_signbit(a->high);
    bool larger = mpfr_cmpabs(a->low, a->high) > 0;
    if (across)
        mpfr_set_zero(square->low, 1);
    else
        mpfr_sqr(square->low, larger ? a->high : a->low, MPFR_RNDD);
    mpfr_sqr(square->high, larger ? a->low : a->high, MPFR_RNDU);
    mpfr_add(sum->low, sum->low, square->low, MPFR_RNDD);
    mpfr_add(sum->high, sum->high, square->high, MPFR_RNDU);
}

struct draw {
    const struct dp_key *key;
    enum dp_purpose purpose;
    uint64_t lap, first; /* number of the first bit string */
    uint64_t words;      /* of each string, so far */
    struct interval u, e, turn, radius, norm, factor;
    struct interval *g; /* d + 1, or d if that is even */
};

/* e = −ln U_j */
static void exponential(struct draw *s, uint64_t j)
{
    dp_uniform_between(s->key, s->purpose, s->lap, s->first + j, s->words, 0, s->u.low, s->u.high);
    mpfr_log(s->e.low, s->u.high, MPFR_RNDU);
    mpfr_log(s->e.high, s->u.low, MPFR_RNDD);
    mpfr_neg(s->e.low, s->e.low, MPFR_RNDN);
    mpfr_neg(s->e.high, s->e.high, MPFR_RNDN);
}

/* a holds the cosine and b the sine of 2π U_j. The argument is off by 2π 2^-bits for the missing bits and by far less for its
   rounding, together below 2^(3-bits); so are both functions. */
static void turn(struct draw *s, uint64_t j, struct interval *a, struct interval *b)
{
    dp_uniform_between(s->key, s->purpose, s->lap, s->first + j, s->words, 0, s->u.low, s->u.high);
    mpfr_const_pi(s->e.low, MPFR_RNDN);
    mpfr_mul_2ui(s->e.low, s->e.low, 1, MPFR_RNDN);
    mpfr_mul(s->e.low, s->e.low, s->u.low, MPFR_RNDN);
    mpfr_sin_cos(s->e.high, s->turn.low, s->e.low, MPFR_RNDN);
    mpfr_set_ui_2exp(s->turn.high, 1, 4 - (mpfr_exp_t)(64 * s->words), MPFR_RNDN);
    mpfr_sub(a->low, s->turn.low, s->turn.high, MPFR_RNDD);
    mpfr_add(a->high, s->turn.low, s->turn.high, MPFR_RNDU);
    mpfr_sub(b->low, s->e.high, s->turn.high, MPFR_RNDD);
    mpfr_add(b->high, s->e.high, s->turn.high, MPFR_RNDU);
}

/* factor = scale R / ‖g‖ and all of g, from the bits so far. */
static void compute(struct draw *s, double scale, size_t d)
{
    mpfr_prec_t precision = (mpfr_prec_t)(64 * s->words + 64);
    struct interval *const all[] = {&s->e, &s->turn, &s->radius, &s->norm, &s->factor};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        interval_precision(all[i], precision);
    for (size_t j = 0; j < d; j++) {
        exponential(s, j);
        mpfr_add(s->radius.low, s->radius.low, s->e.low, MPFR_RNDD);
        mpfr_add(s->radius.high, s->radius.high, s->e.high, MPFR_RNDU);
    }
    for (size_t j = 0; j < d; j += 2) {
        struct interval *a = &s->g[j], *b = &s->g[j + 1];
        interval_precision(a, precision);
        interval_precision(b, precision);
        turn(s, d + j + 1, a, b);
        exponential(s, d + j);
        mpfr_mul_2ui(s->e.low, s->e.low, 1, MPFR_RNDN);
        mpfr_mul_2ui(s->e.high, s->e.high, 1, MPFR_RNDN);
        mpfr_sqrt(s->e.low, s->e.low, MPFR_RNDD);
        mpfr_sqrt(s->e.high, s->e.high, MPFR_RNDU);
        interval_times(a, &s->e, a);
        interval_times(b, &s->e, b);
        interval_add_square(a, &s->turn, &s->norm);
        if (j + 1 < d)
            interval_add_square(b, &s->turn, &s->norm);
    }
    mpfr_sqrt(s->norm.low, s->norm.low, MPFR_RNDD);
    mpfr_sqrt(s->norm.high, s->norm.high, MPFR_RNDU);
    mpfr_div(s->factor.low, s->radius.low, s->norm.high, MPFR_RNDD);
    mpfr_div(s->factor.high, s->radius.high, s->norm.low, MPFR_RNDU);
    mpfr_mul_d(s->factor.low, s->factor.low, scale, MPFR_RNDD);
    mpfr_mul_d(s->factor.high, s->factor.high, scale, MPFR_RNDU);
}

/* Whether all coordinates are decided; out then has them, unless one of them does not fit. */
static bool decide(struct draw *s, size_t d, int64_t *out, bool *fits)
{
    for (size_t j = 0; j < d; j++) {
        interval_times(&s->g[j], &s->factor, &s->turn);
        mpfr_round(s->turn.low, s->turn.low);
        mpfr_round(s->turn.high, s->turn.high);
        if (!mpfr_number_p(s->turn.low) || !mpfr_equal_p(s->turn.low, s->turn.high))
            return false;
        *fits = *fits && mpfr_fits_intmax_p(s->turn.low, MPFR_RNDN);
        out[j] = *fits ? mpfr_get_sj(s->turn.low, MPFR_RNDN) : 0;
    }
    return true;
}

int dp_gamma_norm_draw(const struct dp_key *key, enum dp_purpose purpose, uint64_t lap, uint64_t index, double scale, size_t d,
                       int64_t *out, struct dp_err *err)
{
    if (!(scale > 0 && scale <= DP_GAMMA_NORM_MOST))
        return dp_fail(err, DP_E_RUN, "noise of scale %g does not fit the grid", scale);
    if (d < 1 || d > DP_GAMMA_NORM_MOST_DIMENSIONS)
        return dp_fail(err, DP_E_RUN, "no gamma noise in %zu dimensions, at most %d", d, DP_GAMMA_NORM_MOST_DIMENSIONS);
    struct draw s = {.key = key, .purpose = purpose, .lap = lap, .first = index << 20, .words = 1};
    size_t normals = d + d % 2;
    bool fits = true;
    s.g = dp_new(normals, sizeof *s.g);
    struct interval *const all[] = {&s.u, &s.e, &s.turn, &s.radius, &s.norm, &s.factor};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        interval_open(all[i]);
    for (size_t j = 0; j < normals; j++)
        interval_open(&s.g[j]);
    for (compute(&s, scale, d); !decide(&s, d, out, &fits); compute(&s, scale, d))
        s.words++;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        interval_close(all[i]);
    for (size_t j = 0; j < normals; j++)
        interval_close(&s.g[j]);
    free(s.g);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
    return fits ? DP_OK : dp_fail(err, DP_E_RUN, "noise of scale %g does not fit the grid", scale);
}
