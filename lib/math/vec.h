/* Kernels over rows. All sums run over a fixed number of lanes in a fixed order, so that the bytes do not depend on the
   width of the CPU's vectors. */
#ifndef DP_MATH_VEC_H
#define DP_MATH_VEC_H

#include <stddef.h>
#include <stdint.h>

/* One row, borrowed. Dense: columns == NULL and values[count]; sparse: values[count] at columns[count]. */
struct dp_row {
    const float *values;
    const int32_t *columns;
    size_t count;
};

/* Σ_j row_j w_j. For a dense row count must be the length of w. A row gives the same bits dense and sparse. */
double dp_row_dot(struct dp_row row, const double *w);

/* Σ_j row_j² (in double; relative error at most (count + 16) 2^-53). */
double dp_row_norm2(struct dp_row row);

/* w_j += a row_j */
void dp_row_axpy(double a, struct dp_row row, double *w);

/* sum_j += trunc(a row_j / grid) toward zero; inverse_grid is a power of two. a row_j is exact in double, so each added
   whole number is at most |a row_j| / grid. |a row_j| inverse_grid < 2^31 must hold. (PRIVACY rule: exact sums) */
void dp_row_add_grid(float a, double inverse_grid, struct dp_row row, int64_t *sum);

/* Several rows at once, each bit as above, so that what is read of w and written of sum is shared.
   dp_rows_dot: dot[i × outputs + k] = Σ_j row_ij w[k × stride + j].
   next: NULL, or count rows that will be needed soon, which the CPU is asked to fetch meanwhile.
   dp_rows_add_grid: sum[k × stride + j] += Σ_i trunc(a[i × outputs + k] row_ij / grid);
   |a row_ij| inverse_grid < 2^24 must hold. A row whose a are all 0 is not read: it may
   not be finite. count ≤ DP_ROWS; rows dense or sparse. */
#define DP_ROWS 8
void dp_rows_dot(const struct dp_row *rows, size_t count, const struct dp_row *next, const double *w, size_t outputs,
                 size_t stride, double *dot);
void dp_rows_add_grid(const float *a, size_t outputs, double inverse_grid, const struct dp_row *rows, size_t count,
                      int64_t *sum, size_t stride);

/* Asks for the row's first bytes before they are needed. */
static inline void dp_row_prefetch(struct dp_row row)
{
    const char *from = (const char *)row.values;
    for (size_t at = 0; at < row.count * sizeof *row.values && at < 1024; at += 64)
        __builtin_prefetch(from + at);
}

/* Entry j of the row. */
double dp_row_at(struct dp_row row, size_t j);

/* Σ_j w_j² */
double dp_norm2(const double *w, size_t count);

#endif
