/* CSV and TSV. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "data/import.h"
#include "data/lines.h"

static bool is_missing(const struct dp_schema *s, const struct dp_cell *f)
{
    return f->length == 0 || dp_texts_find(&s->missing, f->text, f->length) >= 0;
}

static int bad_cell(const struct dp_lines *l, const struct dp_cell *f, const char *column, const char *what,
                    struct dp_err *err)
{
    return dp_fail(err, DP_E_RUN, "%s: line %zu, column %zu (%s): %s, got '%.*s'", l->name, l->number, f->at,
                   column, what, (int)(f->length < 40 ? f->length : 40), f->text);
}

static int label_cell(const struct dp_schema *s, const struct dp_lines *l, const struct dp_cell *f,
                      struct dp_record *r, struct dp_err *err)
{
    const char *name = s->column[s->label].name;
    if (s->real_label)
        return dp_number_cell(f->text, f->length, &r->label)
                   ? DP_OK
                   : bad_cell(l, f, name, "the label must be a number", err);
    for (size_t k = 0; k < s->classes; k++) {
        if (dp_texts_find(&s->class[k], f -> text, f -> length) >= 0) {
            r->label = (double)k;
            return DP_OK;
        }
    }
    return bad_cell(l, f, name, "the label is not one of the classes", err);
}

static int cell(const struct dp_schema *s, size_t i, const struct dp_lines *l, struct dp_record *r,
                struct dp_err *err)
{
    const struct dp_column *c = &s->column[i];
    const struct dp_cell *f = &l->field[i];
    double value = NAN;
    if (c->type == DP_COLUMN_IGNORE)
        return DP_OK;
    if (c->type == DP_COLUMN_LABEL)
        return label_cell(s, l, f, r, err);
    if (is_missing(s, f)) {
        if (c->fill == DP_FILL_REFUSE)
            return bad_cell(l, f, c->name, "the value is missing and the schema has no \"fill\"", err);
    } else if (c->type == DP_COLUMN_NUMERIC) {
        if (!dp_number_cell(f->text, f->length, &value))
            return bad_cell(l, f, c->name, "expected a number", err);
    } else {
        long category = dp_texts_find(&c->categories, f->text, f->length);
        if (category < 0 && !c->unknown_zero)
            return bad_cell(l, f, c->name, "unknown category", err);
        value = (double)category + 1; /* 1, 2, …: zeros are not kept, and unknown is all zeros */
    }
    return dp_record_add(r, (uint32_t)i, value, err);
}

static int record(const struct dp_schema *s, const struct dp_lines *l, struct dp_record *r,
                  struct dp_err *err)
{
    r->count = 0;
    if (l->fields != s->columns) {
        size_t at = l->fields < s->columns ? l->length + 1 : l->field[s->columns].at;
        return dp_fail(err, DP_E_RUN, "%s: line %zu, column %zu: %zu fields, the schema has %zu columns",
                       l->name, l->number, at, l->fields, s->columns);
    }
    int rc = DP_OK;
    for (size_t i = 0; rc == DP_OK && i < s->columns; i++)
        rc = cell(s, i, l, r, err);
    return rc;
}

static char delimiter_of(const struct dp_import *import)
{
    if (import->schema.delimiter != 0)
        return import->schema.delimiter;
    return import->format == DP_IMPORT_TSV ? '\t' : ',';
}

int dp_read_records(struct dp_import *import, struct dp_lines *lines, struct dp_spool *spool,
                    struct dp_err *err)
{
    struct dp_record r = {0};
    int rc;
    while ((rc = dp_lines_record(lines, delimiter_of(import), err)) == 1) {
        if (lines->fields == 1 && lines->field[0].length == 0)
            continue; /* an empty line */
        rc = record(&import->schema, lines, &r, err);
        if (rc != DP_OK && import->skipped < import->skip_bad) {
            import->skipped++;
            continue;
        }
        if (rc == DP_OK)
            rc = dp_spool_put(spool, &r, err);
        if (rc != DP_OK)
            break;
    }
    dp_record_free(&r);
    return rc;
}

/* The names in the first line must be those of the schema, in its order. */
static int check_header(const struct dp_import *import, struct dp_lines *l, struct dp_err *err)
{
    const struct dp_schema *s = &import->schema;
    int rc = dp_lines_record(l, delimiter_of(import), err);
    if (rc != 1)
        return rc;
    if (l->fields != s->columns)
        return dp_fail(err, DP_E_RUN, "%s: line %zu: %zu names, the schema has %zu columns", l->name,
                       l->number, l->fields, s->columns);
    for (size_t i = 0; i < s->columns; i++) {
        const struct dp_cell *f = &l->field[i];
        const char *name = s->column[i].name;
        if (strlen(name) != f->length || memcmp(name, f->text, f->length) != 0)
            return bad_cell(l, f, name, "the header names another column", err);
    }
    return DP_OK;
}

int dp_read_delimited(struct dp_import *import, struct dp_spool *spool, struct dp_err *err)
{
    struct dp_lines lines;
    int rc = dp_lines_open(&lines, import->input, err);
    if (rc != DP_OK)
        return rc;
    for (size_t skip = import->skip_lines; skip > 0 && (rc = dp_lines_next(&lines, err)) == 1; skip--)
        ;
    if (rc >= 0 && import->schema.header)
        rc = check_header(import, &lines, err);
    if (rc >= 0)
        rc = dp_read_records(import, &lines, spool, err);
    dp_lines_close(&lines);
    return rc;
}

