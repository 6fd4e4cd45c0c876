/* A first schema for a CSV or TSV table, from its rows. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/text.h"
#include "data/import.h"
#include "data/lines.h"
#include "data/text_index.h"

#define MOST_CATEGORIES 1000
#define FEW_ROWS 20 /* with fewer rows, each row may well have a text of its own */

/* Numbers with a decimal point, or with a decimal comma, then dates. */
enum { POINT, COMMA, FIRST_DATE, NOTATIONS = FIRST_DATE + DP_DATE_FORMATS };
struct range {
    bool all; /* each cell that is not missing is such a number */
    double low, high;
};

struct seen {
    char *name; /* the first line's cell */
    size_t cells;
    bool missing;             /* an empty cell, or one of the words */
    struct dp_texts words;    /* missing values in any column */
    struct dp_texts doubtful; /* missing values if the column has numbers, else categories */
    struct dp_texts texts;
    struct range range[NOTATIONS];
    bool counts; /* whole numbers, each one more than the one before */
    double first, last;
};

struct table {
    struct seen *seen;
    size_t columns, rows;
    char delimiter;
    bool header;
    int notation;
};

static int not_utf8(const struct dp_lines *l, size_t i, struct dp_err *err)
{
    char shown[DP_TEXT_SHOWN];
    return dp_fail(err, DP_E_RUN,
                   "%s: line %zu, column %zu: '%s' is not UTF-8 (iconv -f LATIN1 -t UTF-8 converts a file in Latin-1)", l->name,
                   l->number, i + 1, dp_text_show(l->field[i].text, l->field[i].length, shown));
}

/* Whether the text, which is not empty, is one of the words, which end with NULL. Comparing first bytes, without the bit of
 * their case, saves most other comparisons. */
static bool is_among(const char *const *words, const char *text, size_t length)
{
    for (; *words != NULL; words++)
        if (((**words ^ *text) & ~0x20) == 0 && strlen(*words) == length && strncasecmp(*words, text, length) == 0)
            return true;
    return false;
}

static int add_once(struct dp_texts *texts, const char *text, size_t length, struct dp_err *err)
{
    return dp_texts_find(texts, text, length) >= 0 ? DP_OK : dp_texts_add(texts, text, length, err);
}

static bool is_number(int notation, const char *text, size_t length, double *value)
{
    if (notation >= FIRST_DATE)
        return dp_date_read(dp_date_formats[notation - FIRST_DATE], DP_DATE_DAYS, text, length, value);
    return dp_number_written(text, length, notation == COMMA, value);
}

static void look_at_number(struct seen *c, const char *text, size_t length)
{
    double value = NAN;
    for (int k = 0; k < NOTATIONS; k++) {
        struct range *range = &c->range[k];
        range->all = range->all && is_number(k, text, length, &value);
        range->low = range->all ? fmin(range->low, value) : range->low;
        range->high = range->all ? fmax(range->high, value) : range->high;
    }
    if (!dp_number_cell(text, length, &value))
        value = NAN;
    c->counts = c->counts && (c->cells == 0 ? value == floor(value) : value == c->last + 1);
    c->first = c->cells == 0 ? value : c->first;
    c->last = value;
}

/* The text must be UTF-8. */
static int look(struct seen *c, const char *text, size_t length, struct dp_err *err)
{
    static const char *const absent[] = {"?", "NA", "N/A", "#N/A", "NaN", "null", "k.A.", ".", "-", NULL};
    static const char *const perhaps[] = {"none", "unknown", NULL};
    if (length == 0 || is_among(absent, text, length)) {
        c->missing = true;
        return length > 0 ? add_once(&c->words, text, length, err) : DP_OK;
    }
    bool doubtful = is_among(perhaps, text, length);
    if (doubtful && add_once(&c->doubtful, text, length, err) != DP_OK)
        return DP_E_RUN;
    if (!doubtful)
        look_at_number(c, text, length);
    c->cells++;
    return c->texts.count == MOST_CATEGORIES ? DP_OK : add_once(&c->texts, text, length, err);
}

