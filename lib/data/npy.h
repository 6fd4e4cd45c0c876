/* NumPy's .npy files (format 1.0 and 2.0), C order, little endian: mapped for reading, streamed for writing. */
#pragma once

#include "base/err.h"
#include "base/mapped.h"

struct dp_npy {
    const void *data; /* dims[0] × dims[1] elements, into the mapping */
    uint64_t dims[2]; /* dims[1] is 1 for a vector */
    int ndim;
    struct dp_mapped *file;
};

/* Maps the file `name` in the open directory `at`, whose name is dir, read-only and checks dtype ("<f4", "<f8", "<i4", "<i8"),
   number of dimensions, and that the file is exactly as long as its shape says. Unmap with dp_npy_close. */
int dp_npy_open(struct dp_npy *npy, int at, const char *dir, const char *name, const char *dtype, int ndim, struct dp_err *err);
void dp_npy_close(struct dp_npy *npy);

/* Reads the dictionary of a header, which ends with NUL: the type of elements, their order, and up to `most` dimensions.
 * Returns their number, or -1 if the text is not such a dictionary. */
int dp_npy_read_header(const char *header, char *descr, size_t size, bool *fortran, uint64_t *dims, int most);

/* Writes a header of exactly DP_NPY_HEADER bytes at the start of the stream; it may be written again when the shape is
 * known. */
#define DP_NPY_HEADER 128
int dp_npy_write_header(FILE *stream, const char *dtype, uint64_t d0, uint64_t d1, struct dp_err *err);
