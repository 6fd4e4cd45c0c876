#include "math/vec.h"

#include <fenv.h>
#include <stdbool.h>
#include <string.h>

#include "math/clones.h"

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

CLONES static void dense_add_grid(double a, double inverse_grid, const float *restrict x, int64_t *restrict sum, size_t count)
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

#define SPAN 256 /* columns at a time: rows as doubles and the lanes of their sums stay in the cache */
#define QUAD 4

CLONES static void widen(const float *restrict x, double *restrict wide, size_t count)
{
    for (size_t j = 0; j < count; j++)
        wide[j] = (double)x[j];
}

/* Adds to the lanes of four rows with v, and then with w: eight sums, in as many registers as there are. */
CLONES static void dot_4x2(const double (*restrict x)[SPAN], const double *restrict v, const double *restrict w, size_t count,
                           double (*restrict lane)[LANES])
{
    double v0[LANES], v1[LANES], v2[LANES], v3[LANES], w0[LANES], w1[LANES], w2[LANES], w3[LANES];
    memcpy(v0, lane[0], sizeof v0);
    memcpy(v1, lane[1], sizeof v1);
    memcpy(v2, lane[2], sizeof v2);
    memcpy(v3, lane[3], sizeof v3);
    memcpy(w0, lane[4], sizeof w0);
    memcpy(w1, lane[5], sizeof w1);
    memcpy(w2, lane[6], sizeof w2);
    memcpy(w3, lane[7], sizeof w3);
    size_t j = 0;
    for (; j + LANES <= count; j += LANES)
        for (size_t i = 0; i < LANES; i++) {
            v0[i] += x[0][j + i] * v[j + i];
            v1[i] += x[1][j + i] * v[j + i];
            v2[i] += x[2][j + i] * v[j + i];
            v3[i] += x[3][j + i] * v[j + i];
            w0[i] += x[0][j + i] * w[j + i];
            w1[i] += x[1][j + i] * w[j + i];
            w2[i] += x[2][j + i] * w[j + i];
            w3[i] += x[3][j + i] * w[j + i];
        }
    for (size_t i = 0; j < count; i++, j++) {
        v0[i] += x[0][j] * v[j];
        v1[i] += x[1][j] * v[j];
        v2[i] += x[2][j] * v[j];
        v3[i] += x[3][j] * v[j];
        w0[i] += x[0][j] * w[j];
        w1[i] += x[1][j] * w[j];
        w2[i] += x[2][j] * w[j];
        w3[i] += x[3][j] * w[j];
    }
    memcpy(lane[0], v0, sizeof v0);
    memcpy(lane[1], v1, sizeof v1);
    memcpy(lane[2], v2, sizeof v2);
    memcpy(lane[3], v3, sizeof v3);
    memcpy(lane[4], w0, sizeof w0);
    memcpy(lane[5], w1, sizeof w1);
    memcpy(lane[6], w2, sizeof w2);
    memcpy(lane[7], w3, sizeof w3);
}

/* Asks for values from … to − 1 of a row before they are needed. */
static void ask(struct dp_row row, size_t from, size_t to)
{
    const size_t each = 64 / sizeof *row.values;
    for (size_t j = (from + each - 1) / each * each; j < to && j < row.count; j += each)
        __builtin_prefetch(row.values + j);
}

/* Four dense rows with an even number of outputs, at most MOST_PAIRS pairs. */
#define MOST_PAIRS 8
static void dot_quad(const struct dp_row *rows, const struct dp_row *next, const double *w, size_t pairs, size_t outputs,
                     size_t stride, double *dot)
{
    _Alignas(64) double x[QUAD][SPAN]; /* no load of a whole register across two lines */
    _Alignas(64) double lane[MOST_PAIRS][2 * QUAD][LANES];
    memset(lane, 0, pairs * sizeof *lane);
    for (size_t from = 0; from < rows[0].count; from += SPAN) {
        size_t width = rows[0].count - from < SPAN ? rows[0].count - from : SPAN;
        for (size_t r = 0; r < QUAD; r++)
            widen(rows[r].values + from, x[r], width);
        for (size_t p = 0; p < pairs; p++) {
            /* A little at a time: the CPU keeps few requests open, and waits when there are more. */
            for (size_t r = 0; next != NULL && r < QUAD; r++)
                ask(next[r], from + width * p / pairs, from + width * (p + 1) / pairs);
            dot_4x2(x, w + 2 * p * stride + from, w + (2 * p + 1) * stride + from, width, lane[p]);
        }
    }
    for (size_t p = 0; p < pairs; p++)
        for (size_t at = 0; at < 2 * QUAD; at++)
            dot[at % QUAD * outputs + 2 * p + at / QUAD] = fold(lane[p][at]);
}

