#include "coefficients.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/text.h"
#include "model/method.h"
#include "model/usual.h"
#include "port/model.h"

#define NO_TERM SIZE_MAX

/* A coefficient: factor × (weight of term plus − weight of term minus). */
struct line {
    const char *name;
    size_t plus, minus;
    double factor;
    bool reference; /* the category that others of its column are compared with: 0 */
};

/* The value of a line for one output. */
struct value {
    double coefficient, error; /* error: NAN if it is not known */
};

struct table {
    const struct dp_terms *terms;
    const char *ratio; /* what exp(coefficient) is; NULL: nothing */
    const char *why;   /* there are no intervals */
    double noise;      /* standard deviation on a weight */
    size_t lines;      /* the first one is the intercept */
    struct line *line;
    json_t *names;       /* owns names that no term has */
    struct value *value; /* outputs × lines */
};

double info_noise_of(const struct dp_frame *frame, const char **why)
{
    const char *method = dp_frame_text(frame, DP_F_METHOD, "");
    const struct dp_record *record = dp_frame_record(frame, DP_F_SUM);
    double noise = dp_frame_real(frame, DP_F_NOISE_SCALE, (double)NAN);
    *why = NULL;
    if (dp_frame_bool(frame, DP_F_NON_PRIVATE))
        *why = "the model has no noise, and nothing in it tells how it would vary with other people";
    else if (strcmp(method, dp_method_erm.name) != 0)
        *why =
            "the noise of each lap reaches the coefficients by way of the rows, through the curvature of the loss and through "
            "clipping, and these were not released";
    else if (record == NULL || record->query.kind != DP_QUERY_GAUSSIAN || frame->records != 1)
        *why = "the noise on the model is not normal noise on each coefficient";
    else if (dp_frame_has(frame, DP_F_AVERAGE) || !(noise >= 0))
        *why = "the model does not say which noise is on it";
    return *why == NULL ? noise * dp_frame_real(frame, DP_F_SCALE, 1) : (double)NAN;
}

/* The functions of a column that add up to 1 at any cell: all categories, hats or bins. Their coefficients are compared with the
 * first one, which is part of the intercept. */
static bool adds_up(const struct dp_terms *m, size_t j)
{
    const struct dp_term *term = &m->term[j];
    if (term->kind != DP_TERM_CATEGORY && term->kind != DP_TERM_BASIS)
        return false;
    const struct dp_column *c = &m->plan.schema.column[term->column];
    return term->kind == DP_TERM_CATEGORY ? !c->drop_first : c->basis.kind != DP_BASIS_COSINES;
}

/* The term that term j is compared with, or NO_TERM. */
static size_t reference_of(const struct dp_terms *m, size_t j)
{
    const struct dp_term *term = &m->term[j];
    size_t first, end;
    if (term->kind > DP_TERM_MISSING)
        return NO_TERM;
    bool number = m->plan.schema.column[term->column].type == DP_COLUMN_NUMERIC;
    dp_terms_of_column(m, term->column, &first, &end);
    if (term->kind == DP_TERM_NUMBER || (term->kind == DP_TERM_MISSING && number))
        return NO_TERM;
    return first + number < end && adds_up(m, first + number) ? first + number : NO_TERM;
}

/* Whether the term is a category that names without one of their own share. */
static bool is_bucket(const struct dp_terms *m, size_t j)
{
    if (j == NO_TERM || m->term[j].kind != DP_TERM_CATEGORY)
        return false;
    const struct dp_column *c = &m->plan.schema.column[m->term[j].column];
    return m->term[j].part >= c->categories.count - c->buckets;
}

/* Whether a category that is not in the schema is known: all features of the column are 0. Its coefficient is 0,
 * compared with the reference. */
static bool has_others(const struct dp_terms *m, size_t j)
{
    const struct dp_term *term = &m->term[j];
    const struct dp_column *c = &m->plan.schema.column[term->column];
    return term->kind == DP_TERM_CATEGORY && reference_of(m, j) == j && c->unknown_zero && c->buckets == 0;
}

