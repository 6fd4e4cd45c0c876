/* A first schema for a CSV or TSV table, from its rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "data/import.h"
#include "data/lines.h"

#define MOST_CATEGORIES 1000

struct seen {
    char *name;
    bool numeric, missing;
    double low, high;
    struct dp_texts texts;
};

static int not_utf8(const struct dp_lines *l, size_t i, struct dp_err *err)
{
    char shown[DP_TEXT_SHOWN];
    return dp_fail(err, DP_E_RUN,
                   "%s: line %zu, column %zu: '%s' is not UTF-8 (iconv -f LATIN1 -t UTF-8 converts a file in Latin-1)", l->name,
                   l->number, i + 1, dp_text_show(l->field[i].text, l->field[i].length, shown));
}

static int look(struct seen *c, const struct dp_lines *l, size_t i, struct dp_err *err)
{
    const struct dp_cell *f = &l->field[i];
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
    if (c->texts.count == MOST_CATEGORIES || dp_texts_find(&c->texts, f->text, f->length) >= 0)
        return DP_OK;
    return dp_text_valid(f->text, f->length) == f->length ? dp_texts_add(&c->texts, f->text, f->length, err)
                                                          : not_utf8(l, i, err);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* These functions return NULL when memory is short, and pass on a NULL argument. */

