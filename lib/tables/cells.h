/* The cells of columns: which part of a table of counts a row belongs to, by the schema that data sets, models and frames carry
 * (data/carried.h). Everything here is public.
 *
 *   a column of categories   its categories in their order; one cell more, `other`, if a text may have no category
 *   a number with bins       its bins: bin i has edge i <= v < edge i + 1, the last bin also its upper edge (data/basis.h)
 *   a label with classes     its classes
 *   a label with bounds      DP_CELLS_OF_LABEL even parts
 *
 * A column with an indicator has one cell more, the last one: `missing`. No other column has cells: free text, a number that has
 * no bins, a person, a column that is ignored, a label that is a number without bounds. */
#pragma once

#include "data/row_plan.h"

#define DP_CELLS_WORD 600
#define DP_CELLS_OF_LABEL 8

struct dp_cell_column {
    const char *name;           /* borrowed, as `of` */
    const struct dp_column *of; /* what the schema says of it */
    bool label;
    size_t cells;           /* 0: it has no finite number of cells */
    size_t listed;          /* the first cells: categories, bins or classes */
    size_t other, missing;  /* the number of that cell, or SIZE_MAX */
    size_t first, features; /* its features in a row of the data set; the label has no features */
};

/* Starts zeroed. */
struct dp_cells {
    struct dp_row_plan plan;
    size_t columns;
    struct dp_cell_column *column; /* in the order of the schema */
};

/* Reads the schema that a data set or a frame carries. name: of the data set or the frame, for messages. Close it after a
 * failure, too. DP_E_RUN: schema is NULL, or no schema. */
int dp_cells_open(struct dp_cells *cells, const char *schema, const char *name, struct dp_err *err);
void dp_cells_close(struct dp_cells *cells);

/* The index of the column of that name, or -1. */
long dp_cells_find(const struct dp_cells *cells, const char *name);

/* Why a column has no finite number of cells, and what would give it some; NULL: it has. later: before an import, which gives
 * bins to numbers that have bounds. */
const char *dp_cells_none(const struct dp_schema *schema, const struct dp_column *column, bool later, const char **would);

/* DP_E_USAGE: dp_cells_none has a reason. */
int dp_cells_check(const struct dp_cells *cells, size_t column, struct dp_err *err);

/* Prints a number of a column: days as a date, in the first format of the column. Returns buffer. */
const char *dp_cells_number(const struct dp_column *column, double value, char *buffer, size_t size);

/* The word of a cell: "Male", "20..30", "missing", "other". Returns buffer. */
const char *dp_cells_word(const struct dp_cells *cells, size_t column, size_t cell, char buffer[DP_CELLS_WORD]);

/* The edges of the cells of a number: cell k has the numbers from edge k to edge k + 1. A label that is a number has even
 * cells. */
double dp_cells_edge(const struct dp_cells *cells, size_t column, size_t k);

/* The bounds of a column of numbers, or of a label that is a number. False: there are no bounds. */
bool dp_cells_bounds(const struct dp_cells *cells, size_t column, double *low, double *high);
