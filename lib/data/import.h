/* From a table in a file or a pipe to a data set directory. */
#ifndef DP_DATA_IMPORT_H
#define DP_DATA_IMPORT_H

#include <stdbool.h>

#include "data/dataset_write.h"
#include "data/input.h"
#include "data/schema.h"
#include "data/spool.h"

enum dp_import_format { DP_IMPORT_CSV, DP_IMPORT_TSV, DP_IMPORT_LIBSVM, DP_IMPORT_ARFF, DP_IMPORT_IDX };

struct dp_import {
    enum dp_import_format format;
    const char *input, *labels; /* labels: IDX only; see input.h */
    struct dp_schema schema;    /* filled by the caller for csv and tsv, by the reader otherwise */
    const char *label_name;     /* arff: which attribute is the label; NULL: the last */
    bool real_label;            /* libsvm: labels are numbers to predict, not classes */
    const char *classes;        /* libsvm, idx: see dp_schema_classes; NULL: measured (libsvm), 10 (idx) */
    size_t cols;                /* libsvm: columns; 0: the largest index there is, measured */
    bool max_abs;               /* numeric columns without bounds: divide by the largest magnitude (measured) */
    size_t skip_lines;          /* csv, tsv: lines to pass over at the start */
    size_t skip_bad;            /* how many malformed lines may become null records: rows of zeros that count in N */
    bool bias;                  /* add a column of ones */
    bool choose_norm;           /* rows are divided by one number if there is a public one, else scaled to norm 1 */
    bool quantise;              /* round values to 16 bits */
    double split;               /* part of the rows, or persons, for output; NAN: all */
    long long seed;             /* of the split */
    const char *output, *test;
    /* Called when all is read and before anything is written, to set writer.population and writer.split; NULL: they are set. */
    int (*identify)(void *self, struct dp_import *import, struct dp_err *err);
    void *identify_self;
    /* rows_per_person: where the schema has a person column. norm and divisor are set where choose_norm is, step where quantise
       is */
    struct dp_writer_options writer;

    /* out: what was done */
    size_t rows, test_rows, features;
    size_t persons, test_persons;            /* the rows, where each is taken for a person */
    size_t left_out;                         /* private: rows that are more than rows_per_person of their person */
    unsigned char table[DP_INPUT_DIGEST];    /* of the bytes of the table; of idx: of the images. Private */
    unsigned char division[DP_INPUT_DIGEST]; /* of all that decides which rows go where; zeros without a split. Private */
    const char *unbounded;                   /* the first column without public bounds, or NULL */
    /* Private: how many values were beyond the bounds of each column of the schema, and how many lines were
     * malformed. */
    size_t *clamped, malformed;
};

/* Reads, then writes. On failure nothing stands under the names of the outputs. */
int dp_import_run(struct dp_import *import, struct dp_err *err);
void dp_import_free(struct dp_import *import);

/* Where the rows of a stream go: first what they are, then each as it is made. pause is called before the import waits for its
   input. */
struct dp_row_facts;
struct dp_import_rows {
    void *self;
    int (*begin)(void *self, const struct dp_row_facts *facts, struct dp_err *err);
    int (*row)(void *self, const float *x, double y, struct dp_err *err);
    int (*pause)(void *self, struct dp_err *err);
};

/* Reads csv or tsv once and hands each row on: the same rows that dp_import_run writes. DP_E_USAGE: the schema leaves something
   to be measured on the rows. */
int dp_import_stream(struct dp_import *import, const struct dp_import_rows *to, struct dp_err *err);

/* Looks at a CSV or TSV table and makes the JSON of a schema to be read and edited: the caller frees *schema
   with json_decref. header: whether the first line names the columns. */
int dp_import_infer(const struct dp_import *import, bool header, json_t **schema, struct dp_err *err);

/* Of a reader's functions: the record is malformed, and err says how. */
enum { DP_BAD_RECORD = 1 };

/* Private to lib/data. */

/* Where readers put their records. */
struct dp_import_sink {
    void *self;
    int (*put)(void *self, const struct dp_parsed *record, struct dp_err *err);
    int (*pause)(void *self, struct dp_err *err); /* before a reader waits for its input; may be NULL */
};

char dp_import_delimiter(const struct dp_import *import);

/* Puts the record that was read with that result: if it is malformed, a null record, as long as skip_bad
   allows. A null record is a label of NAN and no values. */
int dp_import_put(struct dp_import *import, const struct dp_import_sink *to, int rc, struct dp_parsed *record,
                  struct dp_err *err);

int dp_read_delimited(struct dp_import *import, const struct dp_import_sink *to, struct dp_err *err);
struct dp_lines;
int dp_read_records(struct dp_import *import, struct dp_lines *lines, const struct dp_import_sink *to, struct dp_err *err);
int dp_read_libsvm(struct dp_import *import, const struct dp_import_sink *to, struct dp_err *err);
int dp_read_arff(struct dp_import *import, const struct dp_import_sink *to, struct dp_err *err);
int dp_read_idx(struct dp_import *import, const struct dp_import_sink *to, struct dp_err *err);

#endif
