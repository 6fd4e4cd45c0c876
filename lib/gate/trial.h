/* A trial: a run that dp-tune started, and has charged for before. Its gate needs no budget, and marks what passes: only
 * dp-tune takes that, and releases one model of many. The two of them speak through a private directory:
 *   trial   a file that dp-tune holds locked while it lives: the name of the selection, and what the run is asked for
 *   plan    what the gate has made of the announcements of the stages, before any lap: whose rows, and what the laps cost
 *   charged the plan that dp-tune has charged for, and that the next run has to have; the gate of that run takes it, so that
 *           there is no other
 * A run is asked for its plan first, and then for its laps. */
#ifndef DP_GATE_TRIAL_H
#define DP_GATE_TRIAL_H

#include <stdbool.h>

#include "account/event.h"

#define DP_TRIAL_NAME 32 /* hexadecimal digits */

enum dp_trial_ask { DP_TRIAL_PLAN, DP_TRIAL_LAPS };

/* The gate's side. */
struct dp_trial {
    char *directory; /* owned */
    char name[DP_TRIAL_NAME + 1];
    enum dp_trial_ask ask;
};

/* DP_E_UNSAFE: nobody has made that directory who is still there, or others can look into it. */
int dp_trial_open(struct dp_trial *trial, const char *directory, struct dp_err *err);
void dp_trial_close(struct dp_trial *trial);

/* What a run announces. Texts are the caller's when written, and of the plan when read. */
struct dp_trial_plan {
    char *directory; /* of the data set */
    char *adjacency;
    int64_t rows;
    bool seeded;
    struct dp_charges charges; /* one by one in the order of the plan's events */
};
int dp_trial_write(const struct dp_trial *trial, const struct dp_trial_plan *plan, struct dp_err *err);

/* Takes what has been charged for. DP_E_UNSAFE: it is another plan, or a run before has taken it. */
int dp_trial_take(const struct dp_trial *trial, const struct dp_trial_plan *plan, struct dp_err *err);

/* dp-tune's side: a new directory below `parent`, mode 0700, which dp_trial_room_close removes with all that is in it. */
struct dp_trial_room {
    char *directory;
    char name[DP_TRIAL_NAME + 1];
    int lock;
};
int dp_trial_room_open(struct dp_trial_room *room, const char *parent, struct dp_err *err);

/* What the next run is asked for: its plan, where nothing has been charged, or the laps of the plan that has. A plan of an
   earlier run is removed. */
int dp_trial_room_ask(const struct dp_trial_room *room, const struct dp_trial_plan *charged, struct dp_err *err);

/* The plan that a run has written. 1: it has written none. The caller starts it zeroed and frees it. */
int dp_trial_room_read(const struct dp_trial_room *room, struct dp_trial_plan *plan, struct dp_err *err);
void dp_trial_plan_free(struct dp_trial_plan *plan);
bool dp_trial_plan_same(const struct dp_trial_plan *a, const struct dp_trial_plan *b);

void dp_trial_room_close(struct dp_trial_room *room);

#endif
