/* Public features of images: a map of each image (images/hog.h or images/scatter.h), whitened by the second moments of the same
 * map of 5000 synthetic images (images/leaves.h, images/whitener.h), and a constant.
 *
 *   row = (√0.91 y / |y|, 0.3),   y = L^-1 (map(image) − mean)
 *
 * so that a row has norm 1 up to rounding. A row depends on no image but its own. The map is public, and its name defines it
 * completely. */
#pragma once

#include "images/hog.h"
#include "images/scatter.h"
#include "images/whitener.h"

#define DP_MAP_NAME 40
#define DP_MAP_CHOICES "hog|scatter" /* in the order of dp_map_kind, from DP_MAP_HOG on */

enum dp_map_kind {
    DP_MAP_NONE, /* pixels */
    DP_MAP_HOG,
    DP_MAP_SCATTER,
};

/* Starts zeroed. */
struct dp_map {
    enum dp_map_kind kind;
    struct dp_image_shape shape;
    struct dp_hog hog;         /* DP_MAP_HOG */
    struct dp_scatter scatter; /* DP_MAP_SCATTER */
    struct dp_whitener whitener;
    float *synthetic;       /* rows of the whitener, from dp_map_start to dp_map_finish */
    size_t entries;         /* columns without the constant */
    size_t columns;         /* length of a row; its last entry is the constant */
    char name[DP_MAP_NAME]; /* "hog:v1 28x28 seed 1" */
};

/* Which map has this name, or a longer text that begins with it; DP_MAP_NONE: none. */
enum dp_map_kind dp_map_named(const char *name);

/* DP_E_RUN: the map is not for images of this shape. There is no map DP_MAP_NONE, which fits. */
int dp_map_fits(enum dp_map_kind kind, struct dp_image_shape shape, struct dp_err *err);

/* The next four functions make tasks of OpenMP: all threads of an `omp parallel` around the calls take part. */

/* Makes the map for images of this shape in two steps; the caller may do other things between them. DP_E_RUN: it is not for such
 * images. */
int dp_map_start(struct dp_map *map, enum dp_map_kind kind, struct dp_image_shape shape, struct dp_err *err);
void dp_map_finish(struct dp_map *map);

/* rows (count × columns) of count images: complete after an `omp taskwait`. scratch: dp_map_scratch(map, count) numbers. */
void dp_map_rows(const struct dp_map *map, const unsigned char *images, size_t count, float *rows, int16_t *scratch);
size_t dp_map_scratch(const struct dp_map *map, size_t count);

/* Waits for the tasks. */
void dp_map_close(struct dp_map *map);
