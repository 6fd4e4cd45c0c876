/* An image in PNG, JPEG, PGM or PPM. */
#include <stdlib.h>

#include "images/decode.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dp_image_shape shape;
    struct dp_err err = {0};
    unsigned char *pixels;
    unsigned sum = 0;
    int rc = dp_image_decode(data, size, "image", &shape, &pixels, &err);
    fuzz_said(rc, &err);
    fuzz_assert((rc == DP_OK) == (pixels != NULL));
    if (rc != DP_OK)
        return 0;
    size_t bytes = dp_image_bytes(shape);
    fuzz_assert(bytes > 0 && bytes <= DP_IMAGE_BYTES_MOST && (shape.channels == 1 || shape.channels == 3));
    for (size_t i = 0; i < bytes; i++)
        sum += pixels[i];
    volatile unsigned used = sum;
    (void)used;
    free(pixels);
    return 0;
}
