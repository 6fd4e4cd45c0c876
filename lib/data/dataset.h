/* A data set on disk: a directory that NumPy opens and C maps.
 *
 *   X.npy         rows × cols float32, C order               (dense), or
 *   X_data.npy    nnz float32, X_indices.npy nnz int32, X_indptr.npy (rows+1) int64   (CSR)
 *   X_i16.npy     rows × cols int16, C order, and scales.npy, cols float32, powers of two: value j is entry j × scale j (int16)
 *   X_cells.npy   rows × cells float64, C order: rows are made of these numbers by "schema" (row_maker.h)      (cells)
 *   persons.npy   (persons+1) int64: where the rows of each person begin      (only if rows belong to persons)
 *   nulls.npy     int64, ascending: null rows, which are zeros and have no label      (only if there may be any)
 *   y.npy         rows float64: the class index 0..classes-1 for a classification, the value for a regression
 *   dataset.json  {"format": 1, 2 with persons, 3 with "nulls": true, 4 with cells, "rows", "cols", "persons",
 *                  "rows_per_person", "storage": "dense"|"csr"|"int16"|"cells", "names": […],
 *                  "label": {"kind": "classes"|"real", "name", "classes": ["<=50K", …] or "scale", "offset"},
 *                  "row_norm": "bounds"|"unit"|"cap"|"none", "row_divisor", "bias", "quantised",
 *                  "features": "hog:v1 28x28 seed 1" or "pixels": "28x28" of images,
 *                  "private_preprocessing": ["max-abs", …], "population", "held_out",
 *                  "split", "schema", "salt", "digest"}
 *
 * (man page dp-dataset.5.) dp-import and dp-synth write rows of L2 norm at most 1, exactly: the float32
 * values as stored. The mapping is read-only and shared: a data set costs no private memory. */
#pragma once

#include "base/err.h"
#include "base/unit.h"
#include "math/vec.h"

#define DP_DATASET_FORMAT 4 /* the newest format that this version reads; it writes the oldest one that says what there is */

enum dp_storage { DP_STORAGE_DENSE, DP_STORAGE_CSR, DP_STORAGE_CELLS, DP_STORAGE_INT16 };
extern const char *const dp_storages[]; /* names in dataset.json */

enum dp_label_kind { DP_LABEL_REAL, DP_LABEL_CLASSES };

/* Populations of synthetic rows begin with this: no person has them, and no registry keeps them (ledger/registry.h). */
#define DP_POPULATION_ROWS "dp-synth:rows:"
/* How the first line of their mark begins, TABLE.synthetic (dpline-rows(1)). */
#define DP_MARK_OF_ROWS "synthetic rows"

/* The meaning of y. */
struct dp_dataset_label {
    enum dp_label_kind kind;
    char *name;           /* or NULL */
    size_t classes;       /* number of classes, 0 for a regression */
    char **class_names;   /* classes entries, or NULL */
    double scale, offset; /* a real label in its own units is scale × y + offset; defaults: 1 and 0 */
};

/* The cost of the schema. */
struct dp_dataset_paid {
    double epsilon, delta; /* or 0 */
    char *cost;            /* all of "paid", as JSON; NULL: nobody paid */
    char *ledger, *by;     /* the mark of that charge, or "", and the population that paid; NULL: nobody */
};

/* Rows that are zeros and have no label. */
struct dp_dataset_nulls {
    const int64_t *row; /* count numbers of rows. NULL: there can be none, which is public */
    size_t count;
    uint64_t *bit; /* a bit for each row, so that a lap does not search; NULL without null rows */
};

/* Rows of images. */
struct dp_dataset_images {
    bool features; /* rows are features of images; row_norm begins with the name of the map */
    char *pixels;  /* rows are the pixels of images of this size: "28x28"; or NULL */
};

