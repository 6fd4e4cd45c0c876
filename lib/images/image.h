/* Pixels of an image: bytes, row after row from the top, and the channels of a pixel next to each other. */
#pragma once

#include "base/err.h"

#define DP_IMAGE_SIDE_LEAST 16
#define DP_IMAGE_SIDE_MOST 40

struct dp_image_shape {
    size_t height, width, channels; /* channels: 1 grey, 3 colour. All 0: not an image */
};

static inline size_t dp_image_bytes(struct dp_image_shape shape)
{
    return shape.height * shape.width * shape.channels;
}

/* Whether there are features of such images: sides of DP_IMAGE_SIDE_LEAST to DP_IMAGE_SIDE_MOST pixels that are multiples of 4,
 * and 1 or 3 channels. Else DP_E_RUN, with a sentence that names the features. */
int dp_image_fits(struct dp_image_shape shape, const char *features, struct dp_err *err);
