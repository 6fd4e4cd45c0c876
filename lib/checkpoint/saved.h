/* dp-loop's own file of a checkpoint: the identity of the run, and the last model. */
#pragma once

#include "base/err.h"
#include "wire/frame.h"
#include "wire/laps.h"

#define DP_SAVED_DIGEST 32

struct dp_saved {
    unsigned char pipeline[DP_SAVED_DIGEST]; /* BLAKE2b of the text of the child */
    unsigned char plan[DP_SAVED_DIGEST];     /* BLAKE2b of the text of the plan */
    int64_t laps, seed;                      /* from the options */
    char run[DP_RUN_DIGITS + 1];             /* name of the run */
    int64_t stages;                          /* number of stages that a frame passes */
    int64_t turn[DP_LAPS_MOST_KINDS];        /* laps of each kind that are done */
    bool moved;                              /* a lap has moved the model */
};

/* Fills *saved for a new run: its name is random, or derived from the seed. pipeline: NULL if others start the stages; plan:
 * NULL if all laps are of one kind. */
void dp_saved_of(struct dp_saved *saved, const char *pipeline, const char *plan, int64_t laps, int64_t seed);

int dp_saved_write(const char *directory, const struct dp_saved *saved, const struct dp_frame *last, struct dp_err *err);

/* Reads the last model and the name of the run, and checks that the run is the same. */
int dp_saved_read(const char *directory, struct dp_saved *saved, struct dp_frame *last, struct dp_err *err);
