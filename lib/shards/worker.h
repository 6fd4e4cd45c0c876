/* dp-worker: joins a gather, passes its frames through a pipeline on the rows of this site, and sends back what may leave the
 * site. A worker with checkpoints can be killed at any moment: after a restart it gives the same answers. */
#pragma once

#include <signal.h>

#include "base/err.h"
#include "base/option.h"
#include "base/security.h"
#include "runtime/child.h"

struct dp_worker_options {
    const char *at, *shard, *checkpoint, *mask;
    int64_t every; /* laps between checkpoints */
    int64_t lost;  /* sites that the masks may lose */
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
    volatile sig_atomic_t interrupt; /* set by a signal handler: stop soon */
};

/* Works until the end of the run. Returns 0; DP_E_BUDGET when a stage here has ended the run because its budget is spent;
 * DP_E_UPSTREAM when the run has failed elsewhere; or another error, of which the gather gets only the status. */
int dp_worker_run(struct dp_worker *worker, struct dp_err *err);
