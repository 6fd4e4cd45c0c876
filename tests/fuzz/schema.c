/* A schema as JSON text. */
#include <unistd.h>

#include "data/schema.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dp_schema schema = {0};
    struct dp_err err = {0};
    const char *path = fuzz_file("schema.json", data, size);
    int rc = dp_schema_load(&schema, path, &err);
    fuzz_said(rc, &err);
    if (rc == DP_OK) {
        fuzz_assert(schema.label < (long)schema.columns);
        dp_schema_features(&schema);
        dp_schema_class_of(&schema, 1);
    }
    dp_schema_free(&schema);
    unlink(path);
    return 0;
}
