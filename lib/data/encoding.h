/* Text to UTF-8: UTF-16, and lines in Windows-1252, of which Latin-1 is a part. */
#pragma once

#include <iconv.h>

#include "base/err.h"

struct dp_input;

/* Reads UTF-16 from an input. */
struct dp_utf16 {
    iconv_t to_utf8;
    size_t held; /* bytes of a character that is not complete */
    char raw[1 << 14];
};

/* Whether the text begins with the mark of UTF-16, or with two letters of ASCII in it. *little: its byte order; *mark: how many
 * bytes the mark has. */
bool dp_utf16_begins(const char *begin, size_t size, bool *little, size_t *mark);

/* begin: bytes that have been read, without a mark. The caller frees *reader with dp_utf16_close. */
int dp_utf16_open(struct dp_utf16 **reader, bool little, const char *begin, size_t size, struct dp_err *err);

/* Like dp_input_read, into at least 64 KiB. DP_E_RUN: it is no UTF-16. */
int dp_utf16_read(struct dp_utf16 *reader, struct dp_input *input, char *bytes, size_t *got, struct dp_err *err);

/* reader may be NULL. */
void dp_utf16_close(struct dp_utf16 *reader);

/* Whether a byte is not ASCII. */
bool dp_text_is_wide(const char *text, size_t length);

/* Windows-1252 to UTF-8: up to 3 × length bytes. 0: the text has a byte that is not a character, or a control character. */
size_t dp_windows_1252(const char *text, size_t length, char *utf8);
