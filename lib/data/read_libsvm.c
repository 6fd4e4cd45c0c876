/* LIBSVM: "label index:value …", indices from 1 and ascending. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "data/import.h"
#include "data/lines.h"

#define MOST_COLUMNS 10000000
#define MOST_CLASSES 1000

static int bad(const struct dp_lines *l, size_t at, const char *what, struct dp_err *err)
{
    return dp_fail(err, DP_E_RUN, "%s: line %zu, column %zu: %s", l->name, l->number, at + 1, what);
}

static int parse_line(const struct dp_lines *l, size_t cols, struct dp_record *r, size_t *largest,
                      struct dp_err *err)
{
    size_t at = strspn(l->line, " \t"), length = strcspn(l->line + at, " \t#");
    long before = 0;
    r->count = 0;
    if (!dp_number_cell(l->line + at, length, &r->label))
        return bad(l, at, "expected a label", err);
    for (at += length;; at += length) {
        at += strspn(l->line + at, " \t");
        length = strcspn(l->line + at, " \t#");
        if (length == 0)
            return DP_OK;
        const char *colon = memchr(l->line + at, ':', length);
        char *end;
        double value;
        long index = colon != NULL ? strtol(l->line + at, &end, 10) : 0;
        if (colon == NULL || end != colon || index < 1 || index > MOST_COLUMNS)
            return bad(l, at, "expected index:value with an index from 1", err);
        if (cols > 0 && (size_t)index > cols)
            return bad(l, at, "the index is above --cols", err);
        if (index <= before)
            return bad(l, at, "indices must ascend", err);
        if (!dp_number_cell(colon + 1, length - (size_t)(colon + 1 - (l->line + at)), &value))
            return bad(l, at, "expected a number after ':'", err);
        before = index;
        if ((size_t)index > *largest)
            *largest = (size_t)index;
        int rc = dp_record_add(r, (uint32_t)(index - 1), value, err);
        if (rc != DP_OK)
            return rc;
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The classes are the distinct labels, ascending; label values become their indices when the spool is read
 * again. */
static int name_classes(struct dp_schema *s, double *labels, size_t count, struct dp_err *err)
{
    char name[32];
    qsort(labels, count, sizeof *labels, compare);
    int rc = dp_alloc(&s->class, count, sizeof *s->class, err);
    for (; rc == DP_OK && s->classes < count; s->classes++) {
        dp_number_print(labels[s->classes], name, sizeof name);
        rc = dp_texts_add(&s->class[s->classes], name, strlen(name), err);
    }
    return rc;
}

static int note_label(double *labels, size_t *count, double label, const struct dp_lines *l,
                      struct dp_err *err)
{
    for (size_t k = 0; k < *count; k++)
        if (labels[k] == label)
            return DP_OK;
    if (*count == MOST_CLASSES)
        return dp_fail(err, DP_E_RUN, "%s: more than %d different labels (--real-label for a regression)",
                       l->name, MOST_CLASSES);
    labels[(*count)++] = label;
    return DP_OK;
}

int dp_read_libsvm(struct dp_import *import, struct dp_spool *spool, struct dp_err *err)
{
    struct dp_lines lines;
    struct dp_record r = {0};
    struct dp_schema *s = &import->schema;
    double labels[MOST_CLASSES];
    size_t classes = 0, columns = import->cols;
    bool measured = !import->real_label && import->classes == NULL;
    s->label = -1;
    s->real_label = import->real_label;
    int rc = import->classes != NULL ? dp_schema_classes(s, import->classes, err) : DP_OK;
    if (rc == DP_OK)
        rc = dp_lines_open(&lines, import->input, err);
    if (rc != DP_OK)
        return rc;
    while ((rc = dp_lines_next(&lines, err)) == 1) {
        if (strspn(lines.line, " \t") == lines.length || lines.line[0] == '#')
            continue;
        size_t largest = columns;
        rc = parse_line(&lines, import->cols, &r, &largest, err);
        if (rc == DP_OK && import->classes != NULL && dp_schema_class_of(s, r.label) < 0)
            rc = bad(&lines, 0, "the label is not one of --classes", err);
        if (rc != DP_OK && import->skipped < import->skip_bad) {
            import->skipped++;
            continue;
        }
        columns = largest;
        if (rc == DP_OK && measured)
            rc = note_label(labels, &classes, r.label, &lines, err);
        if (rc == DP_OK)
            rc = dp_spool_put(spool, &r, err);
        if (rc != DP_OK)
            break;
    }
    if (rc == DP_OK && columns == 0)
        rc = dp_fail(err, DP_E_RUN, "%s: no features", lines.name);
    dp_record_free(&r);
    dp_lines_close(&lines);
    if (rc < 0)
        return rc;
    if (measured)
        dp_schema_note_private(s, "classes");
    if (import->cols == 0)
        dp_schema_note_private(s, "columns");
    rc = dp_alloc(&s->column, columns, sizeof *s->column, err);
    for (size_t j = 0; rc == DP_OK && j < columns; j++) {
        s->column[j] = (struct dp_column){.scaling = import->max_abs ? DP_SCALE_MAX_ABS : DP_SCALE_NONE};
        s->columns = j + 1;
    }
    return rc == DP_OK && measured ? name_classes(s, labels, classes, err) : rc;
}
