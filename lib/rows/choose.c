/* Rows chosen by weight, and how far they are from tables. */

#include <math.h>

#include "base/mem.h"
#include "rows/rows.h"

#define ROOT_TWO_OVER_PI 0.79788456080286541 /* E|x| of a standard normal x */

/* The cell of a row of the pool. row: its category in column 0; its category in column j is `pool` j further on. */
static size_t cell_of(const struct dp_rows_shape *shape, const struct dp_rows_table *t, const uint16_t *row, size_t pool)
{
    size_t cell = 0;
    for (size_t k = 0; k < t->columns; k++)
        cell = cell * shape->size[t->column[k]] + row[t->column[k] * pool];
    return cell;
}

void dp_rows_choose(const struct dp_key *key, const uint64_t *weight, size_t count, size_t out, uint32_t *chosen)
{
    unsigned __int128 total = 0, sum = 0, at;
    struct dp_stream stream;
    size_t k = 0;
    for (size_t i = 0; i < count; i++)
        total += weight[i];
    dp_stream_start(&stream, key, DP_DRAW_ROWS, DP_ROWS_ORDER);
    at = dp_stream_below(&stream, (uint64_t)total); /* in units of total / out: step k is at (k total + at) / out */
    for (size_t i = 0; i < count && k < out; i++) {
        sum += (unsigned __int128)weight[i] * out;
        for (; k < out && (unsigned __int128)k * total + at < sum; k++)
            chosen[k] = (uint32_t)i;
    }
    dp_stream_shuffle(&stream, chosen, out);
}

/* Rows that are exchanged. Cells of all tables follow each other. */
struct exchange {
    const struct dp_rows_shape *shape;
    const struct dp_rows_table *table;
    size_t tables, pool;
    const uint16_t *row;
    size_t *first;     /* of each table among all cells */
    double *far, *per; /* of each cell: chosen rows − e, and 1 / sqrt(1 + e) */
    size_t *out, *in;  /* tables: cells of the row that goes, and of the row that comes */
};

static void cells_of(const struct exchange *x, size_t i, size_t *cell)
{
    for (size_t t = 0; t < x->tables; t++)
        cell[t] = x->first[t] + cell_of(x->shape, &x->table[t], x->row + i, x->pool);
}

static void open_exchange(struct exchange *x, const uint64_t *weight, const uint32_t *chosen, size_t out)
{
    size_t cells = 0;
    double total = 0;
    x->first = dp_new(x->tables, sizeof *x->first);
    x->out = dp_new(x->tables, sizeof *x->out);
    x->in = dp_new(x->tables, sizeof *x->in);
    for (size_t t = 0; t < x->tables; t++) {
        x->first[t] = cells;
        cells += x->table[t].cells;
    }
    x->far = dp_new(cells, sizeof *x->far);
    x->per = dp_new(cells, sizeof *x->per);
    for (size_t i = 0; i < x->pool; i++) {
        cells_of(x, i, x->in);
        total += (double)weight[i];
        for (size_t t = 0; t < x->tables; t++)
            x->far[x->in[t]] -= (double)weight[i];
    }
    for (size_t c = 0; c < cells; c++) {
        x->far[c] *= (double)out / total;
        x->per[c] = 1 / sqrt(1 - x->far[c]);
    }
    for (size_t k = 0; k < out; k++) {
        cells_of(x, chosen[k], x->in);
        for (size_t t = 0; t < x->tables; t++)
            x->far[x->in[t]] += 1;
    }
}

/* By how much the distance of the tables grows if row x->in comes for row x->out. */
static double growth(const struct exchange *x)
{
    double sum = 0;
    for (size_t t = 0; t < x->tables; t++)
        if (x->out[t] != x->in[t])
            sum += (1 - 2 * x->far[x->out[t]]) * x->per[x->out[t]] + (1 + 2 * x->far[x->in[t]]) * x->per[x->in[t]];
    return sum;
}

void dp_rows_exchange(const struct dp_rows_shape *shape, const struct dp_rows_table *table, size_t tables,
                      const struct dp_key *key, const uint64_t *weight, size_t count, const uint16_t *row, size_t tries,
                      uint32_t *chosen, size_t out)
{
    struct exchange x = {.shape = shape, .table = table, .tables = tables, .pool = count, .row = row};
    struct dp_stream stream;
    open_exchange(&x, weight, chosen, out);
    dp_stream_start(&stream, key, DP_DRAW_ROWS, DP_ROWS_EXCHANGE);
    for (size_t k = 0; k < tries; k++) {
        const size_t i = (size_t)dp_stream_below(&stream, count);
        uint32_t *goes = &chosen[k % out];
        if (weight[i] == 0)
            continue;
        cells_of(&x, *goes, x.out);
        cells_of(&x, i, x.in);
        if (!(growth(&x) < 0))
            continue;
        for (size_t t = 0; t < tables; t++) {
            x.far[x.out[t]] -= 1;
            x.far[x.in[t]] += 1;
        }
        *goes = (uint32_t)i;
    }
    free(x.first);
    free(x.far);
    free(x.per);
    free(x.out);
    free(x.in);
}

void dp_rows_errors(const struct dp_rows_shape *shape, const struct dp_rows_table *table, size_t tables, size_t columns,
                    size_t pool, const uint16_t *row, const uint32_t *chosen, size_t out, struct dp_rows_errors *errors)
{
    *errors = (struct dp_rows_errors){.of = NULL};
    for (size_t t = 0; t < tables; t++) {
        if (table[t].columns != columns)
            continue;
        double *rows = dp_new(table[t].cells, sizeof *rows), far = 0;
        for (size_t k = 0; k < out; k++)
            rows[cell_of(shape, &table[t], row + chosen[k], pool)] += 1;
        for (size_t c = 0; c < table[t].cells; c++)
            far += fabs(rows[c] / (double)out - table[t].count[c] / shape->rows) / 2;
        const double noise = ROOT_TWO_OVER_PI * table[t].noise * (double)table[t].cells / shape->rows / 2;
        errors->tables++;
        errors->far += far;
        errors->noise += noise;
        if (errors->of == NULL || far > errors->largest) {
            errors->of = &table[t];
            errors->largest = far;
            errors->largest_noise = noise;
        }
        free(rows);
    }
    errors->far /= fmax((double)errors->tables, 1);
    errors->noise /= fmax((double)errors->tables, 1);
}
