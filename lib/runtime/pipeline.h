/* Splits the text of a pipeline, "dp-sample --data a.dp | dp-noise -z 1", as a shell would. */
#pragma once

#include "base/err.h"

#define DP_MAX_STAGES 32
#define DP_MAX_WORDS 64

struct dp_pipeline {
    char *text; /* a copy */
    int stages;
    struct dp_pipeline_stage {
        size_t from, to; /* the stage is text[from .. to), without the blanks around it */
        int argc;
        char *argv[DP_MAX_WORDS + 1]; /* words without their quotes */
    } stage[DP_MAX_STAGES];
    int redirected; /* the last stage, from 1, whose standard output a shell would send to a file; 0: none */
    char shell;     /* a character that only a shell can expand, so that the words may still change; 0: there is no such
                 * character */
};

/* Cuts at unquoted '|', and into words at blanks (a line may break after '|'); '…', "…" and \ quote. Returns 0; 1, with *err
   saying why, for a text that only a shell can split: lists, groups, `|&`, comments, substitutions, unclosed quotes, empty
   elements; or a negative status. The caller frees with dp_pipeline_free, after a failure, too. */
int dp_pipeline_cut(struct dp_pipeline *pipeline, const char *text, struct dp_err *err);

/* Splits the text, and accepts only a pipeline that needs no shell. Returns 1, and *err says why, also for variables, globs,
 * redirections, commands that are not dp stages, --in and --out; a negative status also for a stage that prints text, and if the
 * output of the last stage goes to a file. */
int dp_pipeline_parse(struct dp_pipeline *pipeline, const char *text, struct dp_err *err);

/* The first stage whose command is `name`; the number of stages if no stage has that name. */
int dp_pipeline_find(const struct dp_pipeline *pipeline, const char *name);

void dp_pipeline_free(struct dp_pipeline *pipeline);
