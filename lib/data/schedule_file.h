/* A schedule, given by name or as a file: one number per line, b_1 first, each > 0 and finite; blank lines and lines that begin
 * with # are ignored. */
#pragma once

#include "math/schedule.h"

/* As dp_schedule_parse; a text that is not a name of a schedule is the name of a file. Free with dp_schedule_free. */
int dp_schedule_open(struct dp_schedule *schedule, const char *option, const char *text, struct dp_err *err);
