/* The text of a child pipeline. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "runtime/pipeline.h"

/* Stages in order, a bar between any two, and words that are no longer than the text. */
static void check_cut(const struct dp_pipeline *p, const char *text)
{
    size_t letters = 0, end = 0;
    fuzz_assert(p->stages >= 1 && p->stages <= DP_MAX_STAGES && strcmp(p->text, text) == 0);
    for (int i = 0; i < p->stages; i++) {
        const struct dp_pipeline_stage *s = &p->stage[i];
        fuzz_assert(s->from >= end && s->from < s->to && s->to <= strlen(text));
        fuzz_assert(i == 0 || memchr(text + end, '|', s->from - end) != NULL);
        fuzz_assert(s->argc >= 1 && s->argv[s->argc] == NULL);
        for (int k = 0; k < s->argc; k++)
            letters += strlen(s->argv[k]);
        end = s->to;
    }
    fuzz_assert(letters <= strlen(text) && dp_pipeline_find(p, p->stage[0].argv[0]) == 0);
}

/* The text of one stage is parsed again as one stage with the same words. */
static void check_stage(const struct dp_pipeline_stage *stage, const char *text)
{
    struct dp_pipeline alone;
    char *own = fuzz_text((const uint8_t *)text + stage->from, stage->to - stage->from);
    fuzz_assert(dp_pipeline_cut(&alone, own, NULL) == 0 && alone.stages == 1 && alone.stage[0].argc == stage->argc);
    for (int k = 0; k < stage->argc; k++)
        fuzz_assert(strcmp(alone.stage[0].argv[k], stage->argv[k]) == 0);
    dp_pipeline_free(&alone);
    free(own);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dp_pipeline pipeline;
    struct dp_err err = {0};
    char *text = fuzz_text(data, size);
    int cut = dp_pipeline_cut(&pipeline, text, &err);
    fuzz_said(cut, &err);
    fuzz_assert(cut <= 1 && (cut == 0 || err.message[0] != '\0'));
    if (cut == 0)
        check_cut(&pipeline, text);
    for (int i = 0; cut == 0 && i < pipeline.stages; i++)
        check_stage(&pipeline.stage[i], text);
    dp_pipeline_free(&pipeline);

    int rc = dp_pipeline_parse(&pipeline, text, &err);
    fuzz_said(rc, &err);
    fuzz_assert(rc <= 1 && (rc == 0 || err.message[0] != '\0') && (cut == 0 || rc == cut));
    dp_pipeline_free(&pipeline);
    free(text);
    return 0;
}
