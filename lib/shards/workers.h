/* The K workers of a gather, wherever they are: a frame goes to each, and an answer of each comes back. */
#ifndef DP_SHARDS_WORKERS_H
#define DP_SHARDS_WORKERS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/security.h"
#include "checkpoint/checkpoint.h"
#include "stages/stage.h"
#include "wire/frame.h"

/* What is done about a shard whose worker is gone or silent for too long. */
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
    struct dp_stage *stage; /* whose they are: its checkpoint, what cuts its waits, who hears its warnings */
    int shards;
    struct dp_frame **frame; /* of each shard: what it is asked, then what it has answered */
    bool *answered;
};

/* Children of this process: text, where %k stands for the shard and %K for how many there are, run as processes, or `fused`.
   Those that save states do it in directories of their own in the stage's checkpoint. */
int dp_workers_local(struct dp_workers **workers, struct dp_stage *stage, const char *text, int shards, bool fused,
                     struct dp_err *err);

/* Those that join over a link. */
int dp_workers_remote(struct dp_workers **workers, struct dp_stage *stage, const char *at, const struct dp_security *security,
                      int shards, const struct dp_workers_options *options, struct dp_err *err);

/* Sends workers->frame[k] to shard k and takes its answer into the same frame, with answered[k] where there is one; of a lap at
   least one, else all. DP_E_BUDGET: the budget of a worker has ended the run, as err says. Other errors: as the policy has it;
   err->message is empty where a child has spoken for itself. */
int dp_workers_ask(struct dp_workers *workers, struct dp_err *err);

/* What a checkpoint of the gather has to hold of them. */
int dp_workers_save(struct dp_workers *workers, struct dp_state *state, struct dp_err *err);
int dp_workers_restore(struct dp_workers *workers, const struct dp_state *state, struct dp_err *err);

/* Where the end frame has not gone round they are told that the run has failed. workers may be NULL. */
void dp_workers_free(struct dp_workers *workers);

/* Private to the implementations: the frames, of `shards` shards. */
int dp_workers_start(struct dp_workers *workers, const struct dp_workers_ops *ops, struct dp_stage *stage, int shards,
                     struct dp_err *err);
void dp_workers_end(struct dp_workers *workers);

#endif
