#include "math/moments.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "math/clones.h"
#include "math/grid.h"

#define ROWS 64            /* rows that are added together: their 32-bit sums have room for 2^31 / 2^21 terms */
#define WIDTH 64           /* columns at a time, so that rows stay in the cache */
#define ROOT 0x1.6a09e6p+0 /* √2, rounded down to a float: its product with a float is exact */

int dp_moments_open(struct dp_moments *m, size_t cols, double bound, double grid, struct dp_err *err)
{
    *m = (struct dp_moments){.cols = cols, .bound = bound, .inverse_grid = 1 / grid};
    m->stride = (cols + WIDTH - 1) / WIDTH * WIDTH;
    int rc = dp_alloc(&m->rows, ROWS * m->stride, sizeof *m->rows, err);
    if (rc == DP_OK)
        rc = dp_alloc(&m->tile, ROWS * WIDTH, sizeof *m->tile, err);
    if (rc == DP_OK)
        rc = dp_alloc(&m->factor, ROWS * cols, sizeof *m->factor, err);
    if (rc == DP_OK)
        rc = dp_alloc(&m->whose, ROWS * cols, sizeof *m->whose, err);
    if (rc == DP_OK)
        rc = dp_alloc(&m->factors, cols, sizeof *m->factors, err);
    if (rc == DP_OK)
        rc = dp_alloc(&m->value, cols, sizeof *m->value, err);
    return rc == DP_OK ? dp_alloc(&m->column, cols, sizeof *m->column, err) : rc;
}

void dp_moments_close(struct dp_moments *m)
{
    free(m->rows);
    free(m->tile);
    free(m->factor);
    free(m->whose);
    free(m->factors);
    free(m->value);
    free(m->column);
    *m = (struct dp_moments){0};
}

double dp_moments_norm2(struct dp_row row, const float *tail, size_t tails)
{
    double norm2 = dp_row_norm2(row);
    for (size_t j = 0; j < tails; j++)
        norm2 += (double)tail[j] * (double)tail[j];
    return norm2;
}

/* The factor that makes the sum of the rows' squared norms at most the bound, in real arithmetic: 1, a smaller number, or 0 if
 * the sum is not finite. */
double dp_moments_shrink(const struct dp_moments *m, double norm2, size_t rows)
{
    if (!isfinite(norm2))
        return 0;
    /* Far above the rounding errors of norm, limit and their quotient. */
    double margin = ldexp((double)m->cols + (double)rows + 63, -52);
    double norm = sqrt(norm2) * (1 + margin), limit = sqrt(m->bound) * (1 - margin);
    return norm > limit ? limit / norm : 1;
}

static float shrunk(double by, float x)
{
    return by < 1 ? dp_float_toward_zero(by * (double)x) : x;
}

/* Both products are exact before they are truncated: floats are multiplied as doubles, and then by a power of two. */
static inline int32_t entry(float a, float x, double inverse_grid)
{
    return (int32_t)((double)a * (double)x * inverse_grid);
}

static float root_of(float x)
{
    return dp_float_toward_zero(ROOT * (double)x);
}

static void add_sparse(struct dp_moments *m, size_t count, int64_t *sum)
{
    for (size_t i = 0; i < count; i++) {
        int64_t *to = sum + dp_moments_at(m->cols, (size_t)m->column[i]) - m->column[i];
        float root = root_of(m->value[i]);
        to[m->column[i]] += entry(m->value[i], m->value[i], m->inverse_grid);
        for (size_t j = i + 1; j < count; j++)
            to[m->column[j]] += entry(root, m->value[j], m->inverse_grid);
    }
}

void dp_moments_add(struct dp_moments *m, struct dp_row row, const float *tail, size_t tails, int64_t *sum)
{
    dp_moments_add_by(m, dp_moments_shrink(m, dp_moments_norm2(row, tail, tails), 1), row, tail, tails, sum);
}

