/* A census: what the cells of each column of a table are. A schema is proposed from it.
 *
 * Counts are for a schema that is paid for (dp-import --private-schema): how many cells are missing, how many are numbers of
 * each magnitude or dates of each year, and how often each text occurs. Bounds and categories come from these counts with noise
 * only.
 * Each cell of the table counts once in the histogram of its column: missing; a number; one of a few numbers that may stand for
 * a missing one; or a text of at most DP_CENSUS_TEXT bytes, as codes with leading zeros are.
 * A number counts .97 times for its sign, its power of two and its decimal sign, and .243 times for its part, one of 64 equal
 * ones between two powers of two: √(.97² + .243²) < 1 in L2. Parts show where numbers are whose spread is small against their
 * size.
 * A date counts .6 times for its format and .8 times for its year, and a number with a unit .6 times for the unit and .8 times
 * for the number, which is 1 in L2. In the label a date is a text, and a number counts as a text, too. A null record does not
 * count.
 * One thing counts 1/4 in addition: except in the label, a text that an earlier row has in this column. These repeats tell names
 * from identifiers and free texts. So does a whole number that is new among the first DP_CENSUS_FIRST rows, for numbers; for any
 * other number, the part of its part counts, again one of 64.
 * A text of the label counts w = √((columns + 1) / 3) times: without its classes there is no model. So one row changes the
 * vector of all counts by at most √((1 + 1/16) columns + w²) in L2, and brings at most `columns` new texts. A text
 * that fewer than DP_CENSUS_FLOOR rows have is not counted at all. Names, delimiter and the number of rows are public.
 * Classes of the label that the user names are public. Then each row counts once in the label: for its class, or for none.
 * A label that is said to be a number counts as a feature does, and other cells of it count as missing. Columns that the user
 * leaves out are not counted.
 *
 * If a column names persons, each person has one row in the counts, which is drawn with a new key (data/persons.h): so a person
 * moves the counts as much as a row does.
 *
 * Exact facts are for a schema that nobody pays for: extremes, and the different texts. */
#pragma once

#include <jansson.h>

#include "base/err.h"
#include "data/date.h"
#include "data/import.h"
#include "data/text_index.h"

#define DP_CENSUS_TEXT 100
#define DP_CENSUS_FLOOR 20    /* a text that fewer rows have is not among the counts */
#define DP_CENSUS_FIRST 16384 /* rows in which new whole numbers are counted */
#define DP_CENSUS_LEAST (-20) /* a number below 2^LEAST counts as 0; from 2^MOST on, as 2^MOST */
#define DP_CENSUS_MOST 64
#define DP_CENSUS_BINS (2 * (DP_CENSUS_MOST - DP_CENSUS_LEAST + 1) + 1)
#define DP_CENSUS_YEARS 91 /* before 1900, seven decades, each year from 1970 to 2051, and later ones */
#define DP_CENSUS_PARTS 64
#define DP_CENSUS_TURNS 4 /* bins k and k + TURNS share the counts of their parts */
/* Missing; numbers with a point, or a comma; parts; their parts; formats of dates; their years; repeats. */
#define DP_CENSUS_FIRST_PART (1 + 2 * DP_CENSUS_BINS)
#define DP_CENSUS_SECOND_PART (DP_CENSUS_FIRST_PART + DP_CENSUS_TURNS * DP_CENSUS_PARTS)
#define DP_CENSUS_FORMATS (DP_CENSUS_SECOND_PART + DP_CENSUS_TURNS * DP_CENSUS_PARTS)
#define DP_CENSUS_REPEATS (DP_CENSUS_FORMATS + DP_DATE_FORMATS + DP_CENSUS_YEARS)
#define DP_CENSUS_WHOLE (DP_CENSUS_REPEATS + 1)                      /* new whole numbers */
#define DP_CENSUS_UNITS (DP_CENSUS_WHOLE + 1)                        /* units of numbers */
#define DP_CENSUS_SENTINELS (DP_CENSUS_UNITS + DP_CENSUS_UNIT_COUNT) /* numbers that may stand for a missing one */
#define DP_CENSUS_CELLS (DP_CENSUS_SENTINELS + DP_CENSUS_SENTINEL_COUNT)
#define DP_CENSUS_BESIDE 0.8 /* of a number with a unit, and of a year of a date */
enum { DP_CENSUS_UNIT_COUNT = 44, DP_CENSUS_SENTINEL_COUNT = 13 };

