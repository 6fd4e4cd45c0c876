/* A table in LIBSVM's format; its size chooses among the options. */
#include "import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dp_import import = {.source.format = DP_IMPORT_LIBSVM,
                               .source.input = fuzz_file("table.svm", data, size),
                               .source.cols = size % 2 == 0 ? 300 : 0,
                               .source.max_abs = size % 3 == 0,
                               .source.real_label = size % 5 == 0,
                               .source.classes = size % 7 == 0 ? "-1,1" : NULL,
                               .writer = {.storage = size % 2 == 0 ? DP_STORAGE_CSR : DP_STORAGE_DENSE}};
    fuzz_import(&import);
    return 0;
}