static void list_lines(struct table *t)
{
    const struct dp_terms *m = t->terms;
    t->line = dp_new(2 * m->count + 1, sizeof *t->line);
    t->names = json_array();
    t->lines = 1;
    for (size_t j = 0; j < m->count; j++) {
        const struct dp_term *term = &m->term[j];
        size_t reference = reference_of(m, j);
        if (term->kind == DP_TERM_BIAS)
            continue;
        t->line[t->lines++] =
            (struct line){term->name, j, reference, term->kind == DP_TERM_NUMBER ? term->factor : 1, reference == j};
        if (!has_others(m, j))
            continue;
        json_t *name = json_sprintf("%s=(another)", m->plan.schema.column[term->column].name);
        json_array_append_new(t->names, name);
        t->line[t->lines++] = (struct line){json_string_value(name), NO_TERM, j, 1, false};
    }
    t->line[0] = (struct line){"(intercept)", NO_TERM, NO_TERM, 1, false};
}

/* The intercept: the score of a row of zeros and of the categories of reference. */
static struct value intercept_of(const struct table *t, size_t k, double divisor)
{
    const struct dp_terms *m = t->terms;
    double sum = m->constant[k], norm2 = m->predictor.form.intercept * m->predictor.form.intercept;
    for (size_t j = 0; j < m->count; j++) {
        const struct dp_term *term = &m->term[j];
        double part = term->kind == DP_TERM_NUMBER ? -term->factor * term->shift
                                                   : (double)(term->kind == DP_TERM_BIAS || reference_of(m, j) == j);
        sum += part * m->weight[k * m->count + j];
        norm2 += part / divisor * (part / divisor);
    }
    return (struct value){sum, t->noise * sqrt(norm2)};
}

double info_unit(const struct dp_terms *m)
{
    return m->classes == 0 && dp_losses[m->predictor.loss].link != DP_LOSS_LINK_LOG ? m->predictor.label.scale : 1;
}

double info_divisor(const struct dp_terms *m)
{
    return m->table && m->norm == DP_NORM_BOUNDS ? m->plan.divisor : 1;
}

/* Whether each row is divided by a norm of its own: then a coefficient is for the row before that, and no ratio of odds. */
static bool divides(const struct dp_terms *m)
{
    return m->norm == DP_NORM_UNIT || m->norm == DP_NORM_CAP;
}

/* Names of exp of a difference of scores. */
static const char *const ratios[DP_LOSS_LINK_SOFTMAX + 1] = {
    [DP_LOSS_LINK_LOGIT] = "odds ratio", [DP_LOSS_LINK_LOG] = "rate ratio"};

/* A score; of a number to predict that is not a logarithm, the number. */
static double in_units(const struct dp_terms *m, double score)
{
    bool affine = m->classes == 0 && dp_losses[m->predictor.loss].link != DP_LOSS_LINK_LOG;
    return affine ? info_unit(m) * score + m->predictor.label.offset : score;
}

static void fill_output(struct table *t, size_t k)
{
    const struct dp_terms *m = t->terms;
    const double *weight = m->weight + k * m->count;
    double unit = info_unit(m), divisor = info_divisor(m);
    struct value *value = t->value + k * t->lines;
    value[0] = intercept_of(t, k, divisor);
    for (size_t i = 1; i < t->lines; i++) {
        const struct line *l = &t->line[i];
        double up = l->plus != NO_TERM ? weight[l->plus] : 0, down = l->minus != NO_TERM ? weight[l->minus] : 0;
        double parts = l->reference ? 0 : (double)((l->plus != NO_TERM) + (l->minus != NO_TERM));
        value[i] = (struct value){l->factor * (up - down), t->noise * l->factor / divisor * sqrt(parts)};
    }
    double intercept = in_units(m, value[0].coefficient);
    for (size_t i = 0; i < t->lines; i++)
        value[i] = (struct value){unit * value[i].coefficient, fabs(unit) * value[i].error};
    value[0].coefficient = intercept;
}

static void fill(struct table *t, const struct dp_frame *frame)
{
    const struct dp_terms *m = t->terms;
    const enum dp_loss_link link = dp_losses[m->predictor.loss].link;
    t->ratio = divides(m) ? NULL : ratios[link];
    t->noise = info_noise_of(frame, &t->why);
    list_lines(t);
    t->value = dp_new(m->outputs * t->lines, sizeof *t->value);
    for (size_t k = 0; k < m->outputs; k++)
        fill_output(t, k);
}