static int compare_texts(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    int folded = strcasecmp(x, y);
    return folded != 0 ? folded : strcmp(x, y);
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

static json_t *bounds_json(const struct range *range, const char *date)
{
    json_t *list = json_array();
    char text[DP_DATE_TEXT];
    if (date != NULL && json_array_append_new(list, json_string(dp_date_print(date, range->low, text))) == 0 &&
        json_array_append_new(list, json_string(dp_date_print(date, range->high, text))) == 0)
        return list;
    if (date == NULL && json_array_append_new(list, json_real(outward(range->low, -1))) == 0 &&
        json_array_append_new(list, json_real(outward(range->high, 1))) == 0)
        return list;
    json_decref(list);
    return NULL;
}

/* Classes or categories: texts that differ only in case are one of them. */
static json_t *folded_json(const struct dp_texts *texts)
{
    json_t *list = json_array();
    int bad = 0;
    for (size_t i = 0, before; i < texts->count; i++) {
        for (before = 0; before < i && strcasecmp(texts->text[before], texts->text[i]) != 0; before++)
            ;
        if (before < i)
            continue;
        json_t *class = json_array();
        for (size_t k = i; k < texts->count; k++)
            if (strcasecmp(texts->text[i], texts->text[k]) == 0)
                bad |= json_array_append_new(class, json_string(texts->text[k]));
        bad |= json_array_append(list, json_array_size(class) == 1 ? json_array_get(class, 0) : class);
        json_decref(class);
    }
    if (bad == 0)
        return list;
    json_decref(list);
    return NULL;
}

bool dp_import_is_id(const char *name)
{
    size_t length = strlen(name);
    if (length < 2 || strcasecmp(name + length - 2, "id") != 0)
        return false;
    return length == 2 || !isalnum((unsigned char)name[length - 3]) ||
           (isupper((unsigned char)name[length - 2]) && islower((unsigned char)name[length - 3]));
}

/* The notation of a column: a date, or the notation of the table. */
static int notation_of(const struct seen *c, int notation)
{
    for (int k = FIRST_DATE; k < NOTATIONS && !c->range[notation].all; k++)
        if (c->range[k].all)
            return k;
    return notation;
}

/* The reason why a column does not become a feature, or NULL. */
static const char *left_out(const struct seen *c, bool numeric, int notation)
{
    bool full = c->texts.count == MOST_CATEGORIES;
    if (c->cells == 0)
        return "no row has a value";
    if (!numeric && full)
        return "it is not numeric and has 1000 different texts or more (\"type\": \"text\" takes its words)";
    if (!numeric && c->cells >= FEW_ROWS && 2 * c->texts.count > c->cells)
        return "more than half of its texts are different, as in names, identifiers and free text";
    if (dp_import_is_id(c->name) && (full || c->texts.count == c->cells) && c->cells > 1)
        return "its name and its values look like an identifier";
    if (numeric && notation >= FIRST_DATE && c->range[notation].low == c->range[notation].high)
        return "all its dates are the same";
    if (numeric && c->counts && c->cells >= FEW_ROWS)
        return "it counts the rows";
    return NULL;
}

static int put_numeric(json_t *o, const struct seen *c, int notation, bool label)
{
    const struct range *range = &c->range[notation];
    const char *date = notation >= FIRST_DATE ? dp_date_formats[notation - FIRST_DATE] : NULL;
    int bad = 0;
    if (date != NULL)
        bad |= json_object_set_new(o, "date", json_string(date));
    if (range->low < range->high)
        bad |= json_object_set_new(o, "bounds", bounds_json(range, date));
    else if (!label)
        bad |= json_object_set_new(o, "scale", json_string("none"));
    if (c->doubtful.count > 0 && !label)
        bad |= json_object_set_new(o, "missing", texts_json(&c->doubtful));
    if (range->low == range->high && c->missing && !label)
        bad |= json_object_set_new(o, "fill", json_real(range->low));
    return bad;
}

static json_t *column_json(struct seen *c, int notation, bool label)
{
    notation = label ? notation : notation_of(c, notation);
    bool numeric = c->range[notation].all && c->cells > c->doubtful.count,
         classes = label && (!numeric || c->texts.count <= 20);
    const char *why = label ? NULL : left_out(c, numeric, notation), *type = "categorical";
    if (label || why != NULL)
        type = label ? "label" : "ignore";
    else if (numeric)
        type = "numeric";
    if (c->texts.count > 0)
        qsort(c->texts.text, c->texts.count, sizeof *c->texts.text, compare_texts);
    json_t *o = json_object();
    int bad = json_object_set_new(o, "name", json_string(c->name));
    bad |= json_object_set_new(o, "type", json_string(type));
    if (why != NULL)
        bad |= json_object_set_new(o, "note", json_string(why));
    else if (classes)
        bad |= json_object_set_new(o, "classes", folded_json(&c->texts));
    else if (numeric)
        bad |= put_numeric(o, c, notation, label);
    else
        bad |= json_object_set_new(o, "categories", folded_json(&c->texts));
    if (why == NULL && !label && (c->missing || (numeric && c->doubtful.count > 0)))
        bad |= json_object_set_new(o, "indicator", json_true());
    if (bad == 0)
        return o;
    json_decref(o);
    return NULL;
}

static int add_columns(struct table *t, const struct dp_lines *l, struct dp_err *err)
{
    int rc = dp_alloc(&t->seen, l->fields, sizeof *t->seen, err);
    for (size_t i = 0; rc == DP_OK && i < l->fields; i++) {
        const struct dp_cell *f = &l->field[i];
        if (dp_text_valid(f->text, f->length) < f->length)
            return not_utf8(l, i, err);
        t->seen[i] = (struct seen){.counts = true, .name = strndup(f->text, f->length)};
        for (int k = 0; k < NOTATIONS; k++)
            t->seen[i].range[k] = (struct range){true, INFINITY, -INFINITY};
        t->columns = i + 1;
        if (t->seen[i].name == NULL)
            return dp_fail(err, DP_E_RUN, "out of memory");
    }
    return rc;
}

/* Whether the first line has the names of the columns: no name is a number, and in some column the name differs from the cells
 * below it. The column of row numbers that R and pandas write has an empty name. */
static bool has_header(const struct table *t)
{
    bool different = false, repeated = false, named = false;
    double value;
    for (size_t i = 0; i < t->columns; i++) {
        const struct seen *c = &t->seen[i];
        size_t length = strlen(c->name);
        named |= length > 0;
        if (is_number(POINT, c->name, length, &value) || is_number(COMMA, c->name, length, &value))
            return false;
        int notation = notation_of(c, POINT);
        if (notation >= FIRST_DATE && is_number(notation, c->name, length, &value))
            return false;
        different |= c->cells > 0 && (c->range[notation].all || c->range[COMMA].all);
        repeated |= dp_texts_find(&c->texts, c->name, length) >= 0;
    }
    return named && (different || (!repeated && t->rows > 1));
}

/* Makes the first line a row like the others. */
static int take_first_line(struct table *t, struct dp_err *err)
{
    int rc = DP_OK;
    for (size_t i = 0; rc == DP_OK && i < t->columns; i++) {
        struct seen *c = &t->seen[i];
        char name[32];
        bool counts = c->counts;
        double value, first = c->first;
        rc = look(c, c->name, strlen(c->name), err);
        c->counts = counts && dp_number_cell(c->name, strlen(c->name), &value) && (c->cells == 1 || value == first - 1);
        snprintf(name, sizeof name, "column%zu", i + 1);
        free(c->name);
        c->name = strdup(name);
        if (rc == DP_OK && c->name == NULL)
            rc = dp_fail(err, DP_E_RUN, "out of memory");
    }
    return rc;
}

/* A semicolon before a comma, which may be in numbers. A blank is a delimiter only if the line has no other. */
char dp_import_find_delimiter(const struct dp_lines *l)
{
    static const char candidate[] = ";,\t| ";
    size_t count[sizeof candidate] = {0}, best = 1;
    bool quoted = false;
    for (size_t i = l->chunk_at; i < l->chunk_end && l->chunk[i] != '\n'; i++) {
        const char *which = strchr(candidate, l->chunk[i]);
        quoted ^= l->chunk[i] == '"';
        if (!quoted && which != NULL && *which != '\0')
            count[which - candidate]++;
    }
    for (size_t k = 0; k < sizeof candidate - 1; k++)
        /* a blank is a delimiter only if the line has no other delimiter */
        if ((count[k] > count[best] && (candidate[k] != ' ' || count[best] == 0)) ||
            (k == 0 && count[0] > 0 && count[0] == count[1]))
            best = k;
    return candidate[best];
}

/* COMMA if all numbers of a column can be read with a decimal comma, and not all of them with a point. */
static int find_notation(const struct table *t)
{
    for (size_t i = 0; i < t->columns && t->delimiter != ','; i++) {
        const struct seen *c = &t->seen[i];
        if (c->cells > c->doubtful.count && c->range[COMMA].all && !c->range[POINT].all)
            return COMMA;
    }
    return POINT;
}

static int read_row(struct table *t, const struct dp_lines *l, struct dp_err *err)
{
    int rc = DP_OK;
    if (l->fields != t->columns)
        return dp_fail(err, DP_E_RUN, "%s: line %zu: %zu field%s, the first line has %zu", l->name, l->number, l->fields,
                       l->fields == 1 ? "" : "s", t->columns);
    t->rows++;
    for (size_t i = 0; rc == DP_OK && i < t->columns; i++)
        rc = dp_text_valid(l->field[i].text, l->field[i].length) < l->field[i].length
                 ? not_utf8(l, i, err)
                 : look(&t->seen[i], l->field[i].text, l->field[i].length, err);
    return rc;
}

static const char *name_of(const void *table, size_t i, size_t *length)
{
    const char *name = ((const struct table *)table)->seen[i].name;
    *length = strlen(name);
    return name;
}

/* If two columns have the same name, a name cannot say which one is meant. */
static int check_names(const struct table *t, const struct dp_lines *l, struct dp_err *err)
{
    char name[DP_TEXT_SHOWN];
    size_t twice = t->columns;
    int rc = t->header ? dp_text_index_twice(name_of, t, t->columns, &twice, err) : DP_OK;
    return rc == DP_OK && twice < t->columns
               ? dp_fail(err, DP_E_RUN, "%s: column %zu: the header has '%s' twice", l->name, twice + 1,
                         dp_text_show(t->seen[twice].name, strlen(t->seen[twice].name), name))
               : rc;
}

static int read_table(const struct dp_import *import, bool header, struct dp_lines *lines, struct table *t, struct dp_err *err)
{
    int rc = DP_OK;
    for (size_t skip = import->skip_lines; skip > 0 && (rc = dp_lines_next(lines, err)) == 1; skip--)
        ;
    bool known = import->schema.delimiter != 0 || import->format == DP_IMPORT_TSV;
    t->delimiter = known ? dp_import_delimiter(import) : dp_import_find_delimiter(lines);
    while (rc >= 0 && (rc = dp_lines_record(lines, t->delimiter, err)) == 1) {
        if (lines->fields == 1 && lines->field[0].length == 0)
            continue;
        rc = t->seen == NULL ? add_columns(t, lines, err) : read_row(t, lines, err);
    }
    if (rc >= 0 && t->rows == 0 && t->columns != 1)
        rc = dp_fail(err, DP_E_RUN, "%s: no rows", lines->name);
    if (rc >= 0 && t->columns < 2)
        rc = dp_fail(err, DP_E_RUN, "%s: fewer than two columns (is the delimiter right?)", lines->name);
    t->header = header || (rc >= 0 && has_header(t));
    if (rc >= 0 && !t->header)
        rc = take_first_line(t, err);
    t->notation = find_notation(t);
    return rc < 0 ? rc : check_names(t, lines, err);
}

static int find_label(const struct dp_import *import, const struct table *t, size_t *label, struct dp_err *err)
{
    char names[DP_TEXT_LISTED];
    *label = t->columns - 1;
    for (size_t i = 0; import->label_name != NULL && i <= t->columns; i++) {
        if (i == t->columns)
            return dp_fail(err, DP_E_USAGE, "--label: %s has no column '%s', only %s", import->input, import->label_name,
                           dp_text_list(name_of, t, t->columns, names));
        if (strcmp(t->seen[i].name, import->label_name) == 0) {
            *label = i;
            break;
        }
    }
    return DP_OK;
}

/* Words that mean a missing value in some column. NULL: no memory. */
static json_t *missing_json(const struct table *t)
{
    struct dp_texts words = {0};
    int rc = DP_OK;
    for (size_t i = 0; i < t->columns; i++)
        for (size_t k = 0; rc == DP_OK && k < t->seen[i].words.count; k++)
            rc = add_once(&words, t->seen[i].words.text[k], strlen(t->seen[i].words.text[k]), NULL);
    if (words.count > 0)
        qsort(words.text, words.count, sizeof *words.text, compare_texts);
    json_t *list = rc == DP_OK ? texts_json(&words) : NULL;
    dp_texts_free(&words);
    return list;
}

static json_t *schema_json(const struct table *t, size_t label)
{
    const char delimiter[2] = {t->delimiter, '\0'};
    json_t *list = json_array();
    for (size_t i = 0; i < t->columns; i++) {
        if (json_array_append_new(list, column_json(&t->seen[i], t->notation, i == label)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    json_t *schema = json_pack("{s:s, s:s, s:b, s:o, s:[s], s:O}", "note",
                               "Inferred from the data: bounds and categories come from private rows. Read it, put public "
                               "values in, then drop inferred-schema below.",
                               "delimiter", delimiter, "header", t->header, "missing", missing_json(t), "private_preprocessing",
                               "inferred-schema", "columns", list);
    json_decref(list);
    if (schema != NULL && t->notation == COMMA && json_object_set_new(schema, "decimal", json_string(",")) != 0) {
        json_decref(schema);
        return NULL;
    }
    return schema;
}

/* Before the other columns are described, which in a very wide table takes a gigabyte. */
static int check_label(const struct table *t, size_t label, const char *name, struct dp_err *err)
{
    json_t *column = column_json(&t->seen[label], t->notation, true);
    const json_t *classes = json_object_get(column, "classes");
    int rc = classes != NULL && json_array_size(classes) < 2
                 ? dp_fail(err, DP_E_RUN, "%s: the label '%s' has only one class, so there is nothing to learn", name,
                           t->seen[label].name)
                 : DP_OK;
    json_decref(column);
    return rc;
}

int dp_import_infer(struct dp_import *import, bool header, json_t **schema, struct dp_err *err)
{
    struct dp_lines lines;
    struct table t = {0};
    size_t label = 0;
    *schema = NULL;
    int rc = dp_lines_open_table(&lines, import->input, import->sql, err);
    if (rc != DP_OK)
        return rc;
    rc = read_table(import, header, &lines, &t, err);
    rc = rc ?: find_label(import, &t, &label, err);
    rc = rc ?: check_label(&t, label, lines.name, err);
    if (rc == DP_OK && (*schema = schema_json(&t, label)) == NULL)
        rc = dp_fail(err, DP_E_RUN, "out of memory");
    for (size_t i = 0; i < t.columns; i++) {
        free(t.seen[i].name);
        dp_texts_free(&t.seen[i].texts);
        dp_texts_free(&t.seen[i].words);
        dp_texts_free(&t.seen[i].doubtful);
    }
    free(t.seen);
    import->encoding = dp_lines_converted(&lines);
    dp_lines_close(&lines);
    return rc;
}