static json_t *texts_json(const struct dp_texts *texts)
{
    json_t *list = json_array();
    for (size_t i = 0; i < texts->count; i++) {
        if (json_array_append_new(list, json_string(texts->text[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* The nearest number of 12 digits, as the schema will show it, that is not below (side > 0) or above (side < 0) the value. */
static double outward(double value, int side)
{
    double shown = value;
    for (double beyond = 0; beyond < 4e-11; beyond += 1e-11) {
        char text[32];
        snprintf(text, sizeof text, "%.12g", value + side * beyond * fabs(value));
        if (dp_number_real(text, &shown) && (shown - value) * side >= 0)
            return shown;
    }
    return value;
}

static json_t *bounds_json(const struct seen *c)
{
    json_t *list = json_array();
    if (json_array_append_new(list, json_real(outward(c->low, -1))) == 0 &&
        json_array_append_new(list, json_real(outward(c->high, 1))) == 0)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *column_json(struct seen *c, bool label)
{
    bool classes = label && (!c->numeric || c->texts.count <= 20);
    bool listed = !label && !c->numeric && c->texts.count < MOST_CATEGORIES;
    int bad = 0;
    if (c->texts.count > 0)
        qsort(c->texts.text, c->texts.count, sizeof *c->texts.text, compare_texts);
    json_t *o = json_object();
    bad |= json_object_set_new(o, "name", json_string(c->name));
    bad |= json_object_set_new(o, "type",
                               json_string(label        ? "label"
                                           : c->numeric ? "numeric"
                                           : listed     ? "categorical"
                                                        : "ignore"));
    if (classes)
        bad |= json_object_set_new(o, "classes", texts_json(&c->texts));
    else if (c->numeric && c->low < c->high)
        bad |= json_object_set_new(o, "bounds", bounds_json(c));
    else if (c->numeric && !label)
        bad |= json_object_set_new(o, "scale", json_string("none"));
    else if (listed)
        bad |= json_object_set_new(o, "categories", texts_json(&c->texts));
    if (c->missing && !label && c->numeric && c->low <= c->high)
        bad |= json_object_set_new(o, "fill", json_real(c->low));
    if (c->missing && listed && c->texts.count > 0)
        bad |= json_object_set_new(o, "fill", json_string(c->texts.text[0]));
    if (bad == 0)
        return o;
    json_decref(o);
    return NULL;
}

static int add_columns(struct seen **seen, size_t *columns, const struct dp_lines *l, bool header, struct dp_err *err)
{
    *seen = calloc(l->fields, sizeof **seen);
    if (*seen == NULL)
        return dp_fail(err, DP_E_RUN, "out of memory");
    *columns = l->fields;
    for (size_t i = 0; i < l->fields; i++) {
        const struct dp_cell *f = &l->field[i];
        char name[32];
        snprintf(name, sizeof name, "column%zu", i + 1);
        if (header && dp_text_valid(f->text, f->length) < f->length)
            return not_utf8(l, i, err);
        (*seen)[i] = (struct seen){.numeric = true, .low = INFINITY, .high = -INFINITY};
        (*seen)[i].name = header ? strndup(f->text, f->length) : strdup(name);
        if ((*seen)[i].name == NULL)
            return dp_fail(err, DP_E_RUN, "out of memory");
    }
    return DP_OK;
}

static int read_table(const struct dp_import *import, bool header, struct dp_lines *lines, struct seen **seen, size_t *columns,
                      struct dp_err *err)
{
    int rc = DP_OK;
    for (size_t skip = import->skip_lines; skip > 0 && (rc = dp_lines_next(lines, err)) == 1; skip--)
        ;
    while (rc >= 0 && (rc = dp_lines_record(lines, dp_import_delimiter(import), err)) == 1) {
        if (lines->fields == 1 && lines->field[0].length == 0)
            continue;
        bool first = *seen == NULL;
        if (first)
            rc = add_columns(seen, columns, lines, header, err);
        if (rc >= 0 && lines->fields != *columns)
            rc = dp_fail(err, DP_E_RUN, "%s: line %zu: %zu field%s, the first line has %zu", lines->name, lines->number,
                         lines->fields, lines->fields == 1 ? "" : "s", *columns);
        for (size_t i = 0; rc >= 0 && !(first && header) && i < *columns; i++)
            rc = look(&(*seen)[i], lines, i, err);
    }
    if (rc >= 0 && *columns < 2)
        rc = dp_fail(err, DP_E_RUN, "%s: fewer than two columns (is the delimiter right?)", lines->name);
    return rc < 0 ? rc : DP_OK;
}

static int find_label(const struct dp_import *import, const struct seen *seen, size_t columns, size_t *label,
                      struct dp_err *err)
{
    *label = columns - 1;
    for (size_t i = 0; import->label_name != NULL && i <= columns; i++) {
        if (i == columns)
            return dp_fail(err, DP_E_USAGE, "--label: %s has no column '%s'", import->input, import->label_name);
        if (strcmp(seen[i].name, import->label_name) == 0) {
            *label = i;
            break;
        }
    }
    return DP_OK;
}

static json_t *schema_json(const struct dp_import *import, bool header, struct seen *seen, size_t columns, size_t label)
{
    char delimiter[2] = {dp_import_delimiter(import), '\0'};
    json_t *list = json_array();
    for (size_t i = 0; i < columns; i++) {
        if (json_array_append_new(list, column_json(&seen[i], i == label)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    json_t *schema = json_pack("{s:s, s:s, s:b, s:[s], s:[s], s:O}", "note",
                               "Inferred from the data: bounds and categories come from private rows. Read it, put public "
                               "values in, then drop inferred-schema below.",
                               "delimiter", delimiter, "header", header, "missing", "?", "private_preprocessing",
                               "inferred-schema", "columns", list);
    json_decref(list);
    return schema;
}

int dp_import_infer(const struct dp_import *import, bool header, json_t **schema, struct dp_err *err)
{
    struct dp_lines lines;
    struct seen *seen = NULL;
    size_t columns = 0, label = 0;
    *schema = NULL;
    int rc = dp_lines_open(&lines, import->input, err);
    if (rc != DP_OK)
        return rc;
    rc = read_table(import, header, &lines, &seen, &columns, err);
    if (rc == DP_OK)
        rc = find_label(import, seen, columns, &label, err);
    if (rc == DP_OK && (*schema = schema_json(import, header, seen, columns, label)) == NULL)
        rc = dp_fail(err, DP_E_RUN, "out of memory");
    for (size_t i = 0; i < columns; i++) {
        free(seen[i].name);
        dp_texts_free(&seen[i].texts);
    }
    free(seen);
    dp_lines_close(&lines);
    return rc;
}
