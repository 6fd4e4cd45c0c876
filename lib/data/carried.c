#include "data/carried.h"

#include "base/json.h"

static json_t *texts_json(const struct dp_texts *texts)
{
    json_t *list = json_array();
    for (size_t i = 0; i < texts->count; i++)
        json_array_append_new(list, json_string(texts->text[i]));
    return list;
}

/* A number as it is read back from dataset.json: whole numbers have no point. */
static json_t *number_json(double value)
{
    return fabs(value) < 0x1p53 && value == floor(value) ? json_integer((json_int_t)value) : json_real(value);
}

static json_t *bounds_json(double low, double high)
{
    return json_pack("[o, o]", number_json(low), number_json(high));
}

static void put_numeric(json_t *o, const struct dp_column *c)
{
    if (c->bounded)
        json_object_set_new(o, "bounds", bounds_json(c->low, c->high));
    if (c->scaling == DP_SCALE_NONE)
        json_object_set_new(o, "scale", json_string("none"));
    dp_basis_put(&c->basis, o);
    if (c->unit != NULL)
        json_object_set_new(o, "unit", json_string(c->unit));
    if (c->fill == DP_FILL_VALUE)
        json_object_set_new(o, "fill", number_json(c->fill_value));
}

/* A category is a text, or a list with its synonyms. */
static json_t *categories_json(const struct dp_column *c)
{
    json_t *list = texts_json(&(struct dp_texts){c->categories.text, c->categories.count - c->buckets});
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

static void drop_synonyms(json_t *categories)
{
    size_t k;
    json_t *category;
    json_array_foreach (categories, k, category)
        if (json_is_array(category))
            json_array_set(categories, k, json_array_get(category, 0));
}

static void put_categorical(json_t *o, const struct dp_column *c)
{
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
        json_array_append_new(classes, texts_json(&s->class[k]));
    json_object_set_new(o, "classes", classes);
}

static void put_column(json_t *list, const struct dp_schema *s, const struct dp_column *c)
{
    static const char *const types[] = {
        [DP_COLUMN_NUMERIC] = "numeric", [DP_COLUMN_CATEGORICAL] = "categorical", [DP_COLUMN_TEXT] = "text",
        [DP_COLUMN_LABEL] = "label",     [DP_COLUMN_PERSON] = "ignore",           [DP_COLUMN_IGNORE] = "ignore"};
    if (s->header && (c->type == DP_COLUMN_IGNORE || c->type == DP_COLUMN_PERSON))
        return;
    json_t *o = json_pack("{s:s, s:s}", "name", c->name, "type", types[c->type]);
    if (c->type == DP_COLUMN_NUMERIC)
        put_numeric(o, c);
    else if (c->type == DP_COLUMN_CATEGORICAL)
        put_categorical(o, c);
    else if (c->type == DP_COLUMN_TEXT)
        json_object_set_new(o, "columns", json_integer((json_int_t)c->words));
    else if (c->type == DP_COLUMN_LABEL)
        put_label(o, s, c);
    if (c->date != NULL)
        json_object_set_new(o, "date", json_string(c->date));
    if (c->comma != s->comma)
        json_object_set_new(o, "decimal", json_string(c->comma ? "," : "."));
    if (c->indicator)
        json_object_set_new(o, "indicator", json_true());
    if (c->missing.count > 0)
        json_object_set_new(o, "missing", texts_json(&c->missing));
    json_array_append_new(list, o);
}

void dp_carried_make(const struct dp_row_plan *plan, bool tabs, json_t **carried)
{
    const struct dp_schema *s = &plan->schema;
    const char delimiter[2] = {tabs ? '\t' : s->delimiter, '\0'};
    *carried = NULL;
    if (json_array_size(s->private_preprocessing) > (s->paid != NULL))
        return;
    json_t *columns = json_array(),
           *root = json_pack("{s:b, s:s, s:b, s:b}", "header", s->header, "row_norm", dp_row_norms[plan->norm], "bias",
                             plan->bias, "quantised", plan->quantise);
    if (plan->basis != DP_BASIS_NONE)
        json_object_set_new(root, "basis", json_string(dp_bases[plan->basis]));
    if (plan->products > 0)
        json_object_set_new(root, "products", json_integer((json_int_t)plan->products));
    if (plan->bad_missing)
        json_object_set_new(root, "bad_cells", json_string("missing"));
    for (size_t i = 0; i < s->columns; i++)
        put_column(columns, s, &s->column[i]);
    json_object_set_new(root, "columns", columns);
    if (delimiter[0] != '\0')
        json_object_set_new(root, "delimiter", json_string(delimiter));
    if (s->comma)
        json_object_set_new(root, "decimal", json_string(","));
    if (s->missing.count > 0)
        json_object_set_new(root, "missing", texts_json(&s->missing));
    *carried = root;
}

/* Takes a member out of the object. */
static json_t *take(json_t *root, const char *key)
{
    json_t *value = json_incref(json_object_get(root, key));
    json_object_del(root, key);
    return value;
}

int dp_carried_take(struct dp_row_plan *plan, const char *text, const char *name, struct dp_err *err)
{
    json_t *root = NULL;
    int rc = dp_json_parse(&root, text, strlen(text), name, err), norm = -1;
    if (rc != DP_OK)
        return rc;
    json_t *how = take(root, "row_norm"), *bias = take(root, "bias"), *quantised = take(root, "quantised");
    json_t *basis = take(root, "basis"), *bad = take(root, "bad_cells"), *products = take(root, "products");
    for (int k = 0; json_is_string(how) && k <= DP_NORM_BOUNDS; k++)
        if (strcmp(json_string_value(how), dp_row_norms[k]) == 0)
            norm = k;
    if (norm < 0 || !json_is_boolean(bias) || !json_is_boolean(quantised))
        rc = dp_fail(err, DP_E_RUN, "%s: its schema does not say how rows are scaled", name);
    plan->norm = (enum dp_row_norm)norm;
    plan->bias = json_is_true(bias);
    plan->quantise = json_is_true(quantised);
    plan->basis = dp_basis_of(json_string_value(basis));
    plan->products = json_integer_value(products) > 0 ? (size_t)json_integer_value(products) : 0;
    plan->bad_missing = bad != NULL;
    if (rc == DP_OK && bad != NULL && strcmp(json_is_string(bad) ? json_string_value(bad) : "", "missing") != 0)
        rc = dp_fail(err, DP_E_RUN, "%s: its schema says of bad cells what this version does not know", name);
    if (rc == DP_OK && basis != NULL && plan->basis == DP_BASIS_NONE)
        rc = dp_fail(err, DP_E_RUN, "%s: its schema has a basis that this version does not know", name);
    rc = rc ?: dp_schema_read(&plan->schema, root, name, err);
    if (rc == DP_OK && plan->bad_missing)
        dp_schema_accept_missing(&plan->schema);
    json_decref(how);
    json_decref(bias);
    json_decref(quantised);
    json_decref(basis);
    json_decref(bad);
    json_decref(products);
    json_decref(root);
    return rc;
}

void dp_carried_label(const char *text, double *low, double *high)
{
    json_t *root = NULL, *column;
    size_t i;
    if (text == NULL || dp_json_parse(&root, text, strlen(text), NULL, NULL) != DP_OK)
        return;
    json_array_foreach (json_object_get(root, "columns"), i, column) {
        const char *type = json_string_value(json_object_get(column, "type"));
        const json_t *bounds = json_object_get(column, "bounds");
        double from = json_number_value(json_array_get(bounds, 0)), to = json_number_value(json_array_get(bounds, 1));
        if (type != NULL && strcmp(type, "label") == 0 && from < to) {
            *low = from;
            *high = to;
        }
    }
    json_decref(root);
}

/* The columns that make features, without members that only matter for cells that cannot be read. NULL: not such a text. */
static json_t *feature_columns(const char *text)
{
    json_t *root = NULL, *list = json_array(), *column;
    size_t i;
    if (dp_json_parse(&root, text, strlen(text), NULL, NULL) == DP_OK)
        json_array_foreach (json_object_get(root, "columns"), i, column) {
            const char *type = json_string_value(json_object_get(column, "type"));
            json_object_del(column, "fill");
            json_object_del(column, "unknown");
            json_object_del(column, "missing");
            drop_synonyms(json_object_get(column, "categories"));
            if (type != NULL && strcmp(type, "label") != 0 && strcmp(type, "ignore") != 0)
                json_array_append(list, column);
        }
    json_decref(root);
    return list;
}

bool dp_carried_same(const char *a, const char *b)
{
    if (a == NULL || b == NULL || strcmp(a, b) == 0)
        return true;
    json_t *of_a = feature_columns(a), *of_b = feature_columns(b);
    bool same = json_equal(of_a, of_b);
    json_decref(of_a);
    json_decref(of_b);
    return same;
}
