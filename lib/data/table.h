/* A table of words: a line with the names of its columns, and a line of cells for each row; and texts in which {name} stands
 * for what a row has in that column. Blanks and tabs separate cells; lines that are empty or begin with # do not count. */
#ifndef DP_DATA_TABLE_H
#define DP_DATA_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define DP_TABLE_MOST 10000
#define DP_TABLE_MOST_COLUMNS 100

struct dp_table {
    size_t columns, count, capacity; /* count: of rows */
    char **cell;                     /* (1 + count) × columns; the names of the columns are first */
};

/* The caller starts it zeroed and frees it, whatever open returned. DP_E_RUN: no such file, or a line of it is wrong: a name
   that is none or stands there twice, more or fewer cells than columns, a cell with a character that a shell would read, no
   rows, too many. */
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

/* The column of that name; table->columns where there is none. */
size_t dp_table_find(const struct dp_table *table, const char *name);

/* What else a text may name. */
struct dp_table_word {
    const char *name, *value; /* a value of NULL stands for nothing: who fills looks at `named` */
    bool named;               /* out */
};

/* The text with what that row, and the words, have in place of names; the caller frees *filled. A brace that encloses no name
   stays, and so does one behind a dollar sign. named, of table->columns entries, is set for those that the text names.
   DP_E_USAGE: {name} of neither. */
int dp_table_fill(const struct dp_table *table, size_t row, const char *text, struct dp_table_word *words, size_t count,
                  bool *named, char **filled, struct dp_err *err);

#endif
