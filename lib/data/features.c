#include "data/features.h"

#include "base/mem.h"
#include "base/text.h"
#include "data/quantise.h"
#include "data/words.h"

void dp_features_free(struct dp_features *f, const struct dp_schema *s)
{
    for (size_t i = 0; f->frequency != NULL && i < s->columns; i++)
        free(f->frequency[i]);
    free(f->frequency);
    free(f->largest);
    free(f->mode);
    free(f->first);
    free(f->cell_of);
    dp_products_free(&f->products);
    free(f->step);
    free(f->base);
    free(f->x);
    *f = (struct dp_features){0};
}

static double clamped(const struct dp_column *c, double value, struct dp_beyond *count)
{
    if (!c->bounded || (value >= c->low && value <= c->high))
        return value;
    const double beyond = fmax(c->low - value, value - c->high);
    if (count != NULL)
        *count = (struct dp_beyond){count->all + 1, count->far + (beyond > c->high - c->low)};
    return value < c->low ? c->low : c->high;
}

int dp_features_measure(struct dp_features *m, struct dp_row_plan *plan, struct dp_spool *spool, struct dp_err *err)
{
    struct dp_schema *s = &plan->schema;
    struct dp_parsed r = {0};
    m->largest = dp_new(s->columns, sizeof *m->largest);
    m->mode = dp_new(s->columns, sizeof *m->mode);
    m->frequency = dp_new(s->columns, sizeof *m->frequency);
    for (size_t i = 0; i < s->columns; i++)
        if (s->column[i].type == DP_COLUMN_CATEGORICAL)
            m->frequency[i] = dp_new(s->column[i].categories.count + 1, sizeof **m->frequency);
    int rc = dp_spool_rewind(spool, err);
    while (rc >= 0 && (rc = dp_spool_get(spool, &r, err)) == 1) {
        if (r.null)
            continue;
        m->label_sum += r.label;
        m->labels++;
        for (uint32_t k = 0; k < r.count; k++) {
            size_t i = r.column[k];
            double value = r.value[k];
            if (isnan(value) && s->column[i].type == DP_COLUMN_NUMERIC)
                value = s->column[i].fill_value;
            if (isnan(value))
                continue;
            if (m->frequency[i] != NULL)
                m->frequency[i][(size_t)value]++;
            else
                m->largest[i] = fmax(m->largest[i], fabs(clamped(&s->column[i], value, NULL)));
        }
    }
    for (size_t i = 0; rc >= 0 && i < s->columns; i++) {
        size_t best = 1;
        for (size_t k = 1; m->frequency[i] != NULL && k <= s->column[i].categories.count; k++)
            if (m->frequency[i][k] > m->frequency[i][best])
                best = k;
        m->mode[i] = (double)best;
    }
    dp_parsed_free(&r);
    return rc;
}

/* Notes in the schema what was measured on the rows. */
void dp_features_note(struct dp_schema *s)
{
    for (size_t i = 0; i < s->columns; i++) {
        const struct dp_column *c = &s->column[i];
        if (c->type == DP_COLUMN_NUMERIC && c->scaling == DP_SCALE_MAX_ABS)
            dp_schema_note_private(s, "max-abs");
        if (c->fill == DP_FILL_MODE)
            dp_schema_note_private(s, "mode");
    }
    if (s->real_label && s->label_center)
        dp_schema_note_private(s, "label-mean");
}

/* The largest magnitude that a feature of this column can have, from public facts; INFINITY if none is known. At most one
 * feature of a categorical column is not zero, and it is 1. */
static double column_bound(const struct dp_column *c)
{
    if (c->type == DP_COLUMN_LABEL || c->type == DP_COLUMN_PERSON || c->type == DP_COLUMN_IGNORE)
        return 0;
    if (c->type == DP_COLUMN_CATEGORICAL || c->type == DP_COLUMN_TEXT || c->scaling != DP_SCALE_NONE)
        return 1;
    bool more = c->indicator || dp_basis_count(&c->basis) > 0;
    return c->bounded ? fmax(fmax(fabs(c->low), fabs(c->high)), more) : INFINITY;
}

