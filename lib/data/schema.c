#include "data/schema.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/unit.h"
#include "data/input.h"
#include "data/words.h"

#define SCHEMA_MOST ((size_t)1 << 26)

long dp_texts_find(const struct dp_texts *texts, const char *text, size_t length)
{
    for (size_t i = 0; i < texts->count; i++)
        if (strlen(texts->text[i]) == length && memcmp(texts->text[i], text, length) == 0)
            return (long)i;
    return -1;
}

void dp_texts_add(struct dp_texts *texts, const char *text, size_t length)
{
    texts->text = dp_got(reallocarray(texts->text, texts->count + 1, sizeof *texts->text));
    texts->text[texts->count] = dp_got(strndup(text, length));
    texts->count++;
}

void dp_texts_free(struct dp_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free(texts->text[i]);
    free(texts->text);
    *texts = (struct dp_texts){0};
}

void dp_schema_free(struct dp_schema *s)
{
    for (size_t i = 0; i < s->columns; i++) {
        free(s->column[i].name);
        free(s->column[i].date);
        free(s->column[i].unit);
        dp_basis_free(&s->column[i].basis);
        dp_texts_free(&s->column[i].categories);
        dp_texts_free(&s->column[i].synonyms);
        free(s->column[i].meant);
        dp_texts_free(&s->column[i].missing);
    }
    for (size_t k = 0; k < s->classes; k++)
        dp_texts_free(&s->class[k]);
    free(s->column);
    free(s->class);
    dp_texts_free(&s->missing);
    json_decref(s->private_preprocessing);
    json_decref(s->paid);
    *s = (struct dp_schema){.label = -1};
}

void dp_schema_note_private(struct dp_schema *s, const char *word)
{
    if (s->private_preprocessing == NULL)
        s->private_preprocessing = json_array();
    for (size_t i = 0; i < json_array_size(s->private_preprocessing); i++)
        if (strcmp(json_string_value(json_array_get(s->private_preprocessing, i)), word) == 0)
            return;
    json_array_append_new(s->private_preprocessing, json_string(word));
}

static int add_class(struct dp_schema *s, const char *name, size_t length, struct dp_err *err)
{
    char shown[DP_TEXT_SHOWN];
    for (size_t k = 0; k < s->classes; k++)
        if (dp_texts_find(&s->class[k], name, length) >= 0)
            return dp_fail(err, DP_E_USAGE, "--classes: '%s' is there twice", dp_text_show(name, length, shown));
    if (length == 0)
        return dp_fail(err, DP_E_USAGE, "--classes: a name is empty");
    if (dp_text_valid(name, length) < length)
        return dp_fail(err, DP_E_USAGE, "--classes: '%s' is not UTF-8", dp_text_show(name, length, shown));
    dp_texts_add(&s->class[s->classes++], name, length);
    return DP_OK;
}

int dp_schema_classes(struct dp_schema *s, const char *text, struct dp_err *err)
{
    int64_t count = 1;
    bool listed = strchr(text, ',') != NULL;
    if (!listed && (!dp_number_int(text, &count) || count < 2 || count > 1000))
        return dp_fail(err, DP_E_USAGE, "--classes: must be a number from 2 to 1000 or a list, got '%.80s'", text);
    for (const char *p = text; listed && *p != '\0'; p++)
        count += *p == ',';
    s->class = dp_new((size_t)count, sizeof *s->class);
    int rc = DP_OK;
    for (int64_t k = 0; rc == DP_OK && k < count; k++) {
        char number[32];
        size_t length = strcspn(text, ",");
        if (listed)
            rc = add_class(s, text, length, err);
        else
            rc = add_class(s, number, (size_t)snprintf(number, sizeof number, "%lld", (long long)k), err);
        text += listed ? length + 1 : 0;
    }
    return rc;
}

long dp_schema_class_of(const struct dp_schema *s, double label)
{
    double value;
    for (size_t k = 0; k < s->classes; k++)
        if (dp_number_real(s->class[k].text[0], &value) && value == label)
            return (long)k;
    return -1;
}

