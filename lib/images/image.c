#include "images/image.h"

static bool side_fits(size_t side)
{
    return side % 4 == 0 && side >= DP_IMAGE_SIDE_LEAST && side <= DP_IMAGE_SIDE_MOST;
}

int dp_image_fits(struct dp_image_shape shape, const char *features, struct dp_err *err)
{
    if (!side_fits(shape.height) || !side_fits(shape.width))
        return dp_fail(err, DP_E_RUN,
                       "an image has %zu x %zu pixels, and the features %s are for sides of %d to %d pixels that are multiples "
                       "of 4: scale or pad the images first",
                       shape.height, shape.width, features, DP_IMAGE_SIDE_LEAST, DP_IMAGE_SIDE_MOST);
    if (shape.channels != 1 && shape.channels != 3)
        return dp_fail(err, DP_E_RUN, "a pixel has %zu channels, and the features %s are for 1 (grey) or 3 (colour)",
                       shape.channels, features);
    return DP_OK;
}
