/* Noise in shares: the sum of rounded Gaussians, convolved exactly, against the single Gaussian that is charged; and the shares
   that dp-noise draws. */
#include "random.h"
#include "unit.h"

#include <gsl/gsl_randist.h>

#include "math/grid.h"
#include "priv/shares.h"
#include "stages/stage.h"

#define MOST 6   /* shares */
#define WIDE 480 /* whole numbers on either side of 0 */
#define SPAN (2 * WIDE + 1)

static const long double pi = 3.14159265358979323846264338327950288L;

/* The bound of priv/shares.h, in long double: −ln(1 − θ(v)) … */
static long double excess(long double v)
{
    long double theta = 0;
    for (int j = 1; j < 200; j++)
        theta += 2 * expl(-2 * pi * pi * v * j * j);
    return theta < 1 ? -log1pl(-theta) : (long double)INFINITY;
}

/* … and τ. */
static long double tau_of(long double s, int m)
{
    long double tau = 0;
    for (int k = 1; k < m; k++)
        tau += excess(s * s * (long double)k / (long double)(k + 1)) + excess(s * s);
    return tau;
}

static long double density(long double x, long double s)
{
    return expl(-x * x / (2 * s * s)) / (sqrtl(2 * pi) * s);
}

/* out = a * b, of whole numbers; what leaves the range is dropped. */
static void convolve(const long double *a, const long double *b, long double *out)
{
    long double sum[SPAN] = {0};
    int first = 0, last = SPAN - 1; /* of b, without its zeros at the ends */
    while (first < last && b[first] == 0)
        first++;
    while (last > first && b[last] == 0)
        last--;
    for (int i = 0; i < SPAN; i++)
        for (int j = first; a[i] > 0 && j <= last; j++)
            if (i + j >= WIDE && i + j - WIDE < SPAN)
                sum[i + j - WIDE] += a[i] * b[j];
    memcpy(out, sum, sizeof sum);
}

/* The law of N − F given F, for N ~ N(0, s²) with that fractional part. */
static void shifted(long double s, long double part, long double *law)
{
    long double all = 0;
    memset(law, 0, SPAN * sizeof *law);
    for (int j = -WIDE / MOST; j <= WIDE / MOST; j++)
        all += law[WIDE + j] = density((long double)j + part, s);
    for (int j = 0; j < SPAN; j++)
        law[j] /= all;
}

/* The largest |ln of U's density at x over the density of N(−ΣF, m s²)|, x over 30 standard deviations on either side. */
static long double farthest(long double s, int m, const long double *part)
{
    static long double whole[SPAN], one[SPAN];
    long double shift = 0, far = 0, wide = sqrtl(m) * s;
    memset(whole, 0, sizeof whole);
    whole[WIDE] = 1;
    for (int k = 1; k < m; k++) {
        shifted(s, part[k], one);
        convolve(whole, one, whole);
        shift += part[k];
    }
    for (long double x = -30 * wide; x <= 30 * wide; x += wide / 7) {
        long double at = 0;
        for (int j = 0; j < SPAN; j++)
            at += whole[j] > 0 ? whole[j] * density(x - (long double)(j - WIDE), s) : 0;
        long double off = fabsl(logl(at) - logl(density(x + shift, wide)));
        far = off > far ? off : far;
    }
    return far;
}

/* Checks any fractional parts, also at the edges of their range, and points arbitrarily far out. */
LONG_TEST(no_density_is_farther_than_the_bound)
{
    gsl_rng *rng = random_numbers();
    for (int i = 0; i < 40; i++) {
        int m = 2 + (int)gsl_rng_uniform_int(rng, MOST - 1);
        long double s = 0.45L + 1.2L * (long double)gsl_rng_uniform(rng), part[MOST], most = tau_of(s, m), seen = 0;
        for (int trial = 0; trial < 4; trial++) {
            for (int k = 0; k < m; k++)
                part[k] = trial == 0 ? 0.5L : trial == 1 ? 0 : (long double)gsl_rng_uniform(rng) - 0.5L;
            long double far = farthest(s, m, part);
            seen = far > seen ? far : seen;
            if (!(far <= most * (1 + 1e-12L) + 1e-15L))
                fail_msg("s=%.17Lg m=%d: the density is off by a factor of e^%.17Lg, the bound says %.17Lg", s, m, far, most);
        }
        /* With two shares the bound is nearly reached. */
        if (m == 2 && most > 1e-12L && isfinite(most) && !(seen > 0.5L * most))
            fail_msg("s=%.17Lg: off by a factor of e^%.17Lg, and the bound is %.17Lg", s, seen, most);
    }
}

