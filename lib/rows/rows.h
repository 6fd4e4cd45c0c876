/* Rows from released tables (post-processing: nothing here sees a row of a person).
 *
 * The method has two laps of Gaussian sums. Lap 1 releases all tables of two columns. From these, dp_rows_network chooses
 * tables of two to four columns; lap 2 releases them. Rows are then drawn column by column from the tables of lap 2, and
 * weighted until they agree with all tables of both laps. The choice of tables uses released values only, so both laps have
 * the cost of two Gaussian sums (dp-privacy(7)). Networks: Zhang et al., PrivBayes (TODS 2017), eq. 7; here without its
 * exponential mechanism. Weights: Hardt, Ligett and McSherry, MWEM (NIPS 2012), here by descent on all tables together. */
#pragma once

#include "math/rng.h"
#include "tables/tables.h"

#define DP_ROWS_DEEPEST 4 /* columns of a table */
/* Streams of DP_DRAW_ROWS: column j has stream j for its cell, and stream DP_ROWS_ORDER + 1 + j for the number in it. */
#define DP_ROWS_ORDER ((uint64_t)1 << 32)
#define DP_ROWS_EXCHANGE ((uint64_t)2 << 32)

/* The counts of one table, with noise. The last column of the table varies fastest. */
struct dp_rows_table {
    size_t columns;
    size_t column[DP_ROWS_DEEPEST]; /* in a network: the column itself, then its parents */
    size_t cells;
    double noise;  /* standard deviation of each cell */
    double *count; /* of the caller */
};

struct dp_rows_shape {
    size_t columns;
    const size_t *size; /* categories of each column */
    double rows;        /* public number of rows */
    long target;        /* the column that matters most; -1: all matter alike */
};

/* The cells of a table of these columns. */
size_t dp_rows_cells(const struct dp_rows_shape *shape, const size_t *column, size_t columns);

/* The closest table (L2) without negative counts whose sum is total > 0: max(v − c, 0). (Duchi et al., ICML 2008, fig. 1.) */
void dp_rows_project(double *v, size_t count, double total);

/* The counts of one column: the mean of its sums over all `tables` of two columns, projected. one: shape->size[column]. */
void dp_rows_margin(const struct dp_rows_shape *shape, const struct dp_rows_table *pair, size_t pairs, size_t column,
                    double *one);

/* dependence: columns × columns, symmetric; for each pair
 *
 *   |table − product of its margins|₁ − sqrt(2/π) · noise · cells,
 *
 * the part that noise without dependence would not give. one[j]: the margin of column j. */
void dp_rows_dependence(const struct dp_rows_shape *shape, const struct dp_rows_table *pair, size_t pairs, double *const *one,
                        double *dependence);

/* Greedy network: fills table[0 … columns − 2] with a column and its parents, in the order in which columns can be drawn.
 * Returns the root, the column that has no table: the target, or else the column of most dependence. A column has as parents
 * the target and up to two columns that come earlier, if the table has at most rows / (4 noise) cells; one parent is always
 * allowed. The column and the parents with the largest score come next:
 *
 *   largest w + 0.4 Σ other w − 0.5 sqrt(2/π) · noise · cells,   w: dependence, twice as much for pairs with the target.
 *
 * noise: of a cell in lap 2. Sets columns, column and cells of each table; counts stay NULL. */
size_t dp_rows_network(const struct dp_rows_shape *shape, const double *dependence, double noise, struct dp_rows_table *table);

/* Draws `count` rows. row: columns × count, row[j · count + i] is the category of column j in row i. table: of the network, in
 * its order, with projected counts. Each distribution given the parents gets one row with the distribution of the margin. The
 * draws are public: streams of DP_DRAW_ROWS, one for each column. */
void dp_rows_draw(const struct dp_rows_shape *shape, const struct dp_rows_table *table, size_t root, double *const *one,
                  const struct dp_key *key, size_t count, uint16_t *row);

/* Weights w ≥ 0 of the rows, as integers that are not all 0, such that the weighted rows agree with the tables: descent on
 *
 *   F = ½ Σ (n Σ_row w [row in cell] − count)² / (noise² + max(count, 0)),   Σ w = 1,
 *
 * by multiplicative weights, with a step that is halved while F rises. Ends after `most` steps, or when F falls by less than
 * a thousandth in 10 steps, or when F is DP_ROWS_ENOUGH of ½ Σ noise² / (noise² + max(count, 0)), its mean if only noise were
 * between the rows and the tables: from there on the rows follow the noise. The bytes do not depend on threads.
 * Returns F / cells. */
