/* A table in ARFF. */
#include "import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dp_import import = {.source.format = DP_IMPORT_ARFF,
                               .source.input = fuzz_file("table.arff", data, size),
                               .source.max_abs = size % 2 == 0,
                               .plan.bias = size % 3 == 0};
    fuzz_import(&import);
    return 0;
}
