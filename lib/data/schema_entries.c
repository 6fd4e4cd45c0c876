/* The entries of a schema, as they are in a schema file and in a model: one table of entries, and one of types of columns. */
#include "base/json.h"
#include "base/mem.h"
#include "base/unit.h"
#include "data/input.h"
#include "data/schema.h"
#include "data/words.h"

/* --- reading. Refusals do not name the column and the file: dp_schema_read puts these in front */

#define SCHEMA_MOST ((size_t)1 << 26)
#define A_DATE "a date is numeric, or categorical with a \"part\" and no \"categories\""

/* The entries that are being read. */
struct entries {
    struct dp_schema *s;
    struct dp_column *c; /* NULL: of the table */
    const json_t *o;
    struct dp_err *err;
};

static const json_t *entry(const struct entries *e, const char *name)
{
    return json_object_get(e->o, name);
}

static bool is_word(const json_t *value, const char *word)
{
    return json_is_string(value) && strcmp(json_string_value(value), word) == 0;
}

/* A whole number from 1 to `most`; `usual` without an entry. 0: it is not such a number. */
static size_t whole(const json_t *value, json_int_t usual, json_int_t most)
{
    const json_int_t number = value != NULL ? json_integer_value(value) : usual;
    return number >= 1 && number <= most ? (size_t)number : 0;
}

/* A number, or the days of a date if there is a format. */
static bool is_number(const json_t *value, const char *date, double *number)
{
    if (date != NULL && json_is_string(value))
        return dp_date_read(date, DP_DATE_DAYS, json_string_value(value), json_string_length(value), number);
    *number = json_number_value(value);
    return json_is_number(value);
}

static int read_bounds(const struct entries *e, double *low, double *high)
{
    const json_t *list = entry(e, "bounds");
    if (json_array_size(list) != 2 || !is_number(json_array_get(list, 0), e->c->date, low) ||
        !is_number(json_array_get(list, 1), e->c->date, high))
        return dp_fail(e->err, DP_E_RUN, "\"bounds\" must be [low, high]");
    if (!isfinite(*high - *low))
        return dp_fail(e->err, DP_E_RUN, "the bounds are too far apart");
    return *low < *high ? DP_OK : dp_fail(e->err, DP_E_RUN, "the lower bound is not below the upper");
}

/* A text, or a list of texts, into *texts. name: of the entry. */
static int read_texts(const json_t *value, struct dp_texts *texts, const char *name, struct dp_err *err)
{
    const bool list = json_is_array(value);
    for (size_t i = 0; i < (list ? json_array_size(value) : 1); i++) {
        const json_t *text = list ? json_array_get(value, i) : value;
        if (!json_is_string(text))
            return dp_fail(err, DP_E_RUN, "\"%s\": expected %sa list of texts", name, list ? "" : "a text or ");
        dp_texts_add(texts, json_string_value(text), json_string_length(text));
    }
    return DP_OK;
}

/* A category, from the texts that mean it. A category may occur twice. A synonym may not, because its second category would
 * silently be ignored. */
static int add_category(struct dp_column *c, const struct dp_texts *texts, struct dp_err *err)
{
    const char *twice = NULL;
    if (texts->count == 0)
        return dp_fail(err, DP_E_RUN, "category %zu has no text", c->categories.count + 1);
    for (size_t k = 1; twice == NULL && k < texts->count; k++) {
        const char *text = texts->text[k];
        c->meant = dp_got(reallocarray(c->meant, c->synonyms.count + 1, sizeof *c->meant));
        c->meant[c->synonyms.count] = c->categories.count;
        if (dp_column_category(c, text, strlen(text)) >= 0)
            twice = text;
        else
            dp_texts_add(&c->synonyms, text, strlen(text));
    }
    const char *first = texts->text[0];
    if (twice == NULL && dp_texts_find(&c->synonyms, first, strlen(first)) >= 0)
        twice = first;
    if (twice != NULL)
        return dp_fail(err, DP_E_RUN, "'%s' is in two categories", DP_SHOWN(twice));
    dp_texts_add(&c->categories, first, strlen(first));
    return DP_OK;
}