/* --- a first schema
 * ------------------------------------------------------------------------------------------------ */

#define MOST_CATEGORIES 1000

struct seen {
    char *name;
    bool numeric, missing;
    double low, high;
    struct dp_texts texts;
};

static int look(struct seen *c, const struct dp_cell *f, struct dp_err *err)
{
    double value;
    if (f->length == 0 || (f->length == 1 && f->text[0] == '?')) {
        c->missing = true;
        return DP_OK;
    }
    if (c->numeric && dp_number_cell(f->text, f->length, &value)) {
        c->low = fmin(c->low, value);
        c->high = fmax(c->high, value);
    } else {
        c->numeric = false;
    }
    if (c->texts.count < MOST_CATEGORIES && dp_texts_find(&c->texts, f->text, f->length) < 0)
        return dp_texts_add(&c->texts, f->text, f->length, err);
    return DP_OK;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static json_t *texts_json(const struct dp_texts *texts)
{
    json_t *list = json_array();
    for (size_t i = 0; i < texts->count; i++)
        json_array_append_new(list, json_string(texts->text[i]));
    return list;
}

static json_t *column_json(struct seen *c, bool label)
{
    bool classes = label && (!c->numeric || c->texts.count <= 20);
    if (c->texts.count > 0)
        qsort(c->texts.text, c->texts.count, sizeof *c->texts.text, compare_texts);
    json_t *o = json_pack("{s:s, s:s}", "name", c->name, "type",
                          label                              ? "label"
                          : c->numeric                       ? "numeric"
                          : c->texts.count < MOST_CATEGORIES ? "categorical"
                                                             : "ignore");
    if (classes)
        json_object_set_new(o, "classes", texts_json(&c->texts));
    else if (c->numeric && c->low < c->high)
        json_object_set_new(o, "bounds", json_pack("[f, f]", c->low, c->high));
    else if (c->numeric)
        json_object_set_new(o, "scale", json_string("none"));
    else if (!label && c->texts.count < MOST_CATEGORIES)
        json_object_set_new(o, "categories", texts_json(&c->texts));
    if (c->missing && !label && c->numeric)
        json_object_set_new(o, "fill", json_real(c->low));
    if (c->missing && !label && !c->numeric && c->texts.count > 0)
        json_object_set_new(o, "fill", json_string(c->texts.text[0]));
    return o;
}

static int add_columns(struct seen **seen, size_t *columns, const struct dp_lines *l, bool header,
                       struct dp_err *err)
{
    *seen = calloc(l->fields, sizeof **seen);
    if (*seen == NULL)
        return dp_fail(err, DP_E_RUN, "out of memory");
    *columns = l->fields;
    for (size_t i = 0; i < l->fields; i++) {
        char name[32];
        snprintf(name, sizeof name, "column%zu", i + 1);
        (*seen)[i] = (struct seen){.numeric = true, .low = INFINITY, .high = -INFINITY};
        (*seen)[i].name = header ? strndup(l->field[i].text, l->field[i].length) : strdup(name);
    }
    return DP_OK;
}

int dp_import_infer(const struct dp_import *import, bool header, json_t **schema, struct dp_err *err)
{
    struct dp_lines lines;
    struct seen *seen = NULL;
    size_t columns = 0;
    int rc = dp_lines_open(&lines, import->input, err);
    if (rc != DP_OK)
        return rc;
    for (size_t skip = import->skip_lines; skip > 0 && (rc = dp_lines_next(&lines, err)) == 1; skip--)
        ;
    while (rc >= 0 && (rc = dp_lines_record(&lines, delimiter_of(import), err)) == 1) {
        if (lines.fields == 1 && lines.field[0].length == 0)
            continue;
        bool first = seen == NULL;
        if (first)
            rc = add_columns(&seen, &columns, &lines, header, err);
        if (rc >= 0 && lines.fields != columns)
            rc = dp_fail(err, DP_E_RUN, "%s: line %zu: %zu fields, the first line has %zu", lines.name,
                         lines.number, lines.fields, columns);
        for (size_t i = 0; rc >= 0 && !(first && header) && i < columns; i++)
            rc = look(&seen[i], &lines.field[i], err);
    }
    if (rc >= 0 && columns < 2)
        rc = dp_fail(err, DP_E_RUN, "%s: fewer than two columns (is the delimiter right?)", lines.name);
    if (rc >= 0) {
        char delimiter[2] = {delimiter_of(import), '\0'};
        json_t *list = json_array();
        for (size_t i = 0; i < columns; i++) {
            bool label =
                import->label_name != NULL ? strcmp(seen[i].name, import->label_name) == 0 : i + 1 == columns;
            json_array_append_new(list, column_json(&seen[i], label));
        }
        *schema = json_pack(
            "{s:s, s:s, s:b, s:[s], s:[s], s:o}", "note",
            "Inferred from the data: bounds and categories come from private rows. Read it, put public "
            "values in, then drop inferred-schema below.",
            "delimiter", delimiter, "header", header, "missing", "?", "private_preprocessing",
            "inferred-schema", "columns", list);
    }
    for (size_t i = 0; i < columns; i++) {
        free(seen[i].name);
        dp_texts_free(&seen[i].texts);
    }
    free(seen);
    dp_lines_close(&lines);
    return rc < 0 ? rc : DP_OK;
}
