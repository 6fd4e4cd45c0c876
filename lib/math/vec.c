#include "math/vec.h"

#include <stdbool.h>

#ifdef DP_NO_CLONES /* sanitizers and function multiversioning do not mix */
#define CLONES
#else
#define CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#endif
#define LANES 16

/* A fixed tree over the lanes. */
static inline double fold(const double lane[LANES])
{
    double half[LANES / 2], quarter[LANES / 4];
    for (int i = 0; i < LANES / 2; i++)
        half[i] = lane[i] + lane[i + LANES / 2];
    for (int i = 0; i < LANES / 4; i++)
        quarter[i] = half[i] + half[i + LANES / 4];
    return (quarter[0] + quarter[2]) + (quarter[1] + quarter[3]);
}

CLONES static double dense_dot(const float *restrict x, const double *restrict w, size_t count)
{
    double lane[LANES] = {0};
    size_t j = 0;
    for (; j + LANES <= count; j += LANES)
        for (size_t i = 0; i < LANES; i++)
            lane[i] += (double)x[j + i] * w[j + i];
    for (size_t i = 0; j < count; i++, j++)
        lane[i] += (double)x[j] * w[j];
    return fold(lane);
}

CLONES static double dense_norm2(const float *restrict x, size_t count)
{
    double lane[LANES] = {0};
    size_t j = 0;
    for (; j + LANES <= count; j += LANES)
        for (size_t i = 0; i < LANES; i++)
            lane[i] += (double)x[j + i] * (double)x[j + i];
    for (size_t i = 0; j < count; i++, j++)
        lane[i] += (double)x[j] * (double)x[j];
    return fold(lane);
}

CLONES static void dense_axpy(double a, const float *restrict x, double *restrict w, size_t count)
{
    for (size_t j = 0; j < count; j++)
        w[j] += a * (double)x[j];
}

CLONES static void dense_add_grid(double a, double inverse_grid, const float *restrict x, int64_t *restrict sum,
                                  size_t count)
{
    /* a x is exact (24 + 24 bits), the power of two too, and the conversion truncates. */
    for (size_t j = 0; j < count; j++)
        sum[j] += (int32_t)(a * (double)x[j] * inverse_grid);
}

CLONES static double plain_norm2(const double *w, size_t count)
{
    double lane[LANES] = {0};
    size_t j = 0;
    for (; j + LANES <= count; j += LANES)
        for (size_t i = 0; i < LANES; i++)
            lane[i] += w[j + i] * w[j + i];
    for (size_t i = 0; j < count; i++, j++)
        lane[i] += w[j] * w[j];
    return fold(lane);
}

double dp_row_dot(struct dp_row row, const double *w)
{
    if (row.columns == NULL)
        return dense_dot(row.values, w, row.count);
    double lane[LANES] = {0}; /* those of the dense row: its zeros add nothing */
    for (size_t j = 0; j < row.count; j++)
        lane[row.columns[j] % LANES] += (double)row.values[j] * w[row.columns[j]];
    return fold(lane);
}

double dp_row_norm2(struct dp_row row)
{
    if (row.columns == NULL)
        return dense_norm2(row.values, row.count);
    double lane[LANES] = {0};
    for (size_t j = 0; j < row.count; j++)
        lane[row.columns[j] % LANES] += (double)row.values[j] * (double)row.values[j];
    return fold(lane);
}

void dp_row_axpy(double a, struct dp_row row, double *w)
{
    if (row.columns == NULL) {
        dense_axpy(a, row.values, w, row.count);
        return;
    }
    for (size_t j = 0; j < row.count; j++)
        w[row.columns[j]] += a * (double)row.values[j];
}

void dp_row_add_grid(float a, double inverse_grid, struct dp_row row, int64_t *sum)
{
    if (row.columns == NULL) {
        dense_add_grid((double)a, inverse_grid, row.values, sum, row.count);
        return;
    }
    for (size_t j = 0; j < row.count; j++)
        sum[row.columns[j]] += (int32_t)((double)a * (double)row.values[j] * inverse_grid);
}

static bool all_dense(const struct dp_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].columns != NULL)
            return false;
    return true;
}

