/* Pixels of an image: bytes, row after row from the top, and the channels of a pixel next to each other. */
#ifndef DP_IMAGES_IMAGE_H
#define DP_IMAGES_IMAGE_H

#include <stddef.h>

struct dp_image_shape {
    size_t height, width, channels; /* channels: 1 grey, 3 colour. All 0: not an image */
};

static inline size_t dp_image_bytes(struct dp_image_shape shape)
{
    return shape.height * shape.width * shape.channels;
}

#endif
