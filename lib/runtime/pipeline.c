#include "runtime/pipeline.h"

#include "base/mem.h"
#include "stages/stage.h"

enum { NEEDS_SHELL = 1 };

/* Positions in the text and in the buffer of words without quotes. */
struct reader {
    const char *at;
    char *to;
    char shell;
    bool redirects; /* the last word has a redirection of standard output */
};

static bool one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

/* Whether an expansion begins here that may contain '|' which does not separate stages. */
static bool hides_bars(const char *at, char quote)
{
    if (quote == '\'')
        return false;
    return *at == '`' || (*at == '$' && one_of(at[1], quote == 0 ? "({'\"" : "({")) || (quote == 0 && one_of(*at, ";&()#"));
}

/* Whether the '>' at `at`, in a word that begins at `from`, redirects standard output: digits before it name another descriptor,
 * and ">&1" changes nothing. */
static bool redirects_output(const char *from, const char *at)
{
    size_t length = (size_t)(at - from);
    bool other = length > 0 && strspn(from, "0123456789") == length && !(length == 1 && *from == '1');
    return !other && strncmp(at, ">&1", 3) != 0;
}

/* Reads the character after a backslash. */
static void escape(struct reader *r, char quote)
{
    char c = *++r->at;
    if (c == '\n')
        return;
    if (quote == '"' && !one_of(c, "\\\"$`"))
        *r->to++ = '\\';
    *r->to++ = c;
}

/* Keeps a character of a word that began at `from`. arrow: as in word. */
static void keep(struct reader *r, const char *from, char quote, bool arrow)
{
    char c = *r->at;
    if (r->shell == 0 && ((quote == 0 && one_of(c, "$<>*?[]{}~!")) || (quote == '"' && c == '$')))
        r->shell = c;
    r->redirects = r->redirects || (quote == 0 && c == '>' && !arrow && redirects_output(from, r->at));
    *r->to++ = c;
}

/* Reads a word. Returns 0, or NEEDS_SHELL. */
static int word(struct reader *r, struct dp_err *err)
{
    const char *from = r->at;
    char quote = 0;
    bool arrow = false; /* the character before is a < or > of a redirection, to which | and & belong */
    r->redirects = false;
    for (char c; (c = *r->at) != '\0'; arrow = quote == 0 && one_of(c, "<>"), r->at++) {
        if (quote == 0 && one_of(c, " \t\n|") && !(arrow && c == '|'))
            break;
        if (quote == 0 && (c == '\'' || c == '"')) {
            quote = c;
        } else if (c == quote) {
            quote = 0;
        } else if (c == '\\' && quote != '\'') {
            if (r->at[1] == '\0')
                return dp_fail(err, DP_E_USAGE, "the pipeline ends with a backslash"), NEEDS_SHELL;
            escape(r, quote);
        } else if (hides_bars(r->at, quote) && !(arrow && c == '&')) {
            return dp_fail(err, DP_E_USAGE, "'%c' in the pipeline: it must be stages joined by bars", c), NEEDS_SHELL;
        } else {
            keep(r, from, quote, arrow);
        }
    }
    if (quote != 0)
        return dp_fail(err, DP_E_USAGE, "a quote in the pipeline is not closed"), NEEDS_SHELL;
    *r->to++ = '\0';
    return 0;
}

/* Skips blanks, and line breaks after a backslash. Returns whether there were other line breaks. */
static bool skip_blanks(struct reader *r)
{
    bool line_break = false;
    for (;; r->at++) {
        if (r->at[0] == '\\' && r->at[1] == '\n')
            r->at++;
        else if (*r->at == '\n')
            line_break = true;
        else if (*r->at != ' ' && *r->at != '\t')
            return line_break;
    }
}