/* dense_dot of two rows with two w: four sums, in as many registers as there are. */
CLONES static void dense_dot_2x2(const float *restrict x, const float *restrict z, const double *restrict v,
                                 const double *restrict w, size_t count, double dot[4])
{
    double xv[LANES] = {0}, xw[LANES] = {0}, zv[LANES] = {0}, zw[LANES] = {0};
    size_t j = 0;
    for (; j + LANES <= count; j += LANES)
        for (size_t i = 0; i < LANES; i++) {
            xv[i] += (double)x[j + i] * v[j + i];
            xw[i] += (double)x[j + i] * w[j + i];
            zv[i] += (double)z[j + i] * v[j + i];
            zw[i] += (double)z[j + i] * w[j + i];
        }
    for (size_t i = 0; j < count; i++, j++) {
        xv[i] += (double)x[j] * v[j];
        xw[i] += (double)x[j] * w[j];
        zv[i] += (double)z[j] * v[j];
        zw[i] += (double)z[j] * w[j];
    }
    dot[0] = fold(xv);
    dot[1] = fold(xw);
    dot[2] = fold(zv);
    dot[3] = fold(zw);
}

void dp_rows_dot(const struct dp_row *rows, size_t count, const double *w, size_t outputs, size_t stride, double *dot)
{
    size_t paired = all_dense(rows, count) ? count - count % 2 : 0, even = outputs - outputs % 2;
    for (size_t k = 0; k < even; k += 2) {
        for (size_t i = 0; i < paired; i += 2) {
            double d[4];
            dense_dot_2x2(rows[i].values, rows[i + 1].values, w + k * stride, w + (k + 1) * stride, rows[i].count, d);
            dot[i * outputs + k] = d[0];
            dot[i * outputs + k + 1] = d[1];
            dot[(i + 1) * outputs + k] = d[2];
            dot[(i + 1) * outputs + k + 1] = d[3];
        }
    }
    for (size_t i = 0; i < count; i++)
        for (size_t k = i < paired ? even : 0; k < outputs; k++)
            dot[i * outputs + k] = dp_row_dot(rows[i], w + k * stride);
}

/* Columns from … from + width of up to DP_ROWS dense rows; 32-bit sums, since each term is below 2^31 / DP_ROWS. */
#define WIDTH 32
CLONES static void dense_add_block(const double *restrict a, size_t outputs, const double (*restrict x)[WIDTH],
                                   size_t count, int64_t *restrict sum, size_t stride, size_t width)
{
    for (size_t k = 0; k < outputs; k++) {
        int32_t part[WIDTH] = {0};
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < WIDTH; j++)
                part[j] += (int32_t)(a[i * outputs + k] * x[i][j]);
        for (size_t j = 0; j < width; j++)
            sum[k * stride + j] += part[j];
    }
}

void dp_rows_add_grid(const float *a, size_t outputs, double inverse_grid, const struct dp_row *rows, size_t count,
                      int64_t *sum, size_t stride)
{
    enum { MOST = 64 }; /* outputs at a time */
    double scaled[DP_ROWS * MOST], x[DP_ROWS][WIDTH];
    bool dense = all_dense(rows, count), used[DP_ROWS] = {false};
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < outputs; k++)
            used[i] |= a[i * outputs + k] != 0;
    for (size_t i = 0; !dense && i < count; i++)
        for (size_t k = 0; k < outputs; k++)
            if (a[i * outputs + k] != 0)
                dp_row_add_grid(a[i * outputs + k], inverse_grid, rows[i], sum + k * stride);
    for (size_t first = 0; dense && count > 0 && first < outputs; first += MOST) {
        size_t some = outputs - first < MOST ? outputs - first : MOST;
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < some; k++) /* by a power of two: exact */
                scaled[i * some + k] = (double)a[i * outputs + first + k] * inverse_grid;
        for (size_t from = 0; from < rows[0].count; from += WIDTH) {
            size_t width = rows[0].count - from < WIDTH ? rows[0].count - from : WIDTH;
            for (size_t i = 0; i < count; i++)
                for (size_t j = 0; j < WIDTH; j++)
                    x[i][j] = used[i] && j < width ? (double)rows[i].values[from + j] : 0;
            dense_add_block(scaled, some, x, count, sum + first * stride + from, stride, width);
        }
    }
}

double dp_row_at(struct dp_row row, size_t j)
{
    if (row.columns == NULL)
        return (double)row.values[j];
    for (size_t i = 0; i < row.count; i++)
        if ((size_t)row.columns[i] == j)
            return (double)row.values[i];
    return 0;
}

double dp_norm2(const double *w, size_t count)
{
    return plain_norm2(w, count);
}
