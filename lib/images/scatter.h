/* Scattering of an image, a public map with fixed parameters.
 *
 * x_0 is the image, from 0 to 1, and x_l is x_0 halved l times; |ψ_k ⋆ x| are the lengths of its filtered pixels, for the eight
 * wavelets of images/morlet.h. Halving weighs four pixels in a row, then in a column, by (1, 3, 3, 1) / 8. Beyond an edge an
 * image is its reflection. The maps are
 *
 *   x_0,   |ψ_k ⋆ x_l| for l = 0, 1, 2,   |ψ_j ⋆ halved |ψ_k ⋆ x_0||,
 *
 * 89 in all. Each is averaged over 4 × 4 cells with bilinear weights. With the numbers h of a cell in all maps but the first,
 *
 *   feature = √(h / √(Σ h² + 0.01)),   the sum over the 24 maps |ψ_k ⋆ x_l|;
 *
 * of x_0 it is the mean. An image in colour has three such images, (r + g + b) / 3, r − g and (r + g) / 2 − b, and the sum is
 * over all three. A photograph means the same in a mirror. So a feature of a colour image is the mean of two values, of the
 * image and of its mirror image. Features that are equal for this reason appear once.
 *
 * Only + − × / √ in a fixed order, so all machines have the same bytes.
 *
 * Papers: Bruna and Mallat, "Invariant scattering convolution networks", TPAMI 2013; for private learning, Tramèr and Boneh,
 * "Differentially private learning needs better features (or much more data)", ICLR 2021. */
#pragma once

#include "base/err.h"
#include "images/image.h"

#define DP_SCATTER_SCALES 3
#define DP_SCATTER_CELLS 4 /* in a row, and in a column */

struct dp_scatter {
    struct dp_image_shape shape;
    size_t columns; /* of a row */
    /* of each pixel, in the average of a cell: of rows, and of columns */
    float row_weight[DP_SCATTER_SCALES][DP_SCATTER_CELLS][DP_IMAGE_SIDE_MOST];
    float col_weight[DP_SCATTER_SCALES][DP_SCATTER_CELLS][DP_IMAGE_SIDE_MOST];
};

/* DP_E_RUN: the map is not for images of this shape; the sentence says which images it is for. */
int dp_scatter_open(struct dp_scatter *scatter, struct dp_image_shape shape, struct dp_err *err);

/* row: scatter->columns numbers. */
void dp_scatter_row(const struct dp_scatter *scatter, const unsigned char *image, float *row);
