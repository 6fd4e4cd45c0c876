#include "steps.h"

#include "base/mem.h"

static const double longest = 1 - 0x1p-22, pi = 3.14159265358979323846;

bool step_is(const struct step *step, const char *kind)
{
    return strcmp(step->kind, kind) == 0;
}

static const struct expr *times(double factor, const struct expr *x)
{
    return expr(OP_MULTIPLY, expr_number(factor), x);
}

/* x held within the bounds. */
static const struct expr *within(const struct expr *x, double low, double high)
{
    const struct expr *least = expr_number(low), *most = expr_number(high);
    x = expr(OP_IF, expr(OP_LESS, most, x), most, x);
    return expr(OP_IF, expr(OP_LESS, x->arg[2], least), least, x);
}

/* One more than the levels of the steps in the expression. */
static size_t level_of(const struct steps *s, const struct expr *x)
{
    size_t level = x->op == OP_NAME ? 1 + s->step[x->at].level : 0;
    for (int k = 0; k < 3 && x->arg[k] != NULL; k++) {
        size_t other = level_of(s, x->arg[k]);
        level = other > level ? other : level;
    }
    return level;
}

/* Adds a step, and returns its name. */
static const struct expr *add(struct steps *s, const char *kind, size_t number, const struct expr *value)
{
    dp_extend(&s->step, &s->room, s->count + 1, sizeof *s->step);
    s->step[s->count] = (struct step){kind, number, level_of(s, value), 0, value};
    return expr_at(OP_NAME, NULL, s->count++);
}

/* --- cells ------------------------------------------------------------------------------------------------------------ */

/* Adds the words of missing cells to a table. */
static struct expr *missing_words(const struct steps *s, size_t i, struct expr *table, double value)
{
    const struct dp_texts *const words[] = {&s->terms->plan.schema.missing, &s->terms->plan.schema.column[i].missing};
    expr_entry(table, "", 0, value);
    for (int list = 0; list < 2; list++)
        for (size_t k = 0; k < words[list]->count; k++)
            expr_entry(table, words[list]->text[k], 0, value);
    return table;
}

static bool fills(const struct dp_column *c)
{
    return c->fill == DP_FILL_VALUE || c->unknown_zero;
}

/* The number in a cell, none if it is missing and the schema does not tell it from a bad cell. Sets `missing`. */
static const struct expr *take_read(struct steps *s, size_t i, const struct expr *text)
{
    const struct dp_column *c = &s->terms->plan.schema.column[i];
    bool bad = s->terms->plan.bad_missing;
    const struct expr *is_missing = missing_words(s, i, expr(OP_IN, text), 1);
    const struct expr *read = expr_at(c->date != NULL ? OP_DATE : OP_READ, text, i);
    if (bad || !fills(c))
        read = expr(OP_IF, is_missing, expr(OP_NONE, NULL), read);
    read = add(s, "read", i + 1, read);
    s->column[i].missing = bad ? expr(OP_ABSENT, read) : is_missing;
    return read;
}

static void take_number(struct steps *s, size_t i, const struct expr *text)
{
    const struct dp_column *c = &s->terms->plan.schema.column[i];
    const struct expr *number = take_read(s, i, text);
    if (c->bounded)
        number = within(number, c->low, c->high);
    if (c->fill == DP_FILL_VALUE) {
        double fill = c->bounded ? fmin(fmax(c->fill_value, c->low), c->high) : c->fill_value;
        number = expr(OP_IF, s->column[i].missing, expr_number(fill), number);
    }
    s->column[i].number = number = add(s, "number", i + 1, number);
    if (c->basis.kind != DP_BASIS_COSINES)
        return;
    struct expr *place = expr(OP_LINES, number);
    for (size_t k = 0; k <= c->basis.intervals; k++)
        expr_entry(place, NULL, c->basis.edge[k], (double)k);
    s->column[i].place = add(s, "place", i + 1, place);
}