static int read_categories(const struct entries *e)
{
    const json_t *list = entry(e, "categories");
    int rc = DP_OK;
    if (!json_is_array(list))
        return read_texts(list, &e->c->categories, "categories", e->err);
    for (size_t k = 0; rc == DP_OK && k < json_array_size(list); k++) {
        struct dp_texts texts = {0};
        rc = read_texts(json_array_get(list, k), &texts, "categories", e->err) ?: add_category(e->c, &texts, e->err);
        dp_texts_free(&texts);
    }
    return rc;
}

/* No text may be in two classes: its second class would silently be ignored. */
static int read_classes(const struct entries *e)
{
    const json_t *classes = entry(e, "classes");
    struct dp_schema *s = e->s;
    int rc = DP_OK;
    if (json_array_size(classes) < 2)
        return dp_fail(e->err, DP_E_RUN, "\"classes\" must list two or more");
    s->class = dp_new(json_array_size(classes), sizeof *s->class);
    for (size_t k = 0; rc == DP_OK && k < json_array_size(classes); s->classes = ++k) {
        struct dp_texts *class = &s->class[k];
        rc = read_texts(json_array_get(classes, k), class, "classes", e->err);
        if (rc == DP_OK && class->count == 0)
            rc = dp_fail(e->err, DP_E_RUN, "class %zu of \"classes\" has no text", k + 1);
        for (size_t i = 0; rc == DP_OK && i < class->count; i++)
            if (dp_schema_class_with(s, class->text[i]) >= 0)
                rc = dp_fail(e->err, DP_E_RUN, "'%s' is in two classes", DP_SHOWN(class->text[i]));
    }
    return rc;
}

static int read_label(const struct entries *e)
{
    const json_t *unknown = entry(e, "unknown");
    struct dp_schema *s = e->s;
    struct dp_column *c = e->c;
    s->label = c - s->column;
    s->real_label = entry(e, "classes") == NULL;
    s->label_center = json_is_true(entry(e, "center"));
    s->label_bounded = s->real_label && entry(e, "bounds") != NULL;
    s->label_count = s->real_label && is_word(entry(e, "scale"), "count");
    int rc = s->real_label ? DP_OK : read_classes(e);
    if (rc == DP_OK && s->label_bounded)
        rc = read_bounds(e, &s->label_low, &s->label_high);
    if (rc == DP_OK && s->real_label && entry(e, "scale") != NULL && !s->label_count)
        rc = dp_fail(e->err, DP_E_RUN, "\"scale\" of a label is \"count\"");
    if (rc == DP_OK && s->label_count && (s->label_center || s->label_low < 0))
        rc = dp_fail(e->err, DP_E_RUN, "a count has bounds from 0 on, and no \"center\"");
    c->unknown_zero = is_word(unknown, "zero");
    for (size_t k = 0; rc == DP_OK && k < s->classes && !c->unknown_zero; k++)
        if (is_word(unknown, s->class[k].text[0])) {
            c->unknown_zero = c->unknown_class = true;
            c->other = k;
        }
    return rc != DP_OK || unknown == NULL || c->unknown_zero
               ? rc
               : dp_fail(e->err, DP_E_RUN, "\"unknown\" is zero, or the name of a class");
}

static int read_numeric(const struct entries *e)
{
    static const char *const scales[] = {"bounds", "max-abs", "none"};
    struct dp_column *c = e->c;
    const json_t *unit = entry(e, "unit"), *scale = entry(e, "scale");
    if (unit != NULL && (json_string_length(unit) == 0 || c->date != NULL))
        return dp_fail(e->err, DP_E_RUN, "\"unit\" is a text such as kg|KG, and not for dates");
    c->unit = unit != NULL ? dp_got(strdup(json_string_value(unit))) : NULL;
    c->bounded = entry(e, "bounds") != NULL;
    int rc = c->bounded ? read_bounds(e, &c->low, &c->high) : DP_OK, k = 0;
    while (k <= DP_SCALE_NONE && scale != NULL && !is_word(scale, scales[k]))
        k++;
    c->scaling = (enum dp_scaling)k;
    if (rc == DP_OK && k > DP_SCALE_NONE)
        rc = dp_fail(e->err, DP_E_RUN, "\"scale\" is bounds, max-abs or none");
    return rc ?: dp_basis_read(&c->basis, e->o, c->low, c->high, e->err);
}

