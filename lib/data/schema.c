#include "data/schema.h"

#include "base/mem.h"
#include "base/number.h"

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

json_t *dp_texts_json(const struct dp_texts *texts)
{
    json_t *list = json_array();
    for (size_t i = 0; i < texts->count; i++)
        json_array_append_new(list, json_string(texts->text[i]));
    return list;
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

void dp_schema_alike(struct dp_schema *s, size_t count, struct dp_column column)
{
    free(s->column); /* of columns without names: they own no text */
    s->column = dp_new(count, sizeof *s->column);
    for (size_t j = 0; j < count; j++)
        s->column[j] = column;
    s->columns = count;
}

void dp_column_accept_missing(struct dp_column *c)
{
    if (c->fill == DP_FILL_REFUSE) {
        c->fill = DP_FILL_VALUE;
        c->fill_value = c->type == DP_COLUMN_CATEGORICAL ? -1 : c->bounded ? c->low + 0.5 * (c->high - c->low) : 0;
    }
}

void dp_schema_accept_missing(struct dp_schema *s)
{
    for (size_t i = 0; i < s->columns; i++)
        dp_column_accept_missing(&s->column[i]);
}
