/* Pictures of a page, as SVG that is part of it. Colours are the page's own (currentColor and the class names p, q, r). */
#pragma once

#include <jansson.h>

#include "account/tradeoff.h"
#include "base/c.h"

/* Text with <, >, & and " escaped, and what is not to be seen as dp_text_next does: XML has no place for control characters. */
void plot_text(const char *text, FILE *out);

/* Dots in a square from (0, 0) to (1, 1) with its diagonal, of areas proportional to rows. points: [[x, y, rows], …]. */
void plot_dots(const json_t *points, const char *x, const char *y, const char *title, FILE *out);

/* False alarms against persons found: the run, the bound by one pair (dashed; may be NULL), and chance. */
void plot_tradeoff(const struct dp_tradeoff *run, const struct dp_tradeoff *pair, FILE *out);

/* The ROC curves of classes, [{"class", "auc", "roc"}, …], at most `most` of them; several with their names next to it. */
void plot_roc(const json_t *curves, size_t most, FILE *out);

/* A member of points against their lap, [{"lap", …}, …]; level: a dashed line, NaN for none. zero: the axis begins at 0. */
void plot_along(const json_t *points, const char *member, double level, bool zero, const char *title, FILE *out);

/* Horizontal bars from 0, to either side if one is negative; one for each name. unit: behind the numbers, " %" or "". */
void plot_bars(char *const *names, const double *values, size_t count, const char *unit, const char *title, FILE *out);

/* Draws one curve of dp-info --curves --json, small, at (x, y) of the page or of another drawing, with its interval if it has
 * one. low, high: the range of effects. */
enum { PLOT_CURVE_WIDTH = 210, PLOT_CURVE_HEIGHT = 150, PLOT_CURVES_ABREAST = 3 };
void plot_curve(const json_t *curve, double low, double high, int x, int y, FILE *out);

/* The range of all curves, with 0. */
void plot_range(const json_t *curves, double *low, double *high);

/* Draws all curves in one file, which is legible on light and dark backgrounds. */
void plot_curves(const json_t *curves, FILE *out);

/* How much of a budget is spent. */
void plot_budget(double spent, double budget, FILE *out);
