/* The unit of privacy, as frames and ledgers name it: "person:3" is all rows of one person, of which there are at most
 * 3. Nothing is said where one row is taken for one person. */
#ifndef DP_BASE_UNIT_H
#define DP_BASE_UNIT_H

#include <stdbool.h>
#include <stddef.h>

#define DP_UNIT_TEXT 32      /* with its NUL */
#define DP_UNIT_MOST 1000000 /* rows per person */

/* rows: at most, of a person; 0: one row is taken for one person. Returns text, or NULL where nothing is said. */
const char *dp_unit_text(size_t rows, char text[DP_UNIT_TEXT]);

/* *rows as above. text may be NULL. False: it is no unit. */
bool dp_unit_read(const char *text, size_t *rows);

/* That of more rows; a row has none. Either may be NULL. */
const char *dp_unit_larger(const char *a, const char *b);

/* The name of the unit in reports and certificates. Without a unit it is "row". */
static inline const char *dp_unit_name(const char *text)
{
    return text != NULL ? text : "row";
}

#endif
