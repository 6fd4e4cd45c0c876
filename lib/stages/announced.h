/* Announcements: in the hello frame, before any lap, a stage says of the laps that it is for what it will record in them, so
 * that the gate knows the whole run before its first lap and can hold it to that. Where laps have kinds there is a record for
 * each. Bounds may be unknown then: what is charged is how rows are sampled and with which noise. */
#ifndef DP_STAGES_ANNOUNCED_H
#define DP_STAGES_ANNOUNCED_H

#include "stages/stage.h"

/* Adds the record for the laps that the stage is for: as it is, or one for each kind of them. */
int dp_announce(const struct dp_stage *stage, struct dp_frame *hello, const struct dp_record *record, struct dp_err *err);

/* The records of that field (DP_F_NONE: of none yet) that are announced for laps of the stage's: the first from number *at on,
   and *at is behind it then. NULL after the last. */
struct dp_record *dp_announced(const struct dp_stage *stage, struct dp_frame *hello, enum dp_field of, int *at);

/* Right of the gate: the next record of the hello frame, from number *at on, of a sum or a choice that laps of the stage's
   release; NULL after the last. */
struct dp_record *dp_announced_answer(const struct dp_stage *stage, struct dp_frame *hello, int *at);

/* Whether a field is announced with that meaning, for laps of the kind `on`, or of any where that is NULL. */
bool dp_announced_means(const struct dp_frame *hello, enum dp_meaning means, const char *on);

/* Whether the hello frame has a record for each kind of laps, or any where laps have no kinds. */
bool dp_announced_all(const struct dp_frame *hello);

/* " of kind 'K'", or "" where laps have no kinds. */
const char *dp_announced_kind(const struct dp_record *record, char buffer[DP_RECORD_ON + 16]);

#endif
