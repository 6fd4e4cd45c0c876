/* From a table in a file or a pipe to a data set directory. */
#pragma once

#include "data/dataset_write.h"
#include "data/input.h"
#include "data/lines.h"
#include "data/schema.h"
#include "data/spool.h"
#include "data/row_plan.h"
#include "images/map.h"

struct dp_text_index;

enum dp_import_format {
    DP_IMPORT_CSV,
    DP_IMPORT_TSV,
    DP_IMPORT_LIBSVM,
    DP_IMPORT_ARFF,
    DP_IMPORT_IDX,
    DP_IMPORT_IMAGES,
    DP_IMPORT_NPY,
    DP_IMPORT_NPZ
};

struct dp_knots;

/* A table, and how its reader takes it. */
struct dp_import_source {
    enum dp_import_format format;
    const char *tests;          /* csv, tsv: a second table, whose rows go to `test`; NULL: a split */
    const char *input, *labels; /* labels: only for IDX, NULL: all labels are 0, and for npy; see input.h */
    const char *sql; /* csv: the input is an SQLite database, and the table is what this query gives; NULL: it is a text */
    const char *member[2];  /* npz: the arrays of the rows and of their labels */
    const char *label_name; /* arff: the attribute that is the label; NULL: the last */
    const char *person;     /* of a schema to be proposed: the column that says whose row it is; or NULL */
    bool row_is_person;     /* of a schema to be proposed: each row is another person, whatever columns are called */
    bool real_label;        /* libsvm: labels are numbers to predict, not classes */
    bool count;             /* of a schema to be proposed, with real_label: the label is a count, from 0 on */
    const char *classes; /* libsvm, idx, images: see dp_schema_classes; NULL: measured (libsvm), 10 (idx), folders (images) */
    size_t cols;         /* libsvm: columns; 0: the largest index, measured */
    bool max_abs;        /* numeric columns without bounds: divide by the largest magnitude (measured) */
    bool arff;           /* csv: the table is in ARFF, and read with a schema */
    size_t skip_lines;   /* csv, tsv: lines to skip at the start */
    char comment;        /* csv, tsv: lines that begin with it are skipped, or 0 */
    const char *columns; /* of a table without a schema: names of the only features, or NULL */
    const char *without; /* the same: names of columns to leave out, or NULL */
    int header;          /* of a table without a schema: 1 the first line has names, −1 it is a row, 0: guessed */
    size_t skip_bad;     /* this many malformed lines may become null records: rows of zeros with their label */
    size_t part, parts;  /* csv, tsv: read the part with this number (dp_lines_go); parts 0: all of the table */
};

struct dp_import_result {
    size_t rows, test_rows;
    size_t persons, test_persons;            /* the rows, if one row is taken for one person */
    size_t left_out;                         /* private: rows left out because their person has more than rows_per_person */
    size_t malformed;                        /* private: malformed lines */
    size_t bad_cells;                        /* private: cells that could not be read and count as missing */
    unsigned char table[DP_INPUT_DIGEST];    /* digest of the bytes of the table; idx: of the images. Private */
    unsigned char tests[DP_INPUT_DIGEST];    /* the same of the second table */
    unsigned char division[DP_INPUT_DIGEST]; /* digest of everything that decides which rows are in which part; zeros without a
                                              * split. Private */
    const char *encoding;                    /* csv, tsv: what was converted to UTF-8, or NULL; set by dp_census_read, too */
    struct dp_lines_notes notes;             /* csv, tsv: what was odd in the lines; set by dp_census_read, too */
    struct dp_lines_part span;               /* source.parts */
    struct dp_texts extra;                   /* csv, tsv with a header: names of columns that the schema does not have */
};

/* Set by the reader of csv and tsv. */
struct dp_import_reader {
    size_t *field;                /* per column of the schema, its field in a record (DP_NO_FIELD: none), by the names in the
                                   * header; NULL: there is no header, and fields are in the order of the schema */
    size_t fields;                /* fields of a record, if there is a header */
    const struct dp_lines *lines; /* the record that is passed on, with the text of its fields */
    long person;                  /* column of the schema that names the person, or -1 */
    struct dp_text_index *index;  /* per column of the schema: what its cells can mean, while the reader reads */
};

