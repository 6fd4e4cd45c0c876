/* dp-worker: joins a gather, passes its frames through a pipeline beside rows of its own, and gives back what may leave the
   site. Killed at any moment and started again it gives the same answers, if it keeps checkpoints. */
#ifndef DP_SHARDS_WORKER_H
#define DP_SHARDS_WORKER_H

#include <signal.h>
#include <stdint.h>

#include "base/err.h"
#include "base/option.h"
#include "base/security.h"
#include "runtime/child.h"

struct dp_worker_options {
    const char *at, *shard, *checkpoint;
    int64_t every; /* laps between checkpoints */
    int exec;      /* enum dp_exec */
    double timeout;
    bool allow_seeded;
    struct dp_security security;
};
extern const struct dp_option dp_worker_option_table[];

struct dp_worker {
    struct dp_worker_options options;
    const char *pipeline;
    struct dp_warn warn;
    volatile sig_atomic_t interrupt; /* set by a signal handler: end soon */
};

/* Until the end of the run. Returns 0; DP_E_BUDGET when a stage here has ended the run since its budget is spent; DP_E_UPSTREAM
   when the run has failed elsewhere; or another error, of which the gather gets the status alone. */
int dp_worker_run(struct dp_worker *worker, struct dp_err *err);

#endif
