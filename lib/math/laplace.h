/* Discrete Laplace noise, exact:  P(draw = k) = (1 − a) / (1 + a) × a^|k|,  a = e^(−1/scale).
 *
 * A draw is its sign, the first of its endless string of addressed bits, and a magnitude: with V in (0, 1) made of the
 * others,
 *
 *     |draw| = ⌊y⌋,   y = scale × (ln(2 / (1 + a)) − ln V),
 *
 * since P(|draw| ≥ j) = 2 a^j / (1 + a) for j ≥ 1. Both ends of an interval that holds y are computed in MPFR with
 * directed rounding, with 64 more bits of V each time their floors differ. So the probabilities are these, and a draw
 * is a function of (key, purpose, lap, index, scale) alone. With scale = sensitivity / epsilon, both in L1 and in
 * units of the grid, it is epsilon-differentially private (Ghosh, Roughgarden, Sundararajan 2012). */
#ifndef DP_MATH_LAPLACE_H
#define DP_MATH_LAPLACE_H

#include <stddef.h>
#include <stdint.h>

#include "math/rng.h"

#define DP_LAPLACE_MOST 0x1p48

/* Draws first … first + count − 1 of (purpose, lap). Returns nonzero unless 0 < scale ≤ DP_LAPLACE_MOST. */
int dp_laplace_draw(const struct dp_key *key, enum dp_purpose purpose, uint64_t lap, uint64_t first, double scale, int64_t *out,
                    size_t count);

#endif
