/* Scales rows before they are written, to float32 values of norm at most 1, and rounds them further on request. */
#pragma once

#include "base/err.h"
#include "data/basis.h"

enum dp_row_norm {
    DP_NORM_UNIT,   /* scale every row to L2 norm 1 (just below it); zero rows stay */
    DP_NORM_CAP,    /* scale only rows above 1 */
    DP_NORM_NONE,   /* rows above 1 are an error */
    DP_NORM_BOUNDS, /* divide every row by the same public number; no norm exceeds 1 − 2⁻²² of this number */
};
#define DP_NORM_CHOICES "unit|cap|none|bounds"
extern const char *const dp_row_norms[]; /* names in dataset.json */

struct dp_row_length {
    enum dp_row_norm norm;
    double divisor; /* DP_NORM_BOUNDS */
    size_t cols;
    const float *step; /* cols: step sizes to which values are rounded, see quantise.h; NULL: no rounding */
};

/* x: `count` ≤ DP_SHORTEN_ROWS rows, one after another; rows: the same of floats, each of cols entries with Σ row² ≤ 1 as real
   numbers: scaled to 1 − 2⁻²² at most, then checked with the error bound of dp_row_norm2, and then, with steps, rounded toward
   zero. A row does not depend on the others. number: of the first row, from 1, for messages. DP_E_RUN: an entry that is not
   finite, a row beyond the norm that was promised. */
#define DP_SHORTEN_ROWS 4
int dp_row_shorten(const struct dp_row_length *length, const double *x, size_t count, size_t number, float *rows,
                   struct dp_err *err);

/* The description of row scaling in models: "divided by 1.41, bias, 412 products, quantised". norm: a name of dp_row_norms, or
 * another text, which is kept. products: how many; 0 for a basis of earlier versions. */
#define DP_ROW_NORM_TEXT 96
void dp_row_norm_text(const char *norm, double divisor, bool bias, enum dp_basis_kind basis, size_t products, bool quantised,
                      char text[DP_ROW_NORM_TEXT]);

/* The inverse, without the divisor. False: not such a text. */
bool dp_row_norm_read(const char *text, enum dp_row_norm *norm, bool *bias, enum dp_basis_kind *basis, size_t *products,
                      bool *quantised);

/* The default basis of numbers that such a text names, and how many products. */
enum dp_basis_kind dp_row_norm_basis(const char *text, size_t *products);

/* Whether two such texts mean the same row lengths. A model may be used on quantised rows and on others, so the comparison
 * ignores this. */
bool dp_row_norm_same(const char *a, const char *b);
