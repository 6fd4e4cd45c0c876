/* Functions of one number, so that a linear model of them is a curve: the features of a numeric column in addition to the
 * number itself. They are a public map: edges e_0 < e_1 < … < e_m divide the bounds, e_0 the lower and e_m the upper one.
 *
 *   line     no features
 *   hats     m + 1: hat i is 1 at e_i, falls linearly to 0 at e_(i−1) and e_(i+1), and is 0 beyond
 *   bins     m: bin i is 1 in [e_i, e_(i+1)), the last one also at e_m, else 0
 *   cosines  8: cos(π k u) / k, k = 1 … 8, where u is linear between edges and i / m at e_i
 *
 * A data set may also have products of the cosines of two numbers (data/products.h).
 *
 * Hats add up to 1 at any number, at most two are not 0, and the sum of their squares is largest, 1, at an edge. The
 * squares of cosines add up to Σ 1 / k² at the bounds, and to less elsewhere. */
#pragma once

#include <jansson.h>

#include "base/err.h"

enum dp_basis_kind { DP_BASIS_NONE, DP_BASIS_LINE, DP_BASIS_HATS, DP_BASIS_BINS, DP_BASIS_COSINES, DP_BASIS_PRODUCTS };
extern const char *const dp_bases[]; /* names of the kinds; the name of DP_BASIS_NONE is NULL. Columns have no products */
#define DP_BASIS_CHOICES "line|hats|bins|cosines|products"

#define DP_BASIS_COSINE_COUNT 8
#define DP_BASIS_MOST 1000
#define DP_BASIS_NAME 80

struct dp_basis {
    enum dp_basis_kind kind;
    size_t intervals; /* m */
    double *edge;     /* m + 1 */
    /* Bins may say where rows lie within the bounds: part k has a share of the rows, from place k to place k + 1. Two equal
     * places are one frequent number. No feature depends on parts. */
    size_t parts;  /* 0: not known */
    double *place; /* parts + 1, from the lower to the upper bound */
    double *share; /* parts */
};

/* Reads "basis" and "knots" of a column with these bounds: a number m, 8 by default, divides the bounds evenly, or evenly in
 * the logarithm where they span three decades (see dp_basis_spread); a list has the edges, with or without the bounds. Bins
 * may have "parts", the places, and "shares". The caller names the column in front of a message. *basis starts zeroed; the
 * caller frees it, after a failure, too. */
int dp_basis_read(struct dp_basis *basis, const json_t *column, double low, double high, struct dp_err *err);
void dp_basis_free(struct dp_basis *basis);

/* The default basis of a column, with 8 intervals: cosines if there are products; a line if the bounds are too close. */
void dp_basis_default(struct dp_basis *basis, enum dp_basis_kind kind, double low, double high);

/* The kind of that name, or DP_BASIS_NONE. text may be NULL. */
enum dp_basis_kind dp_basis_of(const char *text);

/* Adds "basis" and "knots" to a column, with all edges. */
void dp_basis_put(const struct dp_basis *basis, json_t *column);

/* The i-th of m + 1 edges. 0 < low and high / low >= 1000: low (high / low)^(i/m). low <= 0 and one bound of magnitude 1000 or
 * more: even steps of sign(x) log(1 + |x|). Else even steps. The bounds are exact. */
double dp_basis_spread(double low, double high, size_t i, size_t intervals);

/* The number of features; 0 without a basis. */
size_t dp_basis_count(const struct dp_basis *basis);

/* The features of a number within the bounds, all dp_basis_count of them. */
void dp_basis_features(const struct dp_basis *basis, double value, double *x);

/* The largest sum of the squares of the features, and the sum for a number. No feature is beyond −1 and 1. */
double dp_basis_norm2(const struct dp_basis *basis);
double dp_basis_norm2_of(const struct dp_basis *basis, double value);

/* The end of the name of feature k: " at 20", " from 20 to 30", " cosine 1". Returns the text. */
const char *dp_basis_name(const struct dp_basis *basis, size_t k, char text[DP_BASIS_NAME]);
