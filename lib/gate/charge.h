/* From the records of a frame to the event that accountants charge. */
#pragma once

#include "account/event.h"
#include "wire/frame.h"

/* Checks each record, and that all are of one batch and of different paid fields. lap: for the message. DP_E_UNSAFE: err has
 * the first contradiction. */
int dp_charge_check_records(const struct dp_record *records, int count, int64_t lap, struct dp_err *err);

/* Checks that each paid field of the frame has a record, and that each record is of a field of the frame. The records have been
 * checked before. */
int dp_charge_check_fields(const struct dp_frame *frame, struct dp_err *err);

/* One of the checked records: all have the same sampling and adjacency. */
const struct dp_record *dp_charge_batch(const struct dp_frame *frame);

/* The sampling that accountants charge, from sampler, adjacency and release of a record. DP_E_UNSAFE: no accountant is sound
   for it: a batch of fixed size under null-record adjacency or with a secret state, a visible batch under replace-one. */
int dp_charge_sampling(const struct dp_record *record, enum dp_sampling *sampling, struct dp_err *err);

/* The event of checked records: all their queries on one batch. DP_E_UNSAFE as dp_charge_sampling. */
int dp_charge_event(const struct dp_record *records, int count, struct dp_event *event, struct dp_err *err);
