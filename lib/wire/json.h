/* Prints a frame as JSON. */
#pragma once

#include <jansson.h>

#include "base/json.h"
#include "wire/frame.h"

/* The frame as an object: kind, for a lap its number, label and records, then the fields in the order of wire/schema.h. An
   array is {"dtype", "shape", "values"}, values in C order; unless `full`, only the first four values, and "more" with the
   number of omitted values. Class names are an array of strings. The caller owns it. */
json_t *dp_json_frame(const struct dp_frame *frame, bool full);
