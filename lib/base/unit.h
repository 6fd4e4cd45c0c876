/* The unit of privacy, as frames and ledgers name it: "person:3" is all rows of one person, at most 3. No unit is stated if one
 * row is taken for one person. */
#pragma once

#include "base/c.h"

#define DP_UNIT_TEXT 32      /* with its NUL */
#define DP_UNIT_MOST 1000000 /* rows per person */

/* rows: the most rows of a person; 0: one row is taken for one person. Returns text, or NULL if no unit is stated. */
const char *dp_unit_text(size_t rows, char text[DP_UNIT_TEXT]);

/* *rows as above. text may be NULL. False: text is not a unit. */
bool dp_unit_read(const char *text, size_t *rows);

/* The unit with more rows per person. NULL means one row. */
const char *dp_unit_larger(const char *a, const char *b);

/* The name of the unit in reports and certificates. Without a unit it is "row". */
static inline const char *dp_unit_name(const char *text)
{
    return text != NULL ? text : "row";
}
