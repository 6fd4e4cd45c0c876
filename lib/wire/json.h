/* Frames as JSON, and JSON as text. */
#ifndef DP_WIRE_JSON_H
#define DP_WIRE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "wire/frame.h"

/* A number as JSON; JSON has no NaN and no infinity: they become the strings "NaN", "Infinity" and
 * "-Infinity". */
json_t *dp_json_real(double value);

/* The frame as an object: kind, for a lap its number, label and mechanism records, then the fields in the
   order of wire/schema.h. An array is {"dtype", "shape", "values"}, values in C order; unless `full` only the
   first four, and "…" for the rest. NULL when memory is short; the caller owns it. */
json_t *dp_json_frame(const struct dp_frame *frame, bool full);

/* Writes the value in one line and a line feed. Numbers in the fewest digits that read back as the same
   double. The stream's error flag tells whether writing worked. DP_E_RUN when memory is short (root may be
   NULL). */
int dp_json_print(const json_t *root, FILE *stream, struct dp_err *err);

#endif
