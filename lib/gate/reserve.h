/* The gate's side of the ledger: laps are reserved in chunks before they go out, and what was not needed is given back at
   a clean end. */
#ifndef DP_GATE_RESERVE_H
#define DP_GATE_RESERVE_H

#include "ledger/ledger.h"
#include "gate/spend.h"

struct dp_reserve {
    struct dp_ledger *ledger;
    struct dp_charges reserved, used;
    struct dp_charges lost; /* of a resumed run: laps that it had paid for after its checkpoint, which may be out */
    int64_t laps;           /* used */
    bool planned;           /* the ledger has its plan */
};

/* The last model that a run has released: what the ledger binds. */
struct dp_reserve_model {
    const char *digest; /* of its weights, as wire/model.h makes it; "" where there is none or nobody says */
    int64_t lap;
};

/* Opens the run in the ledger. One that is resumed has used all that it had paid for: the laps up to its checkpoint, and
   those that were lost, whose last shuffled epoch counts as a whole one. planned: the laps of the run are known and its own
   budget affords them, so that they are written down as its plan; done: of these, those up to the checkpoint that it was resumed
   from. */
int dp_reserve_open(struct dp_reserve *reserve, const char *path, const struct dp_ledger_run *run, bool planned, int64_t done,
                    struct dp_err *err);

/* Returns when a lap of this event is paid for: written and fsynced. Laps are reserved ahead, so that a long run waits for the
   disk about 60 times, but few, so that one that dies wastes little: of those that come `together` in one piece not more than
   an eighth of all laps used, else not more than an eighth of those of this event; and never more than are `left`. Of shuffled
   epochs only laps that come together are reserved: another event may follow whole epochs alone. DP_E_BUDGET: the data set's
   budget has no room. */
int dp_reserve_lap(struct dp_reserve *reserve, const struct dp_event *event, int64_t together, int64_t left,
                   struct dp_err *err);

/* From here the run can be resumed: dp_ledger_mark says by which mark. What is reserved and not used is given back. */
int dp_reserve_checkpoint(struct dp_reserve *reserve, struct dp_err *err);

/* The clean end: writes down the epsilon of the run. If the laps were known in advance, that is the cost of all laps together by
   the best accountant; otherwise it is what the gate charged. DP_E_UNSAFE: the ledger says another epsilon. */
int dp_reserve_end(struct dp_reserve *reserve, const struct dp_spend *spend, const char *status,
                   const struct dp_reserve_model *last, struct dp_err *err);

/* What is reserved stays spent unless dp_reserve_end came first. */
void dp_reserve_close(struct dp_reserve *reserve);

#endif
