/* A zip archive of arrays of NumPy, and as a folder of images. */
#include "import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file("a.npz", data, size);
    struct dp_import arrays = {
        .source.format = DP_IMPORT_NPZ, .source.input = path, .source.member = {"X", "y"}, .source.classes = "3"};
    fuzz_import(&arrays);
    struct dp_import images = {.source.format = DP_IMPORT_IMAGES, .source.input = path};
    fuzz_import(&images);
    fuzz_remove(path);
    return 0;
}
