/* Shared by the formats: the check that a format can hold the model, its intercepts, class names and privacy in words. */
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

int export_check_plain(const struct export *e, const char *format, struct dp_err *err)
{
    const struct dp_terms *t = e->terms;
    static const char *const hint = "json, sql, c, onnx and pmml have one";
    if (t->norm == DP_NORM_UNIT || t->norm == DP_NORM_CAP)
        return dp_fail(err, DP_E_RUN, "%s divides each row by its norm, for which %s has no place: %s", e->name, format, hint);
    for (size_t j = 0; j < t->count; j++)
        if (t->term[j].kind == DP_TERM_BASIS)
            return dp_fail(err, DP_E_RUN, "%s has a curve for column '%.60s', for which %s has no place: %s", e->name,
                           t->plan.schema.column[t->term[j].column].name, format, hint);
    for (size_t i = 0; t->table && i < t->plan.schema.columns; i++)
        if (t->plan.schema.column[i].synonyms.count > 0)
            return dp_fail(err, DP_E_RUN, "%s has a category with synonyms, for which %s has no place: %s", e->name, format,
                           hint);
    return DP_OK;
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