void dp_rows_dot(const struct dp_row *rows, size_t count, const struct dp_row *next, const double *w, size_t outputs,
                 size_t stride, double *dot)
{
    size_t blocked = all_dense(rows, count) ? count - count % QUAD : 0, even = outputs - outputs % 2;
    for (size_t i = 0; i < blocked; i += QUAD)
        for (size_t k = 0; k < even; k += 2 * MOST_PAIRS) {
            size_t pairs = (even - k) / 2 < MOST_PAIRS ? (even - k) / 2 : MOST_PAIRS;
            const struct dp_row *ask_for = next != NULL && k == 0 ? next + i : NULL;
            dot_quad(rows + i, ask_for, w + k * stride, pairs, outputs, stride, dot + i * outputs + k);
        }
    for (size_t i = 0; next != NULL && i < count; i++)
        if (even == 0 || i >= blocked)
            dp_row_prefetch(next[i]);
    for (size_t i = 0; i < count; i++)
        for (size_t k = i < blocked ? even : 0; k < outputs; k++)
            dot[i * outputs + k] = dp_row_dot(rows[i], w + k * stride);
}

/* WIDTH columns of DP_ROWS dense rows. Products are rounded toward zero to the 24 bits of a float by the caller's
   rounding mode, which takes no whole number from those below 2^24, and then to whole numbers: together the truncation
   of the exact product. 32-bit sums have room for DP_ROWS of them. Never inlined: its products must stay where they
   are. */
#define WIDTH 64
__attribute__((noinline)) CLONES static void add_block(const float *restrict a, size_t outputs,
                                                       const float (*restrict x)[WIDTH], int64_t *restrict sum, size_t stride,
                                                       size_t width)
{
    for (size_t k = 0; k < outputs; k++) {
        int32_t part[WIDTH];
        for (size_t j = 0; j < WIDTH; j++) {
            int32_t term = 0;
            for (size_t i = 0; i < DP_ROWS; i++)
                term += (int32_t)(a[i * outputs + k] * x[i][j]);
            part[j] = term;
        }
        for (size_t j = 0; j < width; j++)
            sum[k * stride + j] += part[j];
    }
}

/* a × inverse_grid as floats. False if one has no room in a float; by a power of two, they are exact otherwise. */
static bool scale(const float *a, size_t count, double inverse_grid, float *scaled)
{
    bool exact = true;
    for (size_t at = 0; at < count; at++) {
        scaled[at] = (float)((double)a[at] * inverse_grid);
        exact &= (double)scaled[at] == (double)a[at] * inverse_grid;
    }
    return exact;
}

/* Dense rows, at most MOST outputs. scaled: DP_ROWS × outputs; used: rows whose coefficients are not all 0. */
#define MOST 64
static void add_dense(const float *scaled, size_t outputs, const struct dp_row *rows, size_t count, const bool *used,
                      int64_t *sum, size_t stride)
{
    _Alignas(64) float x[DP_ROWS][WIDTH] = {{0}};
    for (size_t from = 0; from < rows[0].count; from += WIDTH) {
        size_t width = rows[0].count - from < WIDTH ? rows[0].count - from : WIDTH;
        for (size_t i = 0; i < count; i++)
            if (used[i])
                memcpy(x[i], rows[i].values + from, width * sizeof **x);
        add_block(scaled, outputs, x, sum + from, stride, width);
    }
}

void dp_rows_add_grid(const float *a, size_t outputs, double inverse_grid, const struct dp_row *rows, size_t count,
                      int64_t *sum, size_t stride)
{
    float scaled[DP_ROWS * MOST] = {0};
    bool fast = outputs <= MOST && count > 1 && all_dense(rows, count), used[DP_ROWS] = {false};
    fast = fast && scale(a, count * outputs, inverse_grid, scaled);
    for (size_t at = 0; at < count * outputs; at++)
        used[at / outputs] |= a[at] != 0;
    int mode = fast ? fegetround() : -1;
    if (mode >= 0 && fesetround(FE_TOWARDZERO) == 0) {
        add_dense(scaled, outputs, rows, count, used, sum, stride);
        fesetround(mode);
        return;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < outputs; k++)
            if (a[i * outputs + k] != 0)
                dp_row_add_grid(a[i * outputs + k], inverse_grid, rows[i], sum + k * stride);
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