/* Reads "date" and "part". The categories of a part are known. */
static int read_date(const struct entries *e)
{
    const json_t *date = entry(e, "date"), *part = entry(e, "part");
    struct dp_column *c = e->c;
    if (date == NULL && part == NULL)
        return DP_OK;
    if (!json_is_string(date) || !dp_date_format(json_string_value(date)))
        return dp_fail(e->err, DP_E_RUN, "\"date\" is a format with a year, such as %%Y-%%m-%%d, or a time, such as %%H:%%M");
    for (int k = DP_DATE_MONTH; k < DP_DATE_PARTS; k++)
        if (is_word(part, dp_date_parts[k]))
            c->part = (enum dp_date_part)k;
    if (c->part == DP_DATE_DAYS && (c->type == DP_COLUMN_CATEGORICAL || part != NULL))
        return dp_fail(e->err, DP_E_RUN, "\"part\" of a date is month or weekday");
    if (part == NULL ? c->type != DP_COLUMN_NUMERIC : c->type != DP_COLUMN_CATEGORICAL || entry(e, "categories") != NULL)
        return dp_fail(e->err, DP_E_RUN, A_DATE);
    const char *const *names = c->part == DP_DATE_MONTH ? dp_date_months : dp_date_weekdays;
    for (size_t k = 0; part != NULL && names[k] != NULL; k++)
        dp_texts_add(&c->categories, names[k], strlen(names[k]));
    c->date = dp_got(strdup(json_string_value(date)));
    return DP_OK;
}

/* Buckets are categories without a text of their own. */
static int read_categorical(const struct entries *e)
{
    const json_t *buckets = entry(e, "buckets");
    struct dp_column *c = e->c;
    char bucket[32];
    int rc = c->date != NULL ? DP_OK : read_categories(e);
    c->buckets = buckets != NULL ? whole(buckets, 0, DP_SCHEMA_BUCKETS) : 0;
    c->drop_first = is_word(entry(e, "drop"), "first");
    c->unknown_zero = is_word(entry(e, "unknown"), "zero");
    if (rc == DP_OK && buckets != NULL && (c->buckets == 0 || c->date != NULL))
        rc = dp_fail(e->err, DP_E_RUN, "\"buckets\" are a whole number from 1 to %d, and not for dates", DP_SCHEMA_BUCKETS);
    for (size_t k = 1; rc == DP_OK && k <= c->buckets; k++)
        dp_texts_add(&c->categories, bucket, (size_t)sprintf(bucket, "(bucket %zu)", k));
    if (rc == DP_OK && c->categories.count == 0)
        rc = dp_fail(e->err, DP_E_RUN, "\"categories\" is empty");
    if (rc == DP_OK && entry(e, "drop") != NULL && !c->drop_first)
        rc = dp_fail(e->err, DP_E_RUN, "\"drop\" can only be first");
    return rc != DP_OK || entry(e, "unknown") == NULL || c->unknown_zero
               ? rc
               : dp_fail(e->err, DP_E_RUN, "\"unknown\" can only be zero");
}

static int read_text(const struct entries *e)
{
    e->c->words = whole(entry(e, "columns"), DP_WORDS_COLUMNS, DP_WORDS_MOST);
    return e->c->words > 0
               ? DP_OK
               : dp_fail(e->err, DP_E_RUN, "the \"columns\" of a text are a whole number from 1 to %d", DP_WORDS_MOST);
}

static int read_person(const struct entries *e)
{
    const json_t *rows = entry(e, "rows_per_person");
    e->s->rows_per_person = rows != NULL ? whole(rows, 0, DP_UNIT_MOST) : 0;
    return rows == NULL || e->s->rows_per_person > 0
               ? DP_OK
               : dp_fail(e->err, DP_E_RUN, "\"rows_per_person\" is a whole number from 1 to %d", DP_UNIT_MOST);
}

