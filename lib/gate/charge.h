/* From the records of a frame to the event that accountants charge. */
#ifndef DP_GATE_CHARGE_H
#define DP_GATE_CHARGE_H

#include "account/event.h"
#include "wire/frame.h"

/* Checks every record by itself, and against the others: they are of one batch, and each is the record of a paid field that has
 * no other. lap is for the sentence. DP_E_UNSAFE with the first thing that does not add up. */
int dp_charge_check_records(const struct dp_record *records, int count, int64_t lap, struct dp_err *err);

/* The frame's records as above, and against the paid fields that the frame carries: each has its record, and each record its
   field. */
int dp_charge_check(const struct dp_frame *frame, struct dp_err *err);

/* Of checked records: how the rows of the batch were sampled and under which adjacency, which all of them agree on. */
const struct dp_record *dp_charge_batch(const struct dp_frame *frame);

/* How a record's rows were chosen, as accountants see it: by its sampler, adjacency and release. DP_E_UNSAFE where no
   accountant is sound: a batch of fixed size where a row may be missing, a secret state behind one, a visible batch under
   replace-one. */
int dp_charge_sampling(const struct dp_record *record, enum dp_sampling *sampling, struct dp_err *err);

/* What checked records cost: one event, all queries on the same batch. DP_E_UNSAFE when there is no sound accountant for
   them: a batch of fixed size where a row may be missing, a secret state behind one, a visible batch under replace-one. */
int dp_charge_event(const struct dp_record *records, int count, struct dp_event *event, struct dp_err *err);

#endif
