/* Rows, and sums over their entries. All sums use a fixed number of lanes in a fixed order, so the bytes do not depend on the
   width of the CPU's vectors (math/kernels.h). math/tally.h has sums over rows. */
#pragma once

#include "base/c.h"

/* One row, borrowed. Dense: columns == NULL and values[count]. Sparse: values[count] at columns[count]. */
struct dp_row {
    const float *values;
    const int32_t *columns;
    size_t count;
};

static inline struct dp_row dp_row_dense(const float *values, size_t count)
{
    return (struct dp_row){.values = values, .count = count};
}

static inline struct dp_row dp_row_sparse(const float *values, const int32_t *columns, size_t count)
{
    return (struct dp_row){.values = values, .columns = columns, .count = count};
}

/* Σ_j row_j w_j. For a dense row count must be the length of w. A row gives the same bits dense and sparse. */
double dp_row_dot(struct dp_row row, const double *w);

/* Σ_j row_j² (in double; relative error at most (count + 16) 2^-53). */
double dp_row_norm2(struct dp_row row);

/* w_j += a row_j */
void dp_row_axpy(double a, struct dp_row row, double *w);

/* sum_j += trunc(a row_j / grid) toward zero; inverse_grid is a power of two. a row_j is exact in double, so each added
   whole number is at most |a row_j| / grid. |a row_j| inverse_grid < 2^31 must hold. (PRIVACY rule: exact sums) */
void dp_row_add_grid(float a, double inverse_grid, struct dp_row row, int64_t *sum);

/* Several rows at once, each with the same bits as above: dot[i × outputs + k] = Σ_j row_ij w[k × stride + j] and, unless norm2
   is NULL, norm2[i] = Σ_j row_ij². count ≤ DP_ROWS; rows dense or sparse. next: NULL, or count rows that will be needed soon; the
   CPU is asked to fetch them. */
#define DP_ROWS 8
void dp_rows_dot(const struct dp_row *rows, size_t count, const struct dp_row *next, const double *w, size_t outputs,
                 size_t stride, double *dot, double *norm2);

/* Asks for the row's first bytes before they are needed. Always inlined: the compiler removes a call of a function without
   visible effect. */
static inline __attribute__((always_inline)) void dp_row_prefetch(struct dp_row row)
{
    const char *from = (const char *)row.values;
    size_t bytes = row.count * sizeof *row.values;
    for (size_t at = 0; at < bytes && at < 1024; at += 64)
        __builtin_prefetch(from + at);
    if (bytes > 0 && bytes < 1024)
        __builtin_prefetch(from + bytes - 1);
}

double dp_row_at(struct dp_row row, size_t j);

/* Σ_j w_j² */
double dp_norm2(const double *w, size_t count);
