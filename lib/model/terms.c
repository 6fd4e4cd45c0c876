#include "model/terms.h"

#include "base/mem.h"
#include "data/carried.h"
#include "data/features.h"
#include "data/row_facts.h"
#include "wire/model.h"

/* The kinds of the terms of column i, in the order of their features (data/features.c). */
static void take_column(struct dp_terms *t, size_t i, size_t *j)
{
    const struct dp_column *c = &t->plan.schema.column[i];
    if (c->type == DP_COLUMN_NUMERIC) {
        bool scaled = c->scaling == DP_SCALE_BOUNDS;
        t->term[(*j)++] = (struct dp_term){
            .kind = DP_TERM_NUMBER, .column = i, .shift = scaled ? c->low : 0, .factor = scaled ? 1 / (c->high - c->low) : 1};
    }
    for (size_t k = 0; c->type == DP_COLUMN_NUMERIC && k < dp_basis_count(&c->basis); k++)
        t->term[(*j)++] = (struct dp_term){.kind = DP_TERM_BASIS, .column = i, .part = k};
    for (size_t k = c->drop_first; c->type == DP_COLUMN_CATEGORICAL && k < c->categories.count; k++)
        t->term[(*j)++] = (struct dp_term){.kind = DP_TERM_CATEGORY, .column = i, .part = k};
    if (dp_terms_reads(t, i) && c->indicator)
        t->term[(*j)++] = (struct dp_term){.kind = DP_TERM_MISSING, .column = i};
}

/* The schema, and how rows are scaled. */
static int take_schema(struct dp_terms *t, const struct dp_frame *frame, const char *name, struct dp_err *err)
{
    struct dp_features features = {0};
    struct dp_row_plan *plan = &t->plan;
    json_t *description = NULL;
    char row_norm[DP_ROW_NORM_TEXT] = "";
    int rc = dp_carried_take(plan, dp_frame_text(frame, DP_F_SCHEMA, ""), name, err);
    for (size_t i = 0; rc == DP_OK && i < plan->schema.columns; i++)
        if (plan->schema.column[i].type == DP_COLUMN_TEXT)
            rc = dp_fail(err, DP_E_RUN, "%s has words of a text, and only models of single values can be written", name);
    rc = rc ?: dp_features_plan(&features, plan, err);
    if (rc == DP_OK) {
        dp_features_describe(&features, plan, &description);
        dp_row_norm_text(dp_row_norms[plan->norm], plan->divisor, plan->bias, plan->basis, plan->products, plan->quantise,
                         row_norm);
    }
    const struct dp_row_facts facts = {.cols = features.count, .row_norm = row_norm};
    rc = rc ?: dp_predictor_open_for(&t->predictor, frame, &facts, "its schema", err);
    t->count = features.count;
    t->norm = plan->norm;
    t->products = features.products.count;
    t->names = json_incref(json_object_get(description, "names"));
    t->term = dp_new(t->count, sizeof *t->term);
    json_decref(description);
    size_t j = 0;
    for (size_t i = 0; rc == DP_OK && i < plan->schema.columns; i++)
        take_column(t, i, &j);
    for (size_t i = 0; rc == DP_OK && i < t->products; i++, j++) {
        t->term[j] = (struct dp_term){.kind = DP_TERM_PRODUCT};
        t->term[j].factor = dp_products_of(&features.products, i, t->term[j].of);
    }
    dp_features_free(&features, &plan->schema);
    if (rc == DP_OK && plan->bias)
        t->term[j] = (struct dp_term){.kind = DP_TERM_BIAS};
    for (j = 0; rc == DP_OK && j < t->count; j++)
        t->term[j].name = json_string_value(json_array_get(t->names, j));
    return rc;
}

/* The columns of a data set without a schema. */
static int number_features(struct dp_terms *t, const struct dp_frame *frame, struct dp_err *err)
{
    struct dp_form form;
    int rc = dp_form_read(&form, frame, err);
    const struct dp_row_facts facts = {.cols = form.features, .row_norm = ""};
    rc = rc ?: dp_predictor_open_for(&t->predictor, frame, &facts, "its model", err);
    if (rc != DP_OK)
        return rc;
    t->term = dp_new(form.features, sizeof *t->term);
    t->count = form.features;
    t->norm = DP_NORM_BOUNDS;
    t->names = json_array();
    for (size_t j = 0; j < t->count; j++) {
        json_array_append_new(t->names, json_sprintf("x%zu", j + 1));
        t->term[j] =
            (struct dp_term){.kind = DP_TERM_FEATURE, .name = json_string_value(json_array_get(t->names, j)), .factor = 1};
    }
    return rc;
}

