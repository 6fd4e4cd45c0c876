/* The contract of a run: the kinds of laps and their order, and for each kind its records (how rows are sampled, which noise is
 * added) and its event. The hello frame fixes it: at that time no stage has read a private value, and no stage can change the
 * contract later. If no stage announces the records of a kind, the first lap of the kind takes the place of the announcement.
 * Every lap is held to the contract, member by member, as the columns of the table of members say (wire/record.h). Otherwise a
 * stage could be charged for one mechanism and run another, or write private values into a public field. */
#pragma once

#include "account/plan.h"
#include "wire/frame.h"
#include "wire/laps.h"
#include "wire/state.h"

struct dp_contract {
    /* Set by the caller. */
    bool adaptive; /* the mechanism may follow released values: there is no plan, and each lap is charged as recorded */
    bool site;     /* the run is about the rows of one site, not about all rows that a record counts; laps may be missing */
    /* From the hello frame. */
    bool named;          /* laps have kinds */
    struct dp_laps laps; /* if laps have no kinds: one kind, if the number of laps is known */
    struct dp_frame *hello;
    struct dp_plan plan; /* the event of each lap; empty before the first lap and in an adaptive run */
    bool scheduled;      /* noise follows a schedule */
    /* From the laps. */
    struct dp_frame *first;                /* the first lap of each kind: its records, `on` that kind, and DP_FIXED fields */
    int64_t last;                          /* the last lap that was released; 0: none */
    int64_t turn[DP_LAPS_MOST_KINDS];      /* released or missed laps of each kind */
    int kind;                              /* of the current lap */
    bool resumed;                          /* no lap since the run was resumed */
    unsigned char planned[DP_PLAN_DIGEST]; /* resumed: the plan before the checkpoint */
    msgpack_sbuffer bytes;                 /* `first` in the last checkpoint */
};

/* Reads the hello frame. The caller starts *contract zeroed and frees it. DP_E_UNSAFE: an invalid plan, another number of laps
   than the frame says, or laps under two adjacencies. */
int dp_contract_read(struct dp_contract *contract, const struct dp_frame *hello, struct dp_err *err);
void dp_contract_free(struct dp_contract *contract);

/* Makes contract->plan. first: the frame of the first lap, with checked records, which count if the run has one kind of laps and
   no announcement. DP_E_UNSAFE: a kind was not announced or has no sound accountant; a lap is within a shuffled epoch of another
   kind; a schedule does not have a multiplier for each lap of its kind. */
int dp_contract_plan(struct dp_contract *contract, const struct dp_frame *first, struct dp_err *err);

/* The same without a first lap. DP_E_UNSAFE also if a kind was not announced or the number of laps is unknown. */
int dp_contract_whole(struct dp_contract *contract, struct dp_err *err);

/* Adds one lap of each kind of the run to charges: the first such lap of the plan. Without a plan it is the announced lap of the
   kind, or, for the kind of the first lap, the lap that its frame records. Kinds that were not announced are left out.
   DP_E_UNSAFE: kinds are under different adjacencies. */
int dp_contract_once(const struct dp_contract *contract, const struct dp_frame *first, struct dp_charges *charges,
                     struct dp_err *err);

/* dp_contract_lap(contract, lap, err): hold a lap to the contract. Its records must be complete and consistent (gate/charge.h),
   it must be the next lap, of the announced kind, and its records and public fields must be as the contract has them. The first
   lap makes the plan, unless the run is adaptive. DP_E_UNSAFE: the lap breaks the contract. Errors also as dp_contract_plan. */
int dp_contract_lap(struct dp_contract *contract, const struct dp_frame *lap, struct dp_err *err);

/* Notes that the lap has been released. */
void dp_contract_passed(struct dp_contract *contract, const struct dp_frame *lap);

/* Copies the records that the hello frame has for laps of a kind, without what only a hello frame says. Returns their number; 0
 * if they do not determine the cost of a lap. Bounds may be missing. */
int dp_contract_announced(const struct dp_contract *contract, const char *kind, struct dp_record terms[DP_MAX_RECORDS]);

/* The contract in a checkpoint, with a digest of its plan. */
int dp_contract_save(struct dp_contract *contract, struct dp_state *state, struct dp_err *err);
int dp_contract_restore(struct dp_contract *contract, const struct dp_state *state, struct dp_err *err);
