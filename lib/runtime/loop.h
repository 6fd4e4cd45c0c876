/* The loop: owns the model, passes it to one child pipeline lap after lap, and decides when to stop.
 *
 * A run with checkpoints ends in this order, so that dp-loop can be killed at any moment:
 *   1. The end frame goes through all stages. The gate writes the end of the run into the ledger.
 *   2. dp-loop writes its end frame and the file of the model.
 *   3. dp-loop removes its checkpoint, its own file first. From here on nothing can be resumed.
 *   4. dp-loop closes its end of the child. Only then does dp-gather tell its workers that the run has ended, and they remove
 *      their checkpoints. If dp-loop's own file is still there, dp-loop was killed: the workers keep their checkpoints.
 * A run without checkpoints has no step 3, and step 4 comes before step 2: a worker that fails at its end fails the run. */
#pragma once

#include <signal.h>

#include "base/option.h"
#include "base/progress.h"
#include "base/security.h"
#include "runtime/child.h"

enum dp_exec { DP_EXEC_AUTO, DP_EXEC_PROCESSES, DP_EXEC_FUSED };

struct dp_loop_options {
    int64_t laps, seed;
    const char *plan; /* kinds of laps in their order (wire/laps.h), instead of laps */
    int exec, progress;
    const char *model; /* file for the last model, or NULL */
    const char *init;  /* model to start from, or NULL */
    const char *send, *receive;
    struct dp_security security; /* security of these two ports */
    double patience;
    double stop_gap;
    const char *checkpoint, *resume; /* directories, or NULL */
    int64_t every;                   /* laps between checkpoints */
    int64_t model_every;             /* laps between models that are written; absent: only the last one */
    bool quiet;
    bool until_spent; /* a budget that ends the run after at least one lap is not a failure */
};
extern const struct dp_option dp_loop_option_table[];

/* Communication between signal handlers and a run. */
struct dp_interrupt {
    volatile sig_atomic_t stop;  /* in: the signal that asks the run to end after the current lap */
    volatile sig_atomic_t hurry; /* in: end at once */
    volatile sig_atomic_t deaf;  /* out: stages are computing in this process, where nothing looks at `hurry` */
};

struct dp_loop {
    struct dp_loop_options options;
    const char *pipeline; /* text of the child pipeline, NULL with send and receive */
    int progress;         /* the descriptor where progress goes */
    struct dp_warn warn;  /* receiver of the warnings of the loop and of stages in this process */
    struct dp_interrupt *interrupt;
    bool interrupted; /* out: a signal has ended the run before its last lap */
    bool reader_gone; /* out: the reader of standard output has closed it */
};

/* Runs all laps. Released frames go to standard output, the last one to options.model. Returns 0, DP_E_BUDGET if the gate ended
   the run early, or an error, also if a signal ended it. The last affordable model is written even then. */
int dp_loop_run(struct dp_loop *loop, struct dp_err *err);