long dp_schema_class_with(const struct dp_schema *s, const char *text)
{
    for (size_t k = 0; k < s->classes; k++)
        if (dp_texts_find(&s->class[k], text, strlen(text)) >= 0)
            return (long)k;
    return -1;
}

static const char *class_name(const void *schema, size_t k, size_t *length)
{
    const char *name = ((const struct dp_schema *)schema)->class[k].text[0];
    *length = strlen(name);
    return name;
}

const char *dp_schema_show_classes(const struct dp_schema *s, char buffer[DP_TEXT_LISTED])
{
    return dp_text_list(class_name, s, s->classes, buffer);
}

bool dp_column_is_one_number(const struct dp_column *c)
{
    return c->type == DP_COLUMN_NUMERIC && c->bounded && c->high - c->low <= 1.5 * DP_NOT_THE_SAME;
}

long dp_column_category(const struct dp_column *c, const char *text, size_t length)
{
    long k = dp_texts_find(&c->categories, text, length), synonym = k < 0 ? dp_texts_find(&c->synonyms, text, length) : -1;
    return synonym < 0 ? k : (long)c->meant[synonym];
}

size_t dp_column_features(const struct dp_column *c)
{
    if (c->type == DP_COLUMN_NUMERIC)
        return 1 + dp_basis_count(&c->basis) + c->indicator;
    if (c->type == DP_COLUMN_CATEGORICAL)
        return c->categories.count - (c->drop_first && c->categories.count > 0) + c->indicator;
    return c->type == DP_COLUMN_TEXT ? c->words : 0;
}

size_t dp_schema_features(const struct dp_schema *s)
{
    size_t features = 0;
    for (size_t i = 0; i < s->columns; i++)
        features += dp_column_features(&s->column[i]);
    return features;
}

long dp_schema_person(const struct dp_schema *s)
{
    for (size_t i = 0; i < s->columns; i++)
        if (s->column[i].type == DP_COLUMN_PERSON)
            return (long)i;
    return -1;
}

/* A number, or the days of a date if there is a format. */
static bool number_of(const json_t *value, const char *date, double *number)
{
    if (date != NULL && json_is_string(value))
        return dp_date_read(date, DP_DATE_DAYS, json_string_value(value), json_string_length(value), number);
    *number = json_number_value(value);
    return json_is_number(value);
}

static int bounds_of(const json_t *list, const char *date, double *low, double *high, const char *path, const char *name,
                     struct dp_err *err)
{
    if (json_array_size(list) != 2 || !number_of(json_array_get(list, 0), date, low) ||
        !number_of(json_array_get(list, 1), date, high))
        return dp_fail(err, DP_E_RUN, "%s: column '%s': \"bounds\" must be [low, high]", path, name);
    if (!isfinite(*high - *low))
        return dp_fail(err, DP_E_RUN, "%s: column '%s': the bounds are too far apart", path, name);
    if (!(*low < *high))
        return dp_fail(err, DP_E_RUN, "%s: column '%s': the lower bound is not below the upper", path, name);
    return DP_OK;
}

/* A text, or a list of texts, into *texts. */
static int texts_of(const json_t *value, struct dp_texts *texts, const char *path, const char *name, struct dp_err *err)
{
    int rc = DP_OK;
    if (json_is_string(value)) {
        dp_texts_add(texts, json_string_value(value), json_string_length(value));
        return DP_OK;
    }
    if (!json_is_array(value))
        return dp_fail(err, DP_E_RUN, "%s: '%s': expected a text or a list of texts", path, name);
    for (size_t i = 0; rc == DP_OK && i < json_array_size(value); i++) {
        const json_t *text = json_array_get(value, i);
        if (json_is_string(text))
            dp_texts_add(texts, json_string_value(text), json_string_length(text));
        else
            rc = dp_fail(err, DP_E_RUN, "%s: '%s': expected a list of texts", path, name);
    }
    return rc;
}

/* A text, or a list of texts that mean the same category, into the categories. A category may occur twice. A synonym may not,
 * because its second category would silently be ignored. */
