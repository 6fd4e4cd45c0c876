#include "stage/pipeline.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "stage/stage.h"

enum { NEEDS_SHELL = 1 };

/* Reads one word from *from, writes it unquoted to *to. Returns 0, or NEEDS_SHELL. */
static int word(const char **from, char **to, struct dp_err *err)
{
    const char *p = *from;
    char *q = *to;
    char quote = 0;
    for (; *p != '\0'; p++) {
        if (quote == 0 && strchr(" \t\n|", *p) != NULL)
            break;
        if (quote == 0 && (*p == '\'' || *p == '"')) {
            quote = *p;
        } else if (*p == quote) {
            quote = 0;
        } else if (*p == '\\' && quote != '\'') {
            if (p[1] == '\0')
                return dp_fail(err, DP_E_USAGE, "the pipeline ends with a backslash"), NEEDS_SHELL;
            p++;
            if (*p == '\n')
                continue;
            if (quote == '"' && strchr("\\\"$`", *p) == NULL)
                *q++ = '\\';
            *q++ = *p;
        } else if ((quote == 0 && strchr("$`;&<>()*?[]{}~#!", *p) != NULL) || (quote == '"' && strchr("$`", *p) != NULL)) {
            return dp_fail(err, DP_E_USAGE, "'%c' in the pipeline needs a shell", *p), NEEDS_SHELL;
        } else {
            *q++ = *p;
        }
    }
    if (quote != 0)
        return dp_fail(err, DP_E_USAGE, "a quote in the pipeline is not closed"), NEEDS_SHELL;
    *q++ = '\0';
    *from = p;
    *to = q;
    return 0;
}

static bool names_out(char *const *argv)
{
    for (; *argv != NULL; argv++)
        if (strncmp(*argv, "--out", 5) == 0 || strncmp(*argv, "-o", 2) == 0)
            return true;
    return false;
}

static bool names_in(char *const *argv)
{
    for (; *argv != NULL; argv++)
        if (strcmp(*argv, "--in") == 0 || strncmp(*argv, "--in=", 5) == 0 || strncmp(*argv, "-i", 2) == 0)
            return true;
    return false;
}

static int check_stages(const struct dp_pipeline *p, struct dp_err *err)
{
    for (int i = 0; i < p->stages; i++) {
        if (p->argc[i] == 0)
            return dp_fail(err, DP_E_USAGE, "an element of the pipeline is empty"), NEEDS_SHELL;
        const struct dp_stage_class *class = dp_stage_find(p->argv[i][0]);
        if (class != NULL && class->sink)
            return dp_fail(err, DP_E_USAGE, "%s prints text: it has no place in a child pipeline", class->name);
        if (class == NULL)
            return dp_fail(err, DP_E_USAGE, "'%.60s' is not a dp stage", p->argv[i][0]), NEEDS_SHELL;
        if (i + 1 == p->stages && names_out(p->argv[i]))
            return dp_fail(err, DP_E_USAGE, "%s must write to standard output: it ends the child pipeline", class->name);
        if (names_in(p->argv[i]) || names_out(p->argv[i]))
            return dp_fail(err, DP_E_USAGE, "%s names a port of its own", class->name), NEEDS_SHELL;
    }
    return 0;
}

int dp_pipeline_parse(struct dp_pipeline *pipeline, const char *text, struct dp_err *err)
{
    memset(pipeline, 0, sizeof *pipeline);
    int rc = dp_alloc(&pipeline->text, 2 * strlen(text) + 2, 1, err);
    if (rc != DP_OK)
        return rc;
    char *to = pipeline->text;
    const char *from = text;
    pipeline->stages = 1;
    for (;;) {
        int at = pipeline->stages - 1;
        bool line_break = false;
        for (;; from++) {
            if (from[0] == '\\' && from[1] == '\n')
                from++; // joins two lines
            else if (*from == '\n')
                line_break = true;
            else if (*from != ' ' && *from != '\t')
                break;
        }
        if (*from == '\0')
            break;
        if (line_break && pipeline->argc[at] > 0)
            return dp_fail(err, DP_E_USAGE, "a line break inside a stage needs a shell"), NEEDS_SHELL;
        if (*from == '|') {
            from++;
            if (pipeline->stages == DP_MAX_STAGES)
                return dp_fail(err, DP_E_USAGE, "more than %d stages", DP_MAX_STAGES), NEEDS_SHELL;
            pipeline->stages++;
            continue;
        }
        if (pipeline->argc[at] == DP_MAX_WORDS)
            return dp_fail(err, DP_E_USAGE, "more than %d words in one stage", DP_MAX_WORDS), NEEDS_SHELL;
        pipeline->argv[at][pipeline->argc[at]++] = to;
        rc = word(&from, &to, err);
        if (rc != 0)
            return rc;
    }
    return check_stages(pipeline, err);
}

void dp_pipeline_free(struct dp_pipeline *pipeline)
{
    free(pipeline->text);
    pipeline->text = NULL;
}
