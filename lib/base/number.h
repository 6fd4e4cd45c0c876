/* Numbers from text, whole and finite or refused. No locale: '.' is the decimal point. */
#pragma once

#include "base/c.h"

/* A finite real: decimal ("1e-5") or, where a rate is natural, a quotient of two decimals ("100/24420").
   False if anything is left over, or for NaN, infinity and a zero divisor. */
bool dp_number_real(const char *text, double *value);

/* A whole number in [INT64_MIN, INT64_MAX], decimal. */
bool dp_number_int(const char *text, int64_t *value);

/* A strict decimal for data cells of `length` bytes, not NUL-terminated; blanks at both ends allowed. */
bool dp_number_cell(const char *text, unsigned long length, double *value);

/* The same of a number as tables write it, with a decimal comma if `comma`. The other of the two signs may separate groups of
 * three digits: "1,234.5" or "1.234,5", and so may a blank, also one of Unicode, or an apostrophe; groups may be Indian:
 * 12,34,567. (5), (-5), 5-, 5 DR and U+2212 5 are -5. One mark does not count: $, £, ¥, € or ₹ in front of the digits or after
 * them, % after them. A limit, <5 or >=5, is the number 5, and so are 5*, 5 H, 5 L, 5 HH, 5 LL and 5 CR. A number that a
 * spreadsheet takes for a text, '5 or ="5", is a number. An exponent may be D+03. */
bool dp_number_written(const char *text, unsigned long length, bool comma, double *value);

/* The same of a number in front of one of the units, "kg|KG", or behind it; units may be NULL. With `comma`, a text that is a
 * number only with a decimal point has one: 1234.50. */
bool dp_number_of(const char *text, unsigned long length, const char *units, bool comma, double *value);

/* Whether it is a decimal of any length that is too large, "1e400", or "inf" or "infinity" in any case. dp_number_cell reads
 * none of them. */
bool dp_number_is_infinite(const char *text, unsigned long length);

/* The shortest decimal text that reads back as value; returns buffer (32 bytes suffice). */
const char *dp_number_print(double value, char *buffer, unsigned long size);
#define DP_NUMBER(value) dp_number_print(value, (char[32]){""}, 32) /* valid in the block around it */
