/* From released tables of a run to the arrays that rows are made of. */

#include "base/mem.h"
#include "rows/rows.h"

int dp_rows_open(struct dp_rows_source *source, const char *schema, double rows, const char *target, struct dp_err *err)
{
    int rc = dp_cells_open(&source->cells, schema, "the run", err);
    struct dp_rows_shape *shape = &source->shape;
    if (rc != DP_OK)
        return rc;
    const long at = target != NULL ? dp_cells_find(&source->cells, target) : -1;
    if (target != NULL && at < 0)
        return dp_fail(err, DP_E_USAGE, "--target: there is no column '%.60s'", target);
    *shape = (struct dp_rows_shape){.rows = rows, .target = -1};
    source->column = dp_new(source->cells.columns, sizeof *source->column);
    source->size = dp_new(source->cells.columns, sizeof *source->size);
    shape->size = source->size;
    rc = at >= 0 ? dp_cells_check(&source->cells, (size_t)at, err) : DP_OK;
    for (size_t i = 0; rc == DP_OK && i < source->cells.columns; i++) {
        if (source->cells.column[i].cells == 0)
            continue;
        if ((long)i == at)
            shape->target = (long)shape->columns;
        source->column[shape->columns] = i;
        source->size[shape->columns++] = source->cells.column[i].cells;
    }
    if (rc == DP_OK && shape->columns < 2)
        rc = dp_fail(err, DP_E_USAGE, "rows are made of two or more columns that have cells, and there %s",
                     shape->columns == 1 ? "is one" : "are 0");
    return rc;
}

void dp_rows_close(struct dp_rows_source *source)
{
    dp_cells_close(&source->cells);
    free(source->column);
    free(source->size);
}

/* The column of that name, or the number of columns. */
static size_t column_of(const struct dp_rows_source *source, const char *name)
{
    size_t j = 0;
    while (j < source->shape.columns && strcmp(source->cells.column[source->column[j]].name, name) != 0)
        j++;
    return j;
}

static int take(const struct dp_rows_source *source, const struct dp_table *from, const double *numbers,
                struct dp_rows_table *t, struct dp_err *err)
{
    bool fits = from->columns >= 2 && from->columns <= DP_ROWS_DEEPEST && from->sums == 0 && !from->laplace && from->scale > 0;
    t->columns = fits ? from->columns : 0;
    for (size_t k = 0; fits && k < t->columns; k++) {
        t->column[k] = column_of(source, from->column[k]);
        fits = t->column[k] < source->shape.columns && source->size[t->column[k]] == from->cells[k];
    }
    if (!fits)
        return dp_fail(err, DP_E_RUN, "a table of '%.60s' is not one that rows are made of", from->column[0]);
    t->cells = from->size;
    t->noise = from->scale;
    t->count = dp_new(t->cells, sizeof *t->count);
    memcpy(t->count, numbers + from->offset, t->cells * sizeof *t->count);
    return DP_OK;
}

int dp_rows_take(const struct dp_rows_source *source, const struct dp_tables *list, const double *numbers, size_t first,
                 size_t count, struct dp_rows_table **table, struct dp_err *err)
{
    int rc = DP_OK;
    *table = dp_new(count, sizeof **table);
    for (size_t k = 0; rc == DP_OK && k < count; k++)
        rc = take(source, &list->table[first + k], numbers, &(*table)[k], err);
    return rc;
}

void dp_rows_free(struct dp_rows_table *table, size_t count)
{
    for (size_t k = 0; table != NULL && k < count; k++)
        free(table[k].count);
    free(table);
}

int dp_rows_list(const struct dp_rows_source *source, const struct dp_rows_table *pair, size_t pairs, double noise,
                 struct dp_tables *list, struct dp_err *err)
{
    const struct dp_rows_shape *shape = &source->shape;
    double *one[shape->columns], *dependence = dp_new(shape->columns * shape->columns, sizeof *dependence);
    struct dp_rows_table *table = dp_new(shape->columns, sizeof *table);
    int rc = DP_OK;
    for (size_t j = 0; j < shape->columns; j++) {
        one[j] = dp_new(shape->size[j], sizeof *one[j]);
        dp_rows_margin(shape, pair, pairs, j, one[j]);
    }
    dp_rows_dependence(shape, pair, pairs, one, dependence);
    dp_rows_network(shape, dependence, noise, table);
    for (size_t k = 0; rc == DP_OK && k + 1 < shape->columns; k++) {
        size_t column[DP_ROWS_DEEPEST];
        for (size_t i = 0; i < table[k].columns; i++)
            column[i] = source->column[table[k].column[i]];
        rc = dp_tables_add(list, &source->cells, column, table[k].columns, err);
    }
    for (size_t j = 0; j < shape->columns; j++)
        free(one[j]);
    free(dependence);
    free(table);
    return rc;
}