/* Missing cells are the category behind the last one, or no category. */
static void take_category(struct steps *s, size_t i, const struct expr *text)
{
    const struct dp_column *c = &s->terms->plan.schema.column[i];
    size_t names = c->categories.count - c->buckets;
    const struct expr *none = expr(OP_NONE, NULL), *missing = none, *other = none, *category;
    if (fills(c))
        missing = expr_number(c->fill == DP_FILL_VALUE ? (double)c->categories.count + 1 : 0);
    if (c->date != NULL) {
        category = take_read(s, i, text);
        category = fills(c) ? expr(OP_IF, s->column[i].missing, missing, category) : category;
    } else {
        if (c->buckets > 0)
            other = expr(OP_ADD, expr_number((double)names), expr_at(OP_HASH, text, i));
        else if (c->unknown_zero)
            other = expr_number(0);
        else if (s->terms->plan.bad_missing)
            other = missing;
        struct expr *match = expr(OP_MATCH, text, other);
        if (fills(c) || c->buckets > 0)
            missing_words(s, i, match, fills(c) ? missing->number : (double)NAN);
        for (size_t k = 0; k < names; k++)
            expr_entry(match, c->categories.text[k], 0, (double)k + 1);
        for (size_t k = 0; k < c->synonyms.count; k++)
            expr_entry(match, c->synonyms.text[k], 0, (double)c->meant[k] + 1);
        category = match;
    }
    s->column[i].number = add(s, "category", i + 1, category);
}

static void take_columns(struct steps *s)
{
    const struct dp_schema *schema = &s->terms->plan.schema;
    for (size_t i = 0; s->terms->table && i < schema->columns; i++) {
        if (!dp_terms_reads(s->terms, i))
            continue;
        const struct expr *cell = expr_at(OP_INPUT, NULL, i);
        const struct expr *text = add(s, "text", i + 1, expr(OP_TRIM, cell));
        (schema->column[i].type == DP_COLUMN_NUMERIC ? take_number : take_category)(s, i, text);
    }
}

/* --- features --------------------------------------------------------------------------------------------------------- */

/* cos(π (k + 1) u) / (k + 1) */
static const struct expr *cosine(struct steps *s, const struct dp_term *term)
{
    const struct dp_basis *basis = &s->terms->plan.schema.column[term->column].basis;
    double k = (double)term->part + 1;
    const struct expr *angle = times(pi * k / (double)basis->intervals, s->column[term->column].place);
    return times(1 / k, expr(OP_COS, angle));
}

/* Σ_k weight_k f_k of hats or bins. */
static const struct expr *pieces(struct steps *s, size_t i, const double *weight)
{
    const struct dp_basis *basis = &s->terms->plan.schema.column[i].basis;
    enum op op = basis->kind == DP_BASIS_HATS ? OP_LINES : OP_STEPS;
    struct expr *table = expr(op, s->column[i].number);
    for (size_t k = 0; k < dp_basis_count(basis); k++)
        expr_entry(table, NULL, basis->edge[k], weight[k]);
    return table;
}

/* A value for each category of a column, and what a missing cell adds to the value of its fill. */
static const struct expr *by_category(struct steps *s, size_t i, const double *value, double missing)
{
    const struct dp_column *c = &s->terms->plan.schema.column[i];
    const size_t all = c->categories.count;
    struct expr *table = expr(OP_STEPS, s->column[i].number);
    expr_entry(table, NULL, 0, 0);
    for (size_t k = 0; k < all; k++)
        expr_entry(table, NULL, (double)k + 1, value[k]);
    if (c->fill == DP_FILL_VALUE)
        expr_entry(table, NULL, (double)all + 1, missing + (c->fill_value >= 0 ? value[(size_t)c->fill_value] : 0));
    return table;
}