/* Reads "decimal" and "missing" of the table or of a column. */
static int read_cells(const struct entries *e, bool *comma, struct dp_texts *missing)
{
    const json_t *decimal = entry(e, "decimal"), *texts = entry(e, "missing");
    if (decimal != NULL)
        *comma = is_word(decimal, ",");
    if (decimal != NULL && !*comma && !is_word(decimal, "."))
        return dp_fail(e->err, DP_E_RUN, "\"decimal\" is a point or a comma");
    return texts != NULL ? read_texts(texts, missing, "missing", e->err) : DP_OK;
}

/* Reads "fill" and "indicator". If a column has an indicator and no fill, missing numbers become the middle of the bounds, and
 * missing categories no category. */
static int read_fill(const struct entries *e)
{
    const json_t *fill = entry(e, "fill"), *indicator = entry(e, "indicator");
    struct dp_column *c = e->c;
    const bool numeric = c->type == DP_COLUMN_NUMERIC, categorical = c->type == DP_COLUMN_CATEGORICAL;
    const char *text = categorical ? json_string_value(fill) : NULL;
    if (fill != NULL)
        c->fill = text != NULL && strcmp(text, "mode") == 0 ? DP_FILL_MODE : DP_FILL_VALUE;
    if (fill != NULL && text == NULL && (!numeric || !is_number(fill, c->date, &c->fill_value)))
        return dp_fail(e->err, DP_E_RUN, "\"fill\" does not fit its type");
    if (text != NULL && c->fill == DP_FILL_VALUE)
        c->fill_value = (double)dp_texts_find(&c->categories, text, strlen(text));
    if (c->fill_value < 0 && categorical)
        return dp_fail(e->err, DP_E_RUN, "\"fill\" is not one of its categories");
    c->indicator = json_is_true(indicator);
    if ((indicator != NULL && !json_is_boolean(indicator)) || (c->indicator && !numeric && !categorical))
        return dp_fail(e->err, DP_E_RUN, "\"indicator\" is true or false, and for features");
    if (c->indicator && categorical && c->fill != DP_FILL_REFUSE)
        return dp_fail(e->err, DP_E_RUN, "\"indicator\" excludes \"fill\" of categories");
    if (c->indicator)
        dp_column_accept_missing(c);
    return DP_OK;
}

/* --- writing */

static json_t *bounds_json(double low, double high)
{
    return json_pack("[o, o]", dp_json_number(low), dp_json_number(high));
}

static void put_numeric(json_t *o, const struct dp_schema *s, const struct dp_column *c)
{
    (void)s;
    if (c->bounded)
        json_object_set_new(o, "bounds", bounds_json(c->low, c->high));
    if (c->scaling == DP_SCALE_NONE)
        json_object_set_new(o, "scale", json_string("none"));
    dp_basis_put(&c->basis, o);
    if (c->unit != NULL)
        json_object_set_new(o, "unit", json_string(c->unit));
    if (c->fill == DP_FILL_VALUE)
        json_object_set_new(o, "fill", dp_json_number(c->fill_value));
}

/* A category is a text, or a list with its synonyms. */
static json_t *categories_json(const struct dp_column *c)
{
    json_t *list = dp_texts_json(&(struct dp_texts){c->categories.text, c->categories.count - c->buckets});
    for (size_t i = 0; i < c->synonyms.count; i++) {
        json_t *category = json_array_get(list, c->meant[i]);
        if (!json_is_array(category)) {
            json_array_set_new(list, c->meant[i], json_pack("[O]", category));
            category = json_array_get(list, c->meant[i]);
        }
        json_array_append_new(category, json_string(c->synonyms.text[i]));
    }
    return list;
}

static void put_categorical(json_t *o, const struct dp_schema *s, const struct dp_column *c)
{
    (void)s;
    if (c->date == NULL)
        json_object_set_new(o, "categories", categories_json(c));
    else
        json_object_set_new(o, "part", json_string(dp_date_parts[c->part]));
    if (c->buckets > 0)
        json_object_set_new(o, "buckets", json_integer((json_int_t)c->buckets));
    if (c->drop_first)
        json_object_set_new(o, "drop", json_string("first"));
    if (c->unknown_zero)
        json_object_set_new(o, "unknown", json_string("zero"));
    if (c->fill == DP_FILL_VALUE && c->fill_value >= 0)
        json_object_set_new(o, "fill", json_string(c->categories.text[(size_t)c->fill_value]));
}

