/* A table whose schema is inferred: the schema can be read again, and fits the table. */
#include <jansson.h>

#include "data/propose.h"
#include "import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dp_import look = {.source.format = size % 2 == 0 ? DP_IMPORT_CSV : DP_IMPORT_TSV, .split = (double)NAN};
    struct dp_err err = {0};
    struct dp_census census = {0};
    json_t *json;
    look.plan.schema.header = size % 3 == 0;
    look.source.input = fuzz_file("table", data, size);
    int rc = dp_census_read(&census, &look, DP_CENSUS_UNPAID, &err);
    rc = rc ?: dp_propose_exact(&census, &look, &json, &err);
    fuzz_said(rc, &err);
    if (rc == DP_OK) {
        struct dp_import import = {.source.format = look.source.format, .source.input = look.source.input};
        fuzz_assert(json_dump_file(json, fuzz_path("schema.json"), JSON_INDENT(1)) == 0);
        rc = dp_schema_load(&import.plan.schema, fuzz_path("schema.json"), &err);
        fuzz_said(rc, &err);
        if (rc == DP_OK)
            fuzz_import(&import);
        else
            dp_schema_free(&import.plan.schema);
        json_decref(json);
    }
    dp_census_free(&census);
    dp_import_free(&look);
    return 0;
}
