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

/* "a person, with at most 3 rows" or "a row". text: what dp_unit_read takes. */
#define DP_UNIT_WORDS 64
const char *dp_unit_words(const char *text, char words[DP_UNIT_WORDS]);

#endif
