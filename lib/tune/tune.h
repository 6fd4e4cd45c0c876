/* dp-tune: private selection. It asks every setting's run what it will do, charges for the choice of the best of them before
 * any lap, runs the trials, and releases the one with the best noised score (account/event.h). Nothing else about the
 * trials is kept or printed: not their models, scores or number. */
#pragma once

#include <signal.h>

#include "base/err.h"
#include "base/registry_place.h"

struct dp_tune_options {
    const char *grid, *trials, *score_data, *ledger, *model;
    int metric; /* enum dp_score_metric */
    double score_multiplier, score_clip, epsilon, delta;
    int64_t seed;
    bool no_ledger, allow_weak, quiet;
    struct dp_registry_choice registry;
};

struct dp_tune {
    struct dp_tune_options options;
    const char *command;                   /* command of one run, in which {name} is replaced by the setting's cell in that
                                            * column */
    const char *parent;                    /* directory for the messages of trials */
    const struct dp_registry_place *place; /* place of the registry, unless options name another; NULL: none */
    int64_t started;                       /* seconds since 1970 */
    volatile sig_atomic_t *stop;
    void (*warn)(const char *name, const char *sentence);
    void (*note)(const char *name, const char *sentence); /* receives the choice */
};

/* "all": each setting once, which costs as much as all runs together. */
#define DP_TUNE_ALL "all"

/* Returns 0; DP_E_BUDGET if the choice costs more than the budget, or more than the data set's budget has left; or an error. An
 * error may come after the choice was charged: its cost stays. */
int dp_tune_run(const struct dp_tune *tune, struct dp_err *err);
