/* Facts about a data set that a model needs: its schema, and nothing about the rows. */
#pragma once

#include "base/c.h"

/* All texts are borrowed. */
struct dp_row_facts {
    size_t cols;
    const char *data;       /* a digest: of the rows of a data set, or of the description of a stream's rows */
    const char *population; /* the people whose rows they are */
    const char *unit;       /* unit of privacy (base/unit.h); NULL: a row */
    const char *split;      /* the split that they are part of; NULL: none */
    const char *preprocessing, *row_norm;
    const char *schema;               /* that models carry (carried.h); NULL: none */
    const char *labels;               /* names of the classes, a JSON array; NULL: none */
    size_t classes;                   /* 0 for a regression */
    double label_scale, label_offset; /* a real label in its own units is label_scale × y + label_offset */
};
