#include "math/vec.h"

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
