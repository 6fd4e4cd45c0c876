#include "data/table.h"

#include "base/mem.h"
#include "data/lines.h"

#define NAME "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
#define CELL NAME ".,:+/=%@"
static const char blanks[] = " \t\r";

static int add_name(struct dp_table *t, const struct dp_lines *lines, const char *text, size_t length, struct dp_err *err)
{
    if (strspn(text, NAME) < length)
        return dp_fail(err, DP_E_RUN, "%s: line %zu: '%.*s' is not a name of a column: letters, digits, _ and -", lines->name,
                       lines->number, (int)(length < 60 ? length : 60), text);
    for (size_t i = 0; i < t->columns; i++)
        if (strlen(t->cell[i]) == length && memcmp(t->cell[i], text, length) == 0)
            return dp_fail(err, DP_E_RUN, "%s: line %zu: the column '%.60s' is there twice", lines->name, lines->number,
                           t->cell[i]);
    if (t->columns == DP_TABLE_MOST_COLUMNS)
        return dp_fail(err, DP_E_RUN, "%s: more than %d columns", lines->name, DP_TABLE_MOST_COLUMNS);
    dp_extend(&t->cell, &t->capacity, t->columns + 1, sizeof *t->cell);
    t->cell[t->columns] = dp_got(strndup(text, length));
    t->columns++;
    return DP_OK;
}

/* Reads the cells of a line, which is NUL-terminated. */
static int take_row(struct dp_table *t, const struct dp_lines *lines, const char *line, struct dp_err *err)
{
    size_t cells = 0, first = (1 + t->count) * t->columns;
    if (t->count == DP_TABLE_MOST)
        return dp_fail(err, DP_E_RUN, "%s: more than %d rows", lines->name, DP_TABLE_MOST);
    dp_extend(&t->cell, &t->capacity, first + t->columns, sizeof *t->cell);
    memset(t->cell + first, 0, t->columns * sizeof *t->cell);
    t->count++;
    for (const char *at = line + strspn(line, blanks); *at != '\0'; at += strspn(at, blanks)) {
        size_t length = strcspn(at, blanks);
        if (strspn(at, CELL) < length)
            return dp_fail(err, DP_E_RUN, "%s: line %zu: '%.*s' has a character that a shell would read", lines->name,
                           lines->number, (int)(length < 60 ? length : 60), at);
        if (cells < t->columns)
            t->cell[first + cells] = dp_got(strndup(at, length));
        cells++;
        at += length;
    }
    return cells == t->columns ? DP_OK
                               : dp_fail(err, DP_E_RUN, "%s: line %zu: %zu cells, and there are %zu columns", lines->name,
                                         lines->number, cells, t->columns);
}

static int take_line(struct dp_table *t, const struct dp_lines *lines, struct dp_err *err)
{
    int rc = DP_OK;
    char *line = dp_got(strndup(lines->line, lines->length));
    const char *at = line + strspn(line, blanks);
    if (*at == '\0' || *at == '#')
        rc = DP_OK;
    else if (t->columns > 0)
        rc = take_row(t, lines, line, err);
    else
        for (size_t length; rc == DP_OK && *at != '\0'; at += strspn(at, blanks)) {
            length = strcspn(at, blanks);
            rc = add_name(t, lines, at, length, err);
            at += length;
        }
    free(line);
    return rc;
}

int dp_table_open(struct dp_table *table, const char *path, struct dp_err *err)
{
    struct dp_lines lines = {0};
    int rc = dp_lines_open(&lines, path, err), more = 0;
    if (rc != DP_OK)
        return rc;
    while (rc == DP_OK && (more = dp_lines_next(&lines, err)) == 1)
        rc = take_line(table, &lines, err);
    dp_lines_close(&lines);
    if (rc == DP_OK && more < 0)
        return more;
    if (rc == DP_OK && table->count == 0)
        return dp_fail(err, DP_E_RUN, "%s: no rows: a line of names and a line of cells for each row are expected", path);
    return rc;
}

void dp_table_free(struct dp_table *table)
{
    for (size_t i = 0; table->cell != NULL && i < (1 + table->count) * table->columns; i++)
        free(table->cell[i]);
    free(table->cell);
    *table = (struct dp_table){0};
}

size_t dp_table_find(const struct dp_table *table, const char *name)
{
    size_t column = 0;
    while (column < table->columns && strcmp(dp_table_name(table, column), name) != 0)
        column++;
    return column;
}

/* --- texts -------------------------------------------------------------------------------------------------------- */

struct filling {
    const struct dp_table *table;
    size_t row;
    struct dp_table_word *words;
    size_t count;
    bool *named;
};

/* The replacement of a name of `length` characters; NULL if the name is unknown. */
static const char *value_of(struct filling *f, const char *name, size_t length)
{
    for (size_t i = 0; i < f->count; i++)
        if (strlen(f->words[i].name) == length && memcmp(f->words[i].name, name, length) == 0) {
            f->words[i].named = true;
            return f->words[i].value != NULL ? f->words[i].value : "";
        }
    for (size_t i = 0; i < f->table->columns; i++)
        if (strlen(dp_table_name(f->table, i)) == length && memcmp(dp_table_name(f->table, i), name, length) == 0) {
            f->named[i] = true;
            return dp_table_cell(f->table, f->row, i);
        }
    return NULL;
}

static int fill(struct filling *f, const char *text, FILE *stream, struct dp_err *err)
{
    for (const char *at = text; *at != '\0'; at++) {
        size_t length = *at == '{' && !(at > text && at[-1] == '$') ? strspn(at + 1, NAME) : 0;
        if (length == 0 || at[1 + length] != '}') {
            fputc(*at, stream);
            continue;
        }
        const char *value = value_of(f, at + 1, length);
        if (value == NULL)
            return dp_fail(err, DP_E_USAGE, "{%.*s}: the table has no such column", (int)(length < 60 ? length : 60), at + 1);
        fputs(value, stream);
        at += length + 1;
    }
    return DP_OK;
}

int dp_table_fill(const struct dp_table *table, size_t row, const char *text, struct dp_table_word *words, size_t count,
                  bool *named, char **filled, struct dp_err *err)
{
    struct filling f = {table, row, words, count, named};
    size_t size;
    *filled = NULL;
    FILE *stream = dp_got(open_memstream(filled, &size));
    int rc = fill(&f, text, stream, err);
    dp_close_text(stream);
    if (rc != DP_OK) {
        free(*filled);
        *filled = NULL;
    }
    return rc;
}
