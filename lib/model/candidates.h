/* Candidates: models that a run may go on with, of which a choice takes one (dp-breed, dp-select). In a frame they are a
   matrix, a row of it for each, with the entries of the model in their order. */
#ifndef DP_MODEL_CANDIDATES_H
#define DP_MODEL_CANDIDATES_H

#include "base/err.h"
#include "wire/frame.h"

/* Those of a frame: at least one, each finite and of `size` entries. DP_E_RUN otherwise. Borrowed. */
int dp_candidates_read(const struct dp_frame *frame, size_t size, const struct dp_array **candidates, struct dp_err *err);

/* Moves the model to the candidate that was chosen; the candidates leave the frame. DP_E_RUN: the choice is not one of them, or
   they are not of the model's size. */
int dp_candidates_take(struct dp_frame *frame, struct dp_err *err);

#endif