static int cut(struct dp_pipeline *p, struct reader *r, struct dp_err *err)
{
    for (;;) {
        struct dp_pipeline_stage *stage = &p->stage[p->stages - 1];
        bool line_break = skip_blanks(r);
        if (*r->at == '\0' || *r->at == '|') {
            if (stage->argc == 0)
                return dp_fail(err, DP_E_USAGE, "an element of the pipeline is empty"), NEEDS_SHELL;
            if (*r->at == '\0')
                return 0;
        }
        if (line_break && stage->argc > 0)
            return dp_fail(err, DP_E_USAGE, "a line break inside a stage needs a shell"), NEEDS_SHELL;
        if (*r->at == '|') {
            r->at++;
            if (p->stages == DP_MAX_STAGES)
                return dp_fail(err, DP_E_USAGE, "more than %d stages", DP_MAX_STAGES), NEEDS_SHELL;
            p->stages++;
            continue;
        }
        if (stage->argc == DP_MAX_WORDS)
            return dp_fail(err, DP_E_USAGE, "more than %d words in one stage", DP_MAX_WORDS), NEEDS_SHELL;
        if (stage->argc == 0)
            stage->from = (size_t)(r->at - p->text);
        stage->argv[stage->argc++] = r->to;
        int rc = word(r, err);
        if (rc != 0)
            return rc;
        if (r->redirects)
            p->redirected = p->stages;
        stage->to = (size_t)(r->at - p->text);
    }
}

int dp_pipeline_cut(struct dp_pipeline *pipeline, const char *text, struct dp_err *err)
{
    size_t length = strlen(text);
    memset(pipeline, 0, sizeof *pipeline);
    pipeline->text = dp_new(3 * length + 3, 1); /* the copy; words, each with its end */
    memcpy(pipeline->text, text, length);
    pipeline->stages = 1;
    struct reader reader = {.at = pipeline->text, .to = pipeline->text + length + 1};
    int rc = cut(pipeline, &reader, err);
    pipeline->shell = reader.shell;
    return rc;
}

int dp_pipeline_find(const struct dp_pipeline *pipeline, const char *name)
{
    int at = 0;
    while (at < pipeline->stages && strcmp(pipeline->stage[at].argv[0], name) != 0)
        at++;
    return at;
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

static int check_stage(const struct dp_pipeline_stage *stage, bool last, struct dp_err *err)
{
    const struct dp_stage_class *class = dp_stage_find(stage->argv[0]);
    if (class == NULL)
        return dp_fail(err, DP_E_USAGE, "'%.60s' is not a dp stage", stage->argv[0]), NEEDS_SHELL;
    if (class->sink)
        return dp_fail(err, DP_E_USAGE, "%s prints text: it has no place in a child pipeline", class->name);
    if (last && names_out(stage->argv))
        return dp_fail(err, DP_E_USAGE, "%s must write to standard output: it ends the child pipeline", class->name);
    if (names_in(stage->argv) || names_out(stage->argv))
        return dp_fail(err, DP_E_USAGE, "%s names a port of its own", class->name), NEEDS_SHELL;
    return 0;
}

int dp_pipeline_parse(struct dp_pipeline *pipeline, const char *text, struct dp_err *err)
{
    int rc = dp_pipeline_cut(pipeline, text, err);
    if (rc == 0 && pipeline->redirected == pipeline->stages)
        return dp_fail(err, DP_E_USAGE,
                       "'>' after the last stage: its output is the child pipeline's (-o FILE writes the model)");
    if (rc == 0 && pipeline->shell != 0)
        return dp_fail(err, DP_E_USAGE, "'%c' in the pipeline needs a shell", pipeline->shell), NEEDS_SHELL;
    for (int i = 0; rc == 0 && i < pipeline->stages; i++)
        rc = check_stage(&pipeline->stage[i], i + 1 == pipeline->stages, err);
    return rc;
}

void dp_pipeline_free(struct dp_pipeline *pipeline)
{
    free(pipeline->text);
    pipeline->text = NULL;
}
