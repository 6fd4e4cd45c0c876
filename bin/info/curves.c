#include "curves.h"

#include "base/json.h"
#include "base/mem.h"
#include "../account/plot.h"
#include "coefficients.h"
#include "model/terms.h"
#include "port/model.h"

enum { STEPS = 8 }; /* between two edges of a basis */

struct curves {
    const struct dp_terms *terms;
    double noise, divisor, unit; /* deviation of a weight; divisor of the rows; unit of a score */
    const char *why;             /* there are no intervals */
};

struct point {
    double value, effect, error; /* error: NAN if it is not known */
};

static size_t count_points(const struct dp_column *c)
{
    return dp_basis_count(&c->basis) > 0 ? c->basis.intervals * STEPS + 1 : 2;
}

static bool has_curve(const struct dp_terms *m, size_t column)
{
    const struct dp_column *c = &m->plan.schema.column[column];
    return dp_terms_reads(m, column) && c->type == DP_COLUMN_NUMERIC && c->bounded;
}

/* Which curve: of a number, for a category of another column, or NULL: for the mean of its categories. */
struct place {
    size_t output, column;
    const struct dp_term *where;
};

/* How much of a product with this category counts. */
static double part_of(const struct dp_terms *m, const struct dp_term *category, const struct place *at)
{
    if (at->where != NULL && at->where->column == category->column)
        return at->where == category;
    return 1 / (double)m->plan.schema.column[category->column].categories.count;
}

static struct point point_at(const struct curves *t, const struct place *at, size_t i)
{
    const struct dp_terms *m = t->terms;
    const struct dp_column *c = &m->plan.schema.column[at->column];
    double value = i == 0 ? c->low : c->high, sum = 0, norm2 = 0;
    if (dp_basis_count(&c->basis) > 0 && i < c->basis.intervals * STEPS) {
        const double *edge = &c->basis.edge[i / STEPS];
        value = edge[0] + (edge[1] - edge[0]) * (double)(i % STEPS) / STEPS;
    }
    for (size_t j = 0; j < m->count; j++) {
        const struct dp_term *term = &m->term[j], *other = &m->term[term->of[1]];
        const bool product = term->kind == DP_TERM_PRODUCT && other->kind == DP_TERM_CATEGORY;
        const size_t own = product ? term->of[0] : j;
        if (m->term[own].kind > DP_TERM_MISSING || m->term[own].column != at->column)
            continue;
        double f = dp_term_value(m, own, value, 0) - dp_term_value(m, own, c->low, 0);
        f *= product ? term->factor * part_of(m, other, at) : 1;
        sum += m->weight[at->output * m->count + j] * f;
        norm2 += f * f;
    }
    return (struct point){value, t->unit * sum, fabs(t->unit) * t->noise * sqrt(norm2) / t->divisor};
}

/* "carat", "carat where color=D" */
static char *name_of(const struct dp_terms *m, const struct place *at)
{
    char *name = NULL;
    if (asprintf(&name, "%s%s%s", m->plan.schema.column[at->column].name, at->where != NULL ? " where " : "",
                 at->where != NULL ? at->where->name : "") < 0)
        return dp_got(NULL);
    return name;
}

static void put_tsv(const struct curves *t, const struct place *at, void *file)
{
    const struct dp_column *c = &t->terms->plan.schema.column[at->column];
    char *name = name_of(t->terms, at);
    FILE *out = file;
    for (size_t i = 0; i < count_points(c); i++) {
        struct point p = point_at(t, at, i);
        const double number[] = {p.value, p.effect, p.error, p.effect - INFO_NORMAL_95 * p.error,
                                 p.effect + INFO_NORMAL_95 * p.error};
        info_print_cell(info_output_name(t->terms, at->output), out);
        fputc('\t', out);
        info_print_cell(name, out);
        for (size_t n = 0; n < sizeof number / sizeof *number; n++)
            info_print_number(number[n], out);
        fputc('\n', out);
    }
    free(name);
}

