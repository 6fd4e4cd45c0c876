#include "data/format.h"

#include <strings.h>

#include "base/sync.h"

const char *const dp_format_names[DP_FORMATS] = {"csv", "tsv", "libsvm", "arff", "idx", "images", "npy", "npz", "sqlite"};

bool dp_format_takes_schema(int format)
{
    return format <= DP_IMPORT_TSV || format == DP_IMPORT_ARFF || format == DP_FORMAT_SQLITE;
}

int dp_format_of(const char *path)
{
    static const char *const packed[] = {".gz", ".xz", ".zst"};
    static const struct {
        const char *end;
        int format;
    } ends[] = {{".csv", DP_IMPORT_CSV},        {".tsv", DP_IMPORT_TSV},   {".libsvm", DP_IMPORT_LIBSVM},
                {".svm", DP_IMPORT_LIBSVM},     {".arff", DP_IMPORT_ARFF}, {".zip", DP_IMPORT_IMAGES},
                {".npy", DP_IMPORT_NPY},        {".npz", DP_IMPORT_NPZ},   {".sqlite", DP_FORMAT_SQLITE},
                {".sqlite3", DP_FORMAT_SQLITE}, {".db", DP_FORMAT_SQLITE}};
    size_t length = strlen(path);
    if (dp_is_directory(path))
        return DP_IMPORT_IMAGES;
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        if (length > strlen(packed[i]) && strcmp(path + length - strlen(packed[i]), packed[i]) == 0) {
            length -= strlen(packed[i]);
            break;
        }
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t end = strlen(ends[i].end);
        if (length > end && strncasecmp(path + length - end, ends[i].end, end) == 0)
            return ends[i].format;
    }
    return DP_FORMATS;
}
