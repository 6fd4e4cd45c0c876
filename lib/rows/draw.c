/* Rows drawn from a network, column by column. */

#include <math.h>

#include "base/mem.h"
#include "rows/rows.h"

/* The first k with u < cumulative[k], or the last one. */
static size_t find(const double *cumulative, size_t count, double u)
{
    size_t low = 0, high = count - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (u < cumulative[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Draws column j given a parent cell for each row (NULL: one cell). cumulative: cells × size. */
static void draw_column(const double *cumulative, size_t size, const uint32_t *parent, const struct dp_key *key, size_t j,
                        size_t count, uint16_t *out)
{
    uint64_t word[512];
    for (size_t from = 0; from < count; from += 512) {
        size_t here = count - from < 512 ? count - from : 512;
        dp_draw(key, DP_DRAW_ROWS, j, from * sizeof *word, word, here * sizeof *word);
        for (size_t i = 0; i < here; i++) {
            const double *row = cumulative + (parent != NULL ? parent[from + i] : 0) * size;
            out[from + i] = (uint16_t)find(row, size, (double)(word[i] >> 11) * 0x1p-53 * row[size - 1]);
        }
    }
}

/* The cell of the parents in each row. */
static void parents_of(const struct dp_rows_shape *shape, const struct dp_rows_table *t, size_t count, const uint16_t *row,
                       uint32_t *cell)
{
    memset(cell, 0, count * sizeof *cell);
    for (size_t k = 1; k < t->columns; k++)
        for (size_t i = 0; i < count; i++)
            cell[i] = cell[i] * (uint32_t)shape->size[t->column[k]] + row[t->column[k] * count + i];
}

void dp_rows_draw(const struct dp_rows_shape *shape, const struct dp_rows_table *table, size_t root, double *const *one,
                  const struct dp_key *key, size_t count, uint16_t *row)
{
    uint32_t *parent = dp_new(count, sizeof *parent);
    for (size_t k = 0; k < shape->columns; k++) {
        const struct dp_rows_table *t = k > 0 ? &table[k - 1] : NULL;
        size_t j = t != NULL ? t->column[0] : root, size = shape->size[j], cells = t != NULL ? t->cells / size : 1;
        double *cumulative = dp_new(cells * size, sizeof *cumulative);
        for (size_t c = 0; c < cells; c++)
            for (size_t v = 0; v < size; v++)
                cumulative[c * size + v] = (v > 0 ? cumulative[c * size + v - 1] : 0) + one[j][v] / shape->rows +
                                           (t != NULL ? t->count[v * cells + c] : 0);
        if (t != NULL)
            parents_of(shape, t, count, row, parent);
        draw_column(cumulative, size, t != NULL ? parent : NULL, key, j, count, row + j * count);
        free(cumulative);
    }
    free(parent);
}
