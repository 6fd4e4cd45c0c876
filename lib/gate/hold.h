/* Checks that a run keeps its adjacency, data set, number of rows, and every public field that does not follow released values.
 * Otherwise a stage could be charged for one mechanism and run another, or write private values into a public field. Laps of
 * one kind must have the same records. Public fields are the same for all kinds; only the first lap of a kind may bring a new
 * one. */
#ifndef DP_GATE_HOLD_H
#define DP_GATE_HOLD_H

#include "wire/frame.h"
#include "wire/state.h"

struct dp_hold {
    struct dp_frame *first; /* the first lap of each kind: its records, `on` that kind, and DP_FIXED fields; NULL before */
    msgpack_sbuffer bytes;  /* the frames in the last checkpoint */
    bool resumed;           /* no lap since the run was resumed */
};

/* Stores the first frame of each kind and compares later frames with it. kind: "" if laps have no kinds. In an adaptive run the
   bound on a sum may follow released values. DP_E_UNSAFE: a frame differs in a field that must stay the same. */
int dp_hold_lap(struct dp_hold *hold, const char *kind, bool adaptive, const struct dp_frame *frame, struct dp_err *err);

/* The same in a checkpoint. */
int dp_hold_save(struct dp_hold *hold, struct dp_state *state, struct dp_err *err);
int dp_hold_restore(struct dp_hold *hold, const struct dp_state *state, struct dp_err *err);

void dp_hold_close(struct dp_hold *hold);

#endif
