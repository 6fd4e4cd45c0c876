/* Import of a table, like dp-import with few options, for the targets of the formats. */
#pragma once

#include <math.h>
#include <sys/stat.h>

#include "data/dataset.h"
#include "data/import.h"
#include "fuzz.h"

/* Runs the import into a scratch directory. After success the data set can be opened and verified; a failure leaves nothing.
   Frees the import. */
static inline int fuzz_import(struct dp_import *import)
{
    struct dp_err err = {0};
    struct dp_dataset *set = NULL;
    struct stat st;
    import->split = (double)NAN;
    import->output = fuzz_path("out.dp");
    int rc = dp_import_run(import, &err);
    fuzz_said(rc, &err);
    if (rc == DP_OK) {
        rc = dp_dataset_open(&set, import->output, &err);
        if (rc == DP_OK)
            rc = dp_dataset_verify(set, import->output, &err);
        if (rc != DP_OK)
            fuzz_fail(err.message, "a data set that was just written", rc);
        fuzz_assert(set->rows == import->result.rows && set->cols == import->plan.features);
        dp_dataset_close(set);
        fuzz_remove(import->output);
    } else {
        fuzz_assert(stat(import->output, &st) != 0);
    }
    dp_import_free(import);
    return rc;
}