static long double normal(long double x)
{
    return erfcl(-x / sqrtl(2)) / 2;
}

/* P(round(N) = r) */
static long double rounded(long double r, long double s)
{
    long double x = fabsl(r);
    return (erfcl((x - 0.5L) / (s * sqrtl(2))) - erfcl((x + 0.5L) / (s * sqrtl(2)))) / 2;
}

/* δ(ε) of one Gaussian whose mean moves by `shift`. */
static long double delta_of_gaussian(long double epsilon, long double shift, long double s)
{
    long double mu = shift / s;
    return normal(mu / 2 - epsilon / mu) - expl(epsilon) * normal(-mu / 2 - epsilon / mu);
}

/* The charge: δ(ε) of the sum of the shares, which one person moves by `shift` steps, against δ(ε) of the Gaussian. */
TEST(the_shares_hide_what_the_gaussian_does)
{
    static long double one[SPAN], law[SPAN];
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_ranlxd2);
    for (int i = 0; i < 40; i++) {
        int m = 2 + (int)gsl_rng_uniform_int(rng, MOST - 1), shift = 1 + (int)gsl_rng_uniform_int(rng, 8);
        long double s = 0.45L + 2 * (long double)gsl_rng_uniform(rng), tau = tau_of(s, m);
        for (int r = 0; r < SPAN; r++)
            one[r] = rounded(r - WIDE, s);
        memcpy(law, one, sizeof law);
        for (int k = 1; k < m; k++)
            convolve(law, one, law);
        for (long double epsilon = 0; epsilon < 8; epsilon += 0.37L) {
            long double delta = 0, most = expl(tau) * delta_of_gaussian(epsilon - 2 * tau, shift, sqrtl(m) * s);
            for (int r = shift; r < SPAN; r++)
                delta += fmaxl(law[r - shift] - expl(epsilon) * law[r], 0);
            if (!(delta <= most + 1e-17L))
                fail_msg("s=%.17Lg m=%d shift=%d epsilon=%.17Lg: delta is %.17Lg, charged would be %.17Lg", s, m, shift,
                         epsilon, delta, most);
        }
    }
    gsl_rng_free(rng);
}

/* The header's claim about the least scale: τ is below 2^-200 for a number. */
TEST(the_least_share_is_large_enough)
{
    long double tau = tau_of(DP_SHARES_LEAST, 64), rest = DP_SHARES_LEAST * DP_SHARES_LEAST * 64.0L / 65;
    tau += 2 * (long double)(1 << 20) * excess(rest);
    assert_true(tau > 0 && log2l(tau) < -200 && log2l(tau) + 70 < -130);
}

TEST(any_shares_but_the_colluding_have_the_scale)
{
    for (int64_t shares = 1; shares < 200; shares++)
        for (int64_t colluding = 0; colluding < shares; colluding++) {
            double s = dp_shares_scale(3.7, shares, colluding);
            long double together = sqrtl((long double)(shares - colluding)) * s;
            assert_true(together >= 3.7 && together < 3.7 * (1 + 1e-14));
        }
}

#define NUMBERS 20000

struct taken {
    int64_t sum[NUMBERS], count;
    struct dp_record of_sum, of_count;
};

static int take(struct dp_out *out, struct dp_frame *frame, struct dp_err *err)
{
    struct taken *t = out->self;
    (void)err;
    if (frame->kind != DP_KIND_LAP)
        return DP_OK;
    memcpy(t->sum, dp_frame_array(frame, DP_F_SUM)->data, sizeof t->sum);
    t->count = *(int64_t *)dp_frame_array(frame, DP_F_WITHIN)->data;
    t->of_sum = *dp_frame_record(frame, DP_F_SUM);
    t->of_count = *dp_frame_record(frame, DP_F_WITHIN);
    return DP_OK;
}

