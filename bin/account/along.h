/* How accuracy and epsilon went along a run, for the page of dp-account report. */
#pragma once

#include <jansson.h>

#include "base/err.h"

/* {"laps": how many the file has, "points": [{"lap", "epsilon", "value"}, …]} of at most 40 laps, the first and the last among
 * them. epsilon: the bound on the laps up to this one, if frames state it. value: accuracy on these held-out rows, or R² of
 * numbers; only with `test`, which may be NULL. *json is NULL if the file has fewer than three laps, or is not a regular file.
 * The caller owns it. Errors as held_out_measure. */
int along_measure(const char *file, const char *test, json_t **json, struct dp_err *err);
