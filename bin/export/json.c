/* JSON: the schema and the weights, for a program to read. */

#include "base/json.h"
#include "export.h"

static json_t *numbers(const double *value, size_t count, size_t stride)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_real(value[i * stride]));
    return list;
}

static json_t *feature(const struct dp_terms *t, size_t j)
{
    const struct dp_term *term = &t->term[j];
    json_t *o = json_pack("{s:s}", "name", term->name);
    if (term->kind <= DP_TERM_MISSING) {
        const struct dp_column *c = &t->plan.schema.column[term->column];
        json_object_set_new(o, "column", json_string(c->name));
        if (term->kind == DP_TERM_CATEGORY)
            json_object_set_new(o, "category", json_string(c->categories.text[term->part]));
    }
    if (term->kind == DP_TERM_NUMBER) {
        json_object_set_new(o, "shift", json_real(term->shift));
        json_object_set_new(o, "factor", json_real(term->factor));
    }
    if (term->kind == DP_TERM_BASIS)
        json_object_set_new(o, "part", json_integer((json_int_t)term->part));
    if (term->kind == DP_TERM_PRODUCT) {
        json_object_set_new(o, "of", json_pack("[s, s]", t->term[term->of[0]].name, t->term[term->of[1]].name));
        json_object_set_new(o, "factor", json_real(term->factor));
    }
    static const char *const kinds[] = {"number", "basis", "category", "missing", "bias", "feature", "product"};
    json_object_set_new(o, "kind", json_string(kinds[term->kind]));
    json_object_set_new(o, "weights", numbers(t->weight + j, t->outputs, t->count));
    return o;
}

static json_t *privacy(const struct export *e)
{
    char text[EXPORT_PRIVACY];
    json_t *o = json_pack("{s:s}", "in_words", export_privacy(e, text));
    if (dp_frame_has(e->frame, DP_F_EPSILON)) {
        json_object_set_new(o, "epsilon", json_real(dp_frame_real(e->frame, DP_F_EPSILON, 0)));
        json_object_set_new(o, "delta", json_real(dp_frame_real(e->frame, DP_F_DELTA, 0)));
    }
    return o;
}

/* The columns of the table that make features, as the schema describes them. */
static int put_schema(const struct export *e, json_t *root, struct dp_err *err)
{
    const char *text = dp_frame_text(e->frame, DP_F_SCHEMA, "");
    json_t *schema = NULL, *column;
    size_t i;
    int rc = dp_json_parse(&schema, text, strlen(text), e->name, err);
    json_t *columns = json_object_get(schema, "columns");
    for (i = json_array_size(columns); i-- > 0;) {
        column = json_array_get(columns, i);
        const char *type = json_string_value(json_object_get(column, "type"));
        if (type == NULL || (strcmp(type, "numeric") != 0 && strcmp(type, "categorical") != 0))
            json_array_remove(columns, i);
    }
    json_object_set(root, "columns", columns);
    json_object_set(root, "missing", json_object_get(schema, "missing"));
    json_object_set(root, "decimal", json_object_get(schema, "decimal"));
    json_object_set(root, "bad_cells", json_object_get(schema, "bad_cells"));
    json_object_set_new(root, "row_norm", json_string(dp_row_norms[e->terms->norm]));
    json_decref(schema);
    return rc;
}

int export_json(const struct export *e, struct dp_err *err)
{
    const struct dp_terms *t = e->terms;
    json_t *root = json_pack("{s:i, s:s, s:s}", "version", 1, "loss", dp_loss_names[t->predictor.loss], "rows",
                             t->table ? "table" : "features"),
           *list = json_array();
    int rc = DP_OK;
    const struct dp_affine *label = &t->predictor.label;
    if (t->classes == 0)
        json_object_set_new(root, "label",
                            json_pack("{s:f, s:f, s:o*}", "scale", label->scale, "offset", label->offset, "bounds",
                                      label->low < label->high ? json_pack("[f, f]", label->low, label->high) : NULL));
    for (size_t k = 0; k < t->classes; k++)
        json_array_append_new(list, json_string(t->class[k]));
    if (t->classes > 0)
        json_object_set(root, "classes", list);
    if (t->table)
        rc = put_schema(e, root, err);
    json_t *features = json_array();
    for (size_t j = 0; j < t->count; j++)
        json_array_append_new(features, feature(t, j));
    json_object_set_new(root, "features", features);
    json_object_set_new(root, "constant", numbers(t->constant, t->outputs, 1));
    json_object_set_new(root, "privacy", privacy(e));
    if (rc == DP_OK)
        dp_json_print(root, 1, e->out);
    json_decref(list);
    json_decref(root);
    return rc;
}
