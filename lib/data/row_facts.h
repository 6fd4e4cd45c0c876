/* What a model has to know of the data that its rows are of: their schema, nothing of the rows. */
#ifndef DP_DATA_ROW_FACTS_H
#define DP_DATA_ROW_FACTS_H

#include <stddef.h>

/* All texts are borrowed. */
struct dp_row_facts {
    size_t cols;
    const char *data;       /* a digest: of the rows of a data set, of what describes the rows of a stream */
    const char *population; /* whose rows they are */
    const char *unit;       /* of privacy (base/unit.h); NULL: a row */
    const char *split;      /* of which split they are a part; NULL: of none */
    const char *preprocessing, *row_norm;
    const char *labels;               /* names of the classes, a JSON array; NULL: none */
    size_t classes;                   /* 0 for a regression */
    double label_scale, label_offset; /* a real label in its own units is label_scale × y + label_offset */
};

#endif