/* Σ_j weight_j f_j over the categories of a column and its indicator. */
static const struct expr *of_category(struct steps *s, size_t i, const double *weight)
{
    const struct dp_terms *t = s->terms;
    const struct dp_column *c = &t->plan.schema.column[i];
    size_t first, end;
    double *value = dp_new(c->categories.count + 1, sizeof *value);
    dp_terms_of_column(t, i, &first, &end);
    for (size_t k = c->drop_first; k < c->categories.count; k++)
        value[k] = weight[first + k - c->drop_first];
    const struct expr *table = by_category(s, i, value, c->indicator ? weight[end - 1] : 0);
    free(value);
    return table;
}

/* The category that a product needs in its second column, or none. */
static const struct dp_term *level_of_product(const struct dp_terms *t, size_t j)
{
    const struct dp_term *second = j < t->count && t->term[j].kind == DP_TERM_PRODUCT ? &t->term[t->term[j].of[1]] : NULL;
    return second != NULL && second->kind == DP_TERM_CATEGORY ? second : NULL;
}

/* The end of the products from term j on that differ only in the category of their second column. */
static size_t end_of_products(const struct dp_terms *t, size_t j)
{
    const struct dp_term *level = level_of_product(t, j), *next = level;
    size_t end = j + 1;
    while (level != NULL && (next = level_of_product(t, end)) != NULL && next->column == level->column &&
           t->term[end].of[0] == t->term[j].of[0])
        end++;
    return end;
}

/* A factor of products, times a weight for each of its categories, or for a cosine the first weight. */
static const struct expr *factor(struct steps *s, const struct dp_term *term, const double *weight)
{
    return term->kind == DP_TERM_CATEGORY ? by_category(s, term->column, weight, 0) : times(weight[0], cosine(s, term));
}

/* Σ_j weight_j f_j over the products from term j to end_of_products. */
static const struct expr *products(struct steps *s, size_t j, const double *weight)
{
    const struct dp_terms *t = s->terms;
    const struct dp_term *first = &t->term[t->term[j].of[0]], *second = &t->term[t->term[j].of[1]];
    double *value = dp_new(t->count, sizeof *value);
    value[first->kind == DP_TERM_CATEGORY ? first->part : 0] = 1;
    const struct expr *one = factor(s, first, value);
    memset(value, 0, t->count * sizeof *value);
    for (size_t k = j; k < end_of_products(t, j); k++)
        value[second->kind == DP_TERM_CATEGORY ? level_of_product(t, k)->part : 0] = weight[k] * t->term[k].factor;
    const struct expr *product = expr(OP_MULTIPLY, one, factor(s, second, value));
    free(value);
    return product;
}

/* The part of the sum of the term j, and of those that belong to it; *j becomes the next one. */
static const struct expr *take_term(struct steps *s, size_t *j, const double *weight)
{
    const struct dp_terms *t = s->terms;
    const struct dp_term *term = &t->term[*j];
    const double w = weight[*j];
    const struct dp_column *c = term->kind <= DP_TERM_MISSING ? &t->plan.schema.column[term->column] : NULL;
    if (c != NULL && c->type == DP_COLUMN_CATEGORICAL) {
        size_t first;
        dp_terms_of_column(t, term->column, &first, j);
        return of_category(s, term->column, weight);
    }
    if (term->kind == DP_TERM_BASIS && c->basis.kind != DP_BASIS_COSINES) {
        *j += dp_basis_count(&c->basis);
        return pieces(s, term->column, &weight[*j - dp_basis_count(&c->basis)]);
    }
    if (term->kind == DP_TERM_PRODUCT) {
        const size_t from = *j;
        *j = end_of_products(t, from);
        return products(s, from, weight);
    }
    ++*j;
    switch (term->kind) {
    case DP_TERM_NUMBER:
        return times(w * term->factor, expr(OP_SUBTRACT, s->column[term->column].number, expr_number(term->shift)));
    case DP_TERM_BASIS:
        return times(w, cosine(s, term));
    case DP_TERM_MISSING:
        return expr(OP_IF, s->column[term->column].missing, expr_number(w), expr_number(0));
    case DP_TERM_FEATURE:
        return times(w, expr_at(OP_INPUT, NULL, *j - 1));
    default: /* the bias */
        return expr_number(w);
    }
}