static int category_of(struct dp_column *c, const json_t *value, const char *path, const char *name, struct dp_err *err)
{
    char shown[DP_TEXT_SHOWN];
    struct dp_texts texts = {0};
    int rc = texts_of(value, &texts, path, name, err);
    if (rc == DP_OK && texts.count == 0)
        rc = dp_fail(err, DP_E_RUN, "%s: column '%s': category %zu has no text", path, name, c->categories.count + 1);
    for (size_t k = 1; rc == DP_OK && k < texts.count; k++) {
        const char *text = texts.text[k];
        c->meant = dp_got(reallocarray(c->meant, c->synonyms.count + 1, sizeof *c->meant));
        c->meant[c->synonyms.count] = c->categories.count;
        if (dp_column_category(c, text, strlen(text)) >= 0)
            rc = dp_fail(err, DP_E_RUN, "%s: column '%s': '%s' is in two categories", path, name,
                         dp_text_show(text, strlen(text), shown));
        else
            dp_texts_add(&c->synonyms, text, strlen(text));
    }
    if (rc == DP_OK && dp_texts_find(&c->synonyms, texts.text[0], strlen(texts.text[0])) >= 0)
        rc = dp_fail(err, DP_E_RUN, "%s: column '%s': '%s' is in two categories", path, name,
                     dp_text_show(texts.text[0], strlen(texts.text[0]), shown));
    if (rc == DP_OK)
        dp_texts_add(&c->categories, texts.text[0], strlen(texts.text[0]));
    dp_texts_free(&texts);
    return rc;
}

static int categories_of(struct dp_column *c, const json_t *list, const char *path, const char *name, struct dp_err *err)
{
    if (!json_is_array(list))
        return texts_of(list, &c->categories, path, name, err);
    int rc = DP_OK;
    for (size_t k = 0; rc == DP_OK && k < json_array_size(list); k++)
        rc = category_of(c, json_array_get(list, k), path, name, err);
    return rc;
}

/* Refuses a text that is in two classes: its second class would silently be ignored. */
static int check_class(const struct dp_schema *s, size_t k, const char *path, const char *name, struct dp_err *err)
{
    char shown[DP_TEXT_SHOWN];
    for (size_t i = 0; i < s->class[k].count; i++) {
        const char *text = s->class[k].text[i];
        for (size_t other = 0; other < k; other++)
            if (dp_texts_find(&s->class[other], text, strlen(text)) >= 0)
                return dp_fail(err, DP_E_RUN, "%s: column '%s': '%s' is in two classes", path, name,
                               dp_text_show(text, strlen(text), shown));
    }
    return DP_OK;
}

/* Reads "unknown" of a label: zero, or the name of the class of all other texts. */
static int unknown_label(const struct dp_schema *s, struct dp_column *c, const json_t *o, const char *path, const char *name,
                         struct dp_err *err)
{
    const char *unknown = json_string_value(json_object_get(o, "unknown"));
    for (size_t k = 0; unknown != NULL && k < s->classes && !c->unknown_class; k++) {
        c->unknown_class = strcmp(unknown, "zero") != 0 && strcmp(unknown, s->class[k].text[0]) == 0;
        c->other = k;
    }
    c->unknown_zero = c->unknown_class || (unknown != NULL && strcmp(unknown, "zero") == 0);
    return json_object_get(o, "unknown") == NULL || c->unknown_zero
               ? DP_OK
               : dp_fail(err, DP_E_RUN, "%s: column '%s': \"unknown\" is zero, or the name of a class", path, name);
}

