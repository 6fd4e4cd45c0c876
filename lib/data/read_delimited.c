/* Reads the rows of CSV and TSV. */

#include "base/mem.h"
#include "base/number.h"
#include "base/text.h"
#include "data/crew.h"
#include "data/import.h"
#include "data/input.h"
#include "data/lines.h"
#include "data/text_index.h"
#include "data/words.h"

/* Meanings of a cell that is neither a category nor a class. */
enum { UNKNOWN = -1, MISSING = -2 };

static long meaning_of(const struct dp_import *import, size_t column, const struct dp_cell *f)
{
    return f->length == 0 ? MISSING : dp_text_index_find(&import->reader.index[column], f->text, f->length, UNKNOWN);
}

static void add_texts(struct dp_text_index *index, const struct dp_texts *texts, long meaning)
{
    for (size_t k = 0; k < texts->count; k++)
        dp_text_index_add(index, texts->text[k], strlen(texts->text[k]), meaning);
}

/* Collects what the cells of a column can mean. A class may be a word for missing values. */
static void index_column(struct dp_text_index *index, const struct dp_schema *s, const struct dp_column *c)
{
    for (size_t k = 0; c->type == DP_COLUMN_LABEL && k < s->classes; k++)
        add_texts(index, &s->class[k], (long)k);
    if (c->type == DP_COLUMN_LABEL && !c->unknown_class)
        return;
    add_texts(index, &s->missing, MISSING);
    add_texts(index, &c->missing, MISSING);
    for (size_t k = 0; k < c->categories.count - c->buckets; k++)
        dp_text_index_add(index, c->categories.text[k], strlen(c->categories.text[k]), (long)k);
    for (size_t k = 0; k < c->synonyms.count; k++)
        dp_text_index_add(index, c->synonyms.text[k], strlen(c->synonyms.text[k]), (long)c->meant[k]);
}

static void make_index(struct dp_import *import)
{
    const struct dp_schema *s = &import->plan.schema;
    import->reader.index = dp_new(s->columns, sizeof *import->reader.index);
    import->reader.person = dp_schema_person(s);
    for (size_t i = 0; i < s->columns; i++)
        index_column(&import->reader.index[i], s, &s->column[i]);
}

static void free_index(struct dp_import *import)
{
    for (size_t i = 0; import->reader.index != NULL && i < import->plan.schema.columns; i++)
        dp_text_index_free(&import->reader.index[i]);
    free(import->reader.index);
    import->reader.index = NULL;
}

static bool read_number(const struct dp_column *c, const struct dp_cell *f, double *value)
{
    return dp_number_of(f->text, f->length, c->unit, c->comma, value);
}

/* A malformed record: i is the number of the column, from 0. */
static int bad_cell(const struct dp_lines *l, size_t i, const char *column, const char *what, struct dp_err *err)
{
    const struct dp_cell *f = &l->field[i];
    char shown[DP_TEXT_SHOWN];
    bool text = dp_text_valid(f->text, f->length) == f->length;
    bool named = l->number == 1 && strlen(column) == f->length && memcmp(column, f->text, f->length) == 0;
    dp_fail(err, DP_E_RUN, "%s: line %zu, column %zu (%s): %s, got '%s'%s%s", l->name, l->number, i + 1, DP_SHOWN(column), what,
            dp_text_show(f->text, f->length, shown),
            text ? "" : ", which is not UTF-8 (iconv -f LATIN1 -t UTF-8 converts a file in Latin-1)",
            named ? ": the line has names, and the schema no \"header\": true" : "");
    return DP_BAD_RECORD;
}

/* The number of the field of column i. */
static size_t field_of(const struct dp_import *import, size_t i)
{
    return import->reader.field == NULL ? i : import->reader.field[i];
}

static int unknown_class(const struct dp_schema *s, const struct dp_lines *l, size_t i, const char *name, struct dp_err *err)
{
    char classes[DP_TEXT_LISTED], what[sizeof classes + 64];
    snprintf(what, sizeof what, "the label is not one of the classes (%s)", dp_schema_show_classes(s, classes));
    return bad_cell(l, i, name, what, err);
}

static int label_cell(const struct dp_import *import, const struct dp_lines *l, size_t i, const char *name, struct dp_parsed *r,
                      struct dp_err *err)
{
    const struct dp_schema *s = &import->plan.schema;
    const struct dp_column *c = &s->column[s->label];
    const struct dp_cell *f = &l->field[i];
    long class = dp_text_index_find(&import->reader.index[s->label], f->text, f->length, f->length == 0 ? MISSING : UNKNOWN);
    if (class == UNKNOWN && c->unknown_class)
        class = (long)c->other;
    const bool good = s->real_label ? read_number(c, f, &r->label) : class >= 0;
    r->null = !good && c->unknown_zero;
    if (!good && !r->null)
        return s->real_label ? bad_cell(l, i, name, "the label must be a number", err) : unknown_class(s, l, i, name, err);
    if (!s->real_label || r->null)
        r->label = r->null ? 0 : (double)class;
    r->labelled = true;
    return DP_OK;
}

