/* The correctly rounded Gaussian: draw i is  round(scale × X)  for a real standard normal X, to the last whole number.
 *
 * Draw i has an infinite string of addressed bits (dp_draw_word). The first bit is the sign of X; the others are the binary
 * digits of V, uniform on (0, 1), and |X| = x(V), the solution of erfc(x/√2) = V. Hence
 *
 *     |draw| ≤ k   if and only if   V ≥ erfc((k + ½) / (scale √2)),
 *
 * which is the definition. It names no precision and no algorithm, so a draw is the same on every CPU, and depends only on
 * (key, purpose, lap, index, scale).
 *
 * Fast path, in double precision: V is cut to its first 63 bits and rounded to a double. A table has, for each of
 * DP_GAUSSIAN_PARTS equal parts of each octave of V down to 2^-DP_GAUSSIAN_OCTAVES, a polynomial in the place of V in its part.
 * Its value times the scale, y, obeys
 *
 *     |y − scale × x(V)| ≤ scale × DP_GAUSSIAN_ERROR,
 *
 * so the draw is decided if y is farther than that from all half-integers. Otherwise, and for smaller V, the slow path compares
 * V with the boundary as defined above, in MPFR with directed rounding. It takes 64 more bits of V and of precision at a time
 * until they decide.
 *
 * Proof of the bound. The error is the sum of five parts, for a row that begins at V = a, in units of x:
 *   1. the polynomial p against x. If q is the exact interpolant at the 8 Chebyshev nodes of the row, |p − q| is at
 *      most 2.33 (its Lebesgue constant, (2/π) ln 8 + 1) times the largest |p − x| at a node; and |q − x| is
 *      h^8 |x^(8)(ξ)| / (8! 2^7) with half width h. From x' = −√(π/2) e^(x²/2) and x'' = x x'², the n-th derivative is a
 *      polynomial in x ≥ 0 with coefficients ≥ 0, times x'^n: of alternating sign, so |x^(8)| is largest at ξ = a.
 *   2. the rounding errors of Horner's scheme: the running bound e ← |t| (e + u |r|) + u |r'|, u = 2^-53.
 *   3. the bits of V that are cut off: 2^-63 |x'(a)|.
 *   4. V rounded to a double: half a unit of its last place times |x'(a)|.
 *   5. the product with the scale: u |x|.
 * y is below 2^51, so its rounding to an integer by adding 1.5 × 2^52, and the distance, are exact. tests/unit/test_gaussian.c
 * computes the sum of the five for each row, with MPFR and with the numbers of the table: at most half of DP_GAUSSIAN_ERROR. So
 * the interval is at least twice as wide as necessary. */
#pragma once

#include "math/rng.h"

#define DP_GAUSSIAN_MOST 0x1p48   /* the largest scale */
#define DP_GAUSSIAN_ERROR 0x1p-47 /* of the fast path, in standard deviations */

/* Draws first … first + count − 1 of (purpose, lap). Returns nonzero unless 0 < scale ≤ DP_GAUSSIAN_MOST. */
int dp_gaussian_draw(const struct dp_key *key, enum dp_purpose purpose, uint64_t lap, uint64_t first, double scale,
                     int64_t *out, size_t count);

/* One draw by the slow path only: the same number, thousands of times slower. 0 < scale ≤ 2^57. */
int64_t dp_gaussian_exact(const struct dp_key *key, enum dp_purpose purpose, uint64_t lap, uint64_t index, double scale);

/* The table's geometry. Row r holds V = octave × (middle + t), |t| ≤ 1 / (2 PARTS), and the coefficients of powers of t. */
#define DP_GAUSSIAN_OCTAVES 16
#define DP_GAUSSIAN_PARTS 32
#define DP_GAUSSIAN_ROWS (DP_GAUSSIAN_OCTAVES * DP_GAUSSIAN_PARTS)
#define DP_GAUSSIAN_COEFFICIENTS 8

static inline double dp_gaussian_row_middle(int row)
{
    return 1.0 + (row % DP_GAUSSIAN_PARTS + 0.5) / DP_GAUSSIAN_PARTS;
}

static inline double dp_gaussian_row_octave(int row)
{
    return (double)((uint64_t)1 << row / DP_GAUSSIAN_PARTS) / (double)((uint64_t)1 << DP_GAUSSIAN_OCTAVES);
}
