/* ARFF (Weka): a header of attributes, then comma-separated rows. Sparse rows and dates are refused. */
#include <ctype.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/import.h"
#include "data/input.h"
#include "data/lines.h"

/* Reports an error in the header: of the attribute `name`, or of the line if name is NULL. */
static int bad(const struct dp_lines *l, const char *name, const char *what, struct dp_err *err)
{
    return name == NULL ? dp_fail(err, DP_E_RUN, "%s: line %zu: %s", l->name, l->number, what)
                        : dp_fail(err, DP_E_RUN, "%s: line %zu, attribute '%s': %s", l->name, l->number, DP_SHOWN(name), what);
}

/* One word, quoted by ' or " or ending at a blank or one of `stop`; moves *at after the word. */
static void word(const char *line, size_t *at, const char *stop, const char **text, size_t *length)
{
    *at += strspn(line + *at, " \t");
    char quote = line[*at];
    if (quote == '\'' || quote == '"') {
        *text = line + *at + 1;
        *length = strcspn(*text, quote == '"' ? "\"" : "'");
        *at += *length + 1 + ((*text)[*length] == quote);
        return;
    }
    *text = line + *at;
    *length = strcspn(*text, stop);
    *at += *length;
    while (*length > 0 && isspace((unsigned char)(*text)[*length - 1]))
        (*length)--;
}

static int nominal(const struct dp_lines *l, size_t at, struct dp_column *c, struct dp_err *err)
{
    const char *text;
    size_t length;
    for (at++;;) {
        word(l->line, &at, ",}", &text, &length);
        dp_texts_add(&c->categories, text, length);
        at += strspn(l->line + at, " \t");
        if (l->line[at] == '}')
            return DP_OK;
        if (l->line[at] != ',')
            return bad(l, c->name, "expected , or } in a list of values", err);
        at++;
    }
}

static int attribute(struct dp_import *import, const struct dp_lines *l, struct dp_err *err)
{
    struct dp_schema *s = &import->plan.schema;
    struct dp_column *grown = dp_got(reallocarray(s->column, s->columns + 1, sizeof *grown));
    const char *text;
    size_t at = strlen("@attribute"), length;
    s->column = grown;
    struct dp_column *c = &s->column[s->columns++];
    *c = (struct dp_column){.scaling = import->source.max_abs ? DP_SCALE_MAX_ABS : DP_SCALE_NONE};
    word(l->line, &at, " \t{", &text, &length);
    if (length == 0)
        return bad(l, NULL, "an attribute without a name", err);
    if (dp_text_valid(l->line, l->length) < l->length)
        return bad(l, NULL, "is not UTF-8 (iconv -f LATIN1 -t UTF-8 converts a file in Latin-1)", err);
    c->name = dp_got(strndup(text, length));
    at += strspn(l->line + at, " \t");
    if (l->line[at] == '{') {
        c->type = DP_COLUMN_CATEGORICAL;
        return nominal(l, at, c, err);
    }
    if (strncasecmp(l->line + at, "numeric", 7) == 0 || strncasecmp(l->line + at, "real", 4) == 0 ||
        strncasecmp(l->line + at, "integer", 7) == 0)
        return DP_OK;
    if (strncasecmp(l->line + at, "string", 6) == 0) {
        c->type = DP_COLUMN_IGNORE;
        return DP_OK;
    }
    return bad(l, c->name, "only numeric, nominal and string attributes are read", err);
}

/* Chooses the attribute that is the label, and reads its type. */
static int choose_label(struct dp_import *import, const struct dp_lines *l, struct dp_err *err)
{
    struct dp_schema *s = &import->plan.schema;
    s->label = (long)s->columns - 1;
    for (size_t i = 0; import->source.label_name != NULL && i <= s->columns; i++) {
        if (i == s->columns)
            return dp_fail(err, DP_E_USAGE, "--label: %s has no attribute '%s'", l->name, import->source.label_name);
        if (strcmp(s->column[i].name, import->source.label_name) == 0) {
            s->label = (long)i;
            break;
        }
    }
    if (s->columns < 2)
        return dp_fail(err, DP_E_RUN, "%s: fewer than two attributes", l->name);
    struct dp_column *c = &s->column[s->label];
    s->real_label = c->type == DP_COLUMN_NUMERIC;
    if (c->type == DP_COLUMN_IGNORE || (!s->real_label && c->categories.count < 2))
        return bad(l, c->name, "the label must be numeric or have two or more values (--label)", err);
    c->type = DP_COLUMN_LABEL;
    if (!s->real_label)
        s->class = dp_new(c->categories.count, sizeof *s->class);
    while (!s->real_label && s->classes < c->categories.count) {
        size_t k = s->classes++;
        dp_texts_add(&s->class[k], c -> categories.text[k], strlen(c->categories.text[k]));
    }
    return DP_OK;
}

/* The header up to @data. */
static int read_header(struct dp_import *import, struct dp_lines *l, struct dp_err *err)
{
    int rc;
    while ((rc = dp_lines_next(l, err)) == 1) {
        size_t at = strspn(l->line, " \t");
        if (at > 0)
            memmove(l->line, l->line + at, l->length - at + 1);
        if (strncasecmp(l->line, "@data", 5) == 0)
            return choose_label(import, l, err);
        if (strncasecmp(l->line, "@attribute", 10) == 0)
            rc = attribute(import, l, err);
        else if (l->line[0] != '\0' && l->line[0] != '%' && strncasecmp(l->line, "@relation", 9) != 0)
            rc = bad(l, NULL, "expected @relation, @attribute or @data", err);
        if (rc < 0)
            return rc;
    }
    return rc < 0 ? rc : dp_fail(err, DP_E_RUN, "%s: no @data", l->name);
}

int dp_arff_names(struct dp_lines *l, struct dp_err *err)
{
    size_t used = 0, capacity = 0, at, length;
    const char *text;
    int rc;
    l->arff = true;
    l->comment = '%';
    l->fields = 0;
    while ((rc = dp_lines_next(l, err)) == 1 && strncasecmp(l->line + strspn(l->line, " \t"), "@data", 5) != 0) {
        at = strspn(l->line, " \t");
        if (strncasecmp(l->line + at, "@attribute", 10) != 0)
            continue;
        at += 10;
        word(l->line, &at, " \t{", &text, &length);
        dp_extend(&l->head.text, &capacity, used + length, 1);
        dp_extend(&l->field, &l->field_capacity, l->fields + 1, sizeof *l->field);
        memcpy(l->head.text + used, text, length);
        l->field[l->fields++].length = length;
        used += length;
    }
    for (size_t i = 0, from = 0; i < l->fields; from += l->field[i++].length)
        l->field[i].text = l->head.text + from;
    l->head.columns = l->fields;
    return rc != 0 ? rc : dp_fail(err, DP_E_RUN, "%s: no @data", l->name);
}

int dp_read_arff(struct dp_import *import, const struct dp_import_sink *to, struct dp_err *err)
{
    struct dp_lines lines;
    int rc = dp_lines_open(&lines, import->source.input, err);
    if (rc != DP_OK)
        return rc;
    lines.arff = true;
    lines.comment = '%';
    import->plan.schema.label = -1;
    rc = read_header(import, &lines, err);
    if (rc == DP_OK)
        dp_texts_add(&import->plan.schema.missing, "?", 1);
    rc = rc ?: dp_read_records(import, &lines, to, err);
    dp_input_digest(lines.input, import->result.table);
    dp_lines_close(&lines);
    return rc;
}
