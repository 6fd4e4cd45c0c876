/* A list of tables, and the layout of the vector that a lap counts for them.
 *
 * A table has columns, and cells of each column (tables/cells.h). A row adds 1 to one cell of each table. Numbers of a table:
 *   counts   cells of column 1 × cells of column 2 × …, in row-major order: the last column moves fastest
 *   sums     then, for each of its sums, as many sums of weight × (v − middle) / range of a number v between bounds, from
 *            −weight/2 to weight/2; a missing number adds 0
 *   present  and after each sum whose number may be missing, as many counts of rows in which it is not missing
 * The tables follow each other in the order of the list.
 *
 * As text, in the frame's field `tables`: [{"columns": ["ward", "sex"], "cells": [5, 2], "sums": ["days"],
 * "may_be_missing": [true], "weight": 1.375, "noise": "gaussian", "scale": 3.73}, …]. "sums" and "may_be_missing" are there if
 * there are sums, "weight" if it is not 1, "noise" and "scale" in the model of a run, which has the released numbers, its sums
 * divided by the weight. */
#pragma once

#include "tables/cells.h"

#define DP_TABLES_MOST 10000                /* tables of a list */
#define DP_TABLES_COLUMNS 8                 /* columns, and sums, of a table */
#define DP_TABLES_NUMBERS ((size_t)1 << 26) /* numbers of a list */
#define DP_TABLES_PAIRS "pairs"             /* the list of all tables of two columns */

struct dp_table {
    size_t columns, cells[DP_TABLES_COLUMNS];
    char *column[DP_TABLES_COLUMNS];
    size_t sums;
    char *sum[DP_TABLES_COLUMNS];
    bool may_be_missing[DP_TABLES_COLUMNS];
    double weight;       /* of sums, when counts weigh 1: a multiple of 1/16 */
    size_t size, offset; /* of its counts: size numbers from offset on */
    double scale;        /* of the noise on each count, in rows: a standard deviation, or b of Laplace noise; on each sum of
                            the model scale / weight. 0: not stated */
    bool laplace;
};

/* Starts zeroed. */
struct dp_tables {
    size_t count;
    struct dp_table *table;
    size_t capacity;
    size_t numbers;   /* of all tables */
    size_t most_sums; /* the largest number of sums that a table has */
};

/* Reads a list as a user writes it: columns of a table are divided by commas, tables by semicolons ("ward,sex;age"); or "pairs",
 * all pairs of columns that have cells, in the order of the schema. sums: the sums of each table, divided by commas, or NULL.
 * Free the list after a failure, too. DP_E_USAGE: there is no such column, it has no cells, a table has a column or a sum twice,
 * or a sum is not of a number with bounds. cells may be NULL: refuse only the lists that each schema would refuse. */
int dp_tables_parse(struct dp_tables *tables, const char *text, const char *sums, const struct dp_cells *cells,
                    struct dp_err *err);

/* Reads the text of the frame's field. DP_E_RUN: the text is malformed. */
int dp_tables_read(struct dp_tables *tables, const char *text, struct dp_err *err);

/* The text of the frame's field. The caller frees it. */
char *dp_tables_text(const struct dp_tables *tables);

/* Adds a table of count columns of `cells` to the list, without sums. Columns have the numbers that `cells` gives them. For
 * lists that programs make. DP_E_USAGE as dp_tables_parse. */
int dp_tables_add(struct dp_tables *tables, const struct dp_cells *cells, const size_t *column, size_t count,
                  struct dp_err *err);

/* DP_E_RUN unless columns, numbers of cells and sums of the list are the same in `cells`. */
int dp_tables_check(const struct dp_tables *tables, const struct dp_cells *cells, struct dp_err *err);

void dp_tables_free(struct dp_tables *tables);

/* Sets the weight w of the sums of each table, by what is public. Noise is proportional to the norm of what a row adds, and the
 * error of a mean r, by the delta method, to noise × √(1/w² + r²) / count. The weight minimises the mean square of this error
 * for an r anywhere in [−1/2, 1/2], so with 1/12 for r²:
 *
 *   Laplace   (1 + P + wS/2)² (1/w² + 1/12):    w³ = 24 (1 + P) / S
 *   Gaussian  (1 + P + w²S/4) (1/w² + 1/12):    w⁴ = 48 (1 + P) / S
 *
 * for S sums and P counts of numbers that are present; rounded down to a multiple of 1/16, so that the norms below are exact. */
void dp_tables_weigh(struct dp_tables *tables, bool laplace);

/* The most that one row adds to the vector: in L2 √(Σ (1 + w²S/4 + P)) over the tables, in L1 Σ (1 + wS/2 + P). Rounded up. */
double dp_tables_norm2(const struct dp_tables *tables);
double dp_tables_norm1(const struct dp_tables *tables);

/* The first number of sum k of a table, and of its counts of present numbers (only if it may be missing). */
size_t dp_table_sum(const struct dp_table *table, size_t k);
static inline size_t dp_table_present(const struct dp_table *table, size_t k)
{
    return dp_table_sum(table, k) + table->size;
}
