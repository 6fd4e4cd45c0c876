/* Rows as they are written: float32 values, rounded further if asked, of norm at most 1. */
#ifndef DP_DATA_ROW_LENGTH_H
#define DP_DATA_ROW_LENGTH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum dp_row_norm {
    DP_NORM_UNIT,   /* every row to L2 norm 1 (just below it), zero rows stay */
    DP_NORM_CAP,    /* rows above 1 only */
    DP_NORM_NONE,   /* rows above 1 are an error */
    DP_NORM_BOUNDS, /* every row divided by the same public number, which no norm exceeds by 1 − 2⁻²² of it */
};
#define DP_NORM_CHOICES "unit|cap|none|bounds"
extern const char *const dp_row_norms[]; /* as in descriptions of data */

struct dp_row_length {
    enum dp_row_norm norm;
    double divisor; /* DP_NORM_BOUNDS */
    size_t cols;
    const float *step; /* cols: values become whole numbers of these, see quantise.h; NULL: they do not */
};

/* row: cols entries with Σ row² ≤ 1 as real numbers: scaled to 1 − 2⁻²² at most, then checked with the error bound of
   dp_row_norm2, and then, with steps, rounded toward zero. number: of the row, from 1, for messages. DP_E_RUN: an entry that is
   not finite, a row beyond the norm that was promised. */
int dp_row_shorten(const struct dp_row_length *length, const double *x, size_t number, float *row, struct dp_err *err);

/* What was done to rows, as models say it: "divided by 1.41, bias, quantised". norm: its name, or another text that is kept. */
#define DP_ROW_NORM_TEXT 80
void dp_row_norm_text(const char *norm, double divisor, bool bias, bool quantised, char text[DP_ROW_NORM_TEXT]);

/* Whether two such texts say the same of the lengths of rows: rows that are quantised and rows that are not may serve one
   model. */
bool dp_row_norm_same(const char *a, const char *b);

#endif
