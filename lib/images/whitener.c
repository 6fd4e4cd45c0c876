#include "images/whitener.h"

#include "base/mem.h"
#include "math/clones.h"

#define WIDE DP_WHITENER_ROWS
#define TILE 4
#define CHUNK ((size_t)128) /* rows of the covariance at a time: they stay in the cache */

typedef float lanes __attribute__((vector_size(32), aligned(4), may_alias));

/* sum[a][r] = Σ_k left[k × left_step + a] right[k × right_step + r], added up in the order of k. */
static inline __attribute__((always_inline)) void product(const float *left, size_t left_step, const float *right,
                                                          size_t right_step, size_t count, float sum[TILE][WIDE])
{
    lanes low[TILE] = {0}, high[TILE] = {0};
    for (size_t k = 0; k < count; k++, left += left_step, right += right_step) {
        lanes first = *(const lanes *)right, second = *(const lanes *)(right + 8);
        for (int a = 0; a < TILE; a++) {
            low[a] += left[a] * first;
            high[a] += left[a] * second;
        }
    }
    for (int a = 0; a < TILE; a++) {
        *(lanes *)sum[a] = low[a];
        *(lanes *)(sum[a] + 8) = high[a];
    }
}

static float *tile(float *factor, size_t t)
{
    return factor + 8 * t * (t + 1);
}

/* Replaces the first `columns` entries of x by L^-1 x. */
CLONES static void substitute(const float *factor, size_t columns, float (*x)[WIDE])
{
    float sum[TILE][WIDE];
    for (size_t from = 0; from < columns; factor += TILE * (from + TILE), from += TILE) {
        const float *corner = factor + TILE * from;
        product(factor, TILE, x[0], WIDE, from, sum);
        for (size_t a = 0; a < TILE; a++)
            for (size_t r = 0; r < WIDE; r++) {
                float value = x[from + a][r] - sum[a][r];
                for (size_t b = 0; b < a; b++)
                    value -= corner[TILE * b + a] * x[from + b][r];
                x[from + a][r] = value * corner[TILE * a + a];
            }
    }
}

/* covariance (columns × columns, lower triangle) += the products of these rows, for the columns from `from` on, TILE of them. */
CLONES static void add_products(const float *rows, size_t count, size_t columns, size_t from, float *covariance)
{
    float sum[TILE][WIDE];
    for (size_t j = 0; j < from + TILE; j += WIDE) {
        product(rows + from, columns, rows + j, columns, count, sum);
        for (size_t a = 0; a < TILE; a++)
            for (size_t r = 0; r < WIDE; r++)
                covariance[(from + a) * columns + j + r] += sum[a][r];
    }
}

/* Subtracts the mean from the rows. */
static int centre(struct dp_whitener *w, float *rows, size_t count, struct dp_err *err)
{
    double *sum;
    int rc = dp_alloc(&sum, w->columns, sizeof *sum, err);
    if (rc != DP_OK)
        return rc;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < w->columns; j++)
            sum[j] += (double)rows[i * w->columns + j];
    for (size_t j = 0; j < w->columns; j++)
        w->mean[j] = (float)(sum[j] / (double)count);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < w->columns; j++)
            rows[i * w->columns + j] -= w->mean[j];
    free(sum);
    return DP_OK;
}

static void covariance_of(const float *rows, size_t count, size_t columns, double ridge, int threads, float *covariance)
{
    double trace = 0;
    for (size_t at = 0; at < count; at += CHUNK) {
        size_t some = count - at < CHUNK ? count - at : CHUNK;
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads)
        for (size_t from = 0; from < columns; from += TILE)
            add_products(rows + at * columns, some, columns, from, covariance);
    }
    for (size_t i = 0; i < columns; i++)
        trace += (double)covariance[i * columns + i];
    double floor = ridge * trace / (double)columns / (double)count;
    for (size_t i = 0; i < columns; i++) {
        for (size_t j = 0; j <= i; j++)
            covariance[i * columns + j] /= (float)count;
        covariance[i * columns + i] += (float)floor;
    }
}

/* Factors a block of the diagonal in place. A pivot that rounding has made too small counts as `least`. */
static void factor_block(float block[WIDE][WIDE], float least)
{
    for (size_t i = 0; i < WIDE; i++)
        for (size_t j = 0; j <= i; j++) {
            float value = block[i][j];
            for (size_t k = 0; k < j; k++)
                value -= block[i][k] * block[j][k];
            block[i][j] = i > j ? value / block[j][j] : sqrtf(value > least ? value : least);
        }
}

/* Rows from..from + WIDE − 1 of L, given the rows above them. x: space for columns × WIDE. */
CLONES static void factor_rows(struct dp_whitener *w, const float *covariance, size_t from, float (*x)[WIDE])
{
    float block[WIDE][WIDE], sum[TILE][WIDE];
    for (size_t j = 0; j < from; j++)
        for (size_t r = 0; r < WIDE; r++)
            x[j][r] = covariance[(from + r) * w->columns + j];
    substitute(w->factor, from, x);
    for (size_t r = 0; r < WIDE; r += TILE) {
        product(x[0] + r, WIDE, x[0], WIDE, from, sum);
        for (size_t a = 0; a < TILE; a++)
            for (size_t j = 0; j <= r + a; j++)
                block[r + a][j] = covariance[(from + r + a) * w->columns + from + j] - sum[a][j];
    }
    factor_block(block, covariance[from * w->columns + from] * 0x1p-20f);
    for (size_t r = 0; r < WIDE; r++) {
        float *row = tile(w->factor, (from + r) / TILE) + r % TILE;
        for (size_t j = 0; j < from; j++)
            row[TILE * j] = x[j][r];
        for (size_t j = 0; j < r; j++)
            row[TILE * (from + j)] = block[r][j];
        row[TILE * (from + r)] = 1 / block[r][r];
    }
}

size_t dp_whitener_columns(size_t entries)
{
    return (entries + WIDE - 1) / WIDE * WIDE;
}

int dp_whitener_open(struct dp_whitener *w, float *rows, size_t count, size_t columns, double ridge, int threads,
                     struct dp_err *err)
{
    float *covariance = NULL, (*x)[WIDE] = NULL;
    size_t tiles = columns / TILE;
    w->columns = columns;
    int rc = DP_ALLOC_ALL(err, DP_ARRAY(w->mean, columns), DP_ARRAY(w->factor, 8 * tiles * (tiles + 1)),
                          DP_ARRAY(covariance, columns * columns), DP_ARRAY(x, columns));
    if (rc == DP_OK)
        rc = centre(w, rows, count, err);
    if (rc == DP_OK) {
        covariance_of(rows, count, columns, ridge, threads, covariance);
        for (size_t from = 0; from < columns; from += WIDE)
            factor_rows(w, covariance, from, x);
    }
    free(covariance);
    free(x);
    return rc;
}

void dp_whitener_apply(const struct dp_whitener *w, float (*x)[WIDE])
{
    for (size_t j = 0; j < w->columns; j++)
        for (size_t r = 0; r < WIDE; r++)
            x[j][r] -= w->mean[j];
    substitute(w->factor, w->columns, x);
}

void dp_whitener_close(struct dp_whitener *w)
{
    free(w->mean);
    free(w->factor);
    *w = (struct dp_whitener){0};
}
