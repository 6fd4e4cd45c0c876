/* A census: how many cells of each column are missing, how many are numbers of each magnitude or dates of each year, and how
 * often each text occurs.
 * Bounds and categories of a paid schema come from noised counts only (dp-import --private-schema).
 *
 * Each cell of the table counts once in the histogram of its column: missing; a number, by its sign, its power of two
 * and its decimal sign; or a text of at most DP_CENSUS_TEXT bytes. A date counts .6 times for its format and .8 times for its
 * year, which is 1 in L2. In the label a date is a text, and a number counts as a text, too. A null record does not count.
 * Two things count 1/4 in addition: a number that may be a year, because powers of two are too wide for years; and, except in
 * the label, a text that an earlier row has in this column. These repeats tell names from identifiers and free texts.
 * A text of the label counts w = √((columns + 1) / 3) times: without its classes there is no model. So one row changes the
 * vector of all counts by at most √((1 + 1/16) columns + w²) in L2, and brings at most `columns` new texts. Names, delimiter
 * and the number of rows are public. */
#pragma once

#include <jansson.h>

#include "base/err.h"
#include "data/date.h"
#include "data/import.h"

#define DP_CENSUS_TEXT 100
#define DP_CENSUS_FLOOR 20.0  /* a text that fewer rows have, with noise, is not named, whatever delta admits */
#define DP_CENSUS_LEAST (-20) /* a number below 2^LEAST counts as 0; from 2^MOST on, as 2^MOST */
#define DP_CENSUS_MOST 64
#define DP_CENSUS_BINS (2 * (DP_CENSUS_MOST - DP_CENSUS_LEAST + 1) + 1)
#define DP_CENSUS_YEARS 91 /* before 1900, seven decades, each year from 1970 to 2051, and later ones */
/* Missing; numbers with a point or none; numbers with a comma; formats of dates; their years; repeats; half centuries. */
#define DP_CENSUS_FORMATS (1 + 2 * DP_CENSUS_BINS)
#define DP_CENSUS_REPEATS (DP_CENSUS_FORMATS + DP_DATE_FORMATS + DP_CENSUS_YEARS)
#define DP_CENSUS_HALVES (DP_CENSUS_REPEATS + 1) /* four half centuries, from 1900 to 2100 */
#define DP_CENSUS_CELLS (DP_CENSUS_HALVES + 4)

struct dp_census_text {
    int64_t count;
    size_t length;
    char text[DP_CENSUS_TEXT];
};

struct dp_census_column {
    char *name;
    int64_t cell[DP_CENSUS_CELLS];
    void *tree;                   /* texts, while they are counted (tsearch) */
    struct dp_census_text **text; /* in the order of their bytes */
    size_t texts, listed;
};

/* Starts zeroed. */
struct dp_census {
    struct dp_census_column *column;
    size_t columns, label;
    size_t rows;
    size_t counts; /* number of counts of all columns: DP_CENSUS_CELLS and one for each text */
    char delimiter;
};

/* Counts the cells of a CSV or TSV table whose first line has the names of its columns; sets import->table. Free the census
 * after a failure, too. DP_E_RUN: the table cannot be read, or a name is a date, or a number or empty and the first line does
 * not have import->label_name, a word. */
int dp_census_read(struct dp_census *census, struct dp_import *import, struct dp_err *err);
void dp_census_free(struct dp_census *census);

/* The cell of the year of a date, in days since 1970. */
size_t dp_census_year(double days);

/* w, rounded down to a multiple of 1 / unit; and at least √((1 + 1/16) columns + w²). */
double dp_census_weight(size_t columns, int64_t unit);
double dp_census_sensitivity(size_t columns);

/* Writes all counts, each times `unit` and its weight, to sum: column by column, texts after the cells of their column.
 * The texts of the label are also multiplied by w. */
void dp_census_counts(const struct dp_census *census, int64_t unit, int64_t *sum);

/* The cell of a number, from 1. */
size_t dp_census_cell(double value, bool comma);

/* The noised count from which a text is named: at least 1 + scale Φ⁻¹(1 − delta / columns), where scale is the deviation of the
 * noise on one count, and at least FLOOR. So texts of one person only are named with a probability of at most delta. For the
 * label the scale is w times smaller. */
double dp_census_threshold(size_t columns, double scale, double delta);

/* The schema, from noised counts in units of 1 / unit: a text is named if its count is at least `threshold`. A count of
 * numbers is significant if the noise of any column exceeds it with a probability of at most about 1 %. A label of numbers
 * has classes if two are named that 80 % of the rows have, or up to 20 that 95 % have. Rows of other classes become rows
 * of zeros. Texts of a feature that are not named share buckets by a public hash: at most 64 of them, each for a quarter
 * of the rows that a name needs, if at least half of these texts are repeats. If a name is among the named texts of its own
 * column, the first line is a row: "header" is false, and columns are column1 and so on. DP_E_BUDGET: no label or no feature is
 * frequent enough. */
int dp_census_schema(const struct dp_census *census, const int64_t *noised, int64_t unit, double scale, double threshold,
                     json_t **schema, struct dp_err *err);
