/* A schema and a table of delimited text. */
#include "import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"schema.json", "table.csv", NULL};
    struct dp_import import = {
        .source.format = DP_IMPORT_CSV, .source.input = fuzz_path("table.csv"), .source.skip_bad = size % 3};
    struct dp_err err = {0};
    fuzz_unpack(data, size, names);
    int rc = dp_schema_load(&import.plan.schema, fuzz_path("schema.json"), &err);
    fuzz_said(rc, &err);
    if (rc == DP_OK)
        fuzz_import(&import);
    else
        dp_schema_free(&import.plan.schema);
    return 0;
}
