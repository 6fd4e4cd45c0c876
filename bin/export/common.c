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
    fputs(DP_NUMBER(value), e->out);
}

const char *export_output(const struct export *e, size_t k)
{
    const struct dp_terms *t = e->terms;
    return t->classes == 0 ? "score" : t->class[t->outputs == 1 ? 1 : k];
}

/* The needs in words; %.60s is a column. */
static const struct {
    enum export_need need;
    const char *what;
} needs[] = {
    {EXPORT_PRODUCTS, "has products of two columns (dpline fit --additive makes none)"},
    {EXPORT_NORM, "divides each row by its norm"},
    {EXPORT_LIMIT, "refuses rows of a norm above 1"},
    {EXPORT_CURVES, "has a curve for column '%.60s'"},
    {EXPORT_SYNONYMS, "has synonyms in column '%.60s'"},
    {EXPORT_ODD_DATES, "reads dates of several parts in column '%.60s'"},
    {EXPORT_DATES, "reads dates in column '%.60s'"},
    {EXPORT_ISO_DATES, "reads dates in column '%.60s'"},
    {EXPORT_BUCKETS, "has buckets for texts of column '%.60s'"},
    {EXPORT_POWER, "predicts e^score"},
    {EXPORT_SIGMOIDS, "has a logistic score for each of several classes"},
};

unsigned export_needs(const struct export *e)
{
    const struct dp_terms *t = e->terms;
    return export_model_needs(t->table ? &t->plan : NULL, t->predictor.loss, t->outputs);
}

int export_refuse(const struct export *e, enum export_need need, const char *what, struct dp_err *err)
{
    char have[EXPORT_LIST];
    return dp_fail(err, DP_E_RUN, "%s %s, for which %s has no place: %s have one", e->name, what,
                   export_formats[e->format].name, export_list(export_needs(e) | need, false, have));
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
    while (column + 1 < schema->columns && !(export_column_needs(&schema->column[column]) & needs[i].need))
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
