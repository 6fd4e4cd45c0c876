/* A schema and a table of delimited text. */
#include "import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"schema.json", "table.csv", NULL};
    struct dp_import import = {.format = DP_IMPORT_CSV, .input = fuzz_path("table.csv"), .skip_bad = size % 3};
    struct dp_err err = {0};
    fuzz_unpack(data, size, names);
    int rc = dp_schema_load(&import.schema, fuzz_path("schema.json"), &err);
    fuzz_said(rc, &err);
    if (rc == DP_OK)
        fuzz_import(&import);
    else
        dp_schema_free(&import.schema);
    return 0;
}
