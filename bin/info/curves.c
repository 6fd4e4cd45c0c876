#include "curves.h"

#include "base/json.h"
#include "base/number.h"
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

static struct point point_at(const struct curves *t, size_t column, size_t k, size_t i)
{
    const struct dp_terms *m = t->terms;
    const struct dp_column *c = &m->plan.schema.column[column];
    double value = i == 0 ? c->low : c->high, sum = 0, norm2 = 0;
    size_t first, end;
    if (dp_basis_count(&c->basis) > 0 && i < c->basis.intervals * STEPS) {
        const double *edge = &c->basis.edge[i / STEPS];
        value = edge[0] + (edge[1] - edge[0]) * (double)(i % STEPS) / STEPS;
    }
    dp_terms_of_column(m, column, &first, &end);
    for (size_t j = first; j < end; j++) {
        double f = dp_term_value(m, j, value, 0) - dp_term_value(m, j, c->low, 0);
        sum += m->weight[k * m->count + j] * f;
        norm2 += f * f;
    }
    return (struct point){value, t->unit * sum, fabs(t->unit) * t->noise * sqrt(norm2) / t->divisor};
}

static void put_tsv(const struct curves *t, size_t column, size_t k, FILE *out)
{
    const struct dp_column *c = &t->terms->plan.schema.column[column];
    for (size_t i = 0; i < count_points(c); i++) {
        struct point p = point_at(t, column, k, i);
        const double number[] = {p.value, p.effect, p.error, p.effect - INFO_NORMAL_95 * p.error,
                                 p.effect + INFO_NORMAL_95 * p.error};
        info_print_cell(info_output_name(t->terms, k), out);
        fputc('\t', out);
        info_print_cell(c->name, out);
        for (size_t n = 0; n < sizeof number / sizeof *number; n++)
            info_print_number(number[n], out);
        fputc('\n', out);
    }
}

static json_t *curve_json(const struct curves *t, size_t column, size_t k)
{
    const struct dp_column *c = &t->terms->plan.schema.column[column];
    json_t *points = json_array();
    for (size_t i = 0; i < count_points(c); i++) {
        struct point p = point_at(t, column, k, i);
        json_t *o = json_pack("{s:f, s:f}", "value", p.value, "effect", p.effect);
        if (t->why == NULL) {
            json_object_set_new(o, "noise_error", json_real(p.error));
            json_object_set_new(o, "low", json_real(p.effect - INFO_NORMAL_95 * p.error));
            json_object_set_new(o, "high", json_real(p.effect + INFO_NORMAL_95 * p.error));
        }
        json_array_append_new(points, o);
    }
    return json_pack("{s:s, s:s, s:s*, s:o}", "class", info_output_name(t->terms, k), "column", c->name, "date", c->date,
                     "points", points);
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
    const struct dp_terms *m = t->terms;
    fputs("class\tcolumn\tvalue\teffect\tnoise_error\tlow\thigh\n", out);
    for (size_t k = 0; k < m->outputs; k++)
        for (size_t i = 0; i < m->plan.schema.columns; i++)
            if (has_curve(m, i))
                put_tsv(t, i, k, out);
}

static json_t *make_json(const struct curves *t)
{
    const struct dp_terms *m = t->terms;
    json_t *list = json_array();
    for (size_t k = 0; k < m->outputs; k++)
        for (size_t i = 0; i < m->plan.schema.columns; i++)
            if (has_curve(m, i))
                json_array_append_new(list, curve_json(t, i, k));
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
