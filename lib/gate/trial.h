/* A trial: a run that dp-tune starts and has charged for. The gate of a trial needs no budget and marks its frames; only
 * dp-tune accepts them, and releases one model of many. Gate and dp-tune communicate through a private directory:
 *   trial   a file that dp-tune keeps locked while it runs: the name of the selection, and whether a plan or laps are asked for
 *   plan    written by the gate before any lap, from the announcements of the stages: the data set and the charges
 *   charged the plan that dp-tune has charged for and that the next run must have; the gate of that run renames the file, so
 *           only one run can use it
 * dp-tune asks a run for its plan first, and then for its laps. */
#pragma once

#include "account/event.h"

#define DP_TRIAL_NAME 32 /* hexadecimal digits */

enum dp_trial_ask { DP_TRIAL_PLAN, DP_TRIAL_LAPS };

/* The gate's side. */
struct dp_trial {
    char *directory; /* owned */
    char name[DP_TRIAL_NAME + 1];
    enum dp_trial_ask ask;
};

/* DP_E_UNSAFE: the dp-tune that made the directory has ended, or others can read the directory. */
int dp_trial_open(struct dp_trial *trial, const char *directory, struct dp_err *err);
void dp_trial_close(struct dp_trial *trial);

/* The announcement of a run. The caller owns the texts of a plan to write; a plan that was read owns its texts. */
struct dp_trial_plan {
    char *directory; /* of the data set */
    char *adjacency;
    int64_t rows;
    bool seeded;
    struct dp_charges charges; /* one for each of the plan's events, in their order */
};
int dp_trial_write(const struct dp_trial *trial, const struct dp_trial_plan *plan, struct dp_err *err);

/* Takes the charged plan. DP_E_UNSAFE: the charged plan is not `plan`, or another run has used it already. */
int dp_trial_take(const struct dp_trial *trial, const struct dp_trial_plan *plan, struct dp_err *err);

/* dp-tune's side: a new directory in `parent`, mode 0700, which dp_trial_room_close removes with its content. */
struct dp_trial_room {
    char *directory;
    char name[DP_TRIAL_NAME + 1];
    int lock;
};
int dp_trial_room_open(struct dp_trial_room *room, const char *parent, struct dp_err *err);

/* Asks the next run for its plan (charged is NULL) or for the laps of the charged plan. Removes the plan of an earlier run. */
int dp_trial_room_ask(const struct dp_trial_room *room, const struct dp_trial_plan *charged, struct dp_err *err);

/* Reads the plan that a run has written. Returns 1 if no plan is there. The caller starts *plan zeroed and frees it. */
int dp_trial_room_read(const struct dp_trial_room *room, struct dp_trial_plan *plan, struct dp_err *err);
void dp_trial_plan_free(struct dp_trial_plan *plan);
bool dp_trial_plan_same(const struct dp_trial_plan *a, const struct dp_trial_plan *b);

void dp_trial_room_close(struct dp_trial_room *room);