static int label_column(struct dp_schema *s, const json_t *o, const char *path, const char *name, struct dp_err *err)
{
    const json_t *classes = json_object_get(o, "classes"), *bounds = json_object_get(o, "bounds");
    const char *scale = json_string_value(json_object_get(o, "scale"));
    int rc = DP_OK;
    s->label_center = json_is_true(json_object_get(o, "center"));
    if (classes == NULL) {
        s->real_label = true;
        s->label_bounded = bounds != NULL;
        s->label_count = scale != NULL && strcmp(scale, "count") == 0;
        rc = bounds != NULL ? bounds_of(bounds, NULL, &s->label_low, &s->label_high, path, name, err) : DP_OK;
        if (rc == DP_OK && scale != NULL && !s->label_count)
            rc = dp_fail(err, DP_E_RUN, "%s: column '%s': \"scale\" of a label is \"count\"", path, name);
        if (rc == DP_OK && s->label_count && (s->label_center || s->label_low < 0))
            rc = dp_fail(err, DP_E_RUN, "%s: column '%s': a count has bounds from 0 on, and no \"center\"", path, name);
        return rc;
    }
    if (json_array_size(classes) < 2)
        return dp_fail(err, DP_E_RUN, "%s: column '%s': \"classes\" must list two or more", path, name);
    s->class = dp_new(json_array_size(classes), sizeof *s->class);
    while (rc == DP_OK && s->classes < json_array_size(classes)) {
        size_t k = s->classes++;
        rc = texts_of(json_array_get(classes, k), &s->class[k], path, name, err);
        if (rc == DP_OK && s->class[k].count == 0)
            rc = dp_fail(err, DP_E_RUN, "%s: column '%s': class %zu of \"classes\" has no text", path, name, k + 1);
        rc = rc ?: check_class(s, k, path, name, err);
    }
    return rc;
}

static int numeric_column(struct dp_column *c, const json_t *o, const char *path, const char *name, struct dp_err *err)
{
    const json_t *bounds = json_object_get(o, "bounds");
    const char *scale = json_string_value(json_object_get(o, "scale"));
    const json_t *unit = json_object_get(o, "unit");
    if (unit != NULL && (json_string_length(unit) == 0 || c->date != NULL))
        return dp_fail(err, DP_E_RUN, "%s: column '%s': \"unit\" is a text such as kg|KG, and not for dates", path, name);
    c->unit = unit != NULL ? dp_got(strdup(json_string_value(unit))) : NULL;
    if (bounds != NULL) {
        int rc = bounds_of(bounds, c->date, &c->low, &c->high, path, name, err);
        if (rc != DP_OK)
            return rc;
        c->bounded = true;
    }
    if (scale == NULL || strcmp(scale, "bounds") == 0)
        c->scaling = DP_SCALE_BOUNDS;
    else if (strcmp(scale, "max-abs") == 0)
        c->scaling = DP_SCALE_MAX_ABS;
    else if (strcmp(scale, "none") == 0)
        c->scaling = DP_SCALE_NONE;
    else
        return dp_fail(err, DP_E_RUN, "%s: column '%s': \"scale\" is bounds, max-abs or none", path, name);
    if (c->scaling == DP_SCALE_BOUNDS && !c->bounded)
        return dp_fail(err, DP_E_RUN, "%s: column '%s' needs \"bounds\", or \"scale\": \"max-abs\" or \"none\"", path, name);
    return dp_basis_read(&c->basis, o, c->low, c->high, path, name, err);
}

/* Reads "date" and "part". The categories of a part are known. */
static int date_of(struct dp_column *c, const json_t *o, const char *path, const char *name, struct dp_err *err)
{
    const json_t *date = json_object_get(o, "date"), *part = json_object_get(o, "part");
    if (date == NULL && part == NULL)
        return DP_OK;
    if (!json_is_string(date) || !dp_date_format(json_string_value(date)))
        return dp_fail(err, DP_E_RUN,
                       "%s: column '%s': \"date\" is a format with a year, such as %%Y-%%m-%%d, or a time, such as %%H:%%M",
                       path, name);
    for (int k = DP_DATE_MONTH; k < DP_DATE_PARTS && part != NULL; k++)
        if (json_is_string(part) && strcmp(json_string_value(part), dp_date_parts[k]) == 0)
            c->part = (enum dp_date_part)k;
    if ((c->type == DP_COLUMN_CATEGORICAL && c->part == DP_DATE_DAYS) || (part != NULL && c->part == DP_DATE_DAYS))
        return dp_fail(err, DP_E_RUN, "%s: column '%s': \"part\" of a date is month or weekday", path, name);
    if ((c->type != DP_COLUMN_NUMERIC || part != NULL) &&
        (c->type != DP_COLUMN_CATEGORICAL || json_object_get(o, "categories") != NULL))
        return dp_fail(err, DP_E_RUN,
                       "%s: column '%s': a date is numeric, or categorical with a \"part\" and no \"categories\"", path, name);
    const char *const *names = c->part == DP_DATE_MONTH ? dp_date_months : dp_date_weekdays;
    for (size_t k = 0; part != NULL && names[k] != NULL; k++)
        dp_texts_add(&c->categories, names[k], strlen(names[k]));
    c->date = dp_got(strdup(json_string_value(date)));
    return DP_OK;
}

