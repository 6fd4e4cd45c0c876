/* Text that comes from outside: whether it is UTF-8, and how to show it. */
#ifndef DP_BASE_TEXT_H
#define DP_BASE_TEXT_H

#include "base/c.h"

/* The number of bytes at the start of the text that are whole characters of UTF-8 (RFC 3629). */
size_t dp_text_valid(const char *text, size_t length);

/* The largest number of bytes, at most `most`, that does not end within a character of valid UTF-8. */
size_t dp_text_cut(const char *text, size_t length, size_t most);

/* Writes up to 40 bytes of the text for a message: control characters and bytes that are not UTF-8 as \xNN, and … for the rest.
 * Returns buffer. */
#define DP_TEXT_SHOWN 176
const char *dp_text_show(const char *text, size_t length, char buffer[DP_TEXT_SHOWN]);

/* Lists the texts get(self, 0…count − 1) for a message, each as dp_text_show shows it: "a, b", ten of them or some 200 bytes,
 * then "and N more". Returns buffer. */
#define DP_TEXT_LISTED 512
const char *dp_text_list(const char *(*get)(const void *self, size_t i, size_t *length), const void *self, size_t count,
                         char buffer[DP_TEXT_LISTED]);

/* The word of private_preprocessing for a paid schema: bounds and categories were measured on private rows, and paid for. */
#define DP_TEXT_PAID_SCHEMA "paid-schema"

/* Splits such words at their commas. *paid: whether DP_TEXT_PAID_SCHEMA is among them. The other words go into buffer, cut at
 * its size. Returns buffer. */
const char *dp_text_unpaid(const char *words, bool *paid, char *buffer, size_t size);

#endif
