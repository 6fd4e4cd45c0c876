/* The K workers of a gather, local or remote: a frame goes to each, and each sends an answer. */
#pragma once

#include "base/err.h"
#include "base/security.h"
#include "stages/stage.h"
#include "wire/frame.h"

/* The policy for a shard whose worker is gone or silent for too long. */
enum dp_on_lost { DP_ON_LOST_WAIT, DP_ON_LOST_STOP, DP_ON_LOST_CONTINUE };

struct dp_workers_options {
    enum dp_on_lost on_lost;
    double timeout; /* seconds */
};

struct dp_workers;

struct dp_workers_ops {
    int (*ask)(struct dp_workers *workers, struct dp_err *err);
    int (*save)(struct dp_workers *workers, struct dp_state *state, struct dp_err *err);          /* or NULL */
    int (*restore)(struct dp_workers *workers, const struct dp_state *state, struct dp_err *err); /* or NULL */
    void (*free)(struct dp_workers *workers);
};

struct dp_workers {
    const struct dp_workers_ops *ops;
    struct dp_stage *stage; /* the gather's stage: its checkpoint, its interrupt and its receiver of warnings are used */
    int shards;
    struct dp_frame **frame; /* for each shard: the frame to send, then the answer */
    bool *answered;
    bool masked; /* answers have masks (masks.h): only their total means something */
    bool torn;   /* the masks of this lap do not cancel, because a site that takes part in them has not answered */
};

/* Workers that are children of this process. text is their pipeline, in which %k is replaced by the shard and %K by the number
 * of shards; they run as processes, or in this process if fused is set. Children that save states do so in their own
 * directories within the stage's checkpoint. */
int dp_workers_local(struct dp_workers **workers, struct dp_stage *stage, const char *text, int shards, bool fused,
                     struct dp_err *err);

int dp_workers_remote(struct dp_workers **workers, struct dp_stage *stage, const char *at, const struct dp_security *security,
                      int shards, const struct dp_workers_options *options, struct dp_err *err);

/* Sends workers->frame[k] to shard k and takes its answer into the same frame; answered[k] says whether there is an answer. A
 * lap has at least one answer, other frames have all. DP_E_BUDGET: the budget of a worker has ended the run; err says which.
 * Other errors: according to the policy; err->message is empty if a child has already printed its message. */
int dp_workers_ask(struct dp_workers *workers, struct dp_err *err);

/* Saves and restores the state of the workers in a checkpoint of the gather. */
int dp_workers_save(struct dp_workers *workers, struct dp_state *state, struct dp_err *err);
int dp_workers_restore(struct dp_workers *workers, const struct dp_state *state, struct dp_err *err);

/* If the end frame was not sent, tells the workers that the run has failed. workers may be NULL. */
void dp_workers_free(struct dp_workers *workers);

/* Private to the implementations: allocates the frames of `shards` shards. */
void dp_workers_start(struct dp_workers *workers, const struct dp_workers_ops *ops, struct dp_stage *stage, int shards);
void dp_workers_end(struct dp_workers *workers);