static int fill_of(struct dp_column *c, const json_t *o, const char *path, const char *name, struct dp_err *err)
{
    const json_t *fill = json_object_get(o, "fill");
    const char *text = json_string_value(fill);
    if (fill == NULL)
        return DP_OK;
    c->fill = DP_FILL_VALUE;
    if (text != NULL && strcmp(text, "mode") == 0 && c->type == DP_COLUMN_CATEGORICAL) {
        c->fill = DP_FILL_MODE;
    } else if (text != NULL && c->type == DP_COLUMN_CATEGORICAL) {
        c->fill_value = (double)dp_texts_find(&c->categories, text, strlen(text));
        if (c->fill_value < 0)
            return dp_fail(err, DP_E_RUN, "%s: column '%s': \"fill\" is not one of its categories", path, name);
    } else if (c->type != DP_COLUMN_NUMERIC || !number_of(fill, c->date, &c->fill_value)) {
        return dp_fail(err, DP_E_RUN, "%s: column '%s': \"fill\" does not fit its type", path, name);
    }
    return DP_OK;
}

/* Reads "indicator". If a column has an indicator and no fill, missing numbers become the middle of the bounds, and missing
 * categories no category. */
static int indicator_of(struct dp_column *c, const json_t *o, const char *path, const char *name, struct dp_err *err)
{
    const json_t *indicator = json_object_get(o, "indicator");
    bool feature = c->type == DP_COLUMN_NUMERIC || c->type == DP_COLUMN_CATEGORICAL;
    if (indicator == NULL)
        return DP_OK;
    if (!json_is_boolean(indicator) || (json_is_true(indicator) && !feature))
        return dp_fail(err, DP_E_RUN, "%s: column '%s': \"indicator\" is true or false, and for features", path, name);
    c->indicator = json_is_true(indicator);
    if (c->indicator && c->type == DP_COLUMN_CATEGORICAL && c->fill != DP_FILL_REFUSE)
        return dp_fail(err, DP_E_RUN, "%s: column '%s': \"indicator\" excludes \"fill\" of categories", path, name);
    if (c->indicator && c->fill == DP_FILL_REFUSE) {
        c->fill = DP_FILL_VALUE;
        c->fill_value = c->type == DP_COLUMN_CATEGORICAL ? -1 : c->bounded ? c->low + 0.5 * (c->high - c->low) : 0;
    }
    return DP_OK;
}

static int text_column(struct dp_column *c, const json_t *o, const char *path, const char *name, struct dp_err *err)
{
    const json_t *columns = json_object_get(o, "columns");
    json_int_t count = columns == NULL ? DP_WORDS_COLUMNS : json_integer_value(columns);
    c->words = (size_t)count;
    return count >= 1 && count <= DP_WORDS_MOST
               ? DP_OK
               : dp_fail(err, DP_E_RUN, "%s: column '%s': the \"columns\" of a text are a whole number from 1 to %d", path,
                         name, DP_WORDS_MOST);
}

/* Reads "buckets", which are categories without a text of their own. */
static int buckets_of(struct dp_column *c, const json_t *o, const char *path, const char *name, struct dp_err *err)
{
    const json_t *buckets = json_object_get(o, "buckets");
    char bucket[32];
    if (buckets == NULL)
        return DP_OK;
    c->buckets = (size_t)json_integer_value(buckets);
    if (json_integer_value(buckets) < 1 || c->buckets > DP_SCHEMA_BUCKETS || c->date != NULL)
        return dp_fail(err, DP_E_RUN, "%s: column '%s': \"buckets\" are a whole number from 1 to %d, and not for dates", path,
                       name, DP_SCHEMA_BUCKETS);
    for (size_t k = 1; k <= c->buckets; k++)
        dp_texts_add(&c->categories, bucket, (size_t)sprintf(bucket, "(bucket %zu)", k));
    return DP_OK;
}

