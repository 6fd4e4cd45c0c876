#include "images/whitener.h"

#include "base/mem.h"
#include "base/isa.h"

#define WIDE DP_PAIRS_RIGHT
#define TILE DP_PAIRS_LEFT
#define CHUNK ((size_t)128) /* pairs at a time: they stay in the cache */
#define PANELS (DP_WHITENER_ROWS / WIDE)

/* The largest norms in whole numbers: of a row, of a row of L^-1, and of a column of the rows whose covariance is taken.
 * Rounding adds at most half the root of the number of entries to each. The products of the first two, and of the third and
 * itself, are below 2^31 for DP_WHITENER_COLUMNS_MOST and 100,000 rows. By Cauchy and Schwarz, so is each sum. */
#define ROW_NORM 32700.f
#define INVERSE_NORM 65000.f
#define COLUMN_NORM 46000.f

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

/* Rounds to the nearest whole number; |value| < 32767.5. */
static inline int16_t nearest(float value)
{
    return (int16_t)((int)(value + 32768.5f) - 32768);
}

/* The unit in which numbers become whole numbers of 16 bits, and their norm is at most `norm`. */
static float unit_of(float most, double squares, float norm)
{
    return fmaxf(most / 32767, (float)sqrt(squares) / norm);
}

static float *tile(float *factor, size_t t)
{
    return factor + 8 * t * (t + 1);
}

/* Replaces x by L^-1 x, up to entry `columns`. The entries before `first` are zeros. */
DP_KERNEL(void, substitute, (float *factor, size_t first, size_t columns, float (*x)[WIDE]), (factor, first, columns, x))
{
    float sum[TILE][WIDE];
    for (size_t from = first; from < columns; from += TILE) {
        const float *left = tile(factor, from / TILE), *corner = left + TILE * from;
        product(left + TILE * first, TILE, x[first], WIDE, from - first, sum);
        for (size_t a = 0; a < TILE; a++)
            for (size_t r = 0; r < WIDE; r++) {
                float value = x[from + a][r] - sum[a][r];
                for (size_t b = 0; b < a; b++)
                    value -= corner[TILE * b + a] * x[from + b][r];
                x[from + a][r] = value * corner[TILE * a + a];
            }
    }
}

/* Subtracts the mean from the rows. */
static void centre(struct dp_whitener *w, float *rows, size_t count)
{
    double *sum = dp_new(w->columns, sizeof *sum);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < w->columns; j++)
            sum[j] += (double)rows[i * w->columns + j];
    for (size_t j = 0; j < w->columns; j++)
        w->mean[j] = (float)(sum[j] / (double)count);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < w->columns; j++)
            rows[i * w->columns + j] -= w->mean[j];
    free(sum);
}

/* Column 16 p + k in whole numbers of unit[k], in panel p (math/pairs.h). */
static void narrow_columns(const float *rows, size_t count, size_t columns, float *unit, int16_t *panel)
{
    float most[WIDE] = {0};
    double squares[WIDE] = {0};
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < WIDE; k++) {
            float value = rows[i * columns + k];
            squares[k] += (double)value * (double)value;
            most[k] = fabsf(value) > most[k] ? fabsf(value) : most[k];
        }
    for (size_t k = 0; k < WIDE; k++)
        unit[k] = unit_of(most[k], squares[k], COLUMN_NORM);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < WIDE; k++)
            panel[dp_pairs_at(i, k)] = unit[k] > 0 ? nearest(rows[i * columns + k] / unit[k]) : 0;
}

/* sum[g] = the products of the columns of a panel and of the columns of panel g of the right side, which are `step` numbers
 * apart, over the first rows, in pairs. */
static void multiply(const struct dp_whitener *w, const int16_t *left, const int16_t *right, size_t step, size_t panels,
                     size_t pairs, int32_t (*sum)[WIDE][WIDE])
{
    memset(sum, 0, panels * sizeof *sum);
    for (size_t at = 0; at < pairs; at += CHUNK)
        for (size_t g = 0; g < panels; g++)
            for (size_t a = 0; a < WIDE; a += TILE)
                w->product(left + dp_pairs_at(2 * at, a), right + g * step + dp_pairs_at(2 * at, 0),
                           pairs - at < CHUNK ? pairs - at : CHUNK, sum[g] + a);
}

