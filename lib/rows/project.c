/* Counts without noise's signs: projection to non-negative tables, and margins. */

#include <math.h>

#include "base/mem.h"
#include "rows/rows.h"

size_t dp_rows_cells(const struct dp_rows_shape *shape, const size_t *column, size_t columns)
{
    size_t cells = 1;
    for (size_t k = 0; k < columns; k++)
        if (__builtin_mul_overflow(cells, shape->size[column[k]], &cells))
            return SIZE_MAX;
    return cells;
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

void dp_rows_project(double *v, size_t count, double total)
{
    double *sorted = dp_new(count, sizeof *sorted), sum = 0, cut = 0;
    memcpy(sorted, v, count * sizeof *v);
    qsort(sorted, count, sizeof *sorted, descending);
    for (size_t k = 0; k < count; k++) {
        sum += sorted[k];
        double here = (sum - total) / (double)(k + 1);
        if (sorted[k] > here)
            cut = here;
    }
    for (size_t k = 0; k < count; k++)
        v[k] = fmax(v[k] - cut, 0);
    free(sorted);
}

void dp_rows_margin(const struct dp_rows_shape *shape, const struct dp_rows_table *pair, size_t pairs, size_t column,
                    double *one)
{
    size_t size = shape->size[column], with = 0;
    memset(one, 0, size * sizeof *one);
    for (size_t p = 0; p < pairs; p++) {
        const struct dp_rows_table *t = &pair[p];
        if (t->columns != 2 || (t->column[0] != column && t->column[1] != column))
            continue;
        size_t b = shape->size[t->column[1]];
        for (size_t c = 0; c < t->cells; c++)
            one[t->column[0] == column ? c / b : c % b] += t->count[c];
        with++;
    }
    for (size_t k = 0; k < size; k++)
        one[k] = with > 0 ? one[k] / (double)with : 0;
    dp_rows_project(one, size, shape->rows);
}
