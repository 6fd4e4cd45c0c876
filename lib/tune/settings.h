/* The settings that dp-tune chooses from, a table (data/table.h), and the command that is run for each of them. */
#pragma once

#include "base/err.h"
#include "data/table.h"

/* As dp_table_open. DP_E_RUN, too: a column has the name of one of the words below. */
int dp_settings_open(struct dp_table *grid, const char *path, struct dp_err *err);

/* A name, in addition to columns, that a command may use. */
struct dp_settings_also {
    const char *trial; /* {trial} */
    int64_t seed;      /* {seed}; DP_OPT_ABSENT_INT: no seed */
};

/* The command of that setting; the caller frees *text. DP_E_USAGE: a {name} is not a column, a column
   is not named, {trial} is missing, or {seed} is there without a seed or missing with a seed. */
int dp_settings_fill(const struct dp_table *grid, size_t setting, const char *command, const struct dp_settings_also *also,
                     char **text, struct dp_err *err);
