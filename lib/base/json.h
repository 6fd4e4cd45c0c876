/* JSON as text, read and written in one way everywhere. */
#pragma once

#include <jansson.h>

#include "base/err.h"

/* Values are made without checks. A function of jansson that gets no memory leaves something out, and it takes NULL for a
 * value. dp_json_text, dp_json_print and dp_json_made then refuse what this thread has made since their last call. */

/* Makes the functions below notice allocations of jansson that fail. dp_init calls this. Any thread may call it, any number of
 * times. */
void dp_json_watch(void);

/* As json_dumps; NULL, too, when memory was short while the value was made. The caller frees the text. */
char *dp_json_text(const json_t *root, size_t flags);

/* The value; or NULL, and it is released, when memory was short while it was made. For values that are not written soon. */
json_t *dp_json_made(json_t *root);

/* A JSON string of a text from outside, for instance a path. A text that is not UTF-8 gives "(not UTF-8)". NULL when memory is
 * short. */
json_t *dp_json_string(const char *text);

/* Reads a JSON text; the caller releases *root. An object with a key twice is refused. DP_E_RUN: the text is not JSON ("NAME:
 * line N: …", or "not JSON: …" if name is NULL), or memory is short; only then errno is ENOMEM. Read JSON only with this
 * function: jansson drops bytes from strings when memory is short. */
int dp_json_parse(json_t **root, const char *text, size_t length, const char *name, struct dp_err *err);

/* The same for the rest of a file, up to DP_JSON_MOST bytes. */
#define DP_JSON_MOST ((size_t)1 << 28)
int dp_json_read(json_t **root, int fd, const char *name, struct dp_err *err);
int dp_json_load(json_t **root, const char *path, struct dp_err *err);

/* Writes the value and a line feed: on one line if indent is 0, else one entry a line, indented by that many blanks for each
 * level. Numbers have the fewest digits that read back as the same double. The stream's error flag tells whether writing
 * worked. DP_E_RUN when memory is short (root may be NULL). */
int dp_json_print(const json_t *root, int indent, FILE *stream, struct dp_err *err);