void dp_moments_add_by(struct dp_moments *m, double by, struct dp_row row, const float *tail, size_t tails, int64_t *sum)
{
    size_t features = m->cols - tails, count = row.count;
    if (by == 0)
        return;
    if (row.columns == NULL) {
        float *x = m->rows + m->waiting++ * m->stride;
        for (size_t j = 0; j < features; j++)
            x[j] = shrunk(by, dp_row_value(&row, j));
        for (size_t j = 0; j < tails; j++)
            x[features + j] = shrunk(by, tail[j]);
        if (m->waiting == ROWS)
            dp_moments_flush(m, sum);
        return;
    }
    for (size_t j = 0; j < count; j++) {
        m->value[j] = shrunk(by, dp_row_value(&row, j));
        m->column[j] = row.columns[j];
    }
    for (size_t j = 0; j < tails; j++) {
        m->value[count] = shrunk(by, tail[j]);
        m->column[count++] = (int32_t)(features + j);
    }
    add_sparse(m, count, sum);
}

/* Adds the diagonal of the waiting rows, and makes for each column the factors of the other entries. */
static void make_factors(struct dp_moments *m, int64_t *sum)
{
    for (size_t j = 0; j < m->cols; j++) {
        size_t used = 0;
        for (size_t i = 0; i < m->waiting; i++) {
            float x = m->rows[i * m->stride + j];
            sum[dp_moments_at(m->cols, j)] += entry(x, x, m->inverse_grid);
            m->factor[j * ROWS + used] = root_of(x);
            m->whose[j * ROWS + used] = (uint8_t)i;
            used += x != 0;
        }
        m->factors[j] = (uint8_t)used;
    }
}

typedef double doubles __attribute__((vector_size(32)));
typedef int32_t wholes __attribute__((vector_size(16)));
#define LANES 4
#define PART 32 /* columns whose sums are in registers */

/* part[k] = Σ_i trunc(factor_i × x[whose_i][k] / grid), with one register for each vector of columns. */
CLONES static void add_tile(const float *restrict factor, const uint8_t *restrict whose, size_t count,
                            const double (*restrict x)[WIDTH], double inverse_grid, int32_t part[restrict WIDTH])
{
    for (size_t from = 0; from < WIDTH; from += PART) {
        wholes sum[PART / LANES] = {{0}};
        for (size_t i = 0; i < count; i++) {
            const double *restrict row = x[whose[i]] + from;
            double a = (double)factor[i] * inverse_grid;
            for (size_t k = 0; k < PART / LANES; k++) {
                doubles v;
                memcpy(&v, row + k * LANES, sizeof v);
                sum[k] += __builtin_convertvector(a * v, wholes);
            }
        }
        memcpy(part + from, sum, sizeof sum);
    }
}

void dp_moments_flush(struct dp_moments *m, int64_t *sum)
{
    int32_t part[WIDTH];
    make_factors(m, sum);
    for (size_t from = 0; from < m->cols && m->waiting > 0; from += WIDTH) {
        size_t to = from + WIDTH < m->cols ? from + WIDTH : m->cols;
        for (size_t i = 0; i < m->waiting; i++)
            for (size_t k = 0; k < WIDTH; k++)
                m->tile[i * WIDTH + k] = (double)m->rows[i * m->stride + from + k];
        for (size_t j = 0; j + 1 < to; j++) {
            int64_t *own = sum + dp_moments_at(m->cols, j) - j;
            add_tile(m->factor + j * ROWS, m->whose + j * ROWS, m->factors[j], (const double(*)[WIDTH])m->tile, m->inverse_grid,
                     part);
            for (size_t k = j + 1 > from ? j + 1 : from; k < to; k++)
                own[k] += part[k - from];
        }
    }
    m->waiting = 0;
}

double dp_moments_along(const int64_t *sum, size_t cols, const double *z, size_t count)
{
    double total = 0;
    for (size_t i = 0; i < count; i++) {
        const int64_t *own = sum + dp_moments_at(cols, i);
        double off = 0;
        for (size_t j = i + 1; j < count; j++)
            off += (double)own[j - i] * z[j];
        total += z[i] * ((double)*own * z[i] + M_SQRT2 * off);
    }
    return total;
}
