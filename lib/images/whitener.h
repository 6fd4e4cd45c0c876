/* Whitens rows by the mean and the covariance of other rows, which are public.
 *
 *   y = L^-1 (x − mean),   L Lᵀ = covariance + ridge × its mean eigenvalue × I,   L lower triangular.
 *
 * A rotation of y changes no gradient step and no Gaussian noise, so L serves as well as the symmetric root. For each product,
 * both sides are rounded to 16 bits: rows x − mean, rows of L^-1, and columns of the other rows, each in a unit of its own,
 * about 1/32768 of its norm. The sums of these products are exact, and all other sums have a fixed order. So neither the
 * vectors of the CPU nor threads change a byte. */
#pragma once

#include "math/pairs.h"

#define DP_WHITENER_ROWS 64 /* at a time */
#define DP_WHITENER_COLUMNS_MOST ((size_t)4400)

/* Starts zeroed. */
struct dp_whitener {
    size_t columns; /* a multiple of 16: rows are padded with zeros */
    float *mean;    /* columns */
    float *step;    /* row i of L^-1 is step[i] times whole numbers */
    int16_t *
        inverse; /* L^-1 in panels of 16 rows (math/pairs.h): panel p has the columns up to 16 p + 15 and is at 128 p (p + 1) */
    dp_pairs_product *product;
};

/* The number of columns for rows of that many entries: padded with zeros. */
size_t dp_whitener_columns(size_t entries);

/* rows: count × columns with count ≥ 1, left centred. Its loops are tasks of OpenMP. */
void dp_whitener_open(struct dp_whitener *whitener, float *rows, size_t count, size_t columns, double ridge);

/* Replaces each row x by y. rows: at most DP_WHITENER_ROWS, row r at rows + r × stride, with `entries` numbers. scratch: room
 * for `columns` numbers of each row, with count rounded up to a multiple of 16, which is too much for the stack of a thread. */
void dp_whitener_apply(const struct dp_whitener *whitener, float *rows, size_t count, size_t entries, size_t stride,
                       int16_t *scratch);

void dp_whitener_close(struct dp_whitener *whitener);
