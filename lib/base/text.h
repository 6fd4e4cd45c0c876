/* Text that comes from outside: whether it is UTF-8, and how to show it. */
#pragma once

#include "base/c.h"

/* The number of bytes at the start of the text that are whole characters of UTF-8 (RFC 3629). */
size_t dp_text_valid(const char *text, size_t length);

/* The largest number of bytes, at most `most`, that does not end within a character of valid UTF-8. */
size_t dp_text_cut(const char *text, size_t length, size_t most);

/* Writes the next character of the text, as a person may see it, to out: control characters below U+0020 and bytes that are not
 * UTF-8 as \xNN; other control characters, separators of lines and marks that change the direction as \uNNNN, as JSON may have
 * them. length > 0. Returns the number of bytes of the text; *written: the number of bytes in out. */
#define DP_TEXT_NEXT 8
size_t dp_text_next(const char *text, size_t length, char out[DP_TEXT_NEXT], size_t *written);

/* Whether the text, of at least one byte, may be the beginning of a character whose other bytes follow. */
bool dp_text_ends_within(const char *text, size_t length);

/* Writes the text as dp_text_next does, as many whole characters as fit into the buffer with a zero byte. */
void dp_text_escape(const char *text, size_t length, char *buffer, size_t size);

/* Writes the whole text as dp_text_next does, so that it stays on its line, and blanks up to `width` characters. */
void dp_text_put(const char *text, size_t width, FILE *out);

/* A line: `begin` as it is, then the text as dp_text_put writes it. */
void dp_text_line(const char *begin, const char *text, FILE *out);

/* Whether the text has exactly `digits` characters, all of them digits of lower-case hexadecimal. */
bool dp_text_is_hex(const char *text, size_t digits);

/* Whether the text, which is not empty, is one of the words, which end with NULL, in any case of letters. */
bool dp_text_is_among(const char *const *words, const char *text, size_t length);

/* Whether one of the lines of the text (which may be NULL) has exactly these characters. */
bool dp_text_has_line(const char *text, const char *line, size_t length);

/* Whether a spreadsheet would take the text for a formula: it begins with = @ + - or a tab or a carriage return, and it
 * is not a number. Text outputs for spreadsheets put a ' in front of it. */
bool dp_text_is_formula(const char *text, size_t length);

/* A cell of CSV (RFC 4180): prefix, a known word, and the text, in quotes where they are needed; a formula gets its '. */
void dp_text_csv(const char *prefix, const char *text, size_t length, FILE *out);

/* Writes a text of XML or HTML, also within an attribute in "". */
void dp_text_xml(const char *text, FILE *out);

/* Writes the word for sh, in quotes where it needs them. */
void dp_text_shell(const char *word, FILE *out);

/* Writes up to 40 bytes of the text for a message, as dp_text_next does (a byte becomes at most six), and … for the rest.
 * Returns buffer. */
#define DP_TEXT_MOST 40
#define DP_TEXT_SHOWN (DP_TEXT_MOST * 6 + sizeof "…")
const char *dp_text_show(const char *text, size_t length, char buffer[DP_TEXT_SHOWN]);
#define DP_SHOWN(text) dp_text_show(text, strlen(text), (char[DP_TEXT_SHOWN]){""}) /* valid in the block around it */

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
