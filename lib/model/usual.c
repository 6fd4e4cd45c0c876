#include "model/usual.h"

#include "base/mem.h"
#include "math/eigen.h"
#include "model/transform.h"

enum { PLACES = 16, MOST = 1000 };
#define NOISE 4 /* times the floor, above which a direction is more than noise */

struct finder {
    const struct dp_terms *t;
    struct dp_usual *u;
    double *weight;       /* outputs × count; less their mean over the outputs, if there are several */
    double *mean, *value; /* per column of the schema: E u_c, and u_c at one cell or along one direction */
};

/* Adds to x->value what the column's terms are worth for output k: each times its entry of f. */
static void add_terms(const struct finder *x, size_t k, const double *f)
{
    const struct dp_terms *t = x->t;
    const double *w = x->weight + k * t->count;
    for (size_t j = 0; j < t->count; j++) {
        const struct dp_term *term = &t->term[j];
        for (int of = 0; term->kind == DP_TERM_PRODUCT && of < 2; of++)
            x->value[t->term[term->of[of]].column] += w[j] * f[j] / 2;
        if (term->kind <= DP_TERM_MISSING)
            x->value[term->column] += w[j] * f[j];
    }
}

/* --- released moments -------------------------------------------------------------------------------------------------- */

/* With m directions v, the rows of a matrix, and g, from the largest on. Entry n of a direction, if there is one, is of the
 * constant of the model. */
static void take_directions(const struct finder *x, const double *v, const double *g, size_t m, double *variance)
{
    const struct dp_terms *t = x->t;
    const size_t n = t->count, columns = t->plan.schema.columns;
    double bias = 0, length = 0;
    for (size_t k = 0; k < t->outputs; k++) {
        memset(x->mean, 0, columns * sizeof *x->mean);
        bias = length = 0;
        for (size_t i = 0; i < m && g[i] > 0; i++) {
            const double *f = v + i * m, part = g[0] > NOISE * g[i] ? 1 / g[i] - 1 / g[0] : 0, b = f[n - 1];
            memset(x->value, 0, columns * sizeof *x->value);
            add_terms(x, k, f);
            for (size_t c = 0; c < columns; c++) {
                variance[c] += part * x->value[c] * x->value[c];
                x->mean[c] += part * x->value[c] * b;
            }
            for (size_t j = 0; j < n; j++) {
                x->u->mean[k] += part * b * t->weight[k * n + j] * f[j];
                length += part * f[j] * f[j];
            }
            bias += part * b * b;
        }
        for (size_t c = 0; c < columns && bias > 0; c++)
            variance[c] -= x->mean[c] * x->mean[c] / bias;
        x->u->mean[k] /= bias;
    }
    x->u->length = sqrt(length / bias);
}

/* False: the model has no transform of all of its terms, or no bias. */
static bool take_moments(const struct finder *x, const struct dp_frame *frame)
{
    struct dp_transform transform;
    const size_t n = x->t->count, m = n + (x->t->predictor.form.intercept != 0);
    if (x->t->term[n - 1].kind != DP_TERM_BIAS || dp_transform_read(&transform, frame, m, NULL) != DP_OK)
        return false;
    size_t rows = transform.rows - (transform.rows > 0 && dp_transform_has_constant(&transform));
    double *v = dp_new(m * m, sizeof *v), *g = dp_new(m, sizeof *g);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < m; j++)
            for (size_t k = 0; k < m; k++)
                v[j * m + k] += transform.matrix[i * m + j] * transform.matrix[i * m + k];
    bool good = rows >= m && dp_eigen(v, m, g, NULL) == DP_OK && g[0] > NOISE * g[m - 1];
    if (good)
        take_directions(x, v, g, m, x->u->share);
    free(v);
    free(g);
    return good && isfinite(x->u->length);
}

/* --- rows as the schema has them --------------------------------------------------------------------------------------- */

/* Sets f, which is 0 elsewhere, to the terms of the i-th of `cells` equally likely cells of the column. */
static size_t cell_of(const struct dp_terms *t, size_t column, size_t i, double *f)
{
    const struct dp_column *c = &t->plan.schema.column[column];
    const double bounds[2] = {c->low, c->high};
    const bool edges = dp_basis_count(&c->basis) > 0;
    double basis[DP_BASIS_MOST + 2];
    size_t first, end;
    dp_terms_of_column(t, column, &first, &end);
    if (c->type == DP_COLUMN_CATEGORICAL) {
        for (size_t j = first; j < end; j++)
            f[j] = t->term[j].kind == DP_TERM_CATEGORY && t->term[j].part == i;
        return c->categories.count;
    }
    const double *from = (edges ? c->basis.edge : bounds) + i / PLACES;
    double value = from[0] + ((double)(i % PLACES) + .5) / PLACES * (from[1] - from[0]);
    dp_basis_features(&c->basis, value, basis);
    for (size_t j = first; j < end; j++)
        f[j] = t->term[j].kind == DP_TERM_NUMBER  ? t->term[j].factor * (value - t->term[j].shift)
               : t->term[j].kind == DP_TERM_BASIS ? basis[t->term[j].part]
                                                  : 0;
    return PLACES * (edges ? c->basis.intervals : 1);
}

