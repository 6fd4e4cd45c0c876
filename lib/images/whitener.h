/* Whitens rows by the mean and the covariance of other rows, which are public:
 *
 *   y = L^-1 (x − mean),   L Lᵀ = covariance + ridge × its mean eigenvalue × I,   L lower triangular.
 *
 * A rotation of y changes no gradient step and no Gaussian noise, so L serves as well as the symmetric root. L is applied by
 * substitution, without an inverse, to DP_WHITENER_ROWS rows at a time. All sums have a fixed order, so neither the vectors of
 * the CPU nor threads change a byte. */
#pragma once

#include "base/err.h"

#define DP_WHITENER_ROWS 16

/* Starts zeroed. */
struct dp_whitener {
    size_t columns; /* a multiple of DP_WHITENER_ROWS: rows are padded with zeros */
    float *mean;    /* columns */
    float *factor;  /* L in tiles of four rows: entry (4t + a, j) at 8 t (t + 1) + 4 j + a; 1 / L_ii in place of L_ii */
};

/* The number of columns for rows of that many entries: padded with zeros. */
size_t dp_whitener_columns(size_t entries);

/* rows: count × columns with count ≥ 1, left centred. Uses that many threads. */
int dp_whitener_open(struct dp_whitener *whitener, float *rows, size_t count, size_t columns, double ridge, int threads,
                     struct dp_err *err);

/* x: columns × DP_WHITENER_ROWS, entry j of row r at [j][r]: becomes y. */
void dp_whitener_apply(const struct dp_whitener *whitener, float (*x)[DP_WHITENER_ROWS]);

void dp_whitener_close(struct dp_whitener *whitener);
