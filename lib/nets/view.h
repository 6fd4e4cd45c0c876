/* Views of an image: moved by whole pixels, and mirrored or not. The draws are public; each example, lap and view has its own.
 * The gradient of an example is the mean over its views (De et al. 2022), so what one example adds stays bounded. */
#pragma once

#include "math/rng.h"

#define DP_NET_MOST_VIEWS 64

/* How views are drawn. */
struct dp_net_views {
    struct dp_key key;
    int64_t count; /* of each example */
    int64_t shift; /* most pixels in each direction */
    bool flip;     /* whether half of them are mirrored */
};

struct dp_net_view {
    int64_t down, right; /* value (i, j) is pixel (i + down, j + right), or the nearest pixel of the image */
    bool mirrored;       /* then from right to left */
};

/* View k of an example in a lap. row: its number in the data set. */
struct dp_net_view dp_net_view_draw(const struct dp_net_views *views, int64_t lap, int64_t row, int64_t k);
