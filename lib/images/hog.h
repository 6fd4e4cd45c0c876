/* Histograms of gradients of an image, a public map with fixed parameters.
 *
 * The gradient of a pixel is the difference of its neighbours, (right − left, below − above). At an edge of the image, the edge
 * is repeated. In colour images, the channel with the longest gradient counts. The gradient is the sum of two vectors along the
 * two nearest of eight directions. Their lengths are added, with bilinear weights, to these two orientations of the cells
 * around the pixel. There are three levels of cells: squares of 4 pixels, a grid of 4 × 4 cells, and a grid of 2 × 2 cells.
 * Next to the orientations a cell has the mean of each channel and the standard deviation of its pixels, times the square root
 * of its number of pixels. With the numbers h of four cells that share a corner,
 *
 *   features of the four cells = √(h / √(Σ h² + 0.1)),
 *
 * and the whole row is divided by its L2 norm. Pixels are from 0 to 1. Gradients and sums of pixels are computed in whole
 * numbers, and the rest has only + − × / √ in a fixed order, so all machines have the same bytes.
 *
 * Paper: Dalal and Triggs, "Histograms of oriented gradients for human detection", CVPR 2005. */
#pragma once

#include "base/err.h"
#include "images/image.h"

#define DP_HOG_LEVELS 3
#define DP_HOG_DIRECTIONS 8
#define DP_HOG_CELLS (DP_IMAGE_SIDE_MOST / 4) /* the most in a row, and in a column */

/* A row of cells, or a column of cells: the weights of pixel rows, or columns, first..end − 1. */
struct dp_hog_cell {
    size_t first, end;
    float weight[DP_IMAGE_SIDE_MOST];
};

/* One grid of cells. */
struct dp_hog_level {
    size_t rows, cols;
    struct dp_hog_cell row[DP_HOG_CELLS], col[DP_HOG_CELLS];
};

struct dp_hog {
    struct dp_image_shape shape;
    struct dp_hog_level level[DP_HOG_LEVELS];
    size_t numbers; /* of a cell: directions, means, standard deviation */
    size_t columns; /* of a row */
};

/* DP_E_RUN: the map is not for images of this shape; the sentence says which images it is for. */
int dp_hog_open(struct dp_hog *hog, struct dp_image_shape shape, struct dp_err *err);

/* row: hog->columns numbers, each ≥ 0, of L2 norm 1 up to rounding, or zeros. */
void dp_hog_row(const struct dp_hog *hog, const unsigned char *image, float *row);
