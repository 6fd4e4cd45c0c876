/* A model in a file, or the last one of a stream. */
#ifndef DP_PORT_MODEL_FILE_H
#define DP_PORT_MODEL_FILE_H

#include "base/err.h"
#include "wire/frame.h"

/* Reads a whole stream (hello … end) from a port and leaves its last lap frame in *frame: it must be released and hold a
   model. DP_E_UPSTREAM when the stream ends before its end frame, or with an error frame. */
int dp_model_file_read(const char *spec, struct dp_frame *frame, struct dp_err *err);

#endif