/* Σ_j weight_j f_j over all terms. */
static const struct expr *sum_of(struct steps *s, const double *weight)
{
    size_t count = 0;
    const struct expr **term = dp_new(s->terms->count + 1, sizeof(const struct expr *));
    for (size_t j = 0; j < s->terms->count;)
        term[count++] = take_term(s, &j, weight);
    const struct expr *sum = expr_sum(term, count);
    free(term);
    return sum;
}

/* The features: each is a sum with the weight 1 for it, and 0 for the others of its term. At most one product with the
 * categories of a column is not 0; together: such products are one feature. The caller frees the list. */
static const struct expr **features(struct steps *s, bool together, size_t *count)
{
    const struct dp_terms *t = s->terms;
    const struct expr **feature = dp_new(t->count + 1, sizeof(const struct expr *));
    double *weight = dp_new(t->count, sizeof *weight);
    *count = 0;
    for (size_t from = 0, j = 0; j < t->count; j++) {
        const size_t end = together ? end_of_products(t, j) : j + 1;
        size_t next = from;
        for (; j < end; j++)
            weight[j] = 1;
        feature[(*count)++] = take_term(s, &next, weight);
        memset(weight, 0, t->count * sizeof *weight);
        from = j-- == next ? next : from;
    }
    free(weight);
    return feature;
}

/* --- scores ----------------------------------------------------------------------------------------------------------- */

/* The factor s of a row with these features; none if the row is refused. */
static const struct expr *scale_of(struct steps *s, const struct expr **feature, size_t count)
{
    const struct dp_terms *t = s->terms;
    const struct expr *one = expr_number(1);
    if (t->norm == DP_NORM_BOUNDS)
        return expr_number(t->table ? 1 / t->plan.divisor : 1);
    for (size_t j = 0; j < count; j++)
        feature[j] = expr(OP_MULTIPLY, feature[j], feature[j]);
    const struct expr *norm2 = add(s, "norm2", 1, expr_sum(feature, count));
    if (t->norm == DP_NORM_NONE)
        return expr(OP_IF, expr(OP_LESS, one, norm2), expr(OP_NONE, NULL), one);
    const struct expr *norm = expr(OP_SQRT, norm2);
    const struct expr *longer = expr(OP_LESS, expr_number(t->norm == DP_NORM_CAP ? longest : 0), norm);
    return expr(OP_IF, longer, expr(OP_DIVIDE, expr_number(longest), norm), one);
}

static void take_scores(struct steps *s)
{
    const struct dp_terms *t = s->terms;
    const struct expr **sum = dp_new(t->outputs, sizeof(const struct expr *)), *scale = NULL;
    for (size_t k = 0; k < t->outputs; k++)
        sum[k] = add(s, "sum", k + 1, sum_of(s, t->weight + k * t->count));
    if (t->norm != DP_NORM_BOUNDS) {
        size_t count;
        const struct expr **feature = features(s, true, &count);
        scale = add(s, "scale", 1, scale_of(s, feature, count));
        free(feature);
    }
    s->score = s->count;
    for (size_t k = 0; k < t->outputs; k++) {
        const struct expr *scaled = scale != NULL ? expr(OP_MULTIPLY, sum[k], scale) : sum[k];
        add(s, "score", k + 1, expr(OP_ADD, expr_number(t->constant[k]), scaled));
    }
    free(sum);
}

/* --- predictions ------------------------------------------------------------------------------------------------------- */

static const struct expr *score(struct steps *s, size_t k)
{
    return expr_at(OP_NAME, NULL, s->score + k);
}

/* The largest of scores from … to − 1; each pair is a step. */
static const struct expr *top_of(struct steps *s, size_t from, size_t to)
{
    if (to - from == 1)
        return score(s, from);
    const struct expr *a = top_of(s, from, (from + to) / 2), *b = top_of(s, (from + to) / 2, to);
    return add(s, "top", s->count - s->predict + 1, expr(OP_IF, expr(OP_LESS, a, b), b, a));
}

