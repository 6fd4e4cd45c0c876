/* A data set's directory: its description and its arrays. */
#include <stdio.h>
#include <sys/stat.h>

#include "data/dataset.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"dataset.json", "X.npy",     "y.npy",      "X_data.npy", "X_indices.npy",
                                        "X_indptr.npy", "X_i16.npy", "scales.npy", NULL};
    struct dp_dataset *set = NULL;
    struct dp_err err = {0};
    const char *path = fuzz_path("d.dp");
    fuzz_unpack(data, size, names);
    fuzz_assert(mkdir(path, 0700) == 0);
    for (int i = 0; names[i] != NULL; i++) {
        char to[64];
        snprintf(to, sizeof to, "d.dp/%s", names[i]);
        fuzz_assert(rename(fuzz_path(names[i]), fuzz_path(to)) == 0);
    }
    int rc = dp_dataset_open(&set, path, &err);
    fuzz_said(rc, &err);
    if (rc == DP_OK) {
        double sum = 0;
        for (size_t i = 0; i < set->rows; i++) {
            struct dp_row row = dp_dataset_row(set, i);
            for (size_t k = 0; k < row.count; k++) {
                sum += (double)dp_row_value(&row, k);
                fuzz_assert(row.columns == NULL || (size_t)row.columns[k] < set->cols);
            }
            fuzz_assert(set->label.classes == 0 || (set->y[i] >= 0 && set->y[i] < (double)set->label.classes));
        }
        volatile double keep = sum;
        (void)keep;
        fuzz_said(dp_dataset_verify(set, path, &err), &err);
        dp_dataset_close(set);
    }
    fuzz_remove(path);
    return 0;
}