/* The terms of one column. mean, square: per term, E f and E f². */
static void take_column(const struct finder *x, size_t column, double *f, double *mean, double *square, double *variance)
{
    const struct dp_terms *t = x->t;
    size_t first, end, cells = 1;
    double *sum = dp_new(2 * t->outputs, sizeof *sum);
    dp_terms_of_column(t, column, &first, &end);
    for (size_t i = 0; i < cells; i++) {
        cells = cell_of(t, column, i, f);
        for (size_t j = first; j < end; j++) {
            mean[j] += f[j] / (double)cells;
            square[j] += f[j] * f[j] / (double)cells;
        }
        for (size_t k = 0; k < t->outputs; k++) {
            double own = 0;
            for (size_t j = first; j < end; j++) {
                own += x->weight[k * t->count + j] * f[j];
                x->u->mean[k] += t->weight[k * t->count + j] * f[j] / (double)cells;
            }
            sum[2 * k] += own / (double)cells;
            sum[2 * k + 1] += own * own / (double)cells;
        }
    }
    for (size_t k = 0; k < t->outputs; k++)
        *variance += sum[2 * k + 1] - sum[2 * k] * sum[2 * k];
    free(sum);
}

static bool take_schema(const struct finder *x)
{
    const struct dp_terms *t = x->t;
    for (size_t i = 0; i < t->plan.schema.columns; i++)
        if (dp_terms_reads(t, i) && t->plan.schema.column[i].type == DP_COLUMN_NUMERIC && !t->plan.schema.column[i].bounded)
            return false;
    double *f = dp_new(t->count, sizeof *f), *mean = dp_new(t->count, sizeof *mean);
    double *square = dp_new(t->count, sizeof *square), length2 = 0;
    for (size_t i = 0; i < t->plan.schema.columns; i++)
        if (dp_terms_reads(t, i))
            take_column(x, i, f, mean, square, &x->u->share[i]);
    for (size_t j = 0; j < t->count; j++) {
        const struct dp_term *term = &t->term[j];
        if (term->kind == DP_TERM_BIAS)
            mean[j] = square[j] = 1;
        if (term->kind == DP_TERM_PRODUCT) {
            mean[j] = term->factor * mean[term->of[0]] * mean[term->of[1]];
            square[j] = term->factor * term->factor * square[term->of[0]] * square[term->of[1]];
        }
        length2 += square[j];
        for (size_t k = 0; k < t->outputs; k++) {
            double w = x->weight[k * t->count + j];
            for (int of = 0; term->kind == DP_TERM_PRODUCT && of < 2; of++)
                x->u->share[t->term[term->of[of]].column] += w * w * (square[j] - mean[j] * mean[j]) / 4;
            x->u->mean[k] +=
                term->kind == DP_TERM_BIAS || term->kind == DP_TERM_PRODUCT ? t->weight[k * t->count + j] * mean[j] : 0;
        }
    }
    x->u->length = sqrt(length2);
    free(f);
    free(mean);
    free(square);
    return true;
}

static double centred(const struct dp_terms *t, size_t k, size_t j)
{
    double mean = 0;
    for (size_t i = 0; t->outputs > 1 && i < t->outputs; i++)
        mean += t->weight[i * t->count + j] / (double)t->outputs;
    return t->weight[k * t->count + j] - mean;
}

bool dp_usual_find(struct dp_usual *u, const struct dp_terms *t, const struct dp_frame *frame)
{
    struct finder x = {.t = t, .u = u};
    double all = 0;
    if (!t->table || t->count > MOST)
        return false;
    const size_t columns = t->plan.schema.columns;
    x.weight = dp_new(t->outputs * t->count, sizeof *x.weight);
    x.mean = dp_new(columns, sizeof *x.mean);
    x.value = dp_new(columns, sizeof *x.value);
    u->mean = dp_new(t->outputs, sizeof *u->mean);
    u->share = dp_new(columns, sizeof *u->share);
    for (size_t k = 0; k < t->outputs; k++)
        for (size_t j = 0; j < t->count; j++)
            x.weight[k * t->count + j] = centred(t, k, j);
    u->released = take_moments(&x, frame);
    memset(u->mean, 0, u->released ? 0 : t->outputs * sizeof *u->mean);
    memset(u->share, 0, u->released ? 0 : columns * sizeof *u->share);
    bool found = u->released || take_schema(&x);
    for (size_t i = 0; i < columns; i++)
        all += u->share[i] = fmax(0, u->share[i]);
    for (size_t i = 0; all > 0 && i < columns; i++)
        u->share[i] /= all;
    free(x.weight);
    free(x.mean);
    free(x.value);
    return found;
}

void dp_usual_free(struct dp_usual *u)
{
    free(u->mean);
    free(u->share);
    *u = (struct dp_usual){0};
}
