/* The text of a child pipeline, "dp-sample --data a.dp | dp-noise -z 1", taken apart the way a shell would. */
#ifndef DP_STAGE_PIPELINE_H
#define DP_STAGE_PIPELINE_H

#include "base/err.h"

#define DP_MAX_STAGES 32
#define DP_MAX_WORDS 64

struct dp_pipeline {
    int stages;
    int argc[DP_MAX_STAGES];
    char *argv[DP_MAX_STAGES][DP_MAX_WORDS + 1]; /* into text */
    char *text;
};

/* Splits at unquoted '|', and words at blanks (a line may break after '|'); '…', "…" and \ quote. Returns 0; or 1 when only a
   shell can run it (variables, globs, redirections, lists, `|&`, commands that are not dp stages, --in or --out), with *err
   saying why; or a negative status, also for a stage that prints text. The caller frees with dp_pipeline_free. */
int dp_pipeline_parse(struct dp_pipeline *pipeline, const char *text, struct dp_err *err);
void dp_pipeline_free(struct dp_pipeline *pipeline);

#endif
