/* CSV and TSV. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "data/import.h"
#include "data/input.h"
#include "data/lines.h"

static bool is_missing(const struct dp_schema *s, const struct dp_cell *f)
{
    return f->length == 0 || dp_texts_find(&s->missing, f->text, f->length) >= 0;
}

/* A malformed record: i is the number of the column, from 0. */
static int bad_cell(const struct dp_lines *l, size_t i, const char *column, const char *what, struct dp_err *err)
{
    const struct dp_cell *f = &l->field[i];
    char name[DP_TEXT_SHOWN], shown[DP_TEXT_SHOWN];
    bool text = dp_text_valid(f->text, f->length) == f->length;
    dp_fail(err, DP_E_RUN, "%s: line %zu, column %zu (%s): %s, got '%s'%s", l->name, l->number, i + 1,
            dp_text_show(column, strlen(column), name), what, dp_text_show(f->text, f->length, shown),
            text ? "" : ", which is not UTF-8 (iconv -f LATIN1 -t UTF-8 converts a file in Latin-1)");
    return DP_BAD_RECORD;
}

static int label_cell(const struct dp_schema *s, const struct dp_lines *l, size_t i, struct dp_parsed *r, struct dp_err *err)
{
    const struct dp_cell *f = &l->field[i];
    const char *name = s->column[i].name;
    if (s->real_label)
        return dp_number_cell(f->text, f->length, &r->label) ? DP_OK : bad_cell(l, i, name, "the label must be a number", err);
    for (size_t k = 0; k < s->classes; k++) {
        if (dp_texts_find(&s->class[k], f -> text, f -> length) >= 0) {
            r->label = (double)k;
            return DP_OK;
        }
    }
    return bad_cell(l, i, name, "the label is not one of the classes", err);
}

static int cell(const struct dp_schema *s, size_t i, const struct dp_lines *l, struct dp_parsed *r, struct dp_err *err)
{
    const struct dp_column *c = &s->column[i];
    const struct dp_cell *f = &l->field[i];
    double value = NAN;
    if (c->type == DP_COLUMN_IGNORE || c->type == DP_COLUMN_PERSON)
        return DP_OK;
    if (c->type == DP_COLUMN_LABEL)
        return label_cell(s, l, i, r, err);
    if (is_missing(s, f)) {
        if (c->fill == DP_FILL_REFUSE)
            return bad_cell(l, i, c->name, "the value is missing and the schema has no \"fill\"", err);
    } else if (c->type == DP_COLUMN_NUMERIC) {
        if (!dp_number_cell(f->text, f->length, &value))
            return bad_cell(l, i, c->name, "expected a number", err);
    } else {
        long category = dp_texts_find(&c->categories, f->text, f->length);
        if (category < 0 && !c->unknown_zero)
            return bad_cell(l, i, c->name, "unknown category", err);
        value = (double)category + 1; /* 1, 2, …: the spool does not keep zeros, and an unknown category is all zeros */
    }
    return dp_parsed_add(r, (uint32_t)i, value, err);
}

/* Reads the person first: a row that is malformed in another cell still belongs to this person. */
static int person_cell(const struct dp_schema *s, const struct dp_lines *l, struct dp_parsed *r, struct dp_err *err)
{
    long i = dp_schema_person(s);
    if (i < 0)
        return DP_OK;
    const struct dp_cell *f = &l->field[i];
    if (is_missing(s, f))
        return bad_cell(l, (size_t)i, s->column[i].name, "the person is missing", err);
    r->person = f->text;
    r->person_length = f->length;
    return DP_OK;
}

static int record(const struct dp_schema *s, const struct dp_lines *l, struct dp_parsed *r, struct dp_err *err)
{
    r->count = 0;
    r->person = NULL;
    if (l->fields != s->columns) {
        dp_fail(err, DP_E_RUN, "%s: line %zu: %zu field%s, the schema has %zu columns", l->name, l->number, l->fields,
                l->fields == 1 ? "" : "s", s->columns);
        return DP_BAD_RECORD;
    }
    int rc = person_cell(s, l, r, err);
    for (size_t i = 0; rc == DP_OK && i < s->columns; i++)
        rc = cell(s, i, l, r, err);
    return rc;
}

char dp_import_delimiter(const struct dp_import *import)
{
    if (import->schema.delimiter != 0)
        return import->schema.delimiter;
    return import->format == DP_IMPORT_TSV ? '\t' : ',';
}

int dp_import_put(struct dp_import *import, const struct dp_import_sink *to, int rc, struct dp_parsed *r, struct dp_err *err)
{
    bool nobodys = r->person == NULL && dp_schema_person(&import->schema) >= 0;
    if (rc == DP_BAD_RECORD && (import->malformed == import->skip_bad || nobodys))
        return DP_E_RUN; /* err says what is wrong */
    if (rc == DP_BAD_RECORD) {
        import->malformed++;
        r->count = 0;
        r->label = NAN;
        rc = DP_OK;
    }
    return rc == DP_OK ? to->put(to->self, r, err) : rc;
}

/* The rest of the file, of CSV and ARFF. */
int dp_read_records(struct dp_import *import, struct dp_lines *lines, const struct dp_import_sink *to, struct dp_err *err)
{
    struct dp_parsed r = {0};
    int rc;
    while ((rc = dp_lines_record(lines, dp_import_delimiter(import), err)) == 1) {
        if (lines->fields == 1 && lines->field[0].length == 0)
            continue; /* an empty line */
        rc = dp_import_put(import, to, record(&import->schema, lines, &r, err), &r, err);
        if (rc != DP_OK)
            break;
    }
    dp_parsed_free(&r);
    return rc;
}

/* The first line must have the names of the schema in the same order. */
static int check_header(const struct dp_import *import, struct dp_lines *l, struct dp_err *err)
{
    const struct dp_schema *s = &import->schema;
    int rc = dp_lines_record(l, dp_import_delimiter(import), err);
    if (rc != 1)
        return rc;
    if (l->fields != s->columns)
        return dp_fail(err, DP_E_RUN, "%s: line %zu: %zu name%s, the schema has %zu columns", l->name, l->number, l->fields,
                       l->fields == 1 ? "" : "s", s->columns);
    for (size_t i = 0; i < s->columns; i++) {
        const struct dp_cell *f = &l->field[i];
        const char *name = s->column[i].name;
        if (strlen(name) != f->length || memcmp(name, f->text, f->length) != 0) {
            bad_cell(l, i, name, "the header names another column", err);
            return DP_E_RUN;
        }
    }
    return DP_OK;
}

int dp_read_delimited(struct dp_import *import, const struct dp_import_sink *to, struct dp_err *err)
{
    struct dp_lines lines;
    int rc = dp_lines_open(&lines, import->input, err);
    if (rc != DP_OK)
        return rc;
    dp_input_before_wait(lines.input, to->pause, to->self);
    for (size_t skip = import->skip_lines; skip > 0 && (rc = dp_lines_next(&lines, err)) == 1; skip--)
        ;
    if (rc >= 0 && import->schema.header)
        rc = check_header(import, &lines, err);
    if (rc >= 0)
        rc = dp_read_records(import, &lines, to, err);
    dp_input_digest(lines.input, import->table);
    dp_lines_close(&lines);
    return rc;
}
