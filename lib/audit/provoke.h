/* The rows of one person, replaced by values that are likely to break a stage. */
#pragma once

#include "audit/variant.h"

enum dp_provoke {
    DP_PROVOKE_ITSELF,
    DP_PROVOKE_OTHER_LABEL,
    DP_PROVOKE_OPPOSITE,
    DP_PROVOKE_DUPLICATE,
    DP_PROVOKE_OPPOSITE_OF_ANOTHER,
    DP_PROVOKE_BLANK,
    DP_PROVOKE_UNIT,
    DP_PROVOKE_LONG,
    DP_PROVOKE_HUGE,
    DP_PROVOKE_LARGEST,
    DP_PROVOKE_TINY,
    DP_PROVOKE_INFINITE,
    DP_PROVOKE_NAN,
    DP_PROVOKE_HUGE_LABEL,
    DP_PROVOKES
};
extern const char *const dp_provoke_names[DP_PROVOKES];

struct dp_provoked {
    struct dp_variant_rows rows; /* the replacement */
    const struct dp_dataset *data;
    float *x;  /* rows × cols, as many rows as a person may have */
    double *y; /* rows */
};

void dp_provoke_open(struct dp_provoked *provoked, const struct dp_dataset *data);
void dp_provoke_close(struct dp_provoked *provoked);

/* Makes the rows that replace the rows of a person. other: another person. Rows of one entry have one label, and so move a sum
 * in one direction. False when the kind makes no sense for this data set. */
bool dp_provoke(struct dp_provoked *provoked, enum dp_provoke kind, size_t person, size_t other);