/* A number that is not listed as a missing value: most cells. */
static bool is_usual(const struct dp_import *import, size_t column, const struct dp_cell *f, double *value)
{
    return !dp_text_index_may_have(&import->reader.index[column], f->text, f->length) &&
           read_number(&import->plan.schema.column[column], f, value);
}

static void count_strange(const struct dp_import *import, const struct dp_column *c)
{
    if (import->strange != NULL)
        import->strange[c - import->plan.schema.column]++;
}

/* A cell with a number or a date. */
static int number_cell(struct dp_import *import, const struct dp_column *c, const struct dp_lines *l, size_t i, double *value,
                       struct dp_err *err)
{
    const struct dp_cell *f = &l->field[i];
    bool date = c->date != NULL;
    bool good = date ? dp_date_read(c->date, c->part, f->text, f->length, value) : read_number(c, f, value);
    if (good)
        return DP_OK;
    *value = NAN;
    if (!import->plan.bad_missing)
        return bad_cell(l, i, c->name, date ? "expected a date as the schema says" : "expected a number", err);
    import->result.bad_cells++;
    count_strange(import, c);
    return DP_OK;
}

/* A cell with a category. *value is 1, 2, …: the spool does not keep zeros, and an unknown category is all zeros. */
static int category_cell(struct dp_import *import, const struct dp_column *c, const struct dp_lines *l, size_t i, long category,
                         double *value, struct dp_err *err)
{
    const struct dp_cell *f = &l->field[i];
    if (category == UNKNOWN && c->buckets > 0)
        category = (long)(c->categories.count - c->buckets + dp_words_hash(f->text, f->length) % c->buckets);
    bool known = category >= 0 || c->unknown_zero;
    if (!known && !import->plan.bad_missing)
        return bad_cell(l, i, c->name, "unknown category", err);
    if (category < 0)
        count_strange(import, c);
    import->result.bad_cells += !known;
    *value = known ? (double)category + 1 : (double)NAN;
    return DP_OK;
}

static int cell(struct dp_import *import, size_t column, const struct dp_lines *l, struct dp_parsed *r, struct dp_err *err)
{
    const struct dp_column *c = &import->plan.schema.column[column];
    size_t i = field_of(import, column);
    double value = NAN;
    int rc = DP_OK;
    if (c->type == DP_COLUMN_IGNORE || c->type == DP_COLUMN_PERSON)
        return DP_OK;
    if (c->type == DP_COLUMN_NUMERIC && c->date == NULL && is_usual(import, column, &l->field[i], &value)) {
        dp_parsed_add(r, (uint32_t)column, value);
        return DP_OK;
    }
    if (c->type == DP_COLUMN_LABEL && import->unlabelled)
        r->label = 0;
    if (c->type == DP_COLUMN_LABEL)
        return import->unlabelled ? DP_OK : label_cell(import, l, i, c->name, r, err);
    const struct dp_cell *f = &l->field[i];
    long meaning = meaning_of(import, column, f);
    if (c->type == DP_COLUMN_TEXT) {
        if (dp_text_valid(f->text, f->length) < f->length)
            return bad_cell(l, i, c->name, "expected a text", err);
        if (meaning != MISSING)
            dp_words_add(f->text, f->length, c->words, (uint32_t)column, r);
        return DP_OK;
    }
    if (meaning == MISSING && c->unknown_zero && c->fill == DP_FILL_REFUSE)
        value = 0; /* no category, as an unknown one */
    else if (meaning == MISSING && c->fill == DP_FILL_REFUSE)
        rc = bad_cell(l, i, c->name, "the value is missing and the schema has no \"fill\"", err);
    else if (meaning != MISSING && (c->date != NULL || c->type == DP_COLUMN_NUMERIC))
        rc = number_cell(import, c, l, i, &value, err);
    else if (meaning != MISSING)
        rc = category_cell(import, c, l, i, meaning, &value, err);
    dp_parsed_add(r, (uint32_t)column, value);
    return rc;
}

/* Reads the person first: a row that is malformed in another cell still belongs to this person. */
static int person_cell(const struct dp_import *import, const struct dp_lines *l, struct dp_parsed *r, struct dp_err *err)
{
    const struct dp_schema *s = &import->plan.schema;
    long column = import->reader.person;
    if (column < 0)
        return DP_OK;
    size_t i = field_of(import, (size_t)column);
    const struct dp_cell *f = &l->field[i];
    if (meaning_of(import, (size_t)column, f) == MISSING)
        return bad_cell(l, i, s->column[column].name, "the person is missing", err);
    r->person = f->text;
    r->person_length = f->length;
    return DP_OK;
}