static void put_label(json_t *o, const struct dp_schema *s, const struct dp_column *c)
{
    if (s->real_label && s->label_bounded)
        json_object_set_new(o, "bounds", bounds_json(s->label_low, s->label_high));
    if (s->label_count)
        json_object_set_new(o, "scale", json_string("count"));
    if (c->unknown_zero)
        json_object_set_new(o, "unknown", json_string(c->unknown_class ? s->class[c->other].text[0] : "zero"));
    if (s->real_label)
        return;
    json_t *classes = json_array();
    for (size_t k = 0; k < s->classes; k++)
        json_array_append_new(classes, dp_texts_json(&s->class[k]));
    json_object_set_new(o, "classes", classes);
}

static void put_text(json_t *o, const struct dp_schema *s, const struct dp_column *c)
{
    (void)s;
    json_object_set_new(o, "columns", json_integer((json_int_t)c->words));
}

/* --- the tables */

#define OF(type) (1 << DP_COLUMN_##type)
#define OF_FEATURE (OF(NUMERIC) | OF(CATEGORICAL))
#define OF_COLUMN (OF_TABLE - 1)
#define OF_TABLE (1 << (DP_COLUMN_IGNORE + 1))

static const struct {
    const char *name;
    int (*read)(const struct entries *e); /* NULL: the type has no entries of its own */
    void (*put)(json_t *o, const struct dp_schema *s, const struct dp_column *c);
} types[] = {
    [DP_COLUMN_NUMERIC] = {"numeric", read_numeric, put_numeric},
    [DP_COLUMN_CATEGORICAL] = {"categorical", read_categorical, put_categorical},
    [DP_COLUMN_TEXT] = {"text", read_text, put_text},
    [DP_COLUMN_LABEL] = {"label", read_label, put_label},
    [DP_COLUMN_PERSON] = {"person", read_person, NULL},
    [DP_COLUMN_IGNORE] = {"ignore", NULL, NULL},
};

/* All entries. A column of another type refuses the entry with the sentence `elsewhere`, or ignores it; a column that is left
 * out may keep all of its own. */
static const struct {
    const char *name;
    int owners;
    const char *elsewhere;
} known[] = {
    {"name", OF_COLUMN, NULL},
    {"type", OF_COLUMN, NULL},
    {"note", OF_COLUMN | OF_TABLE, NULL},
    {"decimal", OF_COLUMN | OF_TABLE, NULL},
    {"missing", OF_COLUMN | OF_TABLE, NULL},
    {"header", OF_TABLE, NULL},
    {"delimiter", OF_TABLE, NULL},
    {"private_preprocessing", OF_TABLE, NULL},
    {"paid", OF_TABLE, NULL},
    {"columns", OF_TABLE | OF(TEXT), "\"columns\" are for a text"},
    {"rows_per_person", OF(PERSON), "\"rows_per_person\" is for a person"},
    {"buckets", OF(CATEGORICAL), "\"buckets\" are for categories"},
    {"basis", OF(NUMERIC), "a \"basis\" is for numeric columns"},
    {"unit", OF(NUMERIC), "a \"unit\" is for numeric columns"},
    {"date", OF_FEATURE, A_DATE},
    {"part", OF_FEATURE, A_DATE},
    {"fill", OF_FEATURE, "\"fill\" does not fit its type"},
    {"indicator", OF_COLUMN, NULL},
    {"bounds", OF(NUMERIC) | OF(LABEL), NULL},
    {"scale", OF(NUMERIC) | OF(LABEL), NULL},
    {"knots", OF(NUMERIC), "\"knots\" are for numeric columns"},
    {"parts", OF(NUMERIC), "\"parts\" are for numeric columns"},
    {"shares", OF(NUMERIC), "\"shares\" are for numeric columns"},
    {"categories", OF(CATEGORICAL), NULL},
    {"drop", OF(CATEGORICAL), NULL},
    {"unknown", OF(CATEGORICAL) | OF(LABEL), NULL},
    {"classes", OF(LABEL), NULL},
    {"center", OF(LABEL), NULL},
};

