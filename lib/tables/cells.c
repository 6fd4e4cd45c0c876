#include "tables/cells.h"

#include "base/mem.h"
#include "base/number.h"
#include "data/carried.h"

/* Numbers the cells that are not listed. */
static void number_cells(struct dp_cell_column *column, size_t listed, bool other, bool missing)
{
    column->listed = column->cells = listed;
    column->other = other ? column->cells++ : SIZE_MAX;
    column->missing = missing ? column->cells++ : SIZE_MAX;
}

/* The column may have texts without a category. */
static bool may_be_other(const struct dp_column *c)
{
    return c->unknown_zero || (c->fill_value < 0 && !c->indicator);
}

static void set_cells(struct dp_cell_column *column, const struct dp_schema *s)
{
    const struct dp_column *c = column->of;
    column->other = column->missing = SIZE_MAX;
    if (c->type == DP_COLUMN_CATEGORICAL)
        number_cells(column, c->categories.count, may_be_other(c), c->indicator);
    else if (c->type == DP_COLUMN_NUMERIC && c->basis.kind == DP_BASIS_BINS)
        number_cells(column, c->basis.intervals, false, c->indicator);
    else if (c->type == DP_COLUMN_LABEL && (!s->real_label || s->label_bounded))
        number_cells(column, s->real_label ? DP_CELLS_OF_LABEL : s->classes, false, false);
}

int dp_cells_open(struct dp_cells *cells, const char *schema, const char *name, struct dp_err *err)
{
    if (schema == NULL)
        return dp_fail(err, DP_E_RUN,
                       "%s carries no public schema, so nobody may know its cells (dp-import --private-schema pays for one; "
                       "--schema names one of yours)",
                       name);
    int rc = dp_carried_take(&cells->plan, schema, name, err);
    const struct dp_schema *s = &cells->plan.schema;
    cells->columns = rc == DP_OK ? s->columns : 0;
    cells->column = dp_new(cells->columns, sizeof *cells->column);
    for (size_t i = 0, first = 0; i < cells->columns; i++) {
        struct dp_cell_column *column = &cells->column[i];
        column->of = &s->column[i];
        column->name = column->of->name;
        column->label = column->of->type == DP_COLUMN_LABEL;
        column->first = first;
        column->features = dp_column_features(column->of);
        first += column->features;
        set_cells(column, s);
    }
    return rc;
}

void dp_cells_close(struct dp_cells *cells)
{
    dp_row_plan_free(&cells->plan);
    free(cells->column);
    cells->column = NULL;
}

long dp_cells_find(const struct dp_cells *cells, const char *name)
{
    for (size_t i = 0; i < cells->columns; i++)
        if (strcmp(cells->column[i].name, name) == 0)
            return (long)i;
    return -1;
}

const char *dp_cells_none(const struct dp_schema *schema, const struct dp_column *c, bool later, const char **would)
{
    const bool bounded = c->bounded && c->scaling == DP_SCALE_BOUNDS;
    const bool binned = c->basis.kind == DP_BASIS_BINS || (later && bounded && c->basis.kind == DP_BASIS_NONE);
    *would = "\"bounds\" give it cells";
    if (c->type == DP_COLUMN_LABEL && schema->real_label && !schema->label_bounded)
        return "a label that is a number without bounds";
    if (c->type == DP_COLUMN_NUMERIC && !binned && !bounded)
        return "a number without bounds";
    *would = "dp-import --basis bins, or \"basis\": \"bins\" in its schema, gives it cells";
    if (c->type == DP_COLUMN_NUMERIC && !binned)
        return "a number without bins";
    *would = "a schema without \"drop\" gives it cells";
    if (c->type == DP_COLUMN_CATEGORICAL && c->drop_first && may_be_other(c))
        return "without its first category, and other texts look like it";
    *would = "\"type\": \"ignore\" leaves it out";
    if (c->type == DP_COLUMN_TEXT)
        return "free text";
    *would = "the schema leaves it out, or says that it names persons";
    return c->type == DP_COLUMN_IGNORE || c->type == DP_COLUMN_PERSON ? "no feature" : NULL;
}

int dp_cells_check(const struct dp_cells *cells, size_t column, struct dp_err *err)
{
    const struct dp_cell_column *c = &cells->column[column];
    const char *would, *why = dp_cells_none(&cells->plan.schema, c->of, false, &would);
    return why == NULL ? DP_OK
                       : dp_fail(err, DP_E_USAGE, "column '%.60s' is %s, so it has no cells to count: %s", c->name, why, would);
}

const char *dp_cells_number(const struct dp_column *c, double value, char *buffer, size_t size)
{
    char date[DP_DATE_TEXT];
    if (c->date == NULL)
        return dp_number_print(value, buffer, size);
    char *first = dp_format("%.*s", (int)strcspn(c->date, "|"), c->date);
    snprintf(buffer, size, "%s", dp_date_print(first, value, date));
    free(first);
    return buffer;
}

const char *dp_cells_word(const struct dp_cells *cells, size_t column, size_t cell, char buffer[DP_CELLS_WORD])
{
    const struct dp_cell_column *c = &cells->column[column];
    char from[DP_DATE_TEXT], to[DP_DATE_TEXT];
    if (cell == c->missing || cell == c->other)
        snprintf(buffer, DP_CELLS_WORD, "%s", cell == c->missing ? "missing" : "other");
    else if (c->label && !cells->plan.schema.real_label)
        snprintf(buffer, DP_CELLS_WORD, "%s", cells->plan.schema.class[cell].text[0]);
    else if (c->of->type == DP_COLUMN_CATEGORICAL)
        snprintf(buffer, DP_CELLS_WORD, "%s", c->of->categories.text[cell]);
    else
        snprintf(buffer, DP_CELLS_WORD, "%s..%s", dp_cells_number(c->of, dp_cells_edge(cells, column, cell), from, sizeof from),
                 dp_cells_number(c->of, dp_cells_edge(cells, column, cell + 1), to, sizeof to));
    return buffer;
}

double dp_cells_edge(const struct dp_cells *cells, size_t column, size_t k)
{
    const struct dp_schema *s = &cells->plan.schema;
    if (cells->column[column].label)
        return s->label_low + (s->label_high - s->label_low) * (double)k / DP_CELLS_OF_LABEL;
    return cells->column[column].of->basis.edge[k];
}

bool dp_cells_bounds(const struct dp_cells *cells, size_t column, double *low, double *high)
{
    const struct dp_cell_column *c = &cells->column[column];
    const struct dp_schema *s = &cells->plan.schema;
    *low = c->label ? s->label_low : c->of->low;
    *high = c->label ? s->label_high : c->of->high;
    return c->label ? s->real_label && s->label_bounded : c->of->type == DP_COLUMN_NUMERIC && c->of->bounded;
}