int dp_read_record(struct dp_import *import, const struct dp_lines *l, struct dp_parsed *r, struct dp_err *err)
{
    const struct dp_schema *s = &import->plan.schema;
    size_t fields = import->reader.field == NULL ? s->columns : import->reader.fields;
    r->count = 0;
    r->person = NULL;
    r->labelled = r->null = false;
    if (l->fields != fields) {
        dp_fail(err, DP_E_RUN, "%s: line %zu: %zu field%s, the %s has %zu columns%s", l->name, l->number, l->fields,
                l->fields == 1 ? "" : "s", import->reader.field == NULL ? "schema" : "header", fields, dp_lines_hint(l));
        return DP_BAD_RECORD;
    }
    int rc = person_cell(import, l, r, err);
    for (size_t i = 0; rc == DP_OK && i < s->columns; i++)
        rc = cell(import, i, l, r, err);
    r->count = r->null ? 0 : r->count;
    if (rc == DP_BAD_RECORD && !r->labelled && s->label >= 0) /* a null record needs a label */
        cell(import, (size_t)s->label, l, r, err);
    return rc;
}

char dp_import_delimiter(const struct dp_import *import)
{
    if (import->plan.schema.delimiter != 0)
        return import->plan.schema.delimiter;
    return import->source.format == DP_IMPORT_TSV ? '\t' : ',';
}

int dp_import_put(struct dp_import *import, const struct dp_import_sink *to, int rc, struct dp_parsed *r, struct dp_err *err)
{
    bool nobodys = r->person == NULL && dp_schema_person(&import->plan.schema) >= 0;
    if (rc == DP_BAD_RECORD && to->malformed != NULL) {
        import->result.malformed++;
        return to->malformed(to->self, err->message, err);
    }
    if (rc == DP_BAD_RECORD && (import->result.malformed == import->source.skip_bad || nobodys || !r->labelled))
        return DP_E_RUN; /* err says what is wrong */
    if (rc == DP_BAD_RECORD) {
        import->result.malformed++;
        r->count = 0;
        r->null = true;
        rc = DP_OK;
    }
    return rc ?: to->put(to->self, r, err);
}

/* By this thread alone. */
static int read_here(struct dp_import *import, struct dp_lines *lines, const struct dp_import_sink *to, struct dp_err *err)
{
    struct dp_parsed r = {0};
    int rc = DP_OK;
    while (rc == DP_OK && (rc = dp_lines_record(lines, dp_import_delimiter(import), err)) == 1)
        rc = dp_lines_has_row(lines) ? dp_import_put(import, to, dp_read_record(import, lines, &r, err), &r, err) : DP_OK;
    dp_parsed_free(&r);
    return rc;
}

/* The rest of the file, of CSV and ARFF. */
int dp_read_records(struct dp_import *import, struct dp_lines *lines, const struct dp_import_sink *to, struct dp_err *err)
{
    make_index(import);
    import->reader.lines = lines;
    int rc = (to->makers != NULL ? dp_crew_read : read_here)(import, lines, to, err);
    free_index(import);
    return rc;
}

static bool is_named(const struct dp_cell *f, const char *name)
{
    return strlen(name) == f->length && memcmp(name, f->text, f->length) == 0;
}

static const char *field_name(const void *lines, size_t k, size_t *length)
{
    const struct dp_cell *f = &((const struct dp_lines *)lines)->field[k];
    *length = f->length;
    return f->text;
}

/* Whether the header has the schema's columns in the schema's order. */
static bool in_order(const struct dp_schema *s, const struct dp_lines *l)
{
    bool same = l->fields == s->columns;
    for (size_t i = 0; same && i < s->columns; i++)
        same = is_named(&l->field[i], s->column[i].name);
    return same;
}

/* Whether the line has one field, which is the name of no column. */
static bool is_title(const struct dp_schema *s, const struct dp_lines *l)
{
    bool title = l->fields == 1;
    for (size_t i = 0; title && i < s->columns; i++)
        title = !is_named(&l->field[0], s->column[i].name);
    return title;
}

