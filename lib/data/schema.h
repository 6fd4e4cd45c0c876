/* The meaning of a table's columns: read from JSON (man page dp-dataset.5), inferred from the table, or implied by a format. */
#pragma once

#include <jansson.h>

#include "base/err.h"
#include "base/text.h"
#include "data/basis.h"
#include "data/date.h"

enum dp_column_type {
    DP_COLUMN_NUMERIC,
    DP_COLUMN_CATEGORICAL,
    DP_COLUMN_TEXT, /* data/words.h */
    DP_COLUMN_LABEL,
    DP_COLUMN_PERSON,
    DP_COLUMN_IGNORE
};
enum dp_scaling { DP_SCALE_BOUNDS, DP_SCALE_MAX_ABS, DP_SCALE_NONE };
enum dp_fill { DP_FILL_REFUSE, DP_FILL_VALUE, DP_FILL_MODE };

#define DP_SCHEMA_BUCKETS 100000 /* the most of a column */

/* Some texts that mean the same thing. */
struct dp_texts {
    char **text;
    size_t count;
};

#define DP_NOT_THE_SAME 1e-6 /* proposals tell numbers that differ so much from a frequent one, such as 0, -1 or 99 */

struct dp_column {
    char *name;
    enum dp_column_type type;
    enum dp_scaling scaling; /* numeric: scaled to [0,1] by bounds, by the largest magnitude, or not */
    double low, high; /* bounds; values beyond them are clamped and counted. [0, DP_NOT_THE_SAME]: 0 against all others */
    bool bounded;
    char *unit;                 /* of the number, in its spellings: "kg|KG"; or NULL */
    bool comma;                 /* the number has a decimal comma */
    struct dp_basis basis;      /* numeric: features of the number in addition to itself */
    char *date;                 /* the format of dates, or NULL: no dates */
    enum dp_date_part part;     /* value of the date: the days for a numeric column, a category for a categorical one */
    struct dp_texts categories; /* categorical: one 0/1 feature each, in this order; the buckets are the last */
    size_t buckets;             /* categories that texts which are not listed share, by a public hash */
    struct dp_texts synonyms;   /* texts that mean a category, */
    size_t *meant;              /* the index of which is here */
    bool drop_first;            /* the first category has all zeros */
    bool unknown_zero;          /* an unknown category is all zeros, a row of an unknown class, too; not an error */
    bool unknown_class;         /* label: any text that is neither a class nor missing means the class `other` */
    size_t other;
    size_t words;            /* text: columns of its words and pairs of words */
    struct dp_texts missing; /* cells of this column that mean "missing", in addition to the schema's */
    enum dp_fill fill;       /* replacement of a missing cell */
    double fill_value;       /* a number, or the index of a category (-1: no category) */
    bool indicator;          /* one more feature: 1 if the cell is missing, else 0 */
};

struct dp_schema {
    struct dp_column *column;
    size_t columns;
    long label;             /* index of the label column, -1 if the format keeps labels apart */
    bool real_label;        /* regression */
    struct dp_texts *class; /* each of class[k].text means class k; the first is its name */
    size_t classes;
    bool label_bounded, label_center; /* regression: scaled from bounds to [−1,1]; centred at the measured mean */
    bool label_count;                 /* regression: a number >= 0, in quarters of the upper bound, without an offset */
    double label_low, label_high;
    struct dp_texts missing;       /* cells that mean "missing", in addition to empty ones */
    char delimiter;                /* 0: the format's */
    int header;                    /* 1 yes, 0 no */
    bool comma;                    /* numbers have a decimal comma, unless their column says otherwise */
    size_t rows_per_person;        /* the most that are kept, by the column of persons; 0: it does not say */
    json_t *private_preprocessing; /* list of words */
    json_t *paid;                  /* what its bounds and categories have cost (man page dp-dataset.5), or NULL */
};

/* Leaves *schema freeable with dp_schema_free. */
int dp_schema_load(struct dp_schema *schema, const char *path, struct dp_err *err);

/* The same from JSON; name: the name of its file, for messages. */
int dp_schema_read(struct dp_schema *schema, const json_t *root, const char *name, struct dp_err *err);
void dp_schema_free(struct dp_schema *schema);

/* "columns" as in a schema file, without notes, and with a header without the columns that are left out. */
json_t *dp_schema_columns(const struct dp_schema *schema);

/* Fills s->class from "3" (the classes are 0, 1 and 2) or from a list of names, "-1,1". */
int dp_schema_classes(struct dp_schema *s, const char *text, struct dp_err *err);

/* The index of the class whose name is this number ("-1", "+1", "1.0"), or -1. */
long dp_schema_class_of(const struct dp_schema *s, double label);

/* The index of the class that the text means, or -1. */
long dp_schema_class_with(const struct dp_schema *s, const char *text);

/* The names of the classes for a message (dp_text_list). Returns buffer. */
const char *dp_schema_show_classes(const struct dp_schema *s, char buffer[DP_TEXT_LISTED]);

/* Whether its bounds only tell one number from others. */
bool dp_column_is_one_number(const struct dp_column *column);

/* The index of the category that the text means, or -1. */
long dp_column_category(const struct dp_column *column, const char *text, size_t length);

/* The number of features of a column, and of the rows: numbers with their basis, categories, indicators. */
size_t dp_column_features(const struct dp_column *column);
size_t dp_schema_features(const struct dp_schema *schema);

/* The index of the column that identifies the person, or -1. */
long dp_schema_person(const struct dp_schema *schema);

/* Adds a word to private_preprocessing, once. */
void dp_schema_note_private(struct dp_schema *schema, const char *word);

/* The index of the text among texts, or -1. */
long dp_texts_find(const struct dp_texts *texts, const char *text, size_t length);
void dp_texts_add(struct dp_texts *texts, const char *text, size_t length);
void dp_texts_free(struct dp_texts *texts);
json_t *dp_texts_json(const struct dp_texts *texts);

/* Lets a column take missing cells, unless it does: as the middle of the bounds, as 0 without bounds, or as no category. */
void dp_column_accept_missing(struct dp_column *column);
void dp_schema_accept_missing(struct dp_schema *schema);

/* The columns of a table without names: `count` of them, all alike. */
void dp_schema_alike(struct dp_schema *schema, size_t count, struct dp_column column);
