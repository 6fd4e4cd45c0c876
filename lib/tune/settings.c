#include "tune/settings.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/option.h"
#include "data/lines.h"

#define NAME "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
#define CELL NAME ".,:+/=%@"
static const char blanks[] = " \t\r";

static int add_name(struct dp_settings *g, const struct dp_lines *lines, const char *text, size_t length, struct dp_err *err)
{
    if (strspn(text, NAME) < length)
        return dp_fail(err, DP_E_RUN, "%s: line %zu: '%.*s' is no name of a column: letters, digits, _ and -", lines->name,
                       lines->number, (int)(length < 60 ? length : 60), text);
    for (size_t i = 0; i < g->columns; i++)
        if (strlen(g->cell[i]) == length && memcmp(g->cell[i], text, length) == 0)
            return dp_fail(err, DP_E_RUN, "%s: line %zu: the column '%.60s' stands there twice", lines->name, lines->number,
                           g->cell[i]);
    if ((length == 5 && memcmp(text, "trial", length) == 0) || (length == 4 && memcmp(text, "seed", length) == 0))
        return dp_fail(err, DP_E_RUN, "%s: line %zu: {%.*s} is what dp-tune puts there, and no column", lines->name,
                       lines->number, (int)length, text);
    if (g->columns == DP_SETTINGS_MOST_COLUMNS)
        return dp_fail(err, DP_E_RUN, "%s: more than %d columns", lines->name, DP_SETTINGS_MOST_COLUMNS);
    int rc = dp_grow(&g->cell, &g->capacity, g->columns + 1, sizeof *g->cell, err);
    if (rc != DP_OK)
        return rc;
    g->cell[g->columns] = strndup(text, length);
    if (g->cell[g->columns] == NULL)
        return dp_fail(err, DP_E_RUN, "out of memory");
    g->columns++;
    return DP_OK;
}

/* The cells of a line, which is NUL-terminated. */
static int take_setting(struct dp_settings *g, const struct dp_lines *lines, const char *line, struct dp_err *err)
{
    size_t cells = 0, first = (1 + g->count) * g->columns;
    int rc = DP_OK;
    if (g->count == DP_SETTINGS_MOST)
        return dp_fail(err, DP_E_RUN, "%s: more than %d settings", lines->name, DP_SETTINGS_MOST);
    if ((rc = dp_grow(&g->cell, &g->capacity, first + g->columns, sizeof *g->cell, err)) != DP_OK)
        return rc;
    memset(g->cell + first, 0, g->columns * sizeof *g->cell);
    g->count++;
    for (const char *at = line + strspn(line, blanks); *at != '\0'; at += strspn(at, blanks)) {
        size_t length = strcspn(at, blanks);
        if (strspn(at, CELL) < length)
            return dp_fail(err, DP_E_RUN, "%s: line %zu: '%.*s' has a character that a shell would read", lines->name,
                           lines->number, (int)(length < 60 ? length : 60), at);
        if (cells < g->columns && (g->cell[first + cells] = strndup(at, length)) == NULL)
            return dp_fail(err, DP_E_RUN, "out of memory");
        cells++;
        at += length;
    }
    return cells == g->columns ? DP_OK
                               : dp_fail(err, DP_E_RUN, "%s: line %zu: %zu cells, and there are %zu columns", lines->name,
                                         lines->number, cells, g->columns);
}

static int take_line(struct dp_settings *g, const struct dp_lines *lines, struct dp_err *err)
{
    int rc = DP_OK;
    char *line = strndup(lines->line, lines->length);
    if (line == NULL)
        return dp_fail(err, DP_E_RUN, "out of memory");
    const char *at = line + strspn(line, blanks);
    if (*at == '\0' || *at == '#')
        rc = DP_OK;
    else if (g->columns > 0)
        rc = take_setting(g, lines, line, err);
    else
        for (size_t length; rc == DP_OK && *at != '\0'; at += strspn(at, blanks)) {
            length = strcspn(at, blanks);
            rc = add_name(g, lines, at, length, err);
            at += length;
        }
    free(line);
    return rc;
}

