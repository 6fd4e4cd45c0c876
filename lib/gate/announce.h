/* What a run was announced to be, in its hello frame: which kinds of laps come in which order, how rows are sampled in each and
 * with which noise. No stage had looked at a private value then, and none can change it afterwards: the gate makes one plan of
 * it and holds every lap to that. A run whose stages announce nothing is what its first lap says. */
#ifndef DP_GATE_ANNOUNCE_H
#define DP_GATE_ANNOUNCE_H

#include "account/plan.h"
#include "wire/frame.h"
#include "wire/laps.h"

struct dp_announcement {
    bool named;          /* laps have kinds */
    struct dp_laps laps; /* without: one kind, if the number of laps is known */
    struct dp_frame *hello;
};

/* Reads the hello frame. The caller starts *a zeroed and frees it. DP_E_UNSAFE: a plan that is none, or of another number of
   laps than the frame says; laps under two adjacencies. */
int dp_announcement_read(struct dp_announcement *a, const struct dp_frame *hello, struct dp_err *err);
void dp_announcement_free(struct dp_announcement *a);

/* The plan of a run. `first` is the frame of its first lap, with checked records: they count where the run has one kind of laps
   that nobody has announced. DP_E_UNSAFE: a kind that was not announced, or whose laps nothing covers; a lap within a shuffled
   epoch of another kind; a schedule that does not have a multiplier for each lap of its kind. */
int dp_announcement_plan(const struct dp_announcement *a, const struct dp_frame *first, struct dp_plan *plan,
                         struct dp_err *err);

/* The same before there is a frame: DP_E_UNSAFE, too, where a kind has not been announced, or nobody knows how many laps there
   will be. */
int dp_announcement_whole(const struct dp_announcement *a, struct dp_plan *plan, struct dp_err *err);

/* Adds one lap of each kind of the run to charges: the first that the plan has; of a run without one (plan->laps is 0), what
   was announced for the kind, or, for the kind of the first lap, what its frame records. Kinds that nobody has announced are
   left out. DP_E_UNSAFE: kinds are under different adjacencies. */
int dp_announcement_once(const struct dp_announcement *a, const struct dp_frame *first, const struct dp_plan *plan,
                         struct dp_charges *charges, struct dp_err *err);

/* Whether the kind of a lap, and its place among the laps of that kind, is what was announced; turn[k] laps of kind k came
   before it. *kind: which it is, 0 where laps have no kinds. DP_E_UNSAFE: not. */
int dp_announcement_check(const struct dp_announcement *a, const struct dp_frame *lap, const int64_t *turn, int *kind,
                          struct dp_err *err);

#endif
