/* Weights of drawn rows, so that the rows agree with all released tables. */

#include <math.h>
#include <omp.h>

#include "base/mem.h"
#include "rows/rows.h"

struct weigh {
    const struct dp_rows_table *table;
    size_t tables, count, cells;
    double rows;
    uint32_t *cell;     /* tables × count: the cell of each row */
    size_t *first;      /* of each table among all cells */
    double *residual;   /* cells: sum of weights − count, and then its slope */
    double *part;       /* tables: parts of F */
    double *log, *next; /* count: logarithms of the weights */
    double *weight;
    int threads;
};

/* Weights of these logarithms, and F with the slopes at these weights. A weight is rounded to a float: the last bit of exp
 * differs between C libraries. Each table is summed by one thread, row after row. */
static double evaluate(struct weigh *w, const double *log)
{
    double most = -INFINITY, sum = 0, f = 0;
    for (size_t i = 0; i < w->count; i++)
        most = fmax(most, log[i]);
#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (size_t i = 0; i < w->count; i++)
        w->weight[i] = (double)(float)exp(log[i] - most);
    for (size_t i = 0; i < w->count; i++)
        sum += w->weight[i];
    double by = w->rows / sum;
#pragma omp parallel for num_threads(w->threads) schedule(dynamic, 1)
    for (size_t t = 0; t < w->tables; t++) {
        const struct dp_rows_table *table = &w->table[t];
        double *r = w->residual + w->first[t], part = 0;
        const uint32_t *cell = w->cell + t * w->count;
        memset(r, 0, table->cells * sizeof *r);
        for (size_t i = 0; i < w->count; i++)
            r[cell[i]] += w->weight[i];
        for (size_t c = 0; c < table->cells; c++) {
            double d = r[c] * by - table->count[c], v = table->noise * table->noise + fmax(table->count[c], 0);
            part += d * d / (2 * v);
            r[c] = d / v;
        }
        w->part[t] = part;
    }
    for (size_t t = 0; t < w->tables; t++)
        f += w->part[t];
    return f;
}

/* next = log − step × slope. */
static void move(struct weigh *w, double step, const double *slope)
{
#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (size_t from = 0; from < w->count; from += 4096) {
        size_t to = from + 4096 < w->count ? from + 4096 : w->count;
        double sum[4096] = {0};
        for (size_t t = 0; t < w->tables; t++) {
            const uint32_t *cell = w->cell + t * w->count;
            for (size_t i = from; i < to; i++)
                sum[i - from] += slope[w->first[t] + cell[i]];
        }
        for (size_t i = from; i < to; i++)
            w->next[i] = w->log[i] - step * sum[i - from];
    }
}

/* The mean of F if the weights had all tables without noise. */
static double of_noise(const struct weigh *w)
{
    double f = 0;
    for (size_t t = 0; t < w->tables; t++) {
        const double v = w->table[t].noise * w->table[t].noise;
        for (size_t c = 0; c < w->table[t].cells; c++)
            f += v / (v + fmax(w->table[t].count[c], 0)) / 2;
    }
    return f;
}

static void descend(struct weigh *w, int most)
{
    double *slope = dp_new(w->cells, sizeof *slope), *swap, f = evaluate(w, w->log), step = 1.0 / (double)w->tables;
    double earlier = f;
    const double enough = DP_ROWS_ENOUGH * of_noise(w);
    memcpy(slope, w->residual, w->cells * sizeof *slope);
    for (int k = 1, tried = 0; tried < most && f > enough; tried++) {
        move(w, step, slope);
        double next = evaluate(w, w->next);
        if (!(next < f)) {
            step /= 2;
            continue;
        }
        swap = w->log, w->log = w->next, w->next = swap;
        memcpy(slope, w->residual, w->cells * sizeof *slope);
        f = next;
        step *= 1.25;
        if (k++ % 10 == 0) {
            if (f > earlier * 0.999)
                break;
            earlier = f;
        }
    }
    free(slope);
}

static void open_weigh(struct weigh *w, const struct dp_rows_shape *shape, const uint16_t *row)
{
    w->first = dp_new(w->tables, sizeof *w->first);
    for (size_t t = 0; t < w->tables; t++) {
        w->first[t] = w->cells;
        w->cells += w->table[t].cells;
    }
    w->cell = dp_new(w->tables * w->count, sizeof *w->cell);
    w->residual = dp_new(w->cells, sizeof *w->residual);
    w->part = dp_new(w->tables, sizeof *w->part);
    w->log = dp_new(w->count, sizeof *w->log);
    w->next = dp_new(w->count, sizeof *w->next);
    w->weight = dp_new(w->count, sizeof *w->weight);
#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (size_t t = 0; t < w->tables; t++)
        for (size_t k = 0; k < w->table[t].columns; k++)
            for (size_t i = 0; i < w->count; i++) {
                uint32_t *cell = &w->cell[t * w->count + i];
                size_t j = w->table[t].column[k];
                *cell = *cell * (uint32_t)shape->size[j] + row[j * w->count + i];
            }
}

static void close_weigh(struct weigh *w)
{
    free(w->first);
    free(w->cell);
    free(w->residual);
    free(w->part);
    free(w->log);
    free(w->next);
    free(w->weight);
}

double dp_rows_weigh(const struct dp_rows_shape *shape, const struct dp_rows_table *table, size_t tables, size_t count,
                     const uint16_t *row, int threads, int most, uint64_t *weight)
{
    struct weigh w = {.table = table, .tables = tables, .count = count, .rows = shape->rows, .threads = threads};
    open_weigh(&w, shape, row);
    descend(&w, most);
    double f = evaluate(&w, w.log), cells = (double)w.cells;
    for (size_t i = 0; i < count; i++)
        weight[i] = (uint64_t)(w.weight[i] * 0x1p40);
    close_weigh(&w);
    return f / cells;
}