#define DP_ROWS_ENOUGH 0.87
double dp_rows_weigh(const struct dp_rows_shape *shape, const struct dp_rows_table *table, size_t tables, size_t count,
                     const uint16_t *row, int threads, int most, uint64_t *weight);

/* Chooses `out` of the `count` rows by weight: row i floor(out w_i) or ceil(out w_i) times, with equal steps through the sum
 * of weights from a random start, in a random order. chosen: out. */
void dp_rows_choose(const struct dp_key *key, const uint64_t *weight, size_t count, size_t out, uint32_t *chosen);

/* Exchanges chosen rows for rows of the pool, so that the tables of the chosen rows come closer to the tables of all rows by
 * weight. `tries` times, the next chosen row is exchanged for a row at random that has a weight, if
 *
 *   Σ_cells (chosen rows in the cell − e)² / sqrt(1 + e)   falls,   e = out × weight of the rows in the cell / all weights.
 *
 * So the tables of the chosen rows have less of the error that a choice at random has (for 6,000 of 20,000 rows, a sixth).
 * table: their counts are not used. */
void dp_rows_exchange(const struct dp_rows_shape *shape, const struct dp_rows_table *table, size_t tables,
                      const struct dp_key *key, const uint64_t *weight, size_t count, const uint16_t *row, size_t tries,
                      uint32_t *chosen, size_t out);

/* How far the chosen rows are from the released tables that have this number of columns: total variation,
 *
 *   far = ½ Σ_cells |rows in the cell / out − count / n|;   noise of the counts gives ½ sqrt(2/π) noise · cells / n.
 *
 * The means of both over the tables, and both for the table that is farthest. The rows were fitted to these counts, so a
 * distance as large as the noise does not say how far they are from the counts without noise; a larger one shows an error. */
struct dp_rows_errors {
    size_t tables;
    double far, noise, largest, largest_noise;
    const struct dp_rows_table *of; /* the farthest one; NULL: there is no such table */
};
void dp_rows_errors(const struct dp_rows_shape *shape, const struct dp_rows_table *table, size_t tables, size_t columns,
                    size_t pool, const uint16_t *row, const uint32_t *chosen, size_t out, struct dp_rows_errors *errors);

/* The columns of rows: the columns of the schema that have cells. Starts zeroed; close it after a failure, too. */
struct dp_rows_source {
    struct dp_cells cells;
    size_t *column; /* of the shape: its number among `cells` */
    size_t *size;
    struct dp_rows_shape shape;
};

/* schema: as a frame carries it. target: the name of a column, or NULL. DP_E_USAGE: fewer than two columns have cells, or the
 * target has no cells. */
int dp_rows_open(struct dp_rows_source *source, const char *schema, double rows, const char *target, struct dp_err *err);
void dp_rows_close(struct dp_rows_source *source);

/* Tables of a list, from `first` on; numbers: of the whole list. The caller frees *table with dp_rows_free. DP_E_RUN: a table
 * has other columns, or its noise is not Gaussian. */
int dp_rows_take(const struct dp_rows_source *source, const struct dp_tables *list, const double *numbers, size_t first,
                 size_t count, struct dp_rows_table **table, struct dp_err *err);
void dp_rows_free(struct dp_rows_table *table, size_t count);

/* The list of the second lap: chosen from all pairs, which have been released. noise: of a cell in lap 2. */
int dp_rows_list(const struct dp_rows_source *source, const struct dp_rows_table *pair, size_t pairs, double noise,
                 struct dp_tables *list, struct dp_err *err);

/* Says how far rows are from released tables of 2 to DP_ROWS_DEEPEST columns (errors[0] is of 2), and how small a group is
 * hidden by noise (width: of the interval of a cell of two columns, dp_estimate_width). Each line begins with `begin`. */
void dp_rows_say(const struct dp_rows_source *source, const struct dp_rows_errors errors[DP_ROWS_DEEPEST - 1], double width,
                 const char *begin, FILE *out);

/* Says which columns of the rows have other values than the table: numbers of which only one is known, and made-up names. */
void dp_rows_warn(const struct dp_rows_source *source, const char *program);

/* Prints the name of each column that has cells, and then `count` rows: cells of the columns as a table has them. A number is
 * drawn within its bin, from DP_DRAW_ROWS: in a part of the bin that the schema knows, or evenly. It is whole if the bounds
 * are, and at least DP_ROWS_WHOLE apart or with two bins that are narrow enough for one number each. */
#define DP_ROWS_WHOLE 10
void dp_rows_print(const struct dp_rows_source *source, const struct dp_key *key, const uint16_t *row, size_t pool,
                   const uint32_t *chosen, size_t count, FILE *out);
