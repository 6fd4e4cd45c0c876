/* A .npy file, opened as each dtype and number of dimensions. */
#include <fcntl.h>
#include <unistd.h>

#include "data/npy.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const dtypes[] = {"<f4", "<f8", "<i4", "<i8"};
    const char *path = fuzz_file("a.npy", data, size);
    int at = open(fuzz_path("."), O_DIRECTORY | O_PATH | O_CLOEXEC);
    for (int ndim = 1; ndim <= 2; ndim++)
        for (int d = 0; d < 4; d++) {
            struct dp_npy npy = {0};
            struct dp_err err = {0};
            int rc = dp_npy_open(&npy, at, ".", "a.npy", dtypes[d], ndim, &err);
            fuzz_said(rc, &err);
            if (rc != DP_OK)
                continue;
            size_t bytes = npy.dims[0] * npy.dims[1] * (size_t)(dtypes[d][2] - '0');
            fuzz_assert(npy.ndim == ndim && bytes <= size);
            volatile char last = bytes > 0 ? ((const char *)npy.data)[bytes - 1] : 0;
            (void)last;
            dp_npy_close(&npy);
        }
    close(at);
    unlink(path);
    return 0;
}
