#include "math/choose.h"

#include <mpfr.h>

#include "math/gaussian.h"
#include "math/laplace.h"
#include "math/uniform.h"

static int draw(const struct dp_above *a, enum dp_purpose purpose, uint64_t first, double scale, int64_t *out, size_t count)
{
    return a->gaussian ? dp_gaussian_draw(a->key, purpose, a->lap, first, scale, out, count)
                       : dp_laplace_draw(a->key, purpose, a->lap, first, scale, out, count);
}

int dp_above_open(struct dp_above *above, const struct dp_key *key, uint64_t lap, bool gaussian, double threshold_scale,
                  double query_scale)
{
    *above = (struct dp_above){.key = key, .lap = lap, .gaussian = gaussian, .scale = query_scale};
    if (!(query_scale > 0 && query_scale <= DP_CHOOSE_MOST))
        return -1;
    return draw(above, DP_DRAW_SEARCH_THRESHOLD, 0, threshold_scale, &above->level, 1);
}

bool dp_above_ask(struct dp_above *above, uint64_t i, int64_t sum, int64_t threshold)
{
    uint64_t first = i - i % DP_ABOVE_TOGETHER;
    if (above->drawn != first + DP_ABOVE_TOGETHER) { /* the scale was checked, so this cannot fail */
        draw(above, DP_DRAW_SEARCH_QUERY, first, above->scale, above->noise, DP_ABOVE_TOGETHER);
        above->drawn = first + DP_ABOVE_TOGETHER;
    }
    return (__int128)sum + above->noise[i - first] >= (__int128)threshold + above->level;
}

int dp_choose_least(const struct dp_key *key, uint64_t lap, double scale, const int64_t *score, size_t count, size_t *choice)
{
    int64_t noise[DP_ABOVE_TOGETHER];
    __int128 least = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = i % DP_ABOVE_TOGETHER;
        if (at == 0 && dp_laplace_draw(key, DP_DRAW_SEARCH_QUERY, lap, i, scale, noise, DP_ABOVE_TOGETHER) != 0)
            return -1;
        __int128 noised = (__int128)score[i] + noise[at];
        if (i == 0 || noised < least) {
            least = noised;
            *choice = i;
        }
    }
    return 0;
}

struct exponential {
    const struct dp_key *key;
    uint64_t lap;
    double scale;
    const int64_t *score;
    int64_t least;
    size_t count;
    mpfr_t weight, low, high, from, to;
};

/* e^(−(score_i − least)/scale), rounded in one direction. */
static void set_weight(struct exponential *e, size_t i, mpfr_rnd_t direction)
{
    mpfr_rnd_t opposite = direction == MPFR_RNDD ? MPFR_RNDU : MPFR_RNDD;
    __int128 gap = (__int128)e->score[i] - e->least;
    mpfr_set_uj(e->weight, (uint64_t)gap, opposite);
    mpfr_div_d(e->weight, e->weight, e->scale, opposite);
    mpfr_neg(e->weight, e->weight, MPFR_RNDN);
    mpfr_exp(e->weight, e->weight, direction);
}

/* The number of cumulative sums, rounded in that direction, that are at most the bound. It is the chosen candidate if the sums
   and the bound are exact. */
static size_t stands_at(struct exponential *e, mpfr_t bound, mpfr_rnd_t direction)
{
    size_t i = 0;
    mpfr_set_zero(e->to, 1);
    for (; i < e->count; i++) {
        set_weight(e, i, direction);
        mpfr_add(e->to, e->to, e->weight, direction);
        if (mpfr_greater_p(e->to, bound))
            break;
    }
    return i;
}

/* Decides from `words` words of the uniform number. If sums are rounded down and the bound is rounded up, the
 * candidate is the true one or a later one; if sums are rounded up and the bound down, it is the true one or an earlier one. */
static bool decide(struct exponential *e, uint64_t words, size_t *choice)
{
    mpfr_prec_t precision = (mpfr_prec_t)(64 * words + 64);
    size_t last, first;
    mpfr_set_prec(e->weight, precision);
    mpfr_set_prec(e->to, precision);
    mpfr_set_prec(e->from, precision);
    dp_uniform_between(e->key, DP_DRAW_CHOICE, e->lap, 0, words, 0, e->low, e->high);
    for (int up = 0; up < 2; up++) {
        mpfr_rnd_t direction = up == 1 ? MPFR_RNDU : MPFR_RNDD;
        mpfr_set_zero(e->from, 1);
        for (size_t i = 0; i < e->count; i++) {
            set_weight(e, i, direction);
            mpfr_add(e->from, e->from, e->weight, direction);
        }
        mpfr_mul(e->from, e->from, up == 1 ? e->high : e->low, direction);
        *(up == 1 ? &last : &first) = stands_at(e, e->from, up == 1 ? MPFR_RNDD : MPFR_RNDU);
    }
    *choice = first;
    return first == last && first < e->count;
}

int dp_choose_exponential(const struct dp_key *key, uint64_t lap, double scale, const int64_t *score, size_t count,
                          size_t *choice)
{
    struct exponential e = {.key = key, .lap = lap, .scale = scale, .score = score, .least = score[0], .count = count};
    uint64_t words = 1;
    if (!(scale > 0 && scale <= DP_CHOOSE_MOST))
        return -1;
    for (size_t i = 1; i < count; i++)
        e.least = score[i] < e.least ? score[i] : e.least;
    mpfr_inits2(64, e.weight, e.low, e.high, e.from, e.to, (mpfr_ptr)0);
    while (!decide(&e, words, choice))
        words++;
    mpfr_clears(e.weight, e.low, e.high, e.from, e.to, (mpfr_ptr)0);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
    return 0;
}
