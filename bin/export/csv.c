/* CSV: one line for each column and category, with its coefficient in the units of the table. */

#include "base/text.h"
#include "export.h"

static void put_text(const struct export *e, const char *prefix, const char *text)
{
    dp_text_csv(prefix, text, strlen(text), e->out);
}

static void put_number(const struct export *e, double value)
{
    fputc(',', e->out);
    export_number(e, value);
}

static void put_intercept(const struct export *e)
{
    fputs("(intercept),,,,,", e->out);
    for (size_t k = 0; k < e->terms->outputs; k++)
        put_number(e, export_intercept(e, k));
    fputc('\n', e->out);
}

static void put_term(const struct export *e, size_t j)
{
    const struct dp_terms *t = e->terms;
    const struct dp_term *term = &t->term[j];
    const struct dp_column *c = term->kind <= DP_TERM_MISSING ? &t->plan.schema.column[term->column] : NULL;
    put_text(e, "", term->name);
    fputc(',', e->out);
    put_text(e, "", c != NULL ? c->name : "");
    fputc(',', e->out);
    if (term->kind == DP_TERM_CATEGORY)
        put_text(e, "", c->categories.text[term->part]);
    if (term->kind == DP_TERM_NUMBER && c->bounded) {
        put_number(e, c->low);
        put_number(e, c->high);
    } else {
        fputs(",,", e->out);
    }
    if (term->kind == DP_TERM_NUMBER && c->fill == DP_FILL_VALUE)
        put_number(e, c->fill_value);
    else
        fputc(',', e->out);
    if (term->kind == DP_TERM_CATEGORY && c->fill == DP_FILL_VALUE && c->fill_value >= 0)
        put_text(e, "", c->categories.text[(size_t)c->fill_value]);
    for (size_t k = 0; k < t->outputs; k++)
        put_number(e, t->weight[k * t->count + j] * (term->kind == DP_TERM_NUMBER ? term->factor : 1));
    fputc('\n', e->out);
}

int export_csv(const struct export *e, struct dp_err *err)
{
    const struct dp_terms *t = e->terms;
    (void)err;
    fputs("name,column,category,low,high,fill", e->out);
    for (size_t k = 0; k < t->outputs; k++) {
        fputc(',', e->out);
        if (t->classes == 0)
            fputs("coefficient", e->out);
        else
            put_text(e, "coefficient_", export_output(e, k));
    }
    fputc('\n', e->out);
    put_intercept(e);
    for (size_t j = 0; j < t->count; j++)
        if (t->term[j].kind != DP_TERM_BIAS)
            put_term(e, j);
    return DP_OK;
}