int dp_settings_open(struct dp_settings *grid, const char *path, struct dp_err *err)
{
    struct dp_lines lines = {0};
    int rc = dp_lines_open(&lines, path, err), more = 0;
    if (rc != DP_OK)
        return rc;
    while (rc == DP_OK && (more = dp_lines_next(&lines, err)) == 1)
        rc = take_line(grid, &lines, err);
    dp_lines_close(&lines);
    if (rc == DP_OK && more < 0)
        return more;
    if (rc == DP_OK && grid->count == 0)
        return dp_fail(err, DP_E_RUN, "%s: no settings: a line of names and a line for each setting are expected", path);
    return rc;
}

void dp_settings_free(struct dp_settings *grid)
{
    for (size_t i = 0; grid->cell != NULL && i < (1 + grid->count) * grid->columns; i++)
        free(grid->cell[i]);
    free(grid->cell);
    *grid = (struct dp_settings){0};
}

/* --- commands ----------------------------------------------------------------------------------------------------- */

struct filling {
    const struct dp_settings *grid;
    size_t setting;
    const struct dp_settings_also *also;
    bool trial, seed, named[DP_SETTINGS_MOST_COLUMNS];
    char number[24];
};

/* What stands for a name of so many characters; NULL for nothing. */
static const char *value_of(struct filling *f, const char *name, size_t length)
{
    if (length == 5 && memcmp(name, "trial", length) == 0) {
        f->trial = true;
        return f->also->trial;
    }
    if (length == 4 && memcmp(name, "seed", length) == 0 && f->also->seed != DP_OPT_ABSENT_INT) {
        f->seed = true;
        return f->number;
    }
    for (size_t i = 0; i < f->grid->columns; i++)
        if (strlen(dp_settings_name(f->grid, i)) == length && memcmp(dp_settings_name(f->grid, i), name, length) == 0) {
            f->named[i] = true;
            return dp_settings_cell(f->grid, f->setting, i);
        }
    return NULL;
}

/* Writes the text to `stream`. A brace that encloses no name is the shell's, and so is one behind a dollar sign. */
static int fill(struct filling *f, const char *command, FILE *stream, struct dp_err *err)
{
    for (const char *at = command; *at != '\0'; at++) {
        size_t length = *at == '{' && !(at > command && at[-1] == '$') ? strspn(at + 1, NAME) : 0;
        if (length == 0 || at[1 + length] != '}') {
            fputc(*at, stream);
            continue;
        }
        const char *value = value_of(f, at + 1, length);
        if (value == NULL && length == 4 && memcmp(at + 1, "seed", length) == 0)
            return dp_fail(err, DP_E_USAGE, "{seed}: the command has it, and there is no --seed");
        if (value == NULL)
            return dp_fail(err, DP_E_USAGE, "{%.*s}: the grid has no such column", (int)(length < 60 ? length : 60), at + 1);
        fputs(value, stream);
        at += length + 1;
    }
    return DP_OK;
}

int dp_settings_fill(const struct dp_settings *grid, size_t setting, const char *command, const struct dp_settings_also *also,
                     char **text, struct dp_err *err)
{
    struct filling f = {.grid = grid, .setting = setting, .also = also};
    size_t size;
    snprintf(f.number, sizeof f.number, "%lld", (long long)also->seed);
    *text = NULL;
    FILE *stream = open_memstream(text, &size);
    if (stream == NULL)
        return dp_fail(err, DP_E_RUN, "out of memory");
    int rc = fill(&f, command, stream, err);
    if (fclose(stream) != 0 && rc == DP_OK)
        rc = dp_fail(err, DP_E_RUN, "out of memory");
    if (rc == DP_OK && !f.trial)
        rc = dp_fail(err, DP_E_USAGE, "{trial}: the command does not have it: dp-account --trial {trial} in place of a budget");
    if (rc == DP_OK && also->seed != DP_OPT_ABSENT_INT && !f.seed)
        rc = dp_fail(err, DP_E_USAGE,
                     "{seed}: the command does not have it, and --seed is for all draws: dp-loop --seed {seed}");
    for (size_t i = 0; rc == DP_OK && i < grid->columns; i++)
        if (!f.named[i])
            rc = dp_fail(err, DP_E_USAGE, "{%.60s}: the command does not have that column of the grid",
                         dp_settings_name(grid, i));
    if (rc != DP_OK) {
        free(*text);
        *text = NULL;
    }
    return rc;
}
