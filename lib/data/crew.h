/* Several threads make the rows of a CSV or TSV table. Each takes the next batch of records from the file, makes its rows, and
 * passes them on when all batches before have been passed on. So the rows, and the first error, are the same for any number of
 * threads. */
#pragma once

#include "data/import.h"

struct dp_lines;

/* How a sink takes rows that several threads have made. `self` is the sink's. */
struct dp_import_makers {
    size_t row; /* bytes of a row that a maker holds */
    /* The rows of one thread. The caller frees the maker with close. */
    void *(*open)(void *self);
    /* Makes the row of the record; counts in `import`, which is the thread's own. If this fails, the record is put in its
     * turn by the sink's put, which fails again and knows the number of the row. */
    int (*make)(void *self, void *maker, struct dp_import *import, const struct dp_parsed *record, struct dp_err *err);
    /* Passes on the rows that the maker holds, and empties it. One thread calls this at a time. */
    int (*take)(void *self, void *maker, struct dp_err *err);
    void (*close)(void *maker);
};

/* The rest of the file, by import->threads threads (fewer if the system has no more). */
int dp_crew_read(struct dp_import *import, struct dp_lines *lines, const struct dp_import_sink *to, struct dp_err *err);

/* For a thread that counts for itself: *own is a copy of the import with counts of its own, of which the caller frees
 * plan.clamped. dp_crew_add_counts adds them to `all`, and makes them 0. */
void dp_crew_copy(struct dp_import *own, const struct dp_import *import);
void dp_crew_add_counts(struct dp_import *all, struct dp_import *own);