static int unknown_of(struct dp_column *c, const json_t *o, const char *path, const char *name, struct dp_err *err)
{
    const json_t *unknown = json_object_get(o, "unknown");
    c->unknown_zero = unknown != NULL && json_is_string(unknown) && strcmp(json_string_value(unknown), "zero") == 0;
    return unknown == NULL || c->unknown_zero
               ? DP_OK
               : dp_fail(err, DP_E_RUN, "%s: column '%s': \"unknown\" can only be zero", path, name);
}

/* The first entry of an object that is not in the list, which ends with NULL; NULL: all are. */
static const char *unknown_entry(const json_t *o, const char *const *known)
{
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)o, key, value) {
        const char *const *k = known;
        while (*k != NULL && strcmp(key, *k) != 0)
            k++;
        if (*k == NULL)
            return key;
    }
    return NULL;
}

static int categorical_column(struct dp_column *c, const json_t *o, const char *path, const char *name, struct dp_err *err)
{
    const char *drop = json_string_value(json_object_get(o, "drop"));
    int rc = c->date != NULL ? DP_OK : categories_of(c, json_object_get(o, "categories"), path, name, err);
    rc = rc ?: buckets_of(c, o, path, name, err);
    if (rc == DP_OK && c->categories.count == 0)
        rc = dp_fail(err, DP_E_RUN, "%s: column '%s': \"categories\" is empty", path, name);
    c->drop_first = drop != NULL && strcmp(drop, "first") == 0;
    if (rc == DP_OK && json_object_get(o, "drop") != NULL && !c->drop_first)
        rc = dp_fail(err, DP_E_RUN, "%s: column '%s': \"drop\" can only be first", path, name);
    return rc ?: unknown_of(c, o, path, name, err);
}

/* Entries that only one type has. */
static int check_entries(const struct dp_column *c, const json_t *o, const char *path, const char *name, struct dp_err *err)
{
    static const struct {
        const char *entry;
        enum dp_column_type type;
        const char *sentence;
    } own[] = {{"columns", DP_COLUMN_TEXT, "\"columns\" are for a text"},
               {"rows_per_person", DP_COLUMN_PERSON, "\"rows_per_person\" is for a person"},
               {"buckets", DP_COLUMN_CATEGORICAL, "\"buckets\" are for categories"},
               {"basis", DP_COLUMN_NUMERIC, "a \"basis\" is for numeric columns"},
               {"unit", DP_COLUMN_NUMERIC, "a \"unit\" is for numeric columns"}};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (c->type != own[i].type && json_object_get(o, own[i].entry) != NULL)
            return dp_fail(err, DP_E_RUN, "%s: column '%s': %s", path, name, own[i].sentence);
    return DP_OK;
}

/* Reads "type". */
static int type_of(struct dp_schema *s, struct dp_column *c, const json_t *o, const char *path, const char *name,
                   struct dp_err *err)
{
    static const char *const types[] = {[DP_COLUMN_NUMERIC] = "numeric", [DP_COLUMN_CATEGORICAL] = "categorical",
                                        [DP_COLUMN_LABEL] = "label",     [DP_COLUMN_PERSON] = "person",
                                        [DP_COLUMN_TEXT] = "text",       [DP_COLUMN_IGNORE] = "ignore"};
    const int count = sizeof types / sizeof *types;
    int type = 0;
    while (type < count && strcmp(json_string_value(json_object_get(o, "type")), types[type]) != 0)
        type++;
    if (type == count)
        return dp_fail(err, DP_E_RUN, "%s: column '%s': \"type\" is numeric, categorical, text, label, person or ignore", path,
                       name);
    if ((type == DP_COLUMN_LABEL && s->label >= 0) || (type == DP_COLUMN_PERSON && dp_schema_person(s) >= 0))
        return dp_fail(err, DP_E_RUN, "%s: a second %s column, '%s'", path, types[type], name);
    c->type = (enum dp_column_type)type;
    return DP_OK;
}