const char *info_output_name(const struct dp_terms *m, size_t k)
{
    return m->classes == 0 ? "" : m->class[m->outputs == 1 ? 1 : k];
}

const char info_covers[] = "the noise only: a 95 % interval covers the coefficient that this run would have without noise; how "
                           "the coefficients vary with other people is not known from what was released";

static void print_text(const struct table *t, FILE *out)
{
    const struct dp_terms *m = t->terms;
    for (size_t k = 0; k < m->outputs; k++) {
        if (m->classes > 0)
            dp_text_line(k > 0 ? "\nclass " : "class ", info_output_name(m, k), out);
        fprintf(out, "%-28s %12s", m->table ? "per unit of the table" : "per unit of a stored column", "coefficient");
        if (t->ratio != NULL)
            fprintf(out, " %12s", t->ratio);
        if (t->why == NULL)
            fprintf(out, " %12s %27s", "noise s.e.", "95 % interval of the noise");
        fputc('\n', out);
        for (size_t i = 0; i < t->lines; i++) {
            const struct value *v = &t->value[k * t->lines + i];
            dp_text_put(t->line[i].name, 28, out);
            if (t->line[i].reference) {
                fprintf(out, " %12s\n", "(reference)");
                continue;
            }
            fprintf(out, " %12.5g", v->coefficient);
            if (t->ratio != NULL && i > 0)
                fprintf(out, " %12.5g", exp(v->coefficient));
            else if (t->ratio != NULL)
                fprintf(out, " %12s", "");
            if (t->why == NULL)
                fprintf(out, " %12.5g %13.5g %13.5g", v->error, v->coefficient - INFO_NORMAL_95 * v->error,
                        v->coefficient + INFO_NORMAL_95 * v->error);
            fputc('\n', out);
        }
    }
    if (divides(m))
        fputs("scaling: each row is divided by its norm, so a unit more also changes the weight of the other columns\n", out);
    if (t->why != NULL)
        fprintf(out, "no intervals: %s\n", t->why);
    else
        fprintf(out, "intervals: %s\n", info_covers);
}

void info_print_number(double value, FILE *out)
{
    fprintf(out, "\t%s", isnan(value) ? "" : DP_NUMBER(value));
}

static double ratio_of(const struct table *t, size_t k, size_t i)
{
    return t->ratio != NULL && i > 0 ? exp(t->value[k * t->lines + i].coefficient) : (double)NAN;
}

void info_print_cell(const char *text, FILE *out)
{
    fputs(dp_text_is_formula(text, strlen(text)) ? "'" : "", out);
    for (; *text != '\0'; text++)
        fputc(strchr("\t\r\n", *text) != NULL ? ' ' : *text, out);
}

static void print_tsv(const struct table *t, FILE *out)
{
    fputs("class\tname\tcoefficient\tratio\tnoise_error\tlow\thigh\n", out);
    for (size_t k = 0; k < t->terms->outputs; k++) {
        for (size_t i = 0; i < t->lines; i++) {
            const struct value *v = &t->value[k * t->lines + i];
            info_print_cell(info_output_name(t->terms, k), out);
            fputc('\t', out);
            info_print_cell(t->line[i].name, out);
            info_print_number(v->coefficient, out);
            info_print_number(ratio_of(t, k, i), out);
            info_print_number(v->error, out);
            info_print_number(v->coefficient - INFO_NORMAL_95 * v->error, out);
            info_print_number(v->coefficient + INFO_NORMAL_95 * v->error, out);
            fputc('\n', out);
        }
    }
}

