#include "math/together.h"

#include "base/mem.h"
#include "math/grid.h"

void dp_together_begin(struct dp_together *t, size_t outputs, size_t features, float constant)
{
    t->outputs = outputs;
    t->features = features;
    t->constant = constant;
    t->cols = features + (constant != 0 ? 1 : 0);
    t->columns = 0;
    t->dense = false;
    t->within = 0;
    dp_extend(&t->v, &t->room, outputs * t->cols, sizeof *t->v);
    dp_extend(&t->total, &t->total_room, outputs * t->cols, sizeof *t->total);
    memset(t->v, 0, outputs * t->cols * sizeof *t->v);
    memset(t->total, 0, outputs * t->cols * sizeof *t->total);
}

void dp_together_close(struct dp_together *t)
{
    free(t->v);
    free(t->entry);
    free(t->total);
    free(t->at);
    free(t->column);
}

/* Room for the columns of one more row, and for as many entries of v. */
static void make_room(struct dp_together *t, size_t count)
{
    size_t entries = t->outputs * (t->columns + count + 1);
    dp_extend(&t->column, &t->column_room, t->columns + count, sizeof *t->column);
    dp_extend(&t->entry, &t->entry_room, entries, sizeof *t->entry);
    dp_extend(&t->at, &t->at_room, entries, sizeof *t->at);
}

void dp_together_add(struct dp_together *t, const float *a, struct dp_row row)
{
    if (row.columns == NULL) {
        t->dense = true;
    } else {
        make_room(t, row.count);
        memcpy(t->column + t->columns, row.columns, row.count * sizeof *t->column);
        t->columns += row.count;
    }
    for (size_t k = 0; k < t->outputs; k++) {
        dp_row_axpy((double)a[k], row, t->v + k * t->cols);
        if (t->constant != 0)
            t->v[k * t->cols + t->features] += (double)a[k] * (double)t->constant;
    }
}

static int ascending(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The columns of v that rows have, each once and in order. */
static size_t list_columns(struct dp_together *t)
{
    size_t count = 0;
    if (t->columns > 0)
        qsort(t->column, t->columns, sizeof *t->column, ascending);
    for (size_t i = 0; i < t->columns; i++)
        if (i == 0 || t->column[i] != t->column[i - 1])
            t->column[count++] = t->column[i];
    return count;
}

/* Moves the entries of v in those columns, and in the column of the constant, out of v. */
static size_t take_entries(struct dp_together *t, size_t columns)
{
    size_t count = 0;
    for (size_t k = 0; k < t->outputs; k++) {
        for (size_t i = 0; i < columns; i++)
            t->at[count++] = k * t->cols + (size_t)t->column[i];
        if (t->constant != 0)
            t->at[count++] = k * t->cols + t->features;
    }
    for (size_t i = 0; i < count; i++) {
        t->entry[i] = t->v[t->at[i]];
        t->v[t->at[i]] = 0;
    }
    return count;
}

void dp_together_clip(struct dp_together *t, double bound, double grid)
{
    size_t length = t->outputs * t->cols;
    if (t->dense) {
        t->within += dp_grid_add_at(t->v, NULL, length, length, bound, grid, t->total);
        memset(t->v, 0, length * sizeof *t->v);
    } else {
        make_room(t, 0);
        size_t count = take_entries(t, list_columns(t));
        t->within += dp_grid_add_at(t->entry, t->at, count, length, bound, grid, t->total);
    }
    t->columns = 0;
    t->dense = false;
}

void dp_together_end(const struct dp_together *t, int64_t *sum)
{
    for (size_t i = 0; i < t->outputs * t->cols; i++)
        sum[i] += t->total[i];
}
