#include "nets/view.h"

struct dp_net_view dp_net_view_draw(const struct dp_net_views *views, int64_t lap, int64_t row, int64_t k)
{
    uint64_t index = (uint64_t)row * DP_NET_MOST_VIEWS + (uint64_t)k, side = 2 * (uint64_t)views->shift + 1;
    uint64_t word = dp_draw_word(&views->key, DP_DRAW_VIEWS, (uint64_t)lap, index, 0);
    return (struct dp_net_view){.down = (int64_t)((word & 0xffffff) % side) - views->shift,
                                .right = (int64_t)((word >> 24 & 0xffffff) % side) - views->shift,
                                .mirrored = views->flip && word >> 63};
}