struct dp_census_text {
    int64_t count; /* of cells */
    bool plain;    /* no number, date or word for a missing cell */
    size_t length;
    char text[]; /* ends with a zero byte */
};

/* Numbers with a decimal point, or with a decimal comma, then dates in their formats. */
enum { DP_CENSUS_POINT, DP_CENSUS_COMMA, DP_CENSUS_DATES, DP_CENSUS_NOTATIONS = DP_CENSUS_DATES + DP_DATE_FORMATS };

/* A word such as "none" or "inf" is missing in a column of numbers, and a text in a column of texts. */
struct dp_census_exact {
    size_t cells, doubtful; /* cells that are not missing; how many have such a word */
    size_t missing;         /* cells that are */
    bool counts;            /* whole numbers, each one more than the one before */
    double first, last;
    struct dp_census_range {
        bool all;                        /* each cell that is not missing is such a number */
        double low, high;                /* of numbers, without those that may stand for a missing one */
    } range[DP_CENSUS_NOTATIONS], dates; /* dates: of some format */
    long unit;                           /* the number of the unit of all numbers that have one, from 1; 0: none has */
    bool format[DP_DATE_FORMATS];        /* which of them occur */
    size_t sentinel[DP_CENSUS_SENTINEL_COUNT];
};

struct dp_census_column {
    char *name;
    int64_t *cell;                /* DP_CENSUS_CELLS counts; NULL if no schema is paid for */
    int64_t *measured;            /* numbers with a unit, in the first cells; or NULL */
    struct dp_census_text **text; /* those that are counted, in the order of their bytes */
    size_t texts;
    struct dp_census_exact *exact; /* NULL: only counts */
    /* Different texts, in the order of the table: those that are counted; and, exactly, words for missing values and at least
     * the first DP_CENSUS_DIFFERENT others. */
    struct dp_census_text **seen;
    size_t seen_count, seen_capacity;
    bool identifier;            /* by its name: exactly, all its texts are here */
    bool perhaps;               /* by its name, if all its numbers are different */
    bool out;                   /* by the source's `columns` or `without`: it is not counted */
    struct dp_text_index index; /* of them */
};
#define DP_CENSUS_DIFFERENT 1000
#define DP_CENSUS_COLUMNS 100000 /* the most of a table */

enum dp_census_label { DP_CENSUS_GUESS, DP_CENSUS_CLASSES, DP_CENSUS_NUMBER };

/* Starts zeroed. */
struct dp_census {
    const char *input; /* its name, for messages */
    struct dp_census_column *column;
    size_t columns, label;
    size_t out;                /* columns that are not counted */
    enum dp_census_label said; /* what the user says that the label is */
    struct dp_schema known;    /* DP_CENSUS_CLASSES: its classes, each in several spellings */
    bool others;               /* all other texts are class 0 */
    bool count;                /* the label is a number from 0 on */
    char *label_name;          /* or NULL */
    long person;               /* the column import->source.person, or -1 */
    size_t rows;               /* in the counts: persons, if a column names them */
    size_t at;                 /* rows that were read */
    bool *one;                 /* for each of `drawn` rows, whether it is in the counts; NULL: all are */
    size_t drawn;
    size_t most;   /* import->writer.rows_per_person */
    size_t counts; /* number of counts of all columns: DP_CENSUS_CELLS and one for each text */
    char delimiter;
    int header; /* of the source */
    bool named; /* the first line is a header: by the source, or because it has label_name, a word */
};

/* Words for missing values: among all cells, in any case, or as programs write them; and among numbers only, in any case. They
 * end with NULL. */
extern const char *const dp_census_absent[], *const dp_census_written[], *const dp_census_doubtful[];

/* Units of numbers, each with its spellings: "kg|KG|Kg". */
extern const char *const dp_census_units[DP_CENSUS_UNIT_COUNT];
extern const double dp_census_sentinels[DP_CENSUS_SENTINEL_COUNT];