struct dp_dataset {
    size_t rows, cols;
    size_t persons;         /* number of units of privacy: the rows, if one row is taken for one person */
    size_t rows_per_person; /* the most rows of a person; 0: one row is taken for one person */
    const int64_t *person;  /* persons + 1: first row of each person, into the mapping. NULL: person i has only row i */
    enum dp_storage storage;
    bool quantised;      /* values were rounded to 16 bits, whatever the storage */
    const double *y;     /* rows; into the mapping; 0 for a null row */
    struct dp_row first; /* row 0, with pointers into the mapping; unset for CSR and cells */
    struct dp_dataset_label label;
    struct dp_dataset_nulls nulls;
    struct dp_dataset_images images;
    struct dp_dataset_paid paid;
    char **column_names;         /* cols entries, or NULL */
    char *left_out;              /* the names of the table's columns that make no feature, a JSON array; NULL: not known */
    char *private_preprocessing; /* "max-abs,mode" or "" */
    char *row_norm;              /* how rows were changed: "divided by 1.41, bias, quantised", "unit",
                                     * "hog:v1 28x28 seed 1, unit, bias", … */
    char *population;            /* the people whose rows these are, the same for all imports of them; the digest if no
                                     * name was given */
    bool held_out;               /* this is the test part of a split */
    char *schema;                /* the schema that models carry (carried.h); NULL: none */
    char *split;                 /* the split that this is a part of; NULL: none, or not stated */
    char digest[33];             /* digest in hexadecimal, of the contents as dp-import wrote them: names the data set in
                                     * frames */
    struct dp_dataset_map *map;  /* private */
};

/* Opens and maps PATH, all files through one directory descriptor, so that all are of the same data set. Checks shapes, dtypes
 * and the length of each file; that labels are finite and classes in range; that CSR columns ascend and are in range; and that
 * scales are powers of two that make all values exact. The values of rows are not read: see dp_dataset_verify. The caller frees
 * with dp_dataset_close. */
int dp_dataset_open(struct dp_dataset **dataset, const char *path, struct dp_err *err);

/* The mark of the charge for the schema; NULL if other people or nobody paid for it, or if no ledger has the charge. */
const char *dp_dataset_paid_mark(const struct dp_dataset *dataset);

/* The rows of a person < persons: from *first on, at least 1 and at most rows_per_person. */
static inline size_t dp_dataset_person(const struct dp_dataset *dataset, size_t person, size_t *first)
{
    if (dataset->person == NULL) {
        *first = person;
        return 1;
    }
    /* Zeros may stand for pages of persons.npy that are gone; see mapped.h. */
    int64_t from = dataset->person[person], to = dataset->person[person + 1];
    bool good = from >= 0 && to > from && (size_t)to <= dataset->rows && (size_t)(to - from) <= dataset->rows_per_person;
    *first = good ? (size_t)from : 0;
    return good ? (size_t)(to - from) : 0;
}

/* Copies the labels of rows that have one, and returns their number. y: rows entries. */
size_t dp_dataset_labels(const struct dp_dataset *dataset, double *y);

/* Moves the values of rows that have a label, `each` per row, to the front. */
void dp_dataset_keep_labelled(const struct dp_dataset *dataset, double *values, size_t each);

static inline bool dp_dataset_is_null(const struct dp_dataset *dataset, size_t row)
{
    return dataset->nulls.bit != NULL && (dataset->nulls.bit[row / 64] >> row % 64 & 1) != 0;
}

/* Files must not be written to while they are mapped: dp_mapped_check (base/mapped.h) notices when one loses
   pages, or changes in size or time. */

/* Reads every value: rows are finite, with L2 norm at most 1, and the digest is the one in dataset.json. */
int dp_dataset_verify(const struct dp_dataset *dataset, const char *path, struct dp_err *err);

/* dataset may be NULL. */
void dp_dataset_close(struct dp_dataset *dataset);

/* Row i < rows, borrowed; a row that is made of cells, until the same thread has taken DP_ROW_MAKER_KEPT more (row_maker.h).
 * Inline, because a lap calls it for each of its rows. */
struct dp_row dp_dataset_other_row(const struct dp_dataset *dataset, size_t i);
static inline struct dp_row dp_dataset_row(const struct dp_dataset *dataset, size_t i)
{
    struct dp_row row = dataset->first; /* changed in place: building a new struct is slower */
    if (row.narrow != NULL)
        row.narrow += i * row.count;
    else if (row.values != NULL)
        row.values += i * row.count;
    else
        return dp_dataset_other_row(dataset, i);
    return row;
}