/* e^x, of an x that some programs take. */
static const struct expr *power(const struct expr *x)
{
    return expr(OP_EXP, within(x, -700, 700));
}

/* 1 / (1 + e^(sign score)) */
static const struct expr *sigmoid(struct steps *s, double sign, size_t k)
{
    const struct expr *one = expr_number(1);
    return expr(OP_DIVIDE, one, expr(OP_ADD, one, power(times(sign, score(s, k)))));
}

static void take_probabilities(struct steps *s, const struct expr *top)
{
    const struct dp_terms *t = s->terms;
    if (t->outputs == 1) {
        add(s, "probability", 1, sigmoid(s, 1, 0));
        add(s, "probability", 2, sigmoid(s, -1, 0));
        return;
    }
    const struct expr **part = dp_new(t->outputs, sizeof(const struct expr *));
    for (size_t k = 0; k < t->outputs; k++)
        part[k] = add(s, "part", k + 1,
                      t->predictor.loss == DP_LOSS_SOFTMAX ? power(expr(OP_SUBTRACT, score(s, k), top)) : sigmoid(s, -1, k));
    const struct expr *total = add(s, "total", 1, expr_sum(part, t->outputs));
    for (size_t k = 0; k < t->outputs; k++)
        add(s, "probability", k + 1, expr(OP_DIVIDE, part[k], total));
    free(part);
}

static void take_predictions(struct steps *s)
{
    const struct dp_terms *t = s->terms;
    const struct dp_affine *label = &t->predictor.label;
    s->predict = s->count;
    if (t->classes > 0) {
        const struct expr *top = top_of(s, 0, t->outputs);
        if (dp_metric_has_probability(t->predictor.loss))
            take_probabilities(s, top);
        return;
    }
    const struct expr *value = t->predictor.loss == DP_LOSS_POISSON ? power(score(s, 0)) : score(s, 0);
    value = expr(OP_ADD, times(label->scale, value), expr_number(label->offset));
    add(s, "value", 1, label->low < label->high ? within(add(s, "unbound", 1, value), label->low, label->high) : value);
}

/* The steps of a network before its layers; its scores are not made of steps. */
static void take_inputs(struct steps *s)
{
    size_t count;
    const struct expr **feature = features(s, false, &count);
    for (size_t j = 0; j < count; j++)
        feature[j] = add(s, "feature", j + 1, feature[j]);
    add(s, "scale", 1, scale_of(s, feature, count));
    free(feature);
    s->score = s->count;
    for (size_t k = 0; k < s->terms->outputs; k++)
        add(s, "score", k + 1, expr(OP_NONE, NULL));
}

static bool is_result(const struct step *step)
{
    return step_is(step, "feature") || step_is(step, "scale") || step_is(step, "score") || step_is(step, "probability") ||
           step_is(step, "value");
}

static void use(struct steps *s, const struct expr *x, size_t level)
{
    if (x->op == OP_NAME && s->step[x->at].last < level)
        s->step[x->at].last = level;
    for (int k = 0; k < 3 && x->arg[k] != NULL; k++)
        use(s, x->arg[k], level);
}

void steps_open(struct steps *s, const struct dp_terms *terms, bool class)
{
    *s = (struct steps){.terms = terms, .column = dp_new(terms->plan.schema.columns + 1, sizeof *s->column)};
    take_columns(s);
    if (dp_terms_network(terms))
        take_inputs(s);
    else
        take_scores(s);
    take_predictions(s);
    for (size_t i = s->count; i-- > 0;) {
        struct step *step = &s->step[i];
        step->last = is_result(step) || (class && step_is(step, "top")) ? SIZE_MAX : step->last;
        if (step->last > 0)
            use(s, step->value, step->level);
    }
}

void steps_close(struct steps *s)
{
    expr_free();
    free(s->step);
    free(s->column);
}
