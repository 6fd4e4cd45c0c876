/* How a row of a table becomes a row of numbers: what a data set and its models have in common. */
#pragma once

#include "data/dataset_write.h"
#include "data/schema.h"
#include "images/map.h"

/* Numbers beyond the bounds of a column. */
struct dp_beyond {
    size_t all, far; /* far: of them, by more than the width of the bounds */
};

struct dp_row_plan {
    struct dp_schema schema;
    enum dp_basis_kind basis; /* csv, tsv: the basis of numeric columns with bounds whose schema does not state a basis */
    size_t products;          /* DP_BASIS_PRODUCTS: at most that many (data/products.h); set to how many there are. 0: what
                               * earlier versions had */
    bool bias;                /* add a column of ones */
    bool quantise;            /* round values to 16 bits */
    bool bad_missing;         /* csv, tsv: a cell of a feature that cannot be read is missing; missing cells need no fill */
    bool choose_norm;         /* rows are divided by one number if there is a public one, else scaled to norm 1 */
    enum dp_row_norm norm;
    double divisor;              /* DP_NORM_BOUNDS. Set by dp_features_plan, as the members below */
    const float *step;           /* quantise: the step sizes of the features, which own them */
    size_t features;             /* columns of a row */
    struct dp_beyond *clamped;   /* private: of each column of the schema */
    const char *unbounded;       /* the first column without public bounds, or NULL */
    struct dp_image_shape shape; /* set by the reader if the rows are images */
    char features_name[40];      /* the name of the map, which defines it completely; else empty */
};

/* Frees the schema and `clamped`. */
void dp_row_plan_free(struct dp_row_plan *plan);
