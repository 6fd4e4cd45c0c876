/* Pictures of a page, as SVG that is part of it. Colours are the page's own (currentColor and the class names p, q, r). */
#ifndef DP_BIN_PLOT_H
#define DP_BIN_PLOT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Text with <, >, & and " escaped. */
void plot_text(const char *text, FILE *out);

/* A square from (0, 0) to (1, 1) with its diagonal. points: [[x, y, rows], …]; line: the points are joined. Otherwise
 * they are dots with areas proportional to rows. */
void plot_square(const json_t *points, bool line, const char *x, const char *y, const char *title, FILE *out);

/* Horizontal bars from 0 to either side, one for each name. */
void plot_bars(char *const *names, const double *values, size_t count, const char *title, FILE *out);

/* How much of a budget is spent. */
void plot_budget(double spent, double budget, FILE *out);

#endif
