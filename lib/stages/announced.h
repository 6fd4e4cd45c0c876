/* Announcements: in the hello frame, before any lap, a stage announces the record of the laps that it works on. So the gate
 * knows the whole run before its first lap and can check each lap against it. If laps have kinds, there is a record for each
 * kind. Bounds may still be unknown: the charge depends only on the sampling and the noise multiplier. */
#pragma once

#include "stages/stage.h"

/* Adds the record for the laps that the stage works on: unchanged, or one copy for each kind of these laps. */
int dp_announce(const struct dp_stage *stage, struct dp_frame *hello, const struct dp_record *record, struct dp_err *err);

/* Iterates over the announced records of that field (DP_F_NONE: of no field yet) for laps of the stage: returns the first from
 * number *at on, and sets *at to the number after it. NULL after the last. */
struct dp_record *dp_announced(const struct dp_stage *stage, struct dp_frame *hello, enum dp_field of, int *at);

/* After the gate: the next record of the hello frame, from number *at on, of a field that laps of the stage release and
 * a stage takes; NULL after the last. */
struct dp_record *dp_announced_answer(const struct dp_stage *stage, struct dp_frame *hello, int *at);

/* After the gate: refuses sums with another meaning than `sum` before anything is paid for, if their stage has announced it, and
 * announces that the stage makes `made` of them. what: the sums and a remedy, for the message. */
int dp_announced_taken(const struct dp_stage *stage, struct dp_frame *hello, enum dp_meaning sum, enum dp_meaning made,
                       const char *what, struct dp_err *err);

/* Whether a field is announced with that meaning, for laps of the kind `on`, or of any kind if `on` is NULL. */
bool dp_announced_means(const struct dp_frame *hello, enum dp_meaning means, const char *on);

/* Whether the hello frame has a record for each kind of laps, or any where laps have no kinds. */
bool dp_announced_all(const struct dp_frame *hello);

/* " of kind 'K'", or "" if laps have no kinds. */
const char *dp_announced_kind(const struct dp_record *record, char buffer[DP_RECORD_ON + 16]);