static void put_json(const struct curves *t, const struct place *at, void *list)
{
    const struct dp_column *c = &t->terms->plan.schema.column[at->column];
    char *name = name_of(t->terms, at);
    json_t *points = json_array();
    for (size_t i = 0; i < count_points(c); i++) {
        struct point p = point_at(t, at, i);
        json_t *o = json_pack("{s:f, s:f}", "value", p.value, "effect", p.effect);
        if (t->why == NULL) {
            json_object_set_new(o, "noise_error", json_real(p.error));
            json_object_set_new(o, "low", json_real(p.effect - INFO_NORMAL_95 * p.error));
            json_object_set_new(o, "high", json_real(p.effect + INFO_NORMAL_95 * p.error));
        }
        json_array_append_new(points, o);
    }
    json_array_append_new(list, json_pack("{s:s, s:s, s:s*, s:s*, s:o}", "class", info_output_name(t->terms, at->output),
                                          "column", name, "where", at->where != NULL ? at->where->name : NULL, "date", c->date,
                                          "points", points));
    free(name);
}

/* All curves: for each class first the numbers, then each number with each category that it has products with. */
static void each_curve(const struct curves *t, void (*put)(const struct curves *, const struct place *, void *), void *to)
{
    const struct dp_terms *m = t->terms;
    for (size_t k = 0; k < m->outputs; k++) {
        for (size_t i = 0; i < m->plan.schema.columns; i++)
            if (has_curve(m, i))
                put(t, &(struct place){k, i, NULL}, to);
        for (size_t j = 0; j < m->count; j++) {
            const struct dp_term *own = &m->term[m->term[j].of[0]], *other = &m->term[m->term[j].of[1]];
            if (m->term[j].kind == DP_TERM_PRODUCT && own->kind == DP_TERM_BASIS && own->part == 0 &&
                other->kind == DP_TERM_CATEGORY && has_curve(m, own->column))
                put(t, &(struct place){k, own->column, other}, to);
        }
    }
}

static int check(const struct dp_terms *m, const char *name, struct dp_err *err)
{
    bool bent = false;
    for (size_t i = 0; m->table && i < m->plan.schema.columns; i++)
        bent = bent || (has_curve(m, i) && dp_basis_count(&m->plan.schema.column[i].basis) > 0);
    if (!bent)
        return dp_fail(err, DP_E_RUN, "no column of %s has a basis: dp-info --coefficients prints all of the model", name);
    return DP_OK;
}

static void print_tsv(const struct curves *t, FILE *out)
{
    fputs("class\tcolumn\tvalue\teffect\tnoise_error\tlow\thigh\n", out);
    each_curve(t, put_tsv, out);
}

static json_t *make_json(const struct curves *t)
{
    const struct dp_terms *m = t->terms;
    json_t *list = json_array();
    each_curve(t, put_json, list);
    return json_pack("{s:o, s:s, s:s, s:b}", "curves", list, t->why == NULL ? "intervals" : "no_intervals",
                     t->why == NULL ? info_covers : t->why, "row_norm", dp_row_norms[m->norm], "products", m->products > 0);
}

/* json: NULL for TSV on `out`. */
static int make_curves(const struct dp_frame *frame, const char *name, json_t **json, FILE *out, struct dp_err *err)
{
    struct dp_terms m = {0};
    struct curves t = {.terms = &m};
    int rc = dp_terms_open(&m, frame, name, err);
    rc = rc ?: check(&m, name, err);
    if (rc == DP_OK) {
        t.noise = info_noise_of(frame, &t.why);
        t.divisor = info_divisor(&m);
        t.unit = info_unit(&m);
        if (json == NULL)
            print_tsv(&t, out);
        else
            *json = make_json(&t);
    }
    dp_terms_close(&m);
    return rc;
}

int info_curves_json(const struct dp_frame *frame, const char *name, json_t **json, struct dp_err *err)
{
    return make_curves(frame, name, json, NULL, err);
}

int info_model_curves(const char *path, enum info_form form, FILE *out, struct dp_err *err)
{
    json_t *json = NULL;
    bool table = form == INFO_TEXT || form == INFO_TSV;
    struct dp_frame *frame = dp_frame_new();
    int rc = dp_model_read(frame, path, err);
    rc = rc ?: make_curves(frame, strcmp(path, "-") == 0 ? "the model" : path, table ? NULL : &json, out, err);
    if (rc == DP_OK && form == INFO_JSON)
        dp_json_print(json, 1, out);
    else if (rc == DP_OK && form == INFO_SVG)
        plot_curves(json_object_get(json, "curves"), out);
    json_decref(json);
    dp_frame_free(frame);
    return rc;
}
