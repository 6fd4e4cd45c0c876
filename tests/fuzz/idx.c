/* Images and labels in IDX. */
#include "import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"images", "labels", NULL};
    struct dp_import import = {
        .source.format = DP_IMPORT_IDX, .source.input = fuzz_path("images"), .source.labels = fuzz_path("labels")};
    fuzz_unpack(data, size, names);
    fuzz_import(&import);
    return 0;
}
