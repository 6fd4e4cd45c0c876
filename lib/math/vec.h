/* Rows, and sums over their entries. All sums use a fixed number of lanes in a fixed order, so the bytes do not depend on the
   width of the CPU's vectors (math/kernels.h). math/tally.h has sums over rows. */
#pragma once

#include "base/c.h"

/* One row, borrowed. Dense: columns == NULL and values[count]. Sparse: values[count] at columns[count]. Narrow: dense, values
   == NULL, and value j is narrow[j] × scale[j], exact in float; a scale is a power of two from 2^-126 to 2^112. */
struct dp_row {
    const float *values;
    const int32_t *columns;
    size_t count;
    const int16_t *narrow;
    const float *scale;
};

static inline struct dp_row dp_row_dense(const float *values, size_t count)
{
    return (struct dp_row){.values = values, .count = count};
}

static inline struct dp_row dp_row_sparse(const float *values, const int32_t *columns, size_t count)
{
    return (struct dp_row){.values = values, .columns = columns, .count = count};
}

static inline struct dp_row dp_row_narrow(const int16_t *narrow, const float *scale, size_t count)
{
    return (struct dp_row){.count = count, .narrow = narrow, .scale = scale};
}

/* The value of stored entry `at`, below count. */
static inline float dp_row_value(const struct dp_row *row, size_t at)
{
    return row->narrow == NULL ? row->values[at] : (float)row->narrow[at] * row->scale[at];
}

/* The address of the stored entries of a row, and the bytes of one entry. */
static inline const void *dp_row_bytes(const struct dp_row *row)
{
    return row->narrow == NULL ? (const void *)row->values : row->narrow;
}

static inline size_t dp_row_width(const struct dp_row *row)
{
    return row->narrow == NULL ? sizeof *row->values : sizeof *row->narrow;
}

/* Σ_j row_j w_j. For a dense row count must be the length of w. A row gives the same bits dense, sparse and narrow. */
double dp_row_dot(struct dp_row row, const double *w);

/* Σ_j row_j² (in double; relative error at most (count + 16) 2^-53). */
double dp_row_norm2(struct dp_row row);

/* w_j += a row_j */
void dp_row_axpy(double a, struct dp_row row, double *w);

/* sum_j += trunc(a row_j / grid) toward zero; inverse_grid is a power of two. a row_j is exact in double, so each added
   whole number is at most |a row_j| / grid. |a row_j| inverse_grid < 2^31 must hold. (PRIVACY rule: exact sums) */
void dp_row_add_grid(float a, double inverse_grid, struct dp_row row, int64_t *sum);

/* Several rows at once, each with the same bits as above: dot[i × outputs + k] = Σ_j row_ij w[k × stride + j] and, unless norm2
   is NULL, norm2[i] = Σ_j row_ij². count ≤ DP_ROWS; rows dense, sparse or narrow. next: NULL, or count rows that will be needed
   soon; the CPU is asked to fetch them. */
#define DP_ROWS 8
void dp_rows_dot(const struct dp_row *rows, size_t count, const struct dp_row *next, const double *w, size_t outputs,
                 size_t stride, double *dot, double *norm2);

/* Asks for the row's first bytes before they are needed. Always inlined: the compiler removes a call of a function without
   visible effect. */
static inline __attribute__((always_inline)) void dp_row_prefetch(struct dp_row row)
{
    const char *from = dp_row_bytes(&row);
    size_t bytes = row.count * dp_row_width(&row);
    for (size_t at = 0; at < bytes && at < 1024; at += 64)
        __builtin_prefetch(from + at);
    if (bytes > 0 && bytes < 1024)
        __builtin_prefetch(from + bytes - 1);
}

/* The values of the stored entries: the row's own or, for a narrow row, in `room`, which has space for count. */
const float *dp_row_floats(const struct dp_row *row, float *room);

double dp_row_at(struct dp_row row, size_t j);

/* Σ_j w_j² */
double dp_norm2(const double *w, size_t count);