static int take_weights(struct dp_terms *t, const struct dp_frame *frame, struct dp_err *err)
{
    const struct dp_form *form = &t->predictor.form;
    double divisor = t->table && t->norm == DP_NORM_BOUNDS ? t->plan.divisor : 1;
    t->outputs = form->outputs;
    int rc = dp_predictor_take(&t->predictor, frame, err);
    if (rc != DP_OK || dp_terms_network(t))
        return rc;
    t->weight = dp_new(t->outputs * t->count, sizeof *t->weight);
    t->constant = dp_new(t->outputs, sizeof *t->constant);
    for (size_t k = 0; k < t->outputs; k++) {
        const double *w = t->predictor.parameters + k * form->cols;
        for (size_t j = 0; j < t->count; j++)
            t->weight[k * t->count + j] = w[j] / divisor;
        t->constant[k] = form->intercept != 0 ? form->intercept * w[t->count] : 0;
    }
    return rc;
}

/* Names of the classes, or their numbers. */
static int take_classes(struct dp_terms *t, const struct dp_frame *frame, const char *name, struct dp_err *err)
{
    int64_t classes = dp_frame_int(frame, DP_F_CLASSES, -1);
    if (classes < 0 || t->outputs != dp_loss_outputs((size_t)classes) || classes == 1 || !t->predictor.known)
        return dp_fail(err, DP_E_RUN, "%s does not say what its %zu outputs predict", name, t->outputs);
    t->classes = (size_t)classes;
    return dp_model_class_names(frame, name, t->classes, NULL, &t->class, err);
}

int dp_terms_open(struct dp_terms *t, const struct dp_frame *frame, const char *name, struct dp_err *err)
{
    const char *family = dp_frame_text(frame, DP_F_FAMILY, dp_family_linear.name);
    if (strcmp(family, dp_family_linear.name) != 0 && !t->networks)
        return dp_fail(err, DP_E_RUN, "%s is a %.40s, and only linear models have one weight for each column", name, family);
    t->table = dp_frame_has(frame, DP_F_SCHEMA);
    int rc = t->table ? take_schema(t, frame, name, err) : number_features(t, frame, err);
    rc = rc ?: take_weights(t, frame, err);
    return rc ?: take_classes(t, frame, name, err);
}

bool dp_terms_network(const struct dp_terms *t)
{
    return t->predictor.form.family == &dp_family_network;
}

void dp_terms_close(struct dp_terms *t)
{
    dp_model_free_names(t->class, t->classes);
    dp_predictor_close(&t->predictor);
    free(t->weight);
    free(t->constant);
    free(t->term);
    json_decref(t->names);
    dp_row_plan_free(&t->plan);
    *t = (struct dp_terms){0};
}

void dp_terms_of_column(const struct dp_terms *t, size_t column, size_t *first, size_t *end)
{
    size_t j = 0;
    while (j < t->count && (t->term[j].kind > DP_TERM_MISSING || t->term[j].column != column))
        j++;
    *first = j;
    while (j < t->count && t->term[j].kind <= DP_TERM_MISSING && t->term[j].column == column)
        j++;
    *end = j;
}

bool dp_terms_reads(const struct dp_terms *t, size_t column)
{
    enum dp_column_type type = t->plan.schema.column[column].type;
    return type == DP_COLUMN_NUMERIC || type == DP_COLUMN_CATEGORICAL;
}

double dp_term_value(const struct dp_terms *t, size_t j, double number, long category)
{
    const struct dp_term *term = &t->term[j];
    const struct dp_column *c = &t->plan.schema.column[term->column];
    double x[DP_BASIS_MOST + 2];
    bool missing = c->type == DP_COLUMN_CATEGORICAL ? category == DP_CATEGORY_MISSING : isnan(number);
    if (term->kind == DP_TERM_MISSING)
        return missing;
    if (term->kind == DP_TERM_CATEGORY)
        return (missing ? (long)c->fill_value : category) == (long)term->part;
    if (missing)
        number = c->fill_value;
    if (c->bounded)
        number = fmin(fmax(number, c->low), c->high);
    if (term->kind == DP_TERM_NUMBER)
        return term->factor * (number - term->shift);
    dp_basis_features(&c->basis, number, x);
    return x[term->part];
}