/* Reads how many rows of a person are kept. */
static int rows_of(struct dp_schema *s, const json_t *most, const char *path, const char *name, struct dp_err *err)
{
    const json_int_t rows = most != NULL ? json_integer_value(most) : 0;
    if (most != NULL && (rows < 1 || rows > DP_UNIT_MOST))
        return dp_fail(err, DP_E_RUN, "%s: column '%s': \"rows_per_person\" is a whole number from 1 to %d", path, name,
                       DP_UNIT_MOST);
    s->rows_per_person = (size_t)rows;
    return DP_OK;
}

/* Reads the entries that belong to the type. */
static int typed_entries(struct dp_schema *s, struct dp_column *c, const json_t *o, const char *path, const char *name,
                         struct dp_err *err)
{
    int rc = date_of(c, o, path, name, err);
    rc = rc ?: check_entries(c, o, path, name, err);
    if (rc != DP_OK)
        return rc;
    switch (c->type) {
    case DP_COLUMN_NUMERIC:
        return numeric_column(c, o, path, name, err);
    case DP_COLUMN_CATEGORICAL:
        return categorical_column(c, o, path, name, err);
    case DP_COLUMN_TEXT:
        return text_column(c, o, path, name, err);
    case DP_COLUMN_LABEL:
        s->label = c - s->column;
        rc = label_column(s, o, path, name, err);
        return rc ?: unknown_label(s, c, o, path, name, err);
    case DP_COLUMN_PERSON:
        return rows_of(s, json_object_get(o, "rows_per_person"), path, name, err);
    default:
        return DP_OK;
    }
}

/* Reads "decimal" of the table or of a column. */
static int decimal_of(const json_t *o, bool *comma, const char *path, struct dp_err *err)
{
    const char *decimal = json_string_value(json_object_get(o, "decimal"));
    if (decimal != NULL)
        *comma = strcmp(decimal, ",") == 0;
    return json_object_get(o, "decimal") != NULL && !*comma && (decimal == NULL || strcmp(decimal, ".") != 0)
               ? dp_fail(err, DP_E_RUN, "%s: \"decimal\" is a point or a comma", path)
               : DP_OK;
}

static int column_of(struct dp_schema *s, size_t i, const json_t *o, const char *path, struct dp_err *err)
{
    static const char *const known[] = {
        "name",    "type",    "bounds",  "scale",           "categories", "drop",    "unknown", "fill",
        "classes", "center",  "note",    "missing",         "indicator",  "basis",   "knots",   "date",
        "part",    "columns", "buckets", "rows_per_person", "unit",       "decimal", NULL};
    struct dp_column *c = &s->column[i];
    const char *full = json_string_value(json_object_get(o, "name")), *unknown = unknown_entry(o, known);
    char name[DP_TEXT_SHOWN]; /* for messages */
    if (full == NULL || json_string_value(json_object_get(o, "type")) == NULL)
        return dp_fail(err, DP_E_RUN, "%s: column %zu needs \"name\" and \"type\"", path, i + 1);
    dp_text_show(full, strlen(full), name);
    if (unknown != NULL)
        return dp_fail(err, DP_E_RUN, "%s: column '%s': unknown entry \"%.40s\"", path, name, unknown);
    int rc = type_of(s, c, o, path, name, err);
    c->comma = s->comma;
    rc = rc ?: decimal_of(o, &c->comma, path, err);
    c->name = dp_got(strdup(full));
    rc = rc ?: typed_entries(s, c, o, path, name, err);
    if (rc == DP_OK && json_object_get(o, "missing") != NULL)
        rc = texts_of(json_object_get(o, "missing"), &c->missing, path, name, err);
    rc = rc ?: fill_of(c, o, path, name, err);
    return rc ?: indicator_of(c, o, path, name, err);
}

/* A schema that was paid for says what it has cost; models inherit that. */
static int paid_of(struct dp_schema *s, const json_t *paid, const char *path, struct dp_err *err)
{
    const json_t *epsilon = json_object_get(paid, "epsilon"), *delta = json_object_get(paid, "delta");
    bool sane = json_is_number(epsilon) && json_number_value(epsilon) > 0 && json_is_number(delta) &&
                json_number_value(delta) > 0 && json_number_value(delta) < 1 &&
                json_is_string(json_object_get(paid, "ledger")) && json_is_string(json_object_get(paid, "population"));
    if (!sane)
        return dp_fail(err, DP_E_RUN, "%s: \"paid\" does not say epsilon, delta, ledger and population", path);
    s->paid = json_deep_copy(paid);
    dp_schema_note_private(s, DP_TEXT_PAID_SCHEMA);
    return DP_OK;
}

