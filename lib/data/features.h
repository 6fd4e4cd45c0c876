/* From a record of a table to the features of its row: measures what the schema does not state, assigns features to columns,
 * clamps and scales values, and turns categories into 0/1 features. */
#pragma once

#include "data/import.h"
#include "data/products.h"

/* Starts zeroed. */
struct dp_features {
    /* Measured on the rows. */
    double *largest;    /* per column: max |value| */
    size_t **frequency; /* per categorical column: how often each category occurs */
    double *mode;       /* per column */
    double label_sum;
    size_t labels;
    /* Planned. */
    size_t *first; /* per column: its first feature */
    size_t count;  /* with products and the bias */
    struct dp_products products;
    uint32_t *cell_of; /* `cells` columns of the schema, which have numbers or categories, in their order */
    size_t cells;
    double label_scale, label_offset;
    float *step;      /* of `count` columns, from their bounds, if the import quantises */
    double *base, *x; /* count: the row of a record of zeros, and the current row */
};

/* Reads the spool once. */
int dp_features_measure(struct dp_features *features, struct dp_row_plan *plan, struct dp_spool *spool, struct dp_err *err);

/* Notes in the schema what is measured on the rows. */
void dp_features_note(struct dp_schema *schema);

/* Assigns features to columns and chooses how rows are scaled: sets features, writer.cols, norm, divisor, step and clamped of
 * the import. Call dp_features_measure first if anything has to be measured. */
int dp_features_plan(struct dp_features *features, struct dp_row_plan *plan, struct dp_err *err);

/* The row of a record, count entries, borrowed until the next call, and its label. A null record is a row of zeros. Counts
 * clamped values in the import. */
const double *dp_features_row(const struct dp_features *features, struct dp_import *import, const struct dp_parsed *record,
                              double *y);

/* The same in two steps, for rows that are made when they are read (data/row_maker.h). dp_features_cells: the numbers that make
 * the row of a record, one for each of f->cells columns: a number within its bounds, a category from 1 on, 0 for a category
 * without a column, NAN for a missing cell. Counts clamped values. dp_features_make: the row of a record, f->count entries. */
void dp_features_cells(const struct dp_features *features, struct dp_import *import, const struct dp_parsed *record,
                       double *cells, double *y);
void dp_features_make(const struct dp_features *features, const struct dp_row_plan *plan, const struct dp_parsed *record,
                      double *x);

/* Why rows cannot be made of such cells, and of a schema that is public; NULL: they can. */
const char *dp_features_no_cells(const struct dp_row_plan *plan);

/* The names of the features, the label, the bias and what was measured, for dp_writer_finish. The caller frees it, after a
   failure too. */
void dp_features_describe(const struct dp_features *features, const struct dp_row_plan *plan, json_t **description);

void dp_features_free(struct dp_features *features, const struct dp_schema *schema);
