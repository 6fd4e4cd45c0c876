/* An image file in memory to its pixels: PNG, JPEG, PGM and PPM. */
#pragma once

#include "base/err.h"
#include "images/image.h"

#define DP_IMAGE_BYTES_MOST ((size_t)10000000)

/* *pixels: dp_image_bytes(*shape) bytes, which the caller frees. Grey images have one channel and others three, 8 bits each; a
 * palette is looked up, 16 bits are rounded to 8, and transparency is dropped, as are colour profiles. name: for messages. A
 * file that is cut short or damaged is an error, as are more than DP_IMAGE_BYTES_MOST pixels. */
int dp_image_decode(const unsigned char *bytes, size_t size, const char *name, struct dp_image_shape *shape,
                    unsigned char **pixels, struct dp_err *err);
