#include "data/npy.h"

/* The value after 'key': in the header's dictionary. */
static const char *entry(const char *header, const char *key)
{
    char quoted[40];
    snprintf(quoted, sizeof quoted, "'%s':", key);
    const char *at = strstr(header, quoted);
    if (at == NULL)
        return "";
    at += strlen(quoted);
    return at + strspn(at, " ");
}

/* Parses "(12, 3)" or "(12,)". Returns the number of dimensions, or -1. */
static int shape(const char *text, uint64_t *dims, int most)
{
    int n = 0;
    if (*text++ != '(')
        return -1;
    for (;;) {
        text += strspn(text, " ,");
        if (*text == ')')
            return n;
        if (n == most || *text < '0' || *text > '9')
            return -1;
        char *end;
        errno = 0;
        dims[n++] = strtoull(text, &end, 10);
        if (errno != 0)
            return -1;
        text = end;
    }
}

int dp_npy_read_header(const char *header, char *descr, size_t size, bool *fortran, uint64_t *dims, int most)
{
    const char *type = entry(header, "descr"), *order = entry(header, "fortran_order");
    const char *end = type[0] == '\'' ? strchr(type + 1, '\'') : NULL;
    *fortran = order[0] == 'T';
    if (!*fortran && order[0] != 'F')
        return -1;
    if (end == NULL)
        snprintf(descr, size, "%.*s", (int)strcspn(type, "\n"), type); /* of records: a list */
    else
        snprintf(descr, size, "%.*s", (int)(end - type - 1), type + 1);
    return shape(entry(header, "shape"), dims, most);
}

static int parse(struct dp_npy *npy, const char *dtype, int ndim, const char *path, struct dp_err *err)
{
    const unsigned char *bytes = dp_mapped_bytes(npy->file);
    size_t total = dp_mapped_size(npy->file);
    char header[1024];
    if (total < 12 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return dp_fail(err, DP_E_RUN, "%s: not a .npy file", path);
    size_t length = bytes[8] + 256u * bytes[9], start = 10;
    if (bytes[6] >= 2) {
        length += ((size_t)bytes[10] << 16) + ((size_t)bytes[11] << 24);
        start = 12;
    }
    if (length >= sizeof header || start + length > total)
        return dp_fail(err, DP_E_RUN, "%s: its header is cut short or too long", path);
    memcpy(header, bytes + start, length);
    header[length] = '\0';
    const char *descr = entry(header, "descr");
    if (descr[0] != '\'' || strncmp(descr + 1, dtype, 3) != 0 || descr[4] != '\'' ||
        strncmp(entry(header, "fortran_order"), "False", 5) != 0)
        return dp_fail(err, DP_E_RUN, "%s: expected %s in C order", path, dtype);
    npy->dims[0] = npy->dims[1] = 1;
    npy->ndim = shape(entry(header, "shape"), npy->dims, 2);
    if (npy->ndim != ndim)
        return dp_fail(err, DP_E_RUN, "%s: expected %d dimensions", path, ndim);
    size_t element = (size_t)(dtype[2] - '0'), size;
    if (__builtin_mul_overflow(npy->dims[0], npy->dims[1], &size) || __builtin_mul_overflow(size, element, &size) ||
        size != total - start - length)
        return dp_fail(err, DP_E_RUN, "%s: holds %zu bytes of data, its shape needs %zu", path, total - start - length, size);
    if ((start + length) % element != 0)
        return dp_fail(err, DP_E_RUN, "%s: its data are not aligned", path);
    npy->data = bytes + start + length;
    return DP_OK;
}

int dp_npy_open(struct dp_npy *npy, int at, const char *dir, const char *name, const char *dtype, int ndim, struct dp_err *err)
{
    char path[4096];
    memset(npy, 0, sizeof *npy);
    if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, name) >= sizeof path)
        return dp_fail(err, DP_E_RUN, "%.60s…: the path is too long", dir);
    int rc = dp_mapped_open(&npy->file, at, name, path, err);
    rc = rc ?: parse(npy, dtype, ndim, path, err);
    if (rc != DP_OK)
        dp_npy_close(npy);
    return rc;
}

void dp_npy_close(struct dp_npy *npy)
{
    dp_mapped_close(npy->file);
    npy->file = NULL;
}

int dp_npy_write_header(FILE *stream, const char *dtype, uint64_t d0, uint64_t d1, struct dp_err *err)
{
    char header[DP_NPY_HEADER], dims[48];
    snprintf(dims, sizeof dims, d1 > 0 ? "(%llu, %llu)" : "(%llu,)", (unsigned long long)d0, (unsigned long long)d1);
    memset(header, ' ', sizeof header);
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = DP_NPY_HEADER - 10;
    header[9] = 0;
    int used = snprintf(header + 10, sizeof header - 10, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", dtype, dims);
    header[10 + used] = ' ';
    header[DP_NPY_HEADER - 1] = '\n';
    if (fwrite(header, 1, DP_NPY_HEADER, stream) != DP_NPY_HEADER)
        return dp_fail_errno(err, errno, "cannot write an array");
    return DP_OK;
}