/* Reads "private_preprocessing". */
static int preprocessing_of(struct dp_schema *s, const json_t *list, const char *path, struct dp_err *err)
{
    int rc = list == NULL || json_is_array(list)
                 ? DP_OK
                 : dp_fail(err, DP_E_RUN, "%s: \"private_preprocessing\" must be a list of texts", path);
    for (size_t i = 0; rc == DP_OK && i < json_array_size(list); i++) {
        const char *word = json_string_value(json_array_get(list, i));
        if (word != NULL && word[0] != '\0')
            dp_schema_note_private(s, word);
        else
            rc = dp_fail(err, DP_E_RUN, "%s: \"private_preprocessing\" must be a list of texts", path);
    }
    return rc;
}

/* Reads how the table is written: its delimiter, decimal mark, header and texts of missing cells. */
static int writing_of(struct dp_schema *s, const json_t *root, const char *path, struct dp_err *err)
{
    const json_t *missing = json_object_get(root, "missing");
    const char *delimiter = json_string_value(json_object_get(root, "delimiter"));
    if (delimiter != NULL && strlen(delimiter) != 1)
        return dp_fail(err, DP_E_RUN, "%s: \"delimiter\" must be one character", path);
    s->delimiter = delimiter != NULL ? delimiter[0] : 0;
    s->header = json_is_true(json_object_get(root, "header"));
    int rc = decimal_of(root, &s->comma, path, err);
    return rc != DP_OK || missing == NULL ? rc : texts_of(missing, &s->missing, path, "missing", err);
}

int dp_schema_read(struct dp_schema *s, const json_t *root, const char *path, struct dp_err *err)
{
    static const char *const known[] = {"columns", "header",  "delimiter", "missing", "private_preprocessing",
                                        "note",    "decimal", "paid",      NULL};
    const json_t *columns = json_object_get(root, "columns"), *paid = json_object_get(root, "paid");
    const char *unknown = unknown_entry(root, known);
    *s = (struct dp_schema){.label = -1};
    if (unknown != NULL)
        return dp_fail(err, DP_E_RUN, "%s: unknown entry \"%.40s\"", path, unknown);
    int rc = writing_of(s, root, path, err);
    if (rc == DP_OK && json_array_size(columns) == 0)
        rc = dp_fail(err, DP_E_RUN, "%s: \"columns\" must be a list", path);
    rc = rc ?: preprocessing_of(s, json_object_get(root, "private_preprocessing"), path, err);
    if (rc == DP_OK && paid != NULL)
        rc = paid_of(s, paid, path, err);
    s->column = dp_new(json_array_size(columns), sizeof *s->column);
    for (size_t i = 0; rc == DP_OK && i < json_array_size(columns); i++) {
        s->columns = i + 1;
        rc = column_of(s, i, json_array_get(columns, i), path, err);
    }
    if (rc == DP_OK && s->label < 0)
        rc = dp_fail(err, DP_E_RUN, "%s: no column has \"type\": \"label\"", path);
    if (rc == DP_OK && dp_schema_features(s) == 0)
        rc = dp_fail(err, DP_E_RUN, "%s: no column is a feature", path);
    return rc;
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

void dp_schema_alike(struct dp_schema *s, size_t count, struct dp_column column)
{
    free(s->column); /* of columns without names: they own no text */
    s->column = dp_new(count, sizeof *s->column);
    for (size_t j = 0; j < count; j++)
        s->column[j] = column;
    s->columns = count;
}

void dp_schema_accept_missing(struct dp_schema *s)
{
    for (size_t i = 0; i < s->columns; i++) {
        struct dp_column *c = &s->column[i];
        if (c->fill == DP_FILL_REFUSE)
            c->fill_value = c->type == DP_COLUMN_CATEGORICAL ? -1 : c->bounded ? c->low + 0.5 * (c->high - c->low) : 0;
        c->fill = c->fill == DP_FILL_REFUSE ? DP_FILL_VALUE : c->fill;
    }
}
