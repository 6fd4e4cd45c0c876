#include "math/vec.h"

#include "math/kernels.h"

double dp_row_dot(struct dp_row row, const double *w)
{
    if (row.narrow != NULL)
        return dp_kernels()->narrow_dot(row.narrow, row.scale, w, row.count);
    if (row.columns == NULL)
        return dp_kernels()->dot(row.values, w, row.count);
    double lane[LANES] = {0}; /* the columns of the dense row: its zeros add nothing */
    for (size_t j = 0; j < row.count; j++)
        lane[(size_t)row.columns[j] % LANES] += (double)row.values[j] * w[row.columns[j]];
    return fold(lane);
}

double dp_row_norm2(struct dp_row row)
{
    if (row.narrow != NULL)
        return dp_kernels()->narrow_norm2(row.narrow, row.scale, row.count);
    if (row.columns == NULL)
        return dp_kernels()->norm2(row.values, row.count);
    double lane[LANES] = {0};
    for (size_t j = 0; j < row.count; j++)
        lane[(size_t)row.columns[j] % LANES] += (double)row.values[j] * (double)row.values[j];
    return fold(lane);
}

void dp_row_axpy(double a, struct dp_row row, double *w)
{
    if (row.narrow != NULL) {
        dp_kernels()->narrow_axpy(a, row.narrow, row.scale, w, row.count);
        return;
    }
    if (row.columns == NULL) {
        dp_kernels()->axpy(a, row.values, w, row.count);
        return;
    }
    for (size_t j = 0; j < row.count; j++)
        w[row.columns[j]] += a * (double)row.values[j];
}

void dp_row_add_grid(float a, double inverse_grid, struct dp_row row, int64_t *sum)
{
    if (row.narrow != NULL) {
        dp_kernels()->narrow_add_grid((double)a, inverse_grid, row.narrow, row.scale, sum, row.count);
        return;
    }
    if (row.columns == NULL) {
        dp_kernels()->add_grid((double)a, inverse_grid, row.values, sum, row.count);
        return;
    }
    for (size_t j = 0; j < row.count; j++)
        sum[row.columns[j]] += (int32_t)((double)a * (double)row.values[j] * inverse_grid);
}

/* Whether all rows are dense; narrow rows count only if `narrow` is true. */
static bool all_dense(const struct dp_row *rows, size_t count, bool narrow)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].columns != NULL || (rows[i].narrow != NULL && !narrow))
            return false;
    return true;
}

/* `count` values of a dense row, from `from` on. */
static void widen(const struct dp_kernels *kernels, struct dp_row row, size_t from, double *wide, size_t count)
{
    float x[DP_SPAN];
    if (row.narrow != NULL)
        kernels->unpack(row.narrow + from, row.scale + from, x, count);
    kernels->widen(row.narrow != NULL ? x : row.values + from, wide, count);
}

/* Asks for values from … to − 1 of a row before they are needed. Always inlined, as dp_row_prefetch. */
static inline __attribute__((always_inline)) void ask(struct dp_row row, size_t from, size_t to)
{
    const size_t size = dp_row_width(&row), each = 64 / size;
    for (size_t j = (from + each - 1) / each * each; j < to && j < row.count; j += each)
        __builtin_prefetch((const char *)dp_row_bytes(&row) + j * size);
}

/* `quads` times four dense rows with an even number of outputs, at most MOST_PAIRS pairs. */
#define MOST_PAIRS 8
#define MOST_QUADS (DP_ROWS / DP_QUAD)
static void dot_quads(const struct dp_row *rows, size_t quads, const struct dp_row *next, const double *w, size_t pairs,
                      size_t outputs, size_t stride, double *dot)
{
    const struct dp_kernels *kernels = dp_kernels();
    const size_t count = quads * DP_QUAD, cols = rows[0].count;
    _Alignas(64) double x[MOST_QUADS * DP_QUAD][DP_SPAN]; /* aligned: no load of a whole register crosses a cache line */
    _Alignas(64) double lane[MOST_PAIRS][MOST_QUADS][2 * DP_QUAD][LANES];
    memset(lane, 0, pairs * sizeof *lane);
    for (size_t from = 0; from < cols; from += DP_SPAN) {
        size_t width = cols - from < DP_SPAN ? cols - from : DP_SPAN;
        for (size_t r = 0; r < count; r++)
            widen(kernels, rows[r], from, x[r], width);
        for (size_t p = 0; p < pairs; p++) {
            const double *v = w + 2 * p * stride + from;
            /* A little at a time: the CPU stops when it has too many open requests. */
            for (size_t r = 0; next != NULL && r < count; r++)
                ask(next[r], from + width * p / pairs, from + width * (p + 1) / pairs);
            for (size_t q = 0; q < quads; q++) /* the second time the weights are in the first-level cache */
                kernels->dot_4x2((const double(*)[DP_SPAN])x + q * DP_QUAD, v, v + stride, width, lane[p][q]);
        }
    }
    for (size_t p = 0; p < pairs; p++)
        for (size_t r = 0; r < count; r++) {
            dot[r * outputs + 2 * p] = fold(lane[p][r / DP_QUAD][r % DP_QUAD]);
            dot[r * outputs + 2 * p + 1] = fold(lane[p][r / DP_QUAD][DP_QUAD + r % DP_QUAD]);
        }
}

void dp_rows_dot(const struct dp_row *rows, size_t count, const struct dp_row *next, const double *w, size_t outputs,
                 size_t stride, double *dot, double *norm2)
{
    if (outputs == 1 && all_dense(rows, count, false)) {
        dp_kernels()->dot_norm2(rows, count, next, w, dot, norm2);
        return;
    }
    size_t blocked = all_dense(rows, count, true) ? count - count % DP_QUAD : 0, even = outputs - outputs % 2;
    for (size_t k = 0; blocked > 0 && k < even; k += 2 * MOST_PAIRS) {
        size_t pairs = (even - k) / 2 < MOST_PAIRS ? (even - k) / 2 : MOST_PAIRS;
        dot_quads(rows, blocked / DP_QUAD, k == 0 ? next : NULL, w + k * stride, pairs, outputs, stride, dot + k);
    }
    for (size_t i = 0; next != NULL && i < count; i++)
        if (even == 0 || i >= blocked)
            dp_row_prefetch(next[i]);
    for (size_t i = 0; i < count; i++)
        for (size_t k = i < blocked ? even : 0; k < outputs; k++)
            dot[i * outputs + k] = dp_row_dot(rows[i], w + k * stride);
    for (size_t i = 0; norm2 != NULL && i < count; i++)
        norm2[i] = dp_row_norm2(rows[i]);
}

const float *dp_row_floats(const struct dp_row *row, float *room)
{
    if (row->narrow == NULL)
        return row->values;
    dp_kernels()->unpack(row->narrow, row->scale, room, row->count);
    return room;
}

double dp_row_at(struct dp_row row, size_t j)
{
    if (row.columns == NULL)
        return (double)dp_row_value(&row, j);
    for (size_t i = 0; i < row.count; i++)
        if ((size_t)row.columns[i] == j)
            return (double)row.values[i];
    return 0;
}

double dp_norm2(const double *w, size_t count)
{
    return dp_kernels()->plain_norm2(w, count);
}