static double scaled(const struct dp_column *c, double largest, double value)
{
    if (c->scaling == DP_SCALE_BOUNDS)
        return (value - c->low) / (c->high - c->low);
    return c->scaling == DP_SCALE_MAX_ABS && largest > 0 ? value / largest : value;
}

/* The largest squared norm of the features of a column, all divided by `unit`. A number and its basis are longest at the same
 * bound. A missing number has both its fill and its indicator in the row; a missing category has only one of them. */
static double column_norm2(const struct dp_column *c, double unit)
{
    double bound = column_bound(c) / unit, basis = dp_basis_norm2(&c->basis) / (unit * unit);
    if (c->type == DP_COLUMN_NUMERIC && c->scaling == DP_SCALE_NONE && c->bounded)
        bound = fmax(fabs(c->low), fabs(c->high)) / unit;
    if (!c->indicator || c->type == DP_COLUMN_CATEGORICAL)
        return bound * bound + basis;
    double filled = clamped(c, c->fill_value, NULL), fill = c->scaling == DP_SCALE_MAX_ABS ? 1 : scaled(c, 0, filled);
    return fmax(bound * bound + basis, (fill * fill + dp_basis_norm2_of(&c->basis, filled) + 1) / (unit * unit));
}

/* The largest norm that the bounds permit; notes the first column without bounds. */
static double norm_bound(const struct dp_features *f, struct dp_row_plan *plan)
{
    const struct dp_schema *s = &plan->schema;
    static const char *const nameless = "x1";
    double largest = fmax(plan->bias, f->products.weight), sum = 0;
    plan->unbounded = NULL;
    for (size_t i = 0; i < s->columns; i++) {
        largest = fmax(largest, column_bound(&s->column[i]));
        if (isinf(largest) || s->column[i].type == DP_COLUMN_TEXT) {
            plan->unbounded = s->column[i].name != NULL ? s->column[i].name : nameless;
            return INFINITY;
        }
    }
    for (size_t i = 0; i < s->columns; i++)
        sum += column_norm2(&s->column[i], largest);
    sum += dp_products_norm2(&f->products) / (largest * largest);
    sum += plan->bias ? 1 / (largest * largest) : 0;
    return largest * sqrt(sum);
}

static int choose_norm(const struct dp_features *f, struct dp_row_plan *plan, struct dp_err *err)
{
    double bound = norm_bound(f, plan);
    if (plan->choose_norm)
        plan->norm = isinf(bound) && plan->unbounded != NULL ? DP_NORM_UNIT : DP_NORM_BOUNDS;
    if (plan->norm != DP_NORM_BOUNDS)
        return DP_OK;
    if (plan->unbounded != NULL)
        return dp_fail(err, DP_E_USAGE, "--row-norm bounds: column '%.60s' has no bounds", plan->unbounded);
    /* Rows get a norm a little below 1, so that rounding to float32 cannot raise it above 1. */
    plan->divisor = bound / (1 - 0x1p-22);
    return isfinite(plan->divisor) ? DP_OK : dp_fail(err, DP_E_RUN, "the bounds are so large that no row has a finite norm");
}

/* The largest magnitude of a stored value, after scaling, of a feature that is at most `bound`. */
static double stored_bound(const struct dp_row_plan *plan, double bound)
{
    switch (plan->norm) {
    case DP_NORM_BOUNDS:
        return bound / plan->divisor;
    case DP_NORM_UNIT:
        return 1; /* short rows are scaled up, too */
    default:
        return fmin(1, bound);
    }
}

/* Chooses the steps of features only from public facts about their columns. */
static void choose_steps(struct dp_features *f, struct dp_row_plan *plan)
{
    const struct dp_schema *s = &plan->schema;
    f->step = dp_new(f->count, sizeof *f->step);
    size_t j = 0;
    for (size_t i = 0; i < s->columns; i++) {
        size_t end = i + 1 < s->columns ? f->first[i + 1] : f->count - plan->bias - f->products.count;
        float step = dp_quantise_step(stored_bound(plan, column_bound(&s->column[i])));
        while (j < end)
            f->step[j++] = step;
    }
    for (size_t k = 0, of[2]; k < f->products.count; k++)
        f->step[j++] = dp_quantise_step(stored_bound(plan, dp_products_of(&f->products, k, of)));
    if (plan->bias)
        f->step[f->count - 1] = dp_quantise_step(stored_bound(plan, 1));
    plan->step = f->step;
}

