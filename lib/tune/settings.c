#include "tune/settings.h"

#include "base/option.h"

enum { TRIAL, SEED, WORDS };

static const char *const names[WORDS] = {[TRIAL] = "trial", [SEED] = "seed"};

int dp_settings_open(struct dp_table *grid, const char *path, struct dp_err *err)
{
    int rc = dp_table_open(grid, path, err);
    for (int i = 0; rc == DP_OK && i < WORDS; i++)
        if (dp_table_find(grid, names[i]) < grid->columns)
            rc = dp_fail(err, DP_E_RUN, "%s: {%s} is what dp-tune puts there, and no column", path, names[i]);
    return rc;
}

/* Checks that the command names everything that it must, and only names that exist. */
static int check_named(const struct dp_table *grid, const struct dp_table_word *words, const bool *named, struct dp_err *err)
{
    if (words[SEED].named && words[SEED].value == NULL)
        return dp_fail(err, DP_E_USAGE, "{seed}: the command has it, and there is no --seed");
    if (!words[TRIAL].named)
        return dp_fail(err, DP_E_USAGE,
                       "{trial}: the command does not have it: dp-account --trial {trial} in place of a budget");
    if (!words[SEED].named && words[SEED].value != NULL)
        return dp_fail(err, DP_E_USAGE,
                       "{seed}: the command does not have it, and --seed is for all draws: dp-loop --seed {seed}");
    for (size_t i = 0; i < grid->columns; i++)
        if (!named[i])
            return dp_fail(err, DP_E_USAGE, "{%.60s}: the command does not have that column of the grid",
                           dp_table_name(grid, i));
    return DP_OK;
}

int dp_settings_fill(const struct dp_table *grid, size_t setting, const char *command, const struct dp_settings_also *also,
                     char **text, struct dp_err *err)
{
    bool named[DP_TABLE_MOST_COLUMNS] = {0};
    char seed[24];
    struct dp_table_word words[WORDS] = {{names[TRIAL], also->trial, false}, {names[SEED], NULL, false}};
    if (also->seed != DP_OPT_ABSENT_INT) {
        snprintf(seed, sizeof seed, "%lld", (long long)also->seed);
        words[SEED].value = seed;
    }
    int rc = dp_table_fill(grid, setting, command, words, WORDS, named, text, err);
    rc = rc ?: check_named(grid, words, named, err);
    if (rc != DP_OK) {
        free(*text);
        *text = NULL;
    }
    return rc;
}