/* Finds the field of a column by its name. */
static int find_field(struct dp_import *import, const struct dp_lines *l, size_t i, bool *taken, struct dp_err *err)
{
    const struct dp_column *c = &import->plan.schema.column[i];
    bool needed = c->type != DP_COLUMN_IGNORE && !(c->type == DP_COLUMN_LABEL && import->unlabelled);
    char names[DP_TEXT_LISTED];
    const char *name = DP_SHOWN(c->name);
    import->reader.field[i] = DP_NO_FIELD;
    for (size_t k = 0; k < l->fields; k++) {
        if (!is_named(&l->field[k], c->name))
            continue;
        if (import->reader.field[i] != DP_NO_FIELD && needed)
            return dp_fail(err, DP_E_RUN, "%s: line %zu, column %zu: the header has '%s' twice", l->name, l->number, k + 1,
                           name);
        import->reader.field[i] = k;
        taken[k] = true;
    }
    if (import->reader.field[i] == DP_NO_FIELD && needed)
        return dp_fail(err, DP_E_RUN, "%s: line %zu: the header has no column '%s', only %s%s", l->name, l->number, name,
                       dp_text_list(field_name, l, l->fields, names),
                       is_title(&import->plan.schema, l) ? " (--skip-lines N skips lines above a header)" : dp_lines_hint(l));
    return DP_OK;
}

/* Refuses a header of one name that has another delimiter in it. */
static int check_delimiter(const struct dp_schema *s, const struct dp_lines *l, struct dp_err *err)
{
    size_t at = strcspn(l->field[0].text, ";\t|,");
    if (l->fields > 1 || s->columns == 1 || at >= l->field[0].length)
        return DP_OK;
    char delimiter[2] = {l->field[0].text[at], '\0'};
    return dp_fail(err, DP_E_RUN, "%s: line %zu: one name, the schema has %zu columns (is the delimiter '%s'?)", l->name,
                   l->number, s->columns, delimiter[0] == '\t' ? "\\t" : delimiter);
}

/* Reads the header, and finds the columns of the schema by their names. */
static int read_header(struct dp_import *import, struct dp_lines *l, const struct dp_import_sink *to, struct dp_err *err)
{
    const struct dp_schema *s = &import->plan.schema;
    bool *taken = NULL;
    int rc = import->source.arff ? dp_arff_names(l, err) : dp_lines_header(l, dp_import_delimiter(import), err);
    if (rc != 1)
        return rc;
    import->reader.fields = l->fields;
    import->reader.lines = l;
    rc = check_delimiter(s, l, err);
    if (rc == DP_OK) {
        import->reader.field = dp_new(s->columns, sizeof *import->reader.field);
        taken = dp_new(l->fields, sizeof *taken);
    }
    bool ordered = rc == DP_OK && in_order(s, l);
    for (size_t i = 0; rc == DP_OK && i < s->columns; i++)
        if (ordered)
            taken[i] = (import->reader.field[i] = i) == i;
        else
            rc = find_field(import, l, i, taken, err);
    for (size_t k = 0; rc == DP_OK && k < l->fields; k++)
        if (!taken[k])
            dp_texts_add(&import->result.extra, l->field[k].text, l->field[k].length);
    free(taken);
    return rc == DP_OK && to->header != NULL ? to->header(to->self, err) : rc;
}

/* Another part may be UTF-8, and the digest is of this part only. */
static int end_part(struct dp_import *import, const struct dp_lines *l, struct dp_err *err)
{
    import->result.span.to = l->begin;
    return l->windows == 0
               ? DP_OK
               : dp_fail(err, DP_E_RUN, "%s: line %zu is not UTF-8, as it must be for an import in parts (iconv converts it)",
                         l->name, l->windows);
}

int dp_read_delimited(struct dp_import *import, const struct dp_import_sink *to, struct dp_err *err)
{
    struct dp_lines lines;
    int rc = dp_lines_open_table(&lines, import->source.input, import->source.sql, err);
    if (rc != DP_OK)
        return rc;
    dp_input_before_wait(lines.input, to->pause, to->self);
    lines.comment = import->source.comment;
    while (lines.number < import->source.skip_lines && (rc = dp_lines_next(&lines, err)) == 1)
        ;
    if (rc >= 0 && import->plan.schema.header)
        rc = read_header(import, &lines, to, err);
    char part[300];
    if (rc >= 0 && import->source.parts > 0) {
        snprintf(part, sizeof part, "%.200s, part %zu/%zu", lines.name, import->source.part, import->source.parts);
        rc = dp_lines_go(&lines, import->source.part, import->source.parts, &import->result.span, err);
        lines.name = part;
    }
    if (rc >= 0)
        rc = dp_read_records(import, &lines, to, err);
    if (rc >= 0 && import->source.parts > 0)
        rc = end_part(import, &lines, err);
    import->result.encoding = dp_lines_converted(&lines);
    import->result.notes = lines.notes;
    if (import->source.parts == 0)
        dp_input_digest(lines.input, import->result.table);
    dp_lines_close(&lines);
    return rc;
}
