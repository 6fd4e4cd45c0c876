/* Candidates: models from which a private choice selects one; the run continues with this model (dp-breed, dp-select). In a
 * frame they are a matrix with a row for each candidate, which has the entries of the model in their order. */
#pragma once

#include "base/err.h"
#include "wire/frame.h"

/* The candidates of a frame, borrowed. DP_E_RUN: it has no candidates, or an entry is not finite, or a candidate does not have
 * `size` entries. */
int dp_candidates_read(const struct dp_frame *frame, size_t size, const struct dp_array **candidates, struct dp_err *err);

/* Sets the model to the chosen candidate and removes the candidates from the frame. DP_E_RUN: the choice is not one of them, or
 * they do not have the model's size. */
int dp_candidates_take(struct dp_frame *frame, struct dp_err *err);
