/* The columns of a linear model in the units of the table. The score of output k is
 *
 *   u_k = constant_k + s Σ_j weight_kj f_j
 *
 *   f_j   feature j of the row, before rows are scaled: factor (cell − shift) of a number within its bounds, a function of its
 *         basis (data/basis.h), 0 or 1 for a category and for a missing cell, a product of two (data/products.h), 1 for the bias
 *   s     1 if rows were divided by one number (the weights are divided by it, too), or for DP_NORM_NONE;
 *         (1 − 2⁻²²)/|f| for DP_NORM_UNIT; the same, but at most 1, for DP_NORM_CAP
 *
 * It is public, as the model is. If the model carries no schema, feature j is entry j of a row of the data set, s is 1, and
 * nothing else is known about it. */
#pragma once

#include "data/row_plan.h"
#include "model/predictor.h"

enum dp_term_kind {
    DP_TERM_NUMBER,
    DP_TERM_BASIS,
    DP_TERM_CATEGORY,
    DP_TERM_MISSING,
    DP_TERM_BIAS,
    DP_TERM_FEATURE,
    DP_TERM_PRODUCT
};

struct dp_term {
    enum dp_term_kind kind;
    const char *name;     /* "age", "job=cook", "age missing", "bias", "x3" */
    size_t column;        /* of the schema, for a cell */
    size_t part;          /* number within the column: which category, or which function of the basis */
    size_t of[2];         /* DP_TERM_PRODUCT: the two terms, whose product is multiplied by factor */
    double shift, factor; /* DP_TERM_NUMBER */
};

/* Starts zeroed, except for networks; all other members are read-only. */
struct dp_terms {
    bool
        networks; /* set by the caller: accept a network, which has no weights for columns; its parameters are in `predictor` */
    struct dp_predictor predictor;
    char **class; /* names of the classes */
    size_t classes, outputs;
    bool table;              /* the model carries a schema */
    struct dp_row_plan plan; /* table: the schema */
    enum dp_row_norm norm;   /* table; DP_NORM_BOUNDS otherwise */
    size_t count, products;  /* how many of the terms are products */
    struct dp_term *term;
    double *weight, *constant; /* outputs × count; outputs */
    json_t *names;             /* owns the names of the terms */
};

/* Reads the last model of a stream. name: of the model, for messages. DP_E_RUN: it may not be a network, it does not say what
 * its outputs predict, or its schema does not fit its columns. Close it, after a failure, too. */
int dp_terms_open(struct dp_terms *terms, const struct dp_frame *frame, const char *name, struct dp_err *err);
void dp_terms_close(struct dp_terms *terms);

bool dp_terms_network(const struct dp_terms *terms);

/* The entries of the column of the schema: [*first, *end) of term. */
void dp_terms_of_column(const struct dp_terms *terms, size_t column, size_t *first, size_t *end);

/* Whether the column is read, in a table: it is numeric or categorical. */
bool dp_terms_reads(const struct dp_terms *terms, size_t column);

/* f for a cell: value of term j. category: of the cell, −1 for an unknown one, −2 for a missing cell, whose fill is used.
 * number: the cell of a numeric column, NAN for a missing one. */
double dp_term_value(const struct dp_terms *terms, size_t j, double number, long category);
enum { DP_CATEGORY_UNKNOWN = -1, DP_CATEGORY_MISSING = -2 };