static json_t *line_json(const struct table *t, size_t k, size_t i)
{
    const struct value *v = &t->value[k * t->lines + i];
    json_t *o = json_pack("{s:s, s:f}", "name", t->line[i].name, "coefficient", v->coefficient);
    if (t->terms->classes > 0)
        json_object_set_new(o, "class", json_string(info_output_name(t->terms, k)));
    if (t->line[i].reference)
        json_object_set_new(o, "reference", json_true());
    if (is_bucket(t->terms, t->line[i].plus))
        json_object_set_new(o, "bucket", json_true());
    if (isfinite(ratio_of(t, k, i)))
        json_object_set_new(o, "ratio", json_real(ratio_of(t, k, i)));
    if (t->why == NULL) {
        json_object_set_new(o, "noise_error", json_real(v->error));
        json_object_set_new(o, "low", json_real(v->coefficient - INFO_NORMAL_95 * v->error));
        json_object_set_new(o, "high", json_real(v->coefficient + INFO_NORMAL_95 * v->error));
    }
    return o;
}

/* Adds what is usual for rows as the schema has them (model/usual.h). */
static void put_usual(const struct dp_terms *m, const struct dp_frame *frame, json_t *root)
{
    struct dp_usual usual = {0};
    if (dp_usual_find(&usual, m, frame)) {
        double norm = m->norm == DP_NORM_UNIT ? usual.length : m->norm == DP_NORM_CAP ? fmax(1, usual.length) : 1;
        json_t *scores = json_array(), *importance = json_array();
        for (size_t k = 0; k < m->outputs; k++)
            json_array_append_new(scores, json_real(in_units(m, m->constant[k] + usual.mean[k] / norm)));
        for (size_t i = 0; i < m->plan.schema.columns; i++)
            if (dp_terms_reads(m, i))
                json_array_append_new(
                    importance, json_pack("{s:s, s:f}", "column", m->plan.schema.column[i].name, "share", usual.share[i]));
        json_object_set_new(root, "usual",
                            json_pack("{s:b, s:f, s:o, s:s*}", "released", usual.released, "norm", norm, "scores", scores,
                                      "ratio", ratios[dp_losses[m->predictor.loss].link]));
        json_object_set_new(root, "importance", importance);
    }
    dp_usual_free(&usual);
}

static json_t *make_json(const struct table *t, const struct dp_frame *frame)
{
    json_t *list = json_array();
    for (size_t k = 0; k < t->terms->outputs; k++)
        for (size_t i = 0; i < t->lines; i++)
            json_array_append_new(list, line_json(t, k, i));
    json_t *root = json_pack("{s:o, s:s}", "coefficients", list, t->why == NULL ? "intervals" : "no_intervals",
                             t->why == NULL ? info_covers : t->why);
    if (t->ratio != NULL)
        json_object_set_new(root, "ratio", json_string(t->ratio));
    json_object_set_new(root, "row_norm", json_string(dp_row_norms[t->terms->norm]));
    put_usual(t->terms, frame, root);
    return root;
}

/* json: NULL for text or TSV on `out`. */
static int make_table(const struct dp_frame *frame, const char *name, enum info_form form, json_t **json, FILE *out,
                      struct dp_err *err)
{
    struct dp_terms terms = {0};
    struct table t = {.terms = &terms};
    int rc = dp_terms_open(&terms, frame, name, err);
    if (rc == DP_OK)
        fill(&t, frame);
    if (rc == DP_OK && json != NULL)
        *json = make_json(&t, frame);
    else if (rc == DP_OK)
        (form == INFO_TSV ? print_tsv : print_text)(&t, out);
    free(t.line);
    free(t.value);
    json_decref(t.names);
    dp_terms_close(&terms);
    return rc;
}

int info_coefficients_json(const struct dp_frame *frame, const char *name, json_t **json, struct dp_err *err)
{
    return make_table(frame, name, INFO_JSON, json, NULL, err);
}

static int print_coefficients(const struct dp_frame *frame, const char *name, enum info_form form, FILE *out,
                              struct dp_err *err)
{
    json_t *json = NULL;
    int rc = make_table(frame, name, form, form == INFO_JSON ? &json : NULL, out, err);
    if (rc == DP_OK && json != NULL)
        dp_json_print(json, 1, out);
    json_decref(json);
    return rc;
}

int info_model_coefficients(const char *path, enum info_form form, FILE *out, struct dp_err *err)
{
    struct dp_frame *frame = dp_frame_new();
    int rc = dp_model_read(frame, path, err);
    rc = rc ?: print_coefficients(frame, strcmp(path, "-") == 0 ? "the model" : path, form, out, err);
    dp_frame_free(frame);
    return rc;
}
