/* A table of counts as text, and as a picture in SVG: bars for one column, a heat map for two or more, whose last column goes
 * across. Each number is written in its cell, so that colours are only a help. A count below 0 has the colour of 0. */
#pragma once

#include "tables/tables.h"

/* value: the released numbers of the list. */
void dp_picture_print(const struct dp_cells *cells, const struct dp_table *table, const double *value, FILE *out);

/* The table as text, with the sums of its rows and columns. Numbers are rounded after they are added. width: of the interval
 * of a count (dp_estimate_width). */
void dp_picture_text(const struct dp_cells *cells, const struct dp_table *table, const double *value, double width, FILE *out);