/* The most products next to that many features. */
static size_t products_within(const struct dp_row_plan *plan, size_t features)
{
    const size_t room = features + plan->bias < DP_PRODUCTS_COLUMNS ? DP_PRODUCTS_COLUMNS - features - plan->bias : 1;
    return plan->products < room ? plan->products : room;
}

static int lay_out(const struct dp_row_plan *plan, struct dp_features *l, struct dp_err *err)
{
    const struct dp_schema *s = &plan->schema;
    l->first = dp_new(s->columns, sizeof *l->first);
    l->cell_of = dp_new(s->columns, sizeof *l->cell_of);
    int rc = DP_OK;
    for (size_t i = 0; i < s->columns; i++) {
        l->first[i] = l->count;
        l->count += dp_column_features(&s->column[i]);
        if (s->column[i].type == DP_COLUMN_NUMERIC || s->column[i].type == DP_COLUMN_CATEGORICAL)
            l->cell_of[l->cells++] = (uint32_t)i;
    }
    if (plan->basis == DP_BASIS_PRODUCTS)
        rc = dp_products_plan(&l->products, s, l->first, products_within(plan, l->count), err);
    l->count += l->products.count + plan->bias;
    l->label_scale = 1;
    if (s->label_count && s->label_bounded) {
        l->label_scale = s->label_high / 4;
    } else if (s->real_label && s->label_bounded) {
        l->label_scale = 0.5 * (s->label_high - s->label_low);
        l->label_offset = 0.5 * (s->label_high + s->label_low);
    }
    if (s->real_label && s->label_center)
        l->label_offset = l->labels > 0 ? l->label_sum / (double)l->labels : 0;
    return rc;
}

static void set_feature(const struct dp_column *c, const struct dp_features *m, size_t i, double value, double *x,
                        struct dp_beyond *clamped_values)
{
    if (c->type == DP_COLUMN_TEXT) {
        dp_words_feature(value, x);
        return;
    }
    const bool missing = isnan(value);
    if (missing && c->indicator)
        x[dp_column_features(c) - 1] = 1;
    if (missing)
        value = c->fill == DP_FILL_MODE ? m->mode[i] : c->fill_value + (c->type == DP_COLUMN_CATEGORICAL);
    if (c->type == DP_COLUMN_CATEGORICAL) {
        long category = (long)value - 1 - c->drop_first;
        if (category >= 0)
            x[category] = 1;
        return;
    }
    value = clamped(c, value, missing ? NULL : clamped_values);
    x[0] = scaled(c, m->largest != NULL ? m->largest[i] : 0, value);
    dp_basis_features(&c->basis, value, x + 1);
}

static double label_of(struct dp_import *import, const struct dp_features *l, double label)
{
    const struct dp_schema *s = &import->plan.schema;
    if (!s->real_label) {
        /* LIBSVM labels are still numbers here: the class is the one whose name is that number. */
        return import->source.format == DP_IMPORT_LIBSVM ? (double)dp_schema_class_of(s, label) : label;
    }
    if (s->label_bounded && (label < s->label_low || label > s->label_high)) {
        if (s->label >= 0)
            import->plan.clamped[s->label].all++;
        label = label < s->label_low ? s->label_low : s->label_high;
    }
    return (label - l->label_offset) / l->label_scale;
}

/* The row of a record of zeros. Records leave zeros out, but if a column's bounds do not begin at zero, zero is scaled to
 * another value. */
static void base_row(const struct dp_row_plan *plan, const struct dp_features *l, double *x)
{
    const struct dp_schema *s = &plan->schema;
    for (size_t i = 0; i < s->columns; i++)
        if (s->column[i].type == DP_COLUMN_NUMERIC)
            set_feature(&s->column[i], l, i, 0, x + l->first[i], NULL);
    if (plan->bias)
        x[l->count - 1] = 1;
}

static void append_name(json_t *names, const char *name, size_t length)
{
    json_array_append_new(names, json_stringn(name, length));
}

