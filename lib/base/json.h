/* JSON as text, read and written in one way everywhere. */
#pragma once

#include <jansson.h>

#include "base/err.h"

/* As json_dumps. The caller frees the text. */
char *dp_json_text(const json_t *root, size_t flags);

/* A JSON string of a text from outside, for instance a path. A text that is not UTF-8 gives "(not UTF-8)". */
json_t *dp_json_string(const char *text);

/* A number that is written as it is read: a whole number has no point. */
json_t *dp_json_number(double value);

/* Reads a JSON text; the caller releases *root. An object with a key twice is refused. DP_E_RUN: the text is not JSON ("NAME:
 * line N: …", or "not JSON: …" if name is NULL). */
int dp_json_parse(json_t **root, const char *text, size_t length, const char *name, struct dp_err *err);

/* The same for the rest of a file, up to DP_JSON_MOST bytes. */
#define DP_JSON_MOST ((size_t)1 << 28)
int dp_json_read(json_t **root, int fd, const char *name, struct dp_err *err);
int dp_json_load(json_t **root, const char *path, struct dp_err *err);

/* Writes the value and a line feed: on one line if indent is 0, else one entry a line, indented by that many blanks for each
 * level. Numbers have the fewest digits that read back as the same double. The stream's error flag tells whether writing
 * worked. */
void dp_json_print(const json_t *root, int indent, FILE *stream);