/* Digits with a leading zero, or too many for a number: codes. */
bool dp_census_is_code(const char *text, size_t length);
/* Whether the text, which is not empty, is missing among all cells. */
bool dp_census_is_absent(const char *text, size_t length);
/* Whether the text is missing among numbers only: a word of `doubtful`, or a number that is infinite. */
bool dp_census_is_doubtful(const char *text, size_t length);

/* Whether a column of this name may say whose row it is: patient_id, PassengerId, caseid, account_no, MRN. A postcode is a
 * place. Perhaps: if its numbers are all different, too: mobile, card, user, record. */
enum dp_census_name { DP_CENSUS_OTHER_NAME, DP_CENSUS_PERHAPS, DP_CENSUS_IDENTIFIER };
enum dp_census_name dp_census_is_identifier(const char *name);

/* Takes a census of a CSV or TSV table for a schema that is paid for, or for one that is not; sets import->table and
 * import->encoding. source.label_name is a column, or COLUMN=CLASS: that class against all other texts; source.classes are
 * the names of all classes, with source.real_label it is a number. Free the census after a failure, too. DP_E_RUN: the table
 * cannot be read. DP_E_RUN for a paid one: a name in the first line is a date, or a number or empty and the first line is not
 * `named`. DP_E_USAGE: what is said of the label contradicts itself, or there is no such label. With import->source.person the
 * table is read twice. DP_E_USAGE: it is standard input then, or has no such column. DP_E_RUN: a row without a person. */
enum dp_census_use { DP_CENSUS_PAID = 1, DP_CENSUS_UNPAID };
int dp_census_read(struct dp_census *census, struct dp_import *import, enum dp_census_use use, struct dp_err *err);
void dp_census_free(struct dp_census *census);

/* The name of column i, for dp_text_list. */
const char *dp_census_name(const void *census, size_t i, size_t *length);

/* If two columns have the same name, a name cannot say which one is meant: DP_E_RUN. */
int dp_census_check_names(const struct dp_census *census, struct dp_err *err);

/* Sets census->label, the column label_name or the last one that source.without does not list; and marks the columns that
 * source.without lists, or all that source.columns does not list, never the label or the person. DP_E_USAGE: there is no such
 * column, or no feature is left. */
int dp_census_choose(struct dp_census *census, const struct dp_import *import, struct dp_err *err);

/* Makes the first line, which has names, a row like the others in exact facts; columns are column1 and so on. */
void dp_census_take_first_line(struct dp_census *census);

/* Whether the text is such a number, or such a date: its days. */
bool dp_census_is_number(int notation, const char *text, size_t length, double *value);

/* The cell of the year of a date, in days since 1970; and the first day of the years of the k-th of these cells, from 1. */
size_t dp_census_year(double days);
double dp_census_first_day(size_t k);

/* w, rounded down to a multiple of 1 / unit, or 1 for classes that the user names; and at least √((1 + 1/16) columns + w²),
 * √((1 + 1/16) (columns − 1) + 1) for named classes, √((1 + 1/16) columns) for a number. They follow from the number of columns
 * and from what is said of the label. */
double dp_census_weight(const struct dp_census *census, int64_t unit);
double dp_census_sensitivity(const struct dp_census *census);

/* How much a cell of the histogram counts. */
double dp_census_cell_weight(size_t k);

/* Writes all counts, each times `unit` and its weight, to sum: column by column, texts after the cells of their column.
 * The texts of the label are also multiplied by w. */
void dp_census_counts(const struct dp_census *census, int64_t unit, int64_t *sum);

/* The cell of a number, from 1. */
size_t dp_census_cell(double value, bool comma);

/* The cell of part i of bin k, counted from 0 towards larger magnitudes; second: of part i of a part. */
size_t dp_census_part(size_t k, size_t i, bool second);

/* The noised count from which a text is named: at least FLOOR + scale Φ⁻¹(1 − delta / columns), where scale is the deviation of
 * the noise on one count. So texts that are counted only because of one person are named with a probability of at most delta.
 * For the label the scale is w times smaller. */
double dp_census_threshold(size_t columns, double scale, double delta);

/* Φ⁻¹(1 − p), rounded up; p < 1/2. */
double dp_census_quantile(double p);
