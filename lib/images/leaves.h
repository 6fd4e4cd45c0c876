/* Synthetic images: the dead leaves model, drawn from a seed. Their second moments resemble the moments of photographs, and
 * they belong to nobody, so a map that is made of them is public.
 *
 * Half of the images are covered by 300 shapes, with radii of density r^-3. The other half have 1 to 12 larger shapes near the
 * middle of a plain ground, which is black in half of them. A shape is an ellipse or a box of random place, direction, aspect
 * and grey. In half of the shapes the grey changes across the shape. Channels of a colour differ by up to 80.
 *
 * An image depends on (seed, its number, shape) only. Everything is computed with + − × / √, so all machines have the same
 * bytes.
 *
 * Paper: Lee, Mumford and Huang, "Occlusion models for natural images", IJCV 41, 2001. */
#pragma once

#include "images/image.h"

void dp_leaves_image(struct dp_image_shape shape, int64_t seed, size_t number, unsigned char *image);
