#include "data/carried.h"

#include "base/json.h"

void dp_carried_make(const struct dp_row_plan *plan, bool tabs, json_t **carried)
{
    const struct dp_schema *s = &plan->schema;
    const char delimiter[2] = {tabs ? '\t' : s->delimiter, '\0'};
    *carried = NULL;
    if (json_array_size(s->private_preprocessing) > (s->paid != NULL))
        return;
    json_t *root = json_pack("{s:b, s:s, s:b, s:b}", "header", s->header, "row_norm", dp_row_norms[plan->norm], "bias",
                             plan->bias, "quantised", plan->quantise);
    if (plan->basis != DP_BASIS_NONE)
        json_object_set_new(root, "basis", json_string(dp_bases[plan->basis]));
    if (plan->products > 0)
        json_object_set_new(root, "products", json_integer((json_int_t)plan->products));
    if (plan->bad_missing)
        json_object_set_new(root, "bad_cells", json_string("missing"));
    json_object_set_new(root, "columns", dp_schema_columns(s));
    if (delimiter[0] != '\0')
        json_object_set_new(root, "delimiter", json_string(delimiter));
    if (s->comma)
        json_object_set_new(root, "decimal", json_string(","));
    if (s->missing.count > 0)
        json_object_set_new(root, "missing", dp_texts_json(&s->missing));
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

static void drop_synonyms(json_t *categories)
{
    size_t k;
    json_t *category;
    json_array_foreach (categories, k, category)
        if (json_is_array(category))
            json_array_set(categories, k, json_array_get(category, 0));
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
