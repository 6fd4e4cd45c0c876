/* A table of words: a line with the names of the columns, then a line of cells for each row. In a text, {name} means the row's
 * cell in the column of that name. Blanks and tabs separate cells; empty lines and lines that begin with # are ignored. */
#pragma once

#include "base/err.h"

#define DP_TABLE_MOST 10000
#define DP_TABLE_MOST_COLUMNS 100

struct dp_table {
    size_t columns, count, capacity; /* count: number of rows */
    char **cell;                     /* (1 + count) × columns; the names of the columns are first */
};

/* The table starts zeroed; the caller frees it, after a failure, too. DP_E_RUN: the file cannot be read, or a line is wrong: an
 * invalid or repeated column name, more or fewer cells than columns, a cell with a character that is special to a shell, no
 * rows, or too many. */
int dp_table_open(struct dp_table *table, const char *path, struct dp_err *err);
void dp_table_free(struct dp_table *table);

static inline const char *dp_table_name(const struct dp_table *table, size_t column)
{
    return table->cell[column];
}
static inline const char *dp_table_cell(const struct dp_table *table, size_t row, size_t column)
{
    return table->cell[(1 + row) * table->columns + column];
}

/* The column of that name, or table->columns if no column has it. */
size_t dp_table_find(const struct dp_table *table, const char *name);

/* A name, in addition to the columns, that a text may use. */
struct dp_table_word {
    const char *name, *value; /* value NULL: the name is replaced by nothing, and the caller looks at `named` */
    bool named;               /* out */
};

/* Replaces each {name} in the text by the row's cell or by the value of a word; the caller frees *filled. Braces that do not
 * enclose a name, or that follow a dollar sign, stay. named has table->columns entries, and is set for the columns that the
 * text names. DP_E_USAGE: {name} is neither a column nor a word. */
int dp_table_fill(const struct dp_table *table, size_t row, const char *text, struct dp_table_word *words, size_t count,
                  bool *named, char **filled, struct dp_err *err);