/* "job=cook"; parts of more than NAME_MOST bytes are cut, because the name of the column is repeated for each category. */
#define NAME_MOST ((size_t)250)
static void feature_names(const struct dp_column *c, size_t i, json_t *names)
{
    char name[2 * NAME_MOST + 2], number[32], part[DP_BASIS_NAME];
    snprintf(number, sizeof number, "x%zu", i + 1);
    const char *column = c->name != NULL ? c->name : number;
    size_t length = dp_text_cut(column, strlen(column), NAME_MOST);
    memcpy(name, column, length);
    if (c->type == DP_COLUMN_NUMERIC)
        append_name(names, name, length);
    for (size_t k = 0; k < dp_basis_count(&c->basis); k++) {
        strcpy(name + length, dp_basis_name(&c->basis, k, part));
        append_name(names, name, strlen(name));
    }
    for (size_t k = 0; k < c->words; k++)
        append_name(names, name, length + (size_t)sprintf(name + length, " word %zu", k + 1));
    name[length++] = '=';
    for (size_t k = c->drop_first; c->type == DP_COLUMN_CATEGORICAL && k < c->categories.count; k++) {
        const char *category = c->categories.text[k];
        size_t more = dp_text_cut(category, strlen(category), NAME_MOST);
        memcpy(name + length, category, more);
        append_name(names, name, length + more);
    }
    memcpy(name + length - 1, " missing", 8);
    if (c->indicator)
        append_name(names, name, length + 7);
}

static json_t *label_json(const struct dp_schema *s, const struct dp_features *l)
{
    const char *name = s->label >= 0 ? s->column[s->label].name : "label";
    if (s->real_label)
        return json_pack("{s:s*, s:s, s:f, s:f}", "name", name, "kind", "real", "scale", l->label_scale, "offset",
                         l->label_offset);
    json_t *classes = json_array();
    for (size_t k = 0; k < s->classes; k++)
        json_array_append_new(classes, json_string(s->class[k].text[0]));
    return json_pack("{s:s*, s:s, s:o}", "name", name, "kind", "classes", "classes", classes);
}

/* Notes the map of images to features or, of an import of pixels, the shape of the images. */
static void describe_images(const struct dp_row_plan *plan, json_t *root)
{
    struct dp_image_shape shape = plan->shape;
    if (plan->features_name[0] != '\0')
        json_object_set_new(root, "features", json_string(plan->features_name));
    else if (shape.height > 0)
        json_object_set_new(root, "pixels",
                            json_sprintf("%zux%zu%s", shape.height, shape.width, shape.channels == 3 ? "x3" : ""));
}

void dp_features_describe(const struct dp_features *l, const struct dp_row_plan *plan, json_t **description)
{
    const struct dp_schema *s = &plan->schema;
    json_t *names = json_array(), *root = json_object();
    for (size_t i = 0; i < s->columns; i++)
        feature_names(&s->column[i], i, names);
    dp_products_names(&l->products, names);
    if (plan->bias)
        append_name(names, "bias", 4);
    json_object_set_new(root, "names", names);
    json_object_set_new(root, "label", label_json(s, l));
    json_object_set_new(root, "bias", json_boolean(plan->bias));
    json_object_set_new(root, "private_preprocessing",
                        s->private_preprocessing != NULL ? json_deep_copy(s->private_preprocessing) : json_array());
    if (s->paid != NULL)
        json_object_set(root, "paid", s->paid);
    if (plan->basis != DP_BASIS_NONE)
        json_object_set_new(root, "basis", json_string(dp_bases[plan->basis]));
    if (plan->products > 0)
        json_object_set_new(root, "products", json_integer((json_int_t)plan->products));
    describe_images(plan, root);
    *description = root;
}

/* Numbers with bounds whose schema states no basis get the basis of the import. False: there are no such numbers. */
static bool default_bases(struct dp_row_plan *plan)
{
    bool taken = false;
    for (size_t i = 0; plan->basis != DP_BASIS_NONE && i < plan->schema.columns; i++) {
        struct dp_column *c = &plan->schema.column[i];
        if (c->type == DP_COLUMN_NUMERIC && c->bounded && c->basis.kind == DP_BASIS_NONE)
            dp_basis_default(&c->basis, plan->basis, c->low, c->high);
        taken |= c->basis.kind == plan->basis || (plan->basis == DP_BASIS_PRODUCTS && c->basis.kind == DP_BASIS_COSINES);
    }
    return taken;
}

