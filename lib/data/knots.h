/* Knots of numbers that are paid for (data/basis.h): edges of a basis at quantiles of its column, from a histogram with noise.
 *
 * The cells of a column divide its bounds as dp_basis_spread does. A row adds 1 to one cell of each column in which it has a
 * number, and a null record adds nothing. So the rows of one person change the vector of all counts by at most r √J in L2, for
 * J columns and at most r rows. Knots are made from the noised counts and public facts only. */
#pragma once

#include "data/schema.h"
#include "data/spool.h"

#define DP_KNOTS_CELLS 256
#define DP_KNOTS_LEAST 16

/* Starts zeroed. */
struct dp_knots {
    size_t *column, columns; /* columns of the schema: numbers with bounds and no basis of their own */
    size_t cells;            /* cells of each column: a power of two from DP_KNOTS_LEAST to DP_KNOTS_CELLS, at first
                              * DP_KNOTS_CELLS */
    double *edge;            /* columns × (DP_KNOTS_CELLS + 1) */
    double *value;           /* columns: of the current row */
    size_t *of;              /* for each column of the schema: its index in `column`, or `columns` if it has no knots */
    int64_t *count;          /* columns × cells */
};

void dp_knots_open(struct dp_knots *knots, const struct dp_schema *schema);
void dp_knots_close(struct dp_knots *knots);

void dp_knots_add(struct dp_knots *knots, const struct dp_parsed *record);

/* At least r √J. rows_per_person: 0 counts as 1. */
double dp_knots_sensitivity(size_t columns, size_t rows_per_person);

/* How many cells the budget pays for; noise: the deviation that independent noise would have on each cell. The noise is
 * correlated along the cells, and on sums over 16 cells it is 1.9 times that, over 256 cells 2.8 times. The largest power of two
 * ≤ 2 rows / noise, but at least DP_KNOTS_LEAST and at most DP_KNOTS_CELLS; 0 if rows / noise is below DP_KNOTS_LEAST / 2: then
 * a quarter of the sums would be noise. */
size_t dp_knots_choose(double rows, double noise);

/* Adds up neighbouring cells until each column has that many cells. */
void dp_knots_merge(struct dp_knots *knots, size_t cells);

/* Gives each column a basis of this kind, from counts with noise in units of 1 / unit; products become cosines. noise: the
 * deviation of the noise on the sum of a column. Twice as much is added to the counts, the same to each, which draws knots
 * towards even ones where the noise hides the rows. Cumulative sums of the counts are made ascending by least squares.
 *   cosines, hats  knot k is where the sums reach k / m of the last sum, with m = 16 intervals for cosines and 8 for hats. If
 *                  two or more knots would be in one cell, the cell has one knot, at its end: all its rows may have the same
 *                  number. The sums of cosines first get a fifth of the last sum more, evenly along the bounds: a number x has
 *                  0.2 (x - low) / (high - low) of it below x
 *   bins           m = √(rows / noise), from 4 to 16. A cell that has more than 1 / m of the rows, and more than 2 noise, is a
 *                  bin; then the same for the rows and the bins that are left. The other bins are as many cells as have their
 *                  part of the rows that are left, and 4 noise. Bins have parts (data/basis.h): the same with 64 for m, and
 *                  no part goes beyond a bin. A cell that has more than twice the rows of both neighbours together is one
 *                  number, which has few digits, if the column has no dates. Parts follow from the same noised counts */
void dp_knots_place(const struct dp_knots *knots, enum dp_basis_kind kind, double unit, double rows, double noise,
                    struct dp_schema *schema);