/* Refuses entries that are not known to the owner, a bit. */
static int check_entries(const json_t *o, int owner, struct dp_err *err)
{
    const size_t count = sizeof known / sizeof *known;
    const int others = owner == OF_TABLE ? 0 : OF_COLUMN;
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *)o, name, value) {
        size_t k = 0;
        while (k < count && (strcmp(name, known[k].name) != 0 || !(known[k].owners & (owner | others))))
            k++;
        if (k == count)
            return dp_fail(err, DP_E_RUN, "unknown entry \"%.40s\"", name);
        if (!(known[k].owners & owner) && known[k].elsewhere != NULL && owner != OF(IGNORE))
            return dp_fail(err, DP_E_RUN, "%s", known[k].elsewhere);
    }
    return DP_OK;
}

/* Puts the place before the sentence of a refusal. */
static int refused(int rc, const char *place, struct dp_err *err)
{
    const struct dp_err sentence = err != NULL ? *err : (struct dp_err){0};
    return rc == DP_OK ? DP_OK : dp_fail(err, (enum dp_status)rc, "%s: %s", place, sentence.message);
}

static int read_entries(const struct entries *e)
{
    struct dp_column *c = e->c;
    c->comma = e->s->comma;
    int rc = check_entries(e->o, 1 << c->type, e->err) ?: read_date(e);
    if (rc == DP_OK && types[c->type].read != NULL)
        rc = types[c->type].read(e);
    rc = rc ?: read_cells(e, &c->comma, &c->missing);
    return rc ?: read_fill(e);
}

static int read_column(const struct entries *e, size_t i)
{
    struct dp_schema *s = e->s;
    const char *full = json_string_value(entry(e, "name")), *type = json_string_value(entry(e, "type"));
    char place[DP_TEXT_SHOWN + 16];
    int k = 0;
    if (full == NULL || type == NULL)
        return dp_fail(e->err, DP_E_RUN, "column %zu needs \"name\" and \"type\"", i + 1);
    snprintf(place, sizeof place, "column '%s'", DP_SHOWN(full));
    while (k <= DP_COLUMN_IGNORE && strcmp(type, types[k].name) != 0)
        k++;
    if (k > DP_COLUMN_IGNORE)
        return dp_fail(e->err, DP_E_RUN, "%s: \"type\" is numeric, categorical, text, label, person or ignore", place);
    if ((k == DP_COLUMN_LABEL && s->label >= 0) || (k == DP_COLUMN_PERSON && dp_schema_person(s) >= 0))
        return dp_fail(e->err, DP_E_RUN, "a second %s column, '%s'", types[k].name, DP_SHOWN(full));
    e->c->name = dp_got(strdup(full));
    e->c->type = (enum dp_column_type)k;
    int rc = refused(read_entries(e), place, e->err);
    if (rc == DP_OK && k == DP_COLUMN_NUMERIC && e->c->scaling == DP_SCALE_BOUNDS && !e->c->bounded)
        rc = dp_fail(e->err, DP_E_RUN, "%s needs \"bounds\", or \"scale\": \"max-abs\" or \"none\"", place);
    return rc;
}

/* A schema that was paid for says what it has cost; models inherit that. */
static int read_paid(const struct entries *e, const json_t *paid)
{
    const double delta = json_number_value(json_object_get(paid, "delta"));
    if (!(json_number_value(json_object_get(paid, "epsilon")) > 0) || !(delta > 0 && delta < 1) ||
        !json_is_string(json_object_get(paid, "ledger")) || !json_is_string(json_object_get(paid, "population")))
        return dp_fail(e->err, DP_E_RUN, "\"paid\" does not say epsilon, delta, ledger and population");
    e->s->paid = json_deep_copy(paid);
    dp_schema_note_private(e->s, DP_TEXT_PAID_SCHEMA);
    return DP_OK;
}

