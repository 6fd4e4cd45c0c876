#include "math/choose.h"

#include "math/gaussian.h"
#include "math/laplace.h"

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
    if (above->drawn != first + DP_ABOVE_TOGETHER) { /* the scale can be drawn: it has been checked */
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
