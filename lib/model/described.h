/* What a frame says about its data set: columns, rows, labels. */
#ifndef DP_MODEL_DESCRIBED_H
#define DP_MODEL_DESCRIBED_H

#include "data/row_facts.h"
#include "wire/frame.h"

/* Sets the fields, and `elsewhere` where the model in the frame is of other data and another population. */
int dp_describe(struct dp_frame *frame, const struct dp_row_facts *facts, struct dp_err *err);

/* The facts of such a frame, which they borrow from. DP_E_RUN: it lacks one. cols is not among them. */
int dp_described(struct dp_row_facts *facts, const struct dp_frame *frame, struct dp_err *err);

/* Whether two frames say the same. */
bool dp_described_same(const struct dp_frame *a, const struct dp_frame *b);

#endif
