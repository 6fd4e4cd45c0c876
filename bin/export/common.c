/* Shared by the formats: what a model needs of a format, its intercepts, class names and privacy in words. */
#include "base/number.h"
#include "base/round.h"
#include "export.h"

const char *export_privacy(const struct export *e, char text[EXPORT_PRIVACY])
{
    const struct dp_frame *f = e->frame;
    if (dp_frame_bool(f, DP_F_NON_PRIVATE))
        snprintf(text, EXPORT_PRIVACY, "not private: trained without noise");
    else if (dp_frame_bool(f, DP_F_SEEDED))
        snprintf(text, EXPORT_PRIVACY, "not private: anybody who knows the seed knows the noise");
    else if (!dp_frame_has(f, DP_F_EPSILON))
        snprintf(text, EXPORT_PRIVACY, "the model does not say what was spent");
    else
        snprintf(text, EXPORT_PRIVACY, "epsilon %.6g, delta %.6g", dp_round_up(dp_frame_real(f, DP_F_EPSILON, 0), 6),
                 dp_round_up(dp_frame_real(f, DP_F_DELTA, (double)NAN), 6));
    return text;
}

void export_number(const struct export *e, double value)
{
    char text[40];
    fputs(dp_number_print(value, text, sizeof text), e->out);
}

const char *export_output(const struct export *e, size_t k)
{
    const struct dp_terms *t = e->terms;
    return t->classes == 0 ? "score" : t->class[t->outputs == 1 ? 1 : k];
}

/* Each format with the needs that it has a place for, and those that it leaves to its reader. */
enum {
    MAPS = EXPORT_NORM | EXPORT_CURVES | EXPORT_SYNONYMS | EXPORT_PRODUCTS | EXPORT_POWER,
    LINKS = EXPORT_POWER | EXPORT_SIGMOIDS,
    TEXT = EXPORT_CHARACTERS
};

const struct export_format export_formats[] = {
    [EXPORT_JSON] = {"json", EXPORT_ALL & ~EXPORT_NETWORK, 0, export_json},
    [EXPORT_CSV] = {"csv", TEXT, EXPORT_LIMIT | LINKS, export_csv},
    [EXPORT_SQL] = {"sql", MAPS | LINKS | TEXT | EXPORT_LIMIT, 0, export_sql},
    [EXPORT_C] = {"c", EXPORT_ALL, 0, export_c},
    [EXPORT_LIBLINEAR] = {"liblinear", EXPORT_SIGMOIDS, EXPORT_LIMIT, export_liblinear},
    [EXPORT_ONNX] = {"onnx", MAPS | LINKS | TEXT | EXPORT_NETWORK, EXPORT_DATES, export_onnx},
    [EXPORT_PMML] = {"pmml", MAPS, 0, export_pmml},
};

/* The needs in words; %.60s is a column. */
static const struct {
    enum export_need need;
    const char *what;
} needs[] = {
    {EXPORT_PRODUCTS, "has products of two numbers (dpline fit --additive makes none)"},
    {EXPORT_NORM, "divides each row by its norm"},
    {EXPORT_LIMIT, "refuses rows of a norm above 1"},
    {EXPORT_CURVES, "has a curve for column '%.60s'"},
    {EXPORT_SYNONYMS, "has synonyms in column '%.60s'"},
    {EXPORT_DATES, "reads dates in column '%.60s'"},
    {EXPORT_BUCKETS, "has buckets for texts of column '%.60s'"},
    {EXPORT_POWER, "predicts e^score"},
    {EXPORT_SIGMOIDS, "has a logistic score for each of several classes"},
};

static unsigned needs_of(const struct dp_column *c)
{
    return (dp_basis_count(&c->basis) > 0 ? EXPORT_CURVES : 0) | (c->synonyms.count > 0 ? EXPORT_SYNONYMS : 0) |
           (c->date != NULL ? EXPORT_DATES : 0) | (c->buckets > 0 ? EXPORT_BUCKETS : 0);
}

unsigned export_needs(const struct export *e)
{
    static const unsigned of_norm[] = {
        [DP_NORM_UNIT] = EXPORT_NORM, [DP_NORM_CAP] = EXPORT_NORM, [DP_NORM_NONE] = EXPORT_LIMIT, [DP_NORM_BOUNDS] = 0};
    const struct dp_terms *t = e->terms;
    unsigned all = of_norm[t->norm];
    for (size_t i = 0; t->table && i < t->plan.schema.columns; i++)
        all |= needs_of(&t->plan.schema.column[i]);
    all |= t->products > 0 ? EXPORT_PRODUCTS : 0;
    all |= t->predictor.loss == DP_LOSS_POISSON ? EXPORT_POWER : 0;
    return all | (t->outputs > 1 && t->predictor.loss == DP_LOSS_LOGISTIC ? EXPORT_SIGMOIDS : 0);
}

int export_refuse(const struct export *e, enum export_need need, const char *what, struct dp_err *err)
{
    char have[80] = "";
    const char *last = NULL;
    for (int k = 0; k < EXPORT_FORMATS; k++) {
        if (!(export_formats[k].can & need))
            continue;
        if (last != NULL)
            sprintf(have + strlen(have), "%s%s", have[0] != '\0' ? ", " : "", last);
        last = export_formats[k].name;
    }
    return dp_fail(err, DP_E_RUN, "%s %s, for which %s has no place: %s%s%s have one", e->name, what,
                   export_formats[e->format].name, have, have[0] != '\0' ? " and " : "", last);
}

int export_check(const struct export *e, struct dp_err *err)
{
    const struct export_format *format = &export_formats[e->format];
    const struct dp_schema *schema = &e->terms->plan.schema;
    unsigned lacking = export_needs(e) & ~(format->can | format->leaves);
    char what[120];
    size_t i = 0, column = 0;
    if (lacking == 0)
        return DP_OK;
    while (!(lacking & needs[i].need))
        i++;
    while (column + 1 < schema->columns && !(needs_of(&schema->column[column]) & needs[i].need))
        column++;
    snprintf(what, sizeof what, needs[i].what, e->terms->table ? schema->column[column].name : "");
    return export_refuse(e, needs[i].need, what, err);
}

double export_intercept(const struct export *e, size_t k)
{
    const struct dp_terms *t = e->terms;
    double sum = t->constant[k];
    for (size_t j = 0; j < t->count; j++) {
        const struct dp_term *term = &t->term[j];
        double weight = t->weight[k * t->count + j];
        sum += term->kind == DP_TERM_BIAS ? weight : term->kind == DP_TERM_NUMBER ? -weight * term->factor * term->shift : 0;
    }
    return sum;
}
