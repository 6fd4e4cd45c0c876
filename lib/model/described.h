/* The description of the data set in a frame: columns, rows, labels. */
#pragma once

#include "data/row_facts.h"
#include "wire/frame.h"

/* Sets the fields from *facts; sets `elsewhere` if the model in the frame was trained on other data of another population. */
void dp_describe(struct dp_frame *frame, const struct dp_row_facts *facts);

/* Reads *facts from such a frame; they borrow from it. cols is not set. DP_E_RUN: a field is missing. */
int dp_described(struct dp_row_facts *facts, const struct dp_frame *frame, struct dp_err *err);

bool dp_described_same(const struct dp_frame *a, const struct dp_frame *b);
