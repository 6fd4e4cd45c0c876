/* Vector noise for pure epsilon:  density ∝ exp(−‖z‖₂ / scale)  in d dimensions, each coordinate rounded correctly to a whole
 * number. With scale = L2 sensitivity / epsilon the real vector is epsilon-differentially private, and rounding it, on the grid
 * of an exact sum, is post-processing (Chaudhuri, Monteleoni, Sarwate 2011, Algorithm 1).
 *
 * z = scale × R × g / ‖g‖₂, where R = −Σ ln U_j, j < d, has the gamma distribution of shape d, and g holds d independent
 * normals, by Box and Muller's formula: g_2i = √(−2 ln U) cos(2π U'), g_2i+1 = √(−2 ln U) sin(2π U'), with U = U_(d+2i), U' =
 * U_(d+2i+1). The bits of U_j are the infinite bit string number index × 2^20 + j of (purpose, lap).
 *
 * Each quantity is an interval in MPFR with directed rounding that holds its real value. The U_j start with 64 bits. As long as
 * the two ends of the interval of a coordinate round to different numbers, each U_j gets 64 more bits. So the
 * vector depends only on (key, purpose, lap, index, scale, d). */
#pragma once

#include "base/err.h"
#include "math/rng.h"

#define DP_GAMMA_NORM_MOST 0x1p48                     /* the largest scale */
#define DP_GAMMA_NORM_MOST_DIMENSIONS ((1 << 19) - 1) /* a vector takes 2 d + 1 of its 2^20 strings */

/* Vector number `index` < 2^37 of (purpose, lap). Refuses scales outside (0, 2^48], d outside 1 … 2^19 − 1, and a
   coordinate that does not fit 64 bits. */
int dp_gamma_norm_draw(const struct dp_key *key, enum dp_purpose purpose, uint64_t lap, uint64_t index, double scale, size_t d,
                       int64_t *out, struct dp_err *err);