/* Reads all entries of the table but its columns. */
static int read_table(const struct entries *e)
{
    const json_t *delimiter = entry(e, "delimiter"), *paid = entry(e, "paid"), *words = entry(e, "private_preprocessing");
    bool sane = words == NULL || json_is_array(words);
    if (delimiter != NULL && json_string_length(delimiter) != 1)
        return dp_fail(e->err, DP_E_RUN, "\"delimiter\" must be one character");
    e->s->delimiter = delimiter != NULL ? json_string_value(delimiter)[0] : 0;
    e->s->header = json_is_true(entry(e, "header"));
    for (size_t i = 0; sane && i < json_array_size(words); i++) {
        sane = json_string_length(json_array_get(words, i)) > 0;
        if (sane)
            dp_schema_note_private(e->s, json_string_value(json_array_get(words, i)));
    }
    int rc = check_entries(e->o, OF_TABLE, e->err) ?: read_cells(e, &e->s->comma, &e->s->missing);
    if (rc == DP_OK && !sane)
        rc = dp_fail(e->err, DP_E_RUN, "\"private_preprocessing\" must be a list of texts");
    return rc != DP_OK || paid == NULL ? rc : read_paid(e, paid);
}

int dp_schema_read(struct dp_schema *s, const json_t *root, const char *path, struct dp_err *err)
{
    const json_t *columns = json_object_get(root, "columns");
    *s = (struct dp_schema){.label = -1};
    int rc = read_table(&(struct entries){s, NULL, root, err});
    if (rc == DP_OK && json_array_size(columns) == 0)
        rc = dp_fail(err, DP_E_RUN, "\"columns\" must be a list");
    s->column = dp_new(json_array_size(columns), sizeof *s->column);
    for (size_t i = 0; rc == DP_OK && i < json_array_size(columns); i++) {
        s->columns = i + 1;
        rc = read_column(&(struct entries){s, &s->column[i], json_array_get(columns, i), err}, i);
    }
    if (rc == DP_OK && s->label < 0)
        rc = dp_fail(err, DP_E_RUN, "no column has \"type\": \"label\"");
    if (rc == DP_OK && dp_schema_features(s) == 0)
        rc = dp_fail(err, DP_E_RUN, "no column is a feature");
    return refused(rc, path, err);
}

static int read_all(const char *path, char **text, size_t *length, struct dp_err *err)
{
    struct dp_input *input;
    size_t capacity = 0, got = 0;
    *text = NULL;
    *length = 0;
    int rc = dp_input_open(&input, path, err);
    if (rc != DP_OK)
        return rc;
    do {
        *length += got;
        if (*length > SCHEMA_MOST)
            rc = dp_fail(err, DP_E_RUN, "%s is longer than %zu bytes", path, SCHEMA_MOST);
        dp_extend(text, &capacity, *length + 65536, 1);
        rc = rc ?: dp_input_read(input, *text + *length, capacity - *length, &got, err);
    } while (rc == DP_OK && got > 0);
    dp_input_close(input);
    return rc;
}

int dp_schema_load(struct dp_schema *schema, const char *path, struct dp_err *err)
{
    json_t *root = NULL;
    char *text;
    size_t length;
    *schema = (struct dp_schema){.label = -1};
    int rc = read_all(path, &text, &length, err);
    size_t mark = rc == DP_OK && length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    rc = rc ?: dp_json_parse(&root, text + mark, length - mark, path, err);
    rc = rc ?: dp_schema_read(schema, root, path, err);
    json_decref(root);
    free(text);
    return rc;
}

json_t *dp_schema_columns(const struct dp_schema *s)
{
    json_t *list = json_array();
    for (const struct dp_column *c = s->column; c < s->column + s->columns; c++) {
        const bool left_out = types[c->type].put == NULL;
        if (s->header && left_out)
            continue;
        json_t *o = json_pack("{s:s, s:s}", "name", c->name, "type", types[left_out ? DP_COLUMN_IGNORE : c->type].name);
        if (!left_out)
            types[c->type].put(o, s, c);
        if (c->date != NULL)
            json_object_set_new(o, "date", json_string(c->date));
        if (c->comma != s->comma)
            json_object_set_new(o, "decimal", json_string(c->comma ? "," : "."));
        if (c->indicator)
            json_object_set_new(o, "indicator", json_true());
        if (c->missing.count > 0)
            json_object_set_new(o, "missing", dp_texts_json(&c->missing));
        json_array_append_new(list, o);
    }
    return list;
}