/* A sum of zeros, of sensitivity 1, and a count next to it. */
static void fill(struct dp_frame *frame)
{
    struct dp_record record = {
        .of = DP_F_SUM, .adjacency = DP_ADJACENCY_NULL_RECORD, .release = DP_RELEASE_SUM, .bound = 1, .sensitivity = 1};
    int64_t *data;
    dp_frame_reset(frame, DP_KIND_LAP);
    frame->label = DP_LABEL_BOUNDED;
    frame->lap = 1;
    assert_int_equal(dp_frame_add_record(frame, &record, NULL), 0);
    record.of = DP_F_WITHIN;
    record.bound = record.sensitivity = 0.5;
    assert_int_equal(dp_frame_add_record(frame, &record, NULL), 0);
    dp_frame_set_real(frame, DP_F_GRID, dp_grid_for(1));
    assert_int_equal(dp_frame_make_array(frame, DP_F_SUM, DP_I64, 1, NUMBERS, &data, NULL), 0);
    memset(data, 0, NUMBERS * sizeof *data);
    assert_int_equal(dp_frame_make_array(frame, DP_F_WITHIN, DP_I64, 1, 1, &data, NULL), 0);
    *data = 0;
}

/* The noise that shard `shard` of 4 adds in lap 1; 1 shard may collude. */
static void draw(int64_t shard, bool seeded, struct taken *t)
{
    char *argv[] = {"dp-noise", "--multiplier", "2", "--count-multiplier", "1e9",
                    "--share",  "--colluding",  "1", "--allow-seeded",     NULL};
    struct dp_stage *stage;
    struct dp_frame *frame;
    struct dp_err err = {0};
    struct dp_out out = {.frame = take, .self = t};
    assert_int_equal(dp_stage_new(&stage, dp_stage_find("dp-noise"), 9, argv, NULL, &err), 0);
    frame = dp_frame_new();
    dp_frame_reset(frame, DP_KIND_HELLO);
    dp_frame_set_int(frame, DP_F_FORMAT, DP_FRAME_FORMAT);
    dp_frame_set_int(frame, DP_F_SHARD, shard);
    dp_frame_set_int(frame, DP_F_SHARDS, 4);
    if (seeded)
        dp_frame_set_int(frame, DP_F_SEED, 7);
    assert_int_equal(dp_stage_take(stage, frame, &out, &err), 0);
    fill(frame);
    assert_int_equal(dp_stage_take(stage, frame, &out, &err), 0);
    /* Each key is used for lap 1 only once. */
    fill(frame);
    assert_fails(dp_stage_take(stage, frame, &out, &err), DP_E_UNSAFE,
                 "lap 1 comes after lap 1: in a shard what is drawn for a lap is drawn once");
    dp_stage_free(stage);
    dp_frame_free(frame);
}

TEST(a_share_has_its_part_of_the_noise)
{
    static struct taken t[5];
    double scale = 2 / dp_grid_for(1) / sqrt(3);
    for (int seeded = 0; seeded < 2; seeded++) {
        for (int64_t shard = 1; shard <= 4; shard++) {
            double squares = 0;
            draw(shard, seeded, &t[shard]);
            for (int i = 0; i < NUMBERS; i++)
                squares += pow((double)t[shard].sum[i] / scale, 2);
            /* 1 ± 5 standard deviations of it */
            if (!(fabs(squares / NUMBERS - 1) < 5 * sqrt(2.0 / NUMBERS)))
                fail_msg("shard %d has %g of the variance of a share", (int)shard, squares / NUMBERS);
            assert_true(t[shard].of_sum.shares == 4 && t[shard].of_sum.colluding == 1 && t[shard].of_sum.gathered == 0);
            assert_true(t[shard].of_sum.query.multiplier == 2 && t[shard].of_sum.scale == 2);
            assert_true(t[shard].of_count.shares == 4 && t[shard].of_count.colluding == 1);
            assert_true(t[shard].of_count.query.multiplier == 1e9 && t[shard].of_count.scale == 5e8);
        }
        /* and no noise occurs twice, with different keys or one key */
        for (int a = 1; a <= 4; a++)
            for (int b = a + 1; b <= 4; b++) {
                double together = 0;
                for (int i = 0; i < NUMBERS; i++)
                    together += (double)t[a].sum[i] / scale * ((double)t[b].sum[i] / scale);
                assert_true(fabs(together / NUMBERS) < 5 / sqrt(NUMBERS) && t[a].count != t[b].count);
            }
    }
}

TESTS(NULL, NULL)