struct dp_import {
    struct dp_import_source source;
    struct dp_row_plan plan; /* its schema is filled by the caller for csv and tsv, by the reader otherwise */
    size_t *strange; /* per column of the schema, counts cells that it has no meaning for, although the row is kept; or NULL */
    bool unlabelled; /* rows to be scored: the label is not read, and its column, folder, file or array may be missing */
    enum dp_map_kind map; /* idx, images, npy, npz: rows are these features of images instead of their pixels */
    bool wide;            /* rows that would take more than 256 MB are kept as cells (row_maker.h), where they can be */
    int threads;          /* that make rows: at least 1 */
    double split;         /* fraction of the rows, or persons, for output; NAN: all, or all of the first table */
    long long seed;       /* seed of the split */
    const char *output, *test;
    size_t joined; /* the number of parts, imported before, that make the output (join.h); 0: of the table */
    /* Called after the table is read and before anything is written, to set writer.population and writer.split. NULL: they are
     * set already. */
    int (*identify)(void *self, struct dp_import *import, struct dp_err *err);
    void *identify_self;
    /* csv, tsv: called after `identify`. It gets counts of the rows (data/knots.h), pays for knots and puts them into the
     * schema. units: rows, or persons. NULL: knots follow from the bounds. */
    int (*place_knots)(void *self, struct dp_import *import, struct dp_knots *knots, size_t units, struct dp_err *err);
    void *place_self;
    struct dp_writer_options writer; /* rows_per_person: if the schema has a person column. The plan sets what rows are like */
    struct dp_import_result result;
    struct dp_import_reader reader;
};
#define DP_NO_FIELD SIZE_MAX

/* Reads the whole table, then writes. After a failure no output exists under its name. */
int dp_import_run(struct dp_import *import, struct dp_err *err);
void dp_import_free(struct dp_import *import);

/* Receiver of the rows of a stream: first their facts, then each row; import->lines is its record. pause is called before the
 * import waits for its input. header (may be NULL): import->lines is the header. malformed (may be NULL): called in place of row
 * for a malformed record, with the reason; NULL: as skip_bad says. */
struct dp_row_facts;
struct dp_import_rows {
    void *self;
    int (*header)(void *self, const struct dp_import *import, struct dp_err *err);
    int (*malformed)(void *self, const struct dp_import *import, const char *why, struct dp_err *err);
    int (*begin)(void *self, const struct dp_row_facts *facts, struct dp_err *err);
    int (*row)(void *self, const struct dp_import *import, const float *x, double y, struct dp_err *err);
    int (*pause)(void *self, struct dp_err *err);
};

/* Reads a table once and hands each row to the receiver: the same rows that dp_import_run would write. DP_E_USAGE: the
 * schema needs something to be measured on the rows. */
int dp_import_stream(struct dp_import *import, const struct dp_import_rows *to, struct dp_err *err);

/* Returned by a reader's functions: the record is malformed, and err says how. */
enum { DP_BAD_RECORD = 1 };

/* Private to lib/data. */

/* Receiver of the records of a reader. */
struct dp_import_sink {
    void *self;
    int (*header)(void *self, struct dp_err *err);                     /* may be NULL */
    int (*malformed)(void *self, const char *why, struct dp_err *err); /* may be NULL */
    int (*put)(void *self, const struct dp_parsed *record, struct dp_err *err);
    int (*pause)(void *self, struct dp_err *err); /* before a reader waits for its input; may be NULL */
    const struct dp_import_makers *makers;        /* csv, tsv: several threads may make the rows; NULL: one thread, with put */
};

/* Reads the fields of the record. DP_BAD_RECORD: it is malformed. */
struct dp_lines;
int dp_read_record(struct dp_import *import, const struct dp_lines *lines, struct dp_parsed *record, struct dp_err *err);

char dp_import_delimiter(const struct dp_import *import);

/* Passes a record on. rc: result of reading it; a malformed record becomes a null record, as long as skip_bad allows. A null
 * record has its label and no values; one whose label cannot be read is an error. */
int dp_import_put(struct dp_import *import, const struct dp_import_sink *to, int rc, struct dp_parsed *record,
                  struct dp_err *err);

/* Reads a table of any format. A reader has made the columns of the schema before it passes the first record on, unless
 * source.cols is 0 for libsvm. */
int dp_read_table(struct dp_import *import, const struct dp_import_sink *to, struct dp_err *err);
int dp_import_check_rows(const struct dp_import *import, size_t rows, struct dp_err *err);

int dp_read_delimited(struct dp_import *import, const struct dp_import_sink *to, struct dp_err *err);
struct dp_lines;
int dp_read_records(struct dp_import *import, struct dp_lines *lines, const struct dp_import_sink *to, struct dp_err *err);
int dp_read_libsvm(struct dp_import *import, const struct dp_import_sink *to, struct dp_err *err);
int dp_read_arff(struct dp_import *import, const struct dp_import_sink *to, struct dp_err *err);
int dp_read_idx(struct dp_import *import, const struct dp_import_sink *to, struct dp_err *err);
int dp_read_arrays(struct dp_import *import, const struct dp_import_sink *to, struct dp_err *err);
int dp_read_images(struct dp_import *import, const struct dp_import_sink *to, struct dp_err *err);
