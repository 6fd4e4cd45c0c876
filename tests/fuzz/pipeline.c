/* The text of a child pipeline. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "stage/pipeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dp_pipeline pipeline;
    struct dp_err err = {0};
    char *text = fuzz_text(data, size);
    int rc = dp_pipeline_parse(&pipeline, text, &err);
    fuzz_said(rc, &err);
    fuzz_assert(rc <= 1 && (rc == 0 || err.message[0] != '\0'));
    if (rc == 0) {
        size_t letters = 0;
        fuzz_assert(pipeline.stages >= 1 && pipeline.stages <= DP_MAX_STAGES);
        for (int i = 0; i < pipeline.stages; i++) {
            fuzz_assert(pipeline.argc[i] >= 1 && pipeline.argv[i][pipeline.argc[i]] == NULL);
            for (int k = 0; k < pipeline.argc[i]; k++)
                letters += strlen(pipeline.argv[i][k]);
        }
        fuzz_assert(letters <= strlen(text));
    }
    dp_pipeline_free(&pipeline);
    free(text);
    return 0;
}
