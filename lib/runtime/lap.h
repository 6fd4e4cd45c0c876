/* One run in steps, so that several can go on side by side: opened, its hello frame sent round, lap after lap, and ended. */
#ifndef DP_RUNTIME_LAP_H
#define DP_RUNTIME_LAP_H

#include "runtime/loop.h"

struct dp_run;

/* Checks the options and opens ports, checkpoint and child: in one thread, since stages read the environment and getopt's
   variables. *run, which may be NULL after a failure, is for dp_run_end, whatever this returns. loop outlives it. */
int dp_run_open(struct dp_run **run, struct dp_loop *loop, struct dp_err *err);

/* Sends the hello frame round, unless a signal has come. Once, before the first lap. */
int dp_run_hello(struct dp_run *run, struct dp_err *err);

/* Does the next lap. DP_RUN_MORE: others are to come. Anything else is for dp_run_end. */
enum { DP_RUN_MORE = 2 };
int dp_run_lap(struct dp_run *run, struct dp_err *err);

/* Ends the run, of which the last step has returned rc with *err: writes the model, closes and frees. Returns what
   dp_loop_run returns. */
int dp_run_end(struct dp_run *run, int rc, struct dp_err *err);

/* Laps that there will be, and that came back; epsilon of the last one, below 0 where it states none. */
int64_t dp_run_laps(const struct dp_run *run);
int64_t dp_run_done(const struct dp_run *run);
double dp_run_epsilon(const struct dp_run *run);

#endif