/* Rows from..from + WIDE − 1 of the lower triangle of the covariance, from all columns in whole numbers. */
static void covariance_rows(const struct dp_whitener *w, const int16_t *x, const float *unit, size_t count, size_t from,
                            float *covariance)
{
    int32_t sum[PANELS][WIDE][WIDE];
    size_t pairs = (count + 1) / 2, size = pairs * 2 * WIDE;
    for (size_t at = 0; at <= from; at += PANELS * WIDE) {
        size_t panels = from - at < PANELS * WIDE ? (from - at) / WIDE + 1 : PANELS;
        multiply(w, x + from / WIDE * size, x + at / WIDE * size, size, panels, pairs, sum);
        for (size_t a = 0; a < WIDE; a++)
            for (size_t j = 0; j < panels * WIDE; j++)
                covariance[(from + a) * w->columns + at + j] =
                    (float)sum[j / WIDE][a][j % WIDE] * (unit[from + a] * unit[at + j]) / (float)count;
    }
}

static void covariance_of(const struct dp_whitener *w, const float *rows, size_t count, double ridge, float *covariance)
{
    size_t columns = w->columns, size = (count + 1) / 2 * 2 * WIDE;
    double trace = 0;
    int16_t *x = dp_new(columns / WIDE * size, sizeof *x);
    float *unit = dp_new(columns, sizeof *unit);
#pragma omp taskloop grainsize(1)
    for (size_t from = 0; from < columns; from += WIDE)
        narrow_columns(rows + from, count, columns, unit + from, x + from / WIDE * size);
#pragma omp taskloop grainsize(1)
    for (size_t from = 0; from < columns; from += WIDE)
        covariance_rows(w, x, unit, count, from, covariance);
    free(x);
    free(unit);
    for (size_t i = 0; i < columns; i++)
        trace += (double)covariance[i * columns + i];
    for (size_t i = 0; i < columns; i++)
        covariance[i * columns + i] += (float)(ridge * trace / (double)columns);
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
DP_KERNEL(void, factor_rows, (const float *covariance, size_t columns, size_t from, float *factor, float (*x)[WIDE]),
          (covariance, columns, from, factor, x))
{
    float block[WIDE][WIDE], sum[TILE][WIDE];
    for (size_t j = 0; j < from; j++)
        for (size_t r = 0; r < WIDE; r++)
            x[j][r] = covariance[(from + r) * columns + j];
    substitute(factor, 0, from, x);
    for (size_t r = 0; r < WIDE; r += TILE) {
        product(x[0] + r, WIDE, x[0], WIDE, from, sum);
        for (size_t a = 0; a < TILE; a++)
            for (size_t j = 0; j <= r + a; j++)
                block[r + a][j] = covariance[(from + r + a) * columns + from + j] - sum[a][j];
    }
    factor_block(block, covariance[from * columns + from] * 0x1p-20f);
    for (size_t r = 0; r < WIDE; r++) {
        float *row = tile(factor, (from + r) / TILE) + r % TILE;
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

/* Columns from..from + WIDE − 1 of L^-1. */
static void invert_columns(float *factor, size_t columns, size_t from, float (*x)[WIDE])
{
    memset(x, 0, columns * sizeof *x);
    for (size_t r = 0; r < WIDE; r++)
        x[from + r][r] = 1;
    substitute(factor, from, columns, x);
}

/* Row i of L^-1 in whole numbers. Column j of L^-1 is in x[j / WIDE × columns + i][j % WIDE]. */
static void round_row(struct dp_whitener *w, float (*x)[WIDE], size_t i)
{
    int16_t *row = w->inverse + 128 * (i / WIDE) * (i / WIDE + 1);
    double squares = 0;
    float most = 0;
    for (size_t j = 0; j <= i; j++) {
        float value = x[j / WIDE * w->columns + i][j % WIDE];
        squares += (double)value * (double)value;
        most = fabsf(value) > most ? fabsf(value) : most;
    }
    w->step[i] = unit_of(most, squares, INVERSE_NORM);
    for (size_t j = 0; j <= i; j++)
        row[dp_pairs_at(j, i % WIDE)] = nearest(x[j / WIDE * w->columns + i][j % WIDE] / w->step[i]);
}

void dp_whitener_open(struct dp_whitener *w, float *rows, size_t count, size_t columns, double ridge)
{
    float *covariance = NULL, *factor = NULL, (*x)[WIDE];
    size_t tiles = columns / TILE, panels = columns / WIDE;
    w->columns = columns;
    w->product = dp_pairs_for_this_cpu();
    w->mean = dp_new(columns, sizeof *w->mean);
    w->step = dp_new(columns, sizeof *w->step);
    w->inverse = dp_new(128 * panels * (panels + 1), sizeof *w->inverse);
    factor = dp_new(8 * tiles * (tiles + 1), sizeof *factor);
    covariance = dp_new(columns * columns, sizeof *covariance);
    x = dp_new(panels * columns, sizeof *x);
    centre(w, rows, count);
    covariance_of(w, rows, count, ridge, covariance);
    for (size_t from = 0; from < columns; from += WIDE)
        factor_rows(covariance, columns, from, factor, x);
#pragma omp taskloop grainsize(1)
    for (size_t p = 0; p < panels; p++)
        invert_columns(factor, columns, p * WIDE, x + p * columns);
#pragma omp taskloop
    for (size_t i = 0; i < columns; i++)
        round_row(w, x, i);
    free(covariance);
    free(factor);
    free(x);
}

/* The factor that makes row − mean whole numbers; 0: there are zeros only. */
DP_KERNEL(float, whole_factor, (const float *mean, const float *row, size_t entries), (mean, row, entries))
{
    float squares[WIDE] = {0}, sum = 0;
    size_t whole = entries / WIDE * WIDE;
    for (size_t j = 0; j < whole; j += WIDE)
        for (size_t k = 0; k < WIDE; k++)
            squares[k] += (row[j + k] - mean[j + k]) * (row[j + k] - mean[j + k]);
    for (size_t j = whole; j < entries; j++)
        sum += (row[j] - mean[j]) * (row[j] - mean[j]);
    for (size_t k = 0; k < WIDE; k++)
        sum += squares[k];
    return sum > 0 ? ROW_NORM / sqrtf(sum) : 0;
}

/* A panel of at most WIDE rows, row − mean in whole numbers: column r has row r. unit: of each row. */
DP_KERNEL(void, narrow_rows,
          (const struct dp_whitener *w, const float *rows, size_t count, size_t entries, size_t stride, float *unit,
           int16_t *panel),
          (w, rows, count, entries, stride, unit, panel))
{
    float factor[WIDE];
    for (size_t r = 0; r < count; r++) {
        factor[r] = whole_factor(w->mean, rows + r * stride, entries);
        unit[r] = factor[r] > 0 ? 1 / factor[r] : 0;
    }
    for (size_t j = 0; j < entries; j += WIDE) {
        int16_t whole[WIDE][WIDE] = {0};
        size_t some = entries - j < WIDE ? entries - j : WIDE;
        for (size_t r = 0; r < count; r++)
            for (size_t k = 0; k < some; k++)
                whole[r][k] = nearest((rows[r * stride + j + k] - w->mean[j + k]) * factor[r]);
        for (size_t k = 0; k < WIDE; k++)
            for (size_t r = 0; r < WIDE; r++)
                panel[dp_pairs_at(j + k, r)] = whole[r][k];
    }
}

void dp_whitener_apply(const struct dp_whitener *w, float *rows, size_t count, size_t entries, size_t stride, int16_t *x)
{
    float unit[DP_WHITENER_ROWS];
    int32_t sum[PANELS][WIDE][WIDE];
    size_t panels = (count + WIDE - 1) / WIDE;
    for (size_t r = 0; r < count; r += WIDE)
        narrow_rows(w, rows + r * stride, count - r < WIDE ? count - r : WIDE, entries, stride, unit + r, x + r * w->columns);
    for (size_t p = 0; p * WIDE < entries; p++) {
        size_t some = entries - p * WIDE < WIDE ? entries - p * WIDE : WIDE;
        multiply(w, w->inverse + 128 * p * (p + 1), x, w->columns * WIDE, panels, (p + 1) * WIDE / 2, sum);
        for (size_t r = 0; r < count; r++)
            for (size_t i = 0; i < some; i++)
                rows[r * stride + p * WIDE + i] = (float)sum[r / WIDE][i][r % WIDE] * (w->step[p * WIDE + i] * unit[r]);
    }
}

void dp_whitener_close(struct dp_whitener *w)
{
    free(w->mean);
    free(w->step);
    free(w->inverse);
    *w = (struct dp_whitener){0};
}
