/* JSON as text, written in one way everywhere. */
#ifndef DP_BASE_JSON_H
#define DP_BASE_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "base/err.h"

/* Writes the value and a line feed: in one line where indent is 0, else an entry per line, that many blanks deeper at each
   level. Numbers have the fewest digits that read back as the same double. The stream's error flag tells whether writing
   worked. DP_E_RUN when memory is short (root may be NULL). */
int dp_json_print(const json_t *root, int indent, FILE *stream, struct dp_err *err);

#endif
