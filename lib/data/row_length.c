#include "data/row_length.h"

#include <float.h>

#include "data/quantise.h"
#include "math/vec.h"

const char *const dp_row_norms[] = {"unit", "cap", "none", "bounds"};

/* Σ row² ≤ 1 as a real number, given that the computed sum is off by at most (count + 16) 2⁻⁵³ of it. */
static bool within_unit(const float *row, size_t count)
{
    return dp_row_norm2(dp_row_dense(row, count)) * (1 + (double)(count + 17) * 0x1p-52) <= 1;
}

/* Divides every row by the same number. The bound on the norm leaves more room than rounding needs; the loop shrinks a row
 * further, for a caller whose bound does not hold. */
static int divide_row(const struct dp_row_length *s, const double *x, size_t number, float *row, struct dp_err *err)
{
    size_t cols = s->cols;
    for (double shrink = 1;; shrink *= 1 - 0x1p-22) {
        unsigned finite = 1; /* the loop has no exit, so that the compiler can make vectors of it */
        for (size_t j = 0; j < cols; j++) {
            finite &= fabs(x[j]) <= DBL_MAX;
            row[j] = (float)(x[j] / s->divisor * shrink);
        }
        if (!finite)
            return dp_fail(err, DP_E_RUN, "row %zu is not finite", number);
        if (within_unit(row, cols))
            return DP_OK;
        if (shrink < 0.5)
            return dp_fail(err, DP_E_RUN, "row %zu is beyond the bounds", number);
    }
}

/* norm2: of x, as far as squares neither overflow nor vanish. */
static int scale_row(const struct dp_row_length *s, const double *x, double norm2, size_t number, float *row,
                     struct dp_err *err)
{
    size_t cols = s->cols;
    double largest = 0, scale = 1;
    int down = 0; /* x 2^−down has squares that neither overflow nor vanish */
    if (!(norm2 > 0x1p-900 && norm2 < INFINITY)) {
        for (size_t j = 0; j < cols; j++) {
            if (!isfinite(x[j]))
                return dp_fail(err, DP_E_RUN, "row %zu is not finite", number);
            largest = fmax(largest, fabs(x[j]));
        }
        frexp(largest, &down);
        norm2 = 0;
        for (size_t j = 0; j < cols; j++)
            norm2 += ldexp(x[j], -down) * ldexp(x[j], -down);
    }
    double norm = sqrt(norm2);
    bool above = ldexp(norm, down) > 1 - 0x1p-22;
    if (s->norm == DP_NORM_NONE && ldexp(norm, down) > 1)
        return dp_fail(err, DP_E_RUN, "row %zu has norm %g: --row-norm cap or unit scales it", number, ldexp(norm, down));
    /* Below 1 by a little more than rounding to float32 can add. */
    if (norm > 0 && (s->norm == DP_NORM_UNIT || above))
        scale = (1 - 0x1p-22) / norm;
    else
        down = 0;
    for (;; scale *= 1 - 0x1p-22) {
        for (size_t j = 0; j < cols; j++)
            row[j] = (float)((down == 0 ? x[j] : ldexp(x[j], -down)) * scale);
        if (within_unit(row, cols))
            return DP_OK;
    }
}

/* Sums of squares in the order of the columns. Each addition waits for the one before it, so four rows together take as long as
 * one. */
static void add_squares(const double *x, size_t count, size_t cols, double norm2[DP_SHORTEN_ROWS])
{
    double a = 0, b = 0, c = 0, d = 0;
    const double *xb = x + (count > 1) * cols, *xc = x + (count > 2) * 2 * cols, *xd = x + (count > 3) * 3 * cols;
    for (size_t j = 0; j < cols; j++) {
        a += x[j] * x[j];
        b += xb[j] * xb[j];
        c += xc[j] * xc[j];
        d += xd[j] * xd[j];
    }
    memcpy(norm2, (double[]){a, b, c, d}, DP_SHORTEN_ROWS * sizeof *norm2);
}

int dp_row_shorten(const struct dp_row_length *s, const double *x, size_t count, size_t number, float *rows, struct dp_err *err)
{
    double norm2[DP_SHORTEN_ROWS];
    int rc = DP_OK;
    if (s->norm != DP_NORM_BOUNDS)
        add_squares(x, count, s->cols, norm2);
    for (size_t i = 0; rc == DP_OK && i < count; i++, x += s->cols, rows += s->cols) {
        rc = s->norm == DP_NORM_BOUNDS ? divide_row(s, x, number + i, rows, err)
                                       : scale_row(s, x, norm2[i], number + i, rows, err);
        if (rc == DP_OK && s->step != NULL)
            dp_quantise_row(s->step, s->cols, rows);
    }
    return rc;
}

static const char quantised_too[] = ", quantised";

void dp_row_norm_text(const char *norm, double divisor, bool bias, enum dp_basis_kind basis, size_t products, bool quantised,
                      char text[DP_ROW_NORM_TEXT])
{
    char curves[40] = "";
    const char *more = bias ? ", bias" : "", *last = quantised ? quantised_too : "";
    if (basis == DP_BASIS_PRODUCTS && products > 0)
        snprintf(curves, sizeof curves, ", %zu %s", products, dp_bases[basis]);
    else if (basis != DP_BASIS_NONE)
        snprintf(curves, sizeof curves, ", %s", dp_bases[basis]);
    if (strcmp(norm, dp_row_norms[DP_NORM_BOUNDS]) == 0)
        snprintf(text, DP_ROW_NORM_TEXT, "divided by %.9g%s%s%s", divisor, more, curves, last);
    else
        snprintf(text, DP_ROW_NORM_TEXT, "%s%s%s%s", norm, more, curves, last);
}

enum dp_basis_kind dp_row_norm_basis(const char *text, size_t *products)
{
    char word[20];
    *products = 0;
    for (const char *at = strchr(text, ','); at != NULL; at = strchr(at + 1, ','))
        if (sscanf(at, ", %zu product%1[s]", products, word) == 2 && *products > 0)
            return DP_BASIS_PRODUCTS;
    *products = 0;
    for (int k = DP_BASIS_LINE; k <= DP_BASIS_PRODUCTS; k++) {
        snprintf(word, sizeof word, ", %s", dp_bases[k]);
        if (strstr(text, word) != NULL)
            return (enum dp_basis_kind)k;
    }
    return DP_BASIS_NONE;
}

bool dp_row_norm_read(const char *text, enum dp_row_norm *norm, bool *bias, enum dp_basis_kind *basis, size_t *products,
                      bool *quantised)
{
    size_t length = strcspn(text, ",");
    *bias = strstr(text, ", bias") != NULL;
    *quantised = strstr(text, quantised_too) != NULL;
    *basis = dp_row_norm_basis(text, products);
    *norm = DP_NORM_BOUNDS;
    if (strncmp(text, "divided by ", strlen("divided by ")) == 0)
        return true;
    for (*norm = 0; *norm < DP_NORM_BOUNDS; (*norm)++)
        if (strlen(dp_row_norms[*norm]) == length && memcmp(dp_row_norms[*norm], text, length) == 0)
            return true;
    return false;
}

static size_t without_last(const char *text)
{
    size_t length = strlen(text), last = strlen(quantised_too);
    return length >= last && strcmp(text + length - last, quantised_too) == 0 ? length - last : length;
}

bool dp_row_norm_same(const char *a, const char *b)
{
    size_t length = without_last(a);
    return length == without_last(b) && memcmp(a, b, length) == 0;
}
