/* A table in LIBSVM's format; its size chooses among the options. */
#include "import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dp_import import = {.format = DP_IMPORT_LIBSVM,
                               .input = fuzz_file("table.svm", data, size),
                               .cols = size % 2 == 0 ? 300 : 0,
                               .max_abs = size % 3 == 0,
                               .real_label = size % 5 == 0,
                               .classes = size % 7 == 0 ? "-1,1" : NULL,
                               .writer = {.storage = size % 2 == 0 ? DP_STORAGE_CSR : DP_STORAGE_DENSE}};
    fuzz_import(&import);
    return 0;
}
