/* The page of dp-account report as text for a terminal. */
#pragma once

#include "base/err.h"

/* Prints the text of an HTML page that page.h has made: paragraphs of at most 78 columns, tables in columns; drawings are left
 * out. */
void plain_print(const char *html, FILE *out);
