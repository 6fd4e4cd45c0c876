/* The settings that dp-tune chooses from: a table, whose first line names its columns; and the command that is run for each of
 * them, where {name} stands for what the setting has in that column. Blanks and tabs separate cells; lines that are empty or
 * begin with # do not count. */
#ifndef DP_TUNE_SETTINGS_H
#define DP_TUNE_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define DP_SETTINGS_MOST 10000
#define DP_SETTINGS_MOST_COLUMNS 100

struct dp_settings {
    size_t columns, count, capacity; /* count: of settings */
    char **cell;                     /* (1 + count) × columns; the names of the columns are first */
};

/* The caller starts it zeroed and frees it, whatever open returned. DP_E_RUN: no such file, or a line of it is wrong: a name
   that is none, is reserved or stands there twice, more or fewer cells than columns, a cell with a character that a shell would
   read, no settings, too many. */
int dp_settings_open(struct dp_settings *grid, const char *path, struct dp_err *err);
void dp_settings_free(struct dp_settings *grid);

static inline const char *dp_settings_name(const struct dp_settings *grid, size_t column)
{
    return grid->cell[column];
}
static inline const char *dp_settings_cell(const struct dp_settings *grid, size_t setting, size_t column)
{
    return grid->cell[(1 + setting) * grid->columns + column];
}

/* What else a command may name, beside columns. */
struct dp_settings_also {
    const char *trial; /* {trial} */
    int64_t seed;      /* {seed}; DP_OPT_ABSENT_INT where there is none */
};

/* The command of that setting; the caller frees *text. DP_E_USAGE: {name} of no column, a column that it does not name, no
   {trial}, or {seed} where there is no seed, or none where there is one. */
int dp_settings_fill(const struct dp_settings *grid, size_t setting, const char *command, const struct dp_settings_also *also,
                     char **text, struct dp_err *err);

#endif
