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

/* The recursion. b->ring has `bands` slots of n numbers, of which slot t mod bands has r_t. */
struct dp_bands {
    int64_t bands, turn; /* steps that were made */
    size_t n;
    int64_t *c, *ring;
    double *factor, *ahead; /* c, then zeros; sums over the steps before `from`, for the `sums` steps from there on */
    int64_t from, sums;
    int64_t wide; /* so many steps are left until no number in the ring has more than 32 bits */
};

enum { DP_BANDS_AHEAD = 8 };

/* 1 ≤ bands ≤ DP_BANDS_MOST; dp_bands_close frees all memory. To continue from a ring, set ring, turn, and wide = bands. */
void dp_bands_open(struct dp_bands *b, int64_t bands, size_t n);
void dp_bands_close(struct dp_bands *b);

/* Where the caller puts z_t before step t = b->turn. */
static inline int64_t *dp_bands_slot(const struct dp_bands *b)
{
    return b->ring + (size_t)(b->turn % b->bands) * b->n;
}

/* Step t: replaces z_t in its slot by r_t, and returns the slot. Any 64-bit numbers: the sum is modulo 2^64. */
const int64_t *dp_bands_step(struct dp_bands *b);
