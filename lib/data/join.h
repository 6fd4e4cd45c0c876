/* One data set out of the parts of a table that other imports have made (dp_import_source.parts), perhaps on other machines. */
#pragma once

#include <jansson.h>

#include "data/import.h"

struct dp_join;

/* The data set of part k of an output. The caller frees it. */
char *dp_join_name(const char *output, size_t k);

/* Opens the parts of import->output, of which there are import->joined, and reads the table for its digest. Fails if the parts
 * are not exactly the table: if it has changed since, if a part begins where the part before it did not end, or if all of them
 * together have more malformed lines than skip_bad. */
int dp_join_open(struct dp_join **join, struct dp_import *import, struct dp_err *err);

size_t dp_join_rows(const struct dp_join *join); /* of all parts */

/* Fails if a part was made in another way than all rows will be by these facts (dp_writer_describe). */
int dp_join_check(const struct dp_join *join, const json_t *facts, struct dp_err *err);

/* Hands all rows on in their order, `count` at a time: cols values each, and labels, NAN for null rows. Call it once, after
 * dp_join_check. */
int dp_join_each(struct dp_join *join,
                 int (*put)(void *self, const float *rows, const double *y, size_t count, struct dp_err *err), void *self,
                 struct dp_err *err);

/* join may be NULL. */
void dp_join_close(struct dp_join *join);
