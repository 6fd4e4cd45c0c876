/* LIBSVM: "label index:value …", indices from 1 and ascending. */

#include "base/mem.h"
#include "base/number.h"
#include "data/import.h"
#include "data/input.h"
#include "data/lines.h"

#define MOST_COLUMNS 10000000
#define FEW_COLUMNS 65536 /* any file may have this many */
#define MOST_CLASSES 1000

/* A malformed record: field 1 is the label, field 2 the first index:value. */
static int bad(const struct dp_lines *l, size_t field, const char *what, struct dp_err *err)
{
    dp_fail(err, DP_E_RUN, "%s: line %zu, field %zu: %s", l->name, l->number, field, what);
    return DP_BAD_RECORD;
}

static int unknown_class(const struct dp_schema *s, const struct dp_lines *l, struct dp_err *err)
{
    char classes[DP_TEXT_LISTED], what[sizeof classes + 64];
    snprintf(what, sizeof what, "the label is not one of --classes (%s)", dp_schema_show_classes(s, classes));
    return bad(l, 1, what, err);
}

static int parse_line(const struct dp_lines *l, const struct dp_import *import, struct dp_parsed *r, size_t *largest,
                      struct dp_err *err)
{
    const size_t cols = import->source.cols;
    size_t at = strspn(l->line, " \t"), length = strcspn(l->line + at, " \t#"), field = 1;
    long before = 0;
    r->count = 0;
    r->null = false;
    r->labelled = import->unlabelled || dp_number_cell(l->line + at, length, &r->label);
    if (!r->labelled)
        return bad(l, field, "expected a label", err);
    if (import->unlabelled && memchr(l->line + at, ':', length) != NULL)
        length = 0;
    for (at += length;; at += length) {
        at += strspn(l->line + at, " \t");
        length = strcspn(l->line + at, " \t#");
        if (length == 0)
            return DP_OK;
        const char *colon = memchr(l->line + at, ':', length);
        char *end;
        double value;
        long index = colon != NULL ? strtol(l->line + at, &end, 10) : 0;
        field++;
        if (colon != NULL && end == colon && index == 0)
            return bad(l, field,
                       "the index is 0, and the first one is 1 (scikit-learn: dump_svmlight_file(..., zero_based=False))", err);
        if (colon == NULL || end != colon || index < 1 || index > MOST_COLUMNS)
            return bad(l, field, "expected index:value with an index from 1", err);
        if (cols > 0 && (size_t)index > cols)
            return bad(l, field, import->unlabelled ? "the model has fewer columns" : "the index is above --cols", err);
        if (index <= before)
            return bad(l, field, "indices must ascend", err);
        if (!dp_number_cell(colon + 1, length - (size_t)(colon + 1 - (l->line + at)), &value))
            return bad(l, field, "expected a number after ':'", err);
        before = index;
        if ((size_t)index > *largest)
            *largest = (size_t)index;
        dp_parsed_add(r, (uint32_t)(index - 1), value);
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The classes are the distinct labels, ascending; label values become their indices when the spool is read again. */
static void name_classes(struct dp_schema *s, double *labels, size_t count)
{
    qsort(labels, count, sizeof *labels, compare);
    s->class = dp_new(count, sizeof *s->class);
    while (s->classes < count) {
        size_t k = s->classes++;
        const char *name = DP_NUMBER(labels[k]);
        dp_texts_add(&s->class[k], name, strlen(name));
    }
}

static int note_label(double *labels, size_t *count, double label, const struct dp_lines *l, struct dp_err *err)
{
    for (size_t k = 0; k < *count; k++)
        if (labels[k] == label)
            return DP_OK;
    if (*count == MOST_CLASSES)
        return dp_fail(err, DP_E_RUN, "%s: more than %d different labels (--number for a regression)", l->name, MOST_CLASSES);
    labels[(*count)++] = label;
    return DP_OK;
}

struct libsvm {
    double labels[MOST_CLASSES]; /* measured */
    size_t classes, columns, bytes;
};

static bool measures_classes(const struct dp_import *import)
{
    return !import->source.real_label && import->source.classes == NULL && !import->unlabelled;
}

static int read_lines(struct dp_import *import, struct dp_lines *lines, struct libsvm *m, const struct dp_import_sink *to,
                      struct dp_err *err)
{
    struct dp_parsed r = {0};
    bool measured = measures_classes(import);
    int rc;
    while ((rc = dp_lines_next(lines, err)) == 1) {
        m->bytes += lines->length + 1;
        if (strspn(lines->line, " \t") == lines->length || lines->line[0] == '#')
            continue;
        size_t largest = m->columns;
        rc = parse_line(lines, import, &r, &largest, err);
        if (rc >= 0 && r.labelled && import->source.classes != NULL && dp_schema_class_of(&import->plan.schema, r.label) < 0) {
            rc = unknown_class(&import->plan.schema, lines, err);
            r.labelled = false;
        }
        if (rc == DP_OK)
            m->columns = largest;
        if (rc >= 0 && r.labelled && measured && note_label(m->labels, &m->classes, r.label, lines, err) != DP_OK)
            rc = DP_E_RUN;
        rc = dp_import_put(import, to, rc, &r, err);
        if (rc != DP_OK)
            break;
    }
    dp_parsed_free(&r);
    if (rc == DP_OK && m->columns == 0)
        rc = dp_fail(err, DP_E_RUN, "%s: no features", lines->name);
    /* Bounds memory by the size of the file, whatever index the file has. */
    if (rc == DP_OK && import->source.cols == 0 && m->columns > FEW_COLUMNS && m->columns > m->bytes)
        rc = dp_fail(err, DP_E_RUN, "%s: the largest index is %zu in a file of %zu bytes (--cols %zu if that is right)",
                     lines->name, m->columns, m->bytes, m->columns);
    if (rc == DP_OK && measured && m->classes < 2)
        rc = dp_fail(err, DP_E_RUN, "%s: all labels are the same (--classes lists those that there are)", lines->name);
    return rc;
}

int dp_read_libsvm(struct dp_import *import, const struct dp_import_sink *to, struct dp_err *err)
{
    struct dp_lines lines;
    struct dp_schema *s = &import->plan.schema;
    struct libsvm m = {.columns = import->source.cols};
    const struct dp_column column = {.scaling = import->source.max_abs ? DP_SCALE_MAX_ABS : DP_SCALE_NONE};
    bool measured = measures_classes(import);
    s->label = -1;
    s->real_label = import->source.real_label;
    int rc = import->source.classes != NULL ? dp_schema_classes(s, import->source.classes, err) : DP_OK;
    rc = rc ?: dp_lines_open(&lines, import->source.input, err);
    if (rc != DP_OK)
        return rc;
    if (m.columns > 0)
        dp_schema_alike(s, m.columns, column);
    rc = read_lines(import, &lines, &m, to, err);
    dp_input_digest(lines.input, import->result.table);
    dp_lines_close(&lines);
    if (rc == DP_OK && measured)
        dp_schema_note_private(s, "classes");
    if (rc == DP_OK && import->source.cols == 0) {
        dp_schema_note_private(s, "columns");
        dp_schema_alike(s, m.columns, column);
    }
    if (rc == DP_OK && measured)
        name_classes(s, m.labels, m.classes);
    return rc;
}