int dp_features_plan(struct dp_features *f, struct dp_row_plan *plan, struct dp_err *err)
{
    const bool numbers = default_bases(plan);
    int rc = lay_out(plan, f, err);
    plan->features = f->count;
    if (plan->basis == DP_BASIS_PRODUCTS && plan->products > 0 && f->products.count == 0)
        plan->basis = DP_BASIS_COSINES;
    if (!numbers && f->products.count == 0)
        plan->basis = DP_BASIS_NONE;
    plan->products = plan->basis == DP_BASIS_PRODUCTS && plan->products > 0 ? f->products.count : 0;
    if (rc == DP_OK && f->count == 0)
        rc = dp_fail(err, DP_E_RUN, "no column is a feature");
    rc = rc ?: choose_norm(f, plan, err);
    if (rc == DP_OK && plan->quantise)
        choose_steps(f, plan);
    if (rc == DP_OK) {
        f->x = dp_new(f->count, sizeof *f->x);
        f->base = dp_new(f->count, sizeof *f->base);
        plan->clamped = dp_new(plan->schema.columns, sizeof *plan->clamped);
        base_row(plan, f, f->base);
    }
    return rc;
}

void dp_features_make(const struct dp_features *f, const struct dp_row_plan *plan, const struct dp_parsed *r, double *x)
{
    const struct dp_schema *s = &plan->schema;
    if (r->null)
        memset(x, 0, f->count * sizeof *x);
    else
        memcpy(x, f->base, f->count * sizeof *x);
    for (uint32_t k = 0; k < r->count; k++) {
        size_t i = r->column[k];
        set_feature(&s->column[i], f, i, r->value[k], x + f->first[i], plan->clamped != NULL ? &plan->clamped[i] : NULL);
    }
    dp_products_features(&f->products, x, x + f->count - plan->bias - f->products.count);
}

static double label_in_row(struct dp_import *import, const struct dp_features *f, const struct dp_parsed *r)
{
    return r->null ? (double)NAN : label_of(import, f, r->label);
}

const double *dp_features_row(const struct dp_features *f, struct dp_import *import, const struct dp_parsed *r, double *y)
{
    dp_features_make(f, &import->plan, r, f->x);
    *y = label_in_row(import, f, r);
    return f->x;
}

void dp_features_cells(const struct dp_features *f, struct dp_import *import, const struct dp_parsed *r, double *cells,
                       double *y)
{
    memset(cells, 0, f->cells * sizeof *cells);
    for (uint32_t k = 0, at = 0; k < r->count; k++) {
        const size_t i = r->column[k];
        const struct dp_column *c = &import->plan.schema.column[i];
        if (f->cell_of[at] > i) /* records are mostly in the order of the schema */
            at = 0;
        while (f->cell_of[at] < i)
            at++;
        const bool number = c->type == DP_COLUMN_NUMERIC && !isnan(r->value[k]);
        cells[at] = number ? clamped(c, r->value[k], &import->plan.clamped[i]) : r->value[k];
    }
    *y = label_in_row(import, f, r);
}

const char *dp_features_no_cells(const struct dp_row_plan *plan)
{
    const struct dp_schema *s = &plan->schema;
    bool texts = false, measured = json_array_size(s->private_preprocessing) > (s->paid != NULL);
    for (size_t i = 0; i < s->columns; i++) {
        texts |= s->column[i].type == DP_COLUMN_TEXT;
        measured |= s->column[i].scaling == DP_SCALE_MAX_ABS || s->column[i].fill == DP_FILL_MODE;
    }
    if (measured)
        return "the schema is not public, and rows are made by the schema";
    return texts                            ? "a column has texts"
           : plan->quantise                 ? "values are rounded to 16 bits"
           : plan->norm == DP_NORM_NONE     ? "rows may have any norm"
           : plan->features_name[0] != '\0' ? "rows are features of images"
                                            : NULL;
}

void dp_row_plan_free(struct dp_row_plan *plan)
{
    dp_schema_free(&plan->schema);
    free(plan->clamped);
    plan->clamped = NULL;
}
