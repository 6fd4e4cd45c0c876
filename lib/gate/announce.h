/* The announcement of a run in its hello frame: the kinds of laps and their order, and for each kind how rows are sampled and
 * which noise is added. At that time no stage has read a private value, and no stage can change the announcement later. The
 * gate makes one plan from it and holds every lap to the plan. If no stage announces anything, the first lap takes the place of
 * the announcement. */
#ifndef DP_GATE_ANNOUNCE_H
#define DP_GATE_ANNOUNCE_H

#include "account/plan.h"
#include "wire/frame.h"
#include "wire/laps.h"

struct dp_announcement {
    bool named;          /* laps have kinds */
    struct dp_laps laps; /* if not named: one kind, if the number of laps is known */
    struct dp_frame *hello;
};

/* Reads the hello frame. The caller starts *a zeroed and frees it. DP_E_UNSAFE: an invalid plan, another number
   of laps than the frame says, or laps under two adjacencies. */
int dp_announcement_read(struct dp_announcement *a, const struct dp_frame *hello, struct dp_err *err);
void dp_announcement_free(struct dp_announcement *a);

/* Makes the plan of a run. first: the frame of the first lap, with checked records, which count if the run has one kind of laps
   and no announcement. DP_E_UNSAFE: a kind was not announced or has no sound accountant; a lap is within a shuffled epoch of
   another kind; a schedule does not have a multiplier for each lap of its kind. */
int dp_announcement_plan(const struct dp_announcement *a, const struct dp_frame *first, struct dp_plan *plan,
                         struct dp_err *err);

/* The same without a first lap. DP_E_UNSAFE also if a kind was not announced or the number of laps is unknown. */
int dp_announcement_whole(const struct dp_announcement *a, struct dp_plan *plan, struct dp_err *err);

/* Adds one lap of each kind of the run to charges: the first such lap of the plan. Without a plan (plan->laps is 0) it is the
   announced lap of the kind, or, for the kind of the first lap, the lap that its frame records. Kinds that were not announced
   are left out. DP_E_UNSAFE: kinds are under different adjacencies. */
int dp_announcement_once(const struct dp_announcement *a, const struct dp_frame *first, const struct dp_plan *plan,
                         struct dp_charges *charges, struct dp_err *err);

/* Checks that a lap has the announced kind and turn. turn[k]: the number of earlier laps of kind k. *kind: the kind of the lap,
   0 if laps have no kinds. DP_E_UNSAFE: it has not. */
int dp_announcement_check(const struct dp_announcement *a, const struct dp_frame *lap, const int64_t *turn, int *kind,
                          struct dp_err *err);

#endif
