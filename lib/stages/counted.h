/* Released tables (dp-count) in a frame after the gate: from the sum of a lap to numbers, and to the model of a run. */
#pragma once

#include "tables/tables.h"
#include "wire/frame.h"

/* Reads the list of the lap and its numbers, in rows, states the noise of each table in the list, and removes the sum from the
 * frame. The caller frees the list and *numbers. DP_E_RUN: the sum is not one of these tables, or has no noise. */
int dp_counted_take(struct dp_frame *frame, struct dp_tables *tables, double **numbers, struct dp_err *err);

/* Makes the tables the model of the run; numbers: tables->numbers. */
int dp_counted_model(struct dp_frame *frame, const struct dp_tables *tables, const double *numbers, struct dp_err *err);

/* Sets the list of tables of the frame. */
void dp_counted_list(struct dp_frame *frame, const struct dp_tables *tables);
