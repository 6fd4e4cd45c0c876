/* The part of dp-info that prints a model. */
#pragma once

#include "base/err.h"
#include "wire/frame.h"

/* Prints a description of the model for readers, or as JSON, or (get != NULL) one field by its name on the wire: text and
   numbers unchanged, an array as one number per line. DP_E_RUN when the field is absent. */
int info_model_describe(const struct dp_frame *frame, bool json, const char *get, FILE *out, struct dp_err *err);

/* The same for the model that dp_model_read finds at `path`. */
int info_model(const char *path, bool json, const char *get, FILE *out, struct dp_err *err);
