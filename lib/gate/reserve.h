/* The gate's side of the ledger: laps are reserved in chunks before they are released, and unused laps are refunded at a proper
   end. */
#pragma once

#include "ledger/ledger.h"
#include "gate/spend.h"

struct dp_reserve {
    struct dp_ledger *ledger;
    struct dp_charges reserved, used;
    struct dp_charges lost; /* a resumed run: laps paid for after its checkpoint, which may have been released */
    int64_t laps;           /* used */
    bool planned;           /* the ledger has its plan */
};

/* The last model that a run has released; the ledger binds its weights. */
struct dp_reserve_model {
    const char *digest; /* digest of its weights (wire/model.h); "" if there is no model or its digest is unknown */
    int64_t lap;
};

/* Opens the run in the ledger. A resumed run has used everything that it had paid for: the laps up to its checkpoint and the
   lost laps, whose last shuffled epoch counts as a whole. run->planned: the laps of the run are known and its budget affords
   them, so they are written down as its plan. done: the laps up to the checkpoint. */
int dp_reserve_open(struct dp_reserve *reserve, const char *path, const struct dp_ledger_run *run, int64_t done,
                    struct dp_err *err);

/* Returns when a lap of this event is paid for: written and fsynced. Laps are reserved ahead, so a long run waits for the disk
   about 60 times. A run that dies wastes few laps, because each reservation is an eighth of the laps used so far: of all laps
   if the next ones come `together` in one piece, otherwise of the laps of this event. It is never more than are `left`. In
   shuffled epochs only laps that come together are reserved, because another event may only follow whole epochs. DP_E_BUDGET:
   the budget of the data set has no room. */
int dp_reserve_lap(struct dp_reserve *reserve, const struct dp_event *event, int64_t together, int64_t left,
                   struct dp_err *err);

/* Makes a checkpoint from which the run can be resumed, by the mark of dp_ledger_mark. Refunds laps that are reserved and not
   used. */
int dp_reserve_checkpoint(struct dp_reserve *reserve, struct dp_err *err);

/* Ends the run properly: writes its epsilon. If the laps were known in advance, that is the cost of all laps together by the
   best accountant; otherwise it is the gate's charge. DP_E_UNSAFE: the ledger computes another epsilon. */
int dp_reserve_end(struct dp_reserve *reserve, const struct dp_spend *spend, const char *status,
                   const struct dp_reserve_model *last, struct dp_err *err);

/* Reserved laps stay spent unless dp_reserve_end came first. */
void dp_reserve_close(struct dp_reserve *reserve);
