/* A zip archive of arrays of NumPy, and as a folder of images. */
#include "import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file("a.npz", data, size);
    struct dp_import arrays = {.format = DP_IMPORT_NPZ, .input = path, .member = {"X", "y"}, .classes = "3"};
    fuzz_import(&arrays);
    struct dp_import images = {.format = DP_IMPORT_IMAGES, .input = path};
    fuzz_import(&images);
    fuzz_remove(path);
    return 0;
}
