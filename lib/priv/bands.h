/* Noise that is correlated over steps (laps, or the cells of a column), for running totals. C is lower triangular and Toeplitz:
 * C_ts = c_(t−s) for 0 ≤ t − s < B, else 0, with c_k = binom(2k, k) / 4^k rounded to whole multiples of 2^-12: the square root
 * of the matrix of prefix sums (Fichtenberger, Henzinger, Upadhyay 2023), cut at B bands. The noise of step t, in steps of the
 * grid, is
 *     r_t = floor(z_t − c_1 r_(t−1) − … − c_(B−1) r_(t−B+1) + 1/2),   r_s = 0 before the first step,
 * where z_t is Gaussian noise, whole in steps of grid/2^12. dp-privacy(7) has the proof that S + r costs what C S + z does. */
#pragma once

#include "base/err.h"

enum { DP_BANDS_BITS = 12, DP_BANDS_UNIT = 1 << DP_BANDS_BITS, DP_BANDS_MOST = 4096 };

/* c[k] = c_k × 2^12, k < bands ≤ DP_BANDS_MOST. They do not increase. */
void dp_bands_coefficients(int64_t *c, int64_t bands);

/* |c|, the L2 norm of c_0 … c_(bands−1), rounded up: how much more C S changes than S, if only one step of S changes. */
double dp_bands_norm(int64_t bands);

/* Step t = 0, 1, …. Slot t mod bands of the ring (bands slots of n numbers) has z_t and gets r_t; the others have the last r. */
void dp_bands_step(const int64_t *c, int64_t bands, int64_t t, size_t n, int64_t *ring);
