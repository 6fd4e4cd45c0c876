/* What a run must keep from its first lap to its last, whatever the stages left of the gate make of it: one adjacency, one
 * data set, one number of rows, and every public field that does not follow released values. Else a stage could have one
 * thing charged and do another, or write what it knows of private rows into a field that nobody charges for. Laps of one kind
 * keep what they record. Public fields stay over all kinds; only the first lap of a kind may bring one that no lap before had.
 */
#ifndef DP_GATE_HOLD_H
#define DP_GATE_HOLD_H

#include "wire/frame.h"
#include "wire/state.h"

struct dp_hold {
    struct dp_frame *first; /* of the first lap of each kind: its records, `on` that kind, and DP_FIXED fields; NULL before */
    msgpack_sbuffer bytes;  /* of it, for the last checkpoint */
    bool resumed;           /* and no lap has come since */
};

/* Remembers the first frame of each kind that it sees; kind is "" where laps have none. In an adaptive run the bound on a sum
   may follow released values. DP_E_UNSAFE: a later frame differs where it must not. */
int dp_hold_lap(struct dp_hold *hold, const char *kind, bool adaptive, const struct dp_frame *frame, struct dp_err *err);

/* The same in a checkpoint. */
int dp_hold_save(struct dp_hold *hold, struct dp_state *state, struct dp_err *err);
int dp_hold_restore(struct dp_hold *hold, const struct dp_state *state, struct dp_err *err);

void dp_hold_close(struct dp_hold *hold);

#endif
