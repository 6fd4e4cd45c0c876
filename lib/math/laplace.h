/* Discrete Laplace noise, exact:  P(draw = k) = (1 − a) / (1 + a) × a^|k|,  a = e^(−1/scale).
 *
 * A draw has an infinite string of addressed bits. The first bit is its sign; the others are the digits of V in (0, 1), and
 *
 *     |draw| = ⌊y⌋,   y = scale × (ln(2 / (1 + a)) − ln V),
 *
 * because P(|draw| ≥ j) = 2 a^j / (1 + a) for j ≥ 1. The first 63 bits of V decide most draws in double precision: if V is at
 * least DP_LAPLACE_LEAST_V, y / scale is off by at most DP_LAPLACE_ERROR, and y is farther than that, times the scale, from all
 * whole numbers. (Proof, in units of 2^-49: the missing bits of V and its rounding, relative to V ≥ 2^-12, are at most ½; ln V,
 * below 8.4, to one unit in its last place, as the C library states, 1; the other logarithm ½; their difference and the product
 * with the scale ½ each. That is less than a fifth of the bound.) Otherwise both ends of an interval that holds y are computed
 * in MPFR with directed rounding, with 64 more bits of V each time their floors differ. So the probabilities are exact, and a
 * draw depends only on (key, purpose, lap, index, scale). With scale = sensitivity / epsilon, both in L1 and in units of the
 * grid, it is epsilon-differentially private (Ghosh, Roughgarden, Sundararajan 2012). */
#pragma once

#include "math/rng.h"

#define DP_LAPLACE_MOST 0x1p48
#define DP_LAPLACE_LEAST_V 0x1p-12
#define DP_LAPLACE_ERROR 0x1p-45

/* Draws first … first + count − 1 of (purpose, lap). Returns nonzero unless 0 < scale ≤ DP_LAPLACE_MOST. */
int dp_laplace_draw(const struct dp_key *key, enum dp_purpose purpose, uint64_t lap, uint64_t first, double scale, int64_t *out,
                    size_t count);

/* One draw by the slow path only: the same number. 0 < scale ≤ DP_LAPLACE_MOST. */
int64_t dp_laplace_exact(const struct dp_key *key, enum dp_purpose purpose, uint64_t lap, uint64_t index, double scale);
