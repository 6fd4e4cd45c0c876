/* A model from a port. */
#pragma once

#include "base/err.h"
#include "wire/frame.h"

/* Reads the whole stream (spec as for dp_port_open) and copies its last lap frame, which must be released and
   hold a model. DP_E_RUN for corrupt input or no lap frame, DP_E_UPSTREAM when it ends before its end frame
   or with an error frame, DP_E_UNSAFE when the frame is not released. */
int dp_model_read(struct dp_frame *frame, const char *spec, struct dp_err *err);
