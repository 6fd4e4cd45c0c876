/* The features hog of images: histograms of gradients (images/hog.h), whitened by the second moments of 5000 synthetic images
 * (images/leaves.h, images/whitener.h), and a constant.
 *
 *   row = (√0.91 y / |y|, 0.3),   y = L^-1 (hog(image) − mean)
 *
 * so that a row has norm 1 up to rounding. A row depends on no image but its own. The map is public, and its name defines it
 * completely. */
#ifndef DP_IMAGES_MAP_H
#define DP_IMAGES_MAP_H

#include "images/hog.h"
#include "images/whitener.h"

#define DP_MAP_NAME 40
#define DP_MAP_FAMILY "hog:" /* what names begin with */

/* Starts zeroed. */
struct dp_map {
    struct dp_hog hog;
    struct dp_whitener whitener;
    size_t columns;         /* length of a row; its last entry is the constant */
    char name[DP_MAP_NAME]; /* "hog:v1 28x28 seed 1" */
};

/* Makes the map for images of this shape, on that many threads. DP_E_RUN: it is not for such images. */
int dp_map_open(struct dp_map *map, struct dp_image_shape shape, int threads, struct dp_err *err);

/* rows (count × columns) of count images. */
int dp_map_rows(const struct dp_map *map, const unsigned char *images, size_t count, int threads, float *rows,
                struct dp_err *err);

void dp_map_close(struct dp_map *map);

#endif
