/* PMML 4.4: a RegressionModel over derived fields, one for each step. */

#include "base/mem.h"
#include "base/text.h"
#include "export.h"
#include "steps.h"

struct printer {
    const struct export *e;
    struct steps steps;
};

/* before text after */
static void put_named(const struct export *e, const char *before, const char *text, const char *after)
{
    fputs(before, e->out);
    dp_text_xml(text, e->out);
    fputs(after, e->out);
}

/* --- expressions ------------------------------------------------------------------------------------------------------ */

/* Numbers are fields of numbers: their reader knows missing and invalid cells, so that they have no steps for their texts. */
static bool is_field(const struct printer *p, const struct step *step)
{
    bool text = step_is(step, "text");
    return (text || step_is(step, "read")) && p->e->terms->plan.schema.column[step->number - 1].type == DP_COLUMN_NUMERIC;
}

static void put_name(void *self, const struct expr *x)
{
    const struct printer *p = self;
    const struct dp_terms *t = p->e->terms;
    const struct step *step = x->op == OP_NAME ? &p->steps.step[x->at] : NULL;
    size_t i = step != NULL ? step->number - 1 : x->at;
    if (step != NULL && !is_field(p, step))
        fprintf(p->e->out, "%s_%zu", step->kind, step->number);
    else
        dp_text_xml(t->table ? t->plan.schema.column[i].name : t->term[i].name, p->e->out);
}

static void put_number(void *self, double value)
{
    export_number(((struct printer *)self)->e, value);
}

static void put_word(void *self, const char *word)
{
    dp_text_xml(word, ((struct printer *)self)->e->out);
}

/* o: what a word that is not in a table means. */
static void put_other(void *self, char letter, const struct expr *x)
{
    const struct printer *p = self;
    if (letter != 'o' || x->arg[1]->op != OP_NUMBER)
        return;
    fputs(" defaultValue=\"", p->e->out);
    put_number(self, x->arg[1]->number);
    fputc('"', p->e->out);
}

static const struct syntax pmml = {
    .form = {[OP_NUMBER] = "<Constant dataType=\"double\">%v</Constant>",
             [OP_NAME] = "<FieldRef field=\"%s\"/>",
             [OP_INPUT] = "<FieldRef field=\"%s\"/>",
             [OP_TRIM] = "<Apply function=\"trimBlanks\" mapMissingTo=\"\">%a</Apply>",
             [OP_IN] = "<Apply function=\"isMissing\">%a</Apply>", /* of a number */
             [OP_ABSENT] = "<Apply function=\"isMissing\">%a</Apply>",
             [OP_LESS] = "<Apply function=\"lessThan\">%a%b</Apply>",
             [OP_ADD] = "<Apply function=\"+\">%a%b</Apply>",
             [OP_SUBTRACT] = "<Apply function=\"-\">%a%b</Apply>",
             [OP_MULTIPLY] = "<Apply function=\"*\">%a%b</Apply>",
             [OP_DIVIDE] = "<Apply function=\"/\">%a%b</Apply>",
             [OP_SQRT] = "<Apply function=\"sqrt\">%a</Apply>",
             [OP_COS] = "<Apply function=\"cos\">%a</Apply>",
             [OP_EXP] = "<Apply function=\"exp\">%a</Apply>",
             [OP_IF] = "<Apply function=\"if\">%a%b%c</Apply>",
             [OP_MATCH] = "<MapValues outputColumn=\"is\" dataType=\"double\"%o><FieldColumnPair field=\"%f\" column=\"text\"/>"
                          "<InlineTable>%(<row><text>%w</text><is>%v</is></row>%)</InlineTable></MapValues>",
             [OP_STEPS] = "<Discretize dataType=\"double\" field=\"%f\">%[<DiscretizeBin binValue=\"%v\"><Interval "
                          "closure=\"closedOpen\" leftMargin=\"%k\" rightMargin=\"%K\"/></DiscretizeBin>%]<DiscretizeBin "
                          "binValue=\"%v\"><Interval closure=\"closedOpen\" leftMargin=\"%k\"/></DiscretizeBin></Discretize>",
             [OP_LINES] = "<NormContinuous outliers=\"asExtremeValues\" field=\"%f\">%(<LinearNorm orig=\"%k\" "
                          "norm=\"%v\"/>%)</NormContinuous>"},
    .number = put_number,
    .word = put_word,
    .name = put_name,
    .other = put_other};

/* --- the document ----------------------------------------------------------------------------------------------------- */

static void put_missing(const struct export *e, const struct dp_texts *words)
{
    for (size_t k = 0; k < words->count; k++)
        put_named(e, "      <Value value=\"", words->text[k], "\" property=\"missing\"/>\n");
}

static void put_dictionary(const struct export *e)
{
    const struct dp_terms *t = e->terms;
    fputs("  <DataDictionary>\n", e->out);
    for (size_t i = 0; t->table && i < t->plan.schema.columns; i++) {
        const struct dp_column *c = &t->plan.schema.column[i];
        if (!dp_terms_reads(t, i))
            continue;
        bool number = c->type == DP_COLUMN_NUMERIC;
        put_named(e, "    <DataField name=\"", c->name,
                  c->date != NULL ? "\" optype=\"continuous\" dataType=\"dateDaysSince[1970]\">\n"
                  : number        ? "\" optype=\"continuous\" dataType=\"double\">\n"
                                  : "\" optype=\"categorical\" dataType=\"string\"/>\n");
        if (!number)
            continue;
        fputs("      <Value value=\"\" property=\"missing\"/>\n", e->out);
        put_missing(e, &t->plan.schema.missing);
        put_missing(e, &c->missing);
        fputs("    </DataField>\n", e->out);
    }
    for (size_t j = 0; !t->table && j < t->count; j++)
        fprintf(e->out, "    <DataField name=\"%s\" optype=\"continuous\" dataType=\"double\"/>\n", t->term[j].name);
    fprintf(e->out, "    <DataField name=\"prediction\" optype=\"%s>\n",
            t->classes == 0 ? "continuous\" dataType=\"double\"" : "categorical\" dataType=\"string\"");
    for (size_t k = 0; k < t->classes; k++)
        put_named(e, "      <Value value=\"", t->class[k], "\"/>\n");
    fputs("    </DataField>\n  </DataDictionary>\n", e->out);
}

static void put_mining_schema(const struct export *e)
{
    const struct dp_terms *t = e->terms;
    fputs("    <MiningSchema>\n", e->out);
    for (size_t i = 0; t->table && i < t->plan.schema.columns; i++) {
        const struct dp_column *c = &t->plan.schema.column[i];
        if (!dp_terms_reads(t, i))
            continue;
        put_named(e, "      <MiningField name=\"", c->name, "\" invalidValueTreatment=\"");
        bool number = c->type == DP_COLUMN_NUMERIC;
        fputs(!number ? "asIs\"" : t->plan.bad_missing ? "asMissing\"" : "returnInvalid\"", e->out);
        fputs(number && c->fill == DP_FILL_REFUSE ? " missingValueTreatment=\"returnInvalid\"/>\n" : "/>\n", e->out);
    }
    for (size_t j = 0; !t->table && j < t->count; j++)
        fprintf(e->out, "      <MiningField name=\"%s\"/>\n", t->term[j].name);
    fputs("      <MiningField name=\"prediction\" usageType=\"target\"/>\n    </MiningSchema>\n", e->out);
}

static void put_transformations(struct printer *p, size_t steps)
{
    fputs("    <LocalTransformations>\n", p->e->out);
    for (size_t i = 0; i < steps; i++) {
        const struct step *step = &p->steps.step[i];
        if (is_field(p, step))
            continue;
        fprintf(p->e->out, "      <DerivedField name=\"%s_%zu\" optype=\"%s\">", step->kind, step->number,
                step_is(step, "text") ? "categorical\" dataType=\"string" : "continuous\" dataType=\"double");
        expr_print(&pmml, p, step->value, p->e->out);
        fputs("</DerivedField>\n", p->e->out);
    }
    fputs("    </LocalTransformations>\n", p->e->out);
}

/* The table of a class, or of a number: a step, or 0. */
static void put_table_of(const struct export *e, const char *category, const char *step, size_t number)
{
    if (category != NULL)
        put_named(e, "    <RegressionTable targetCategory=\"", category, "\" intercept=\"0\">");
    else
        fputs("    <RegressionTable intercept=\"0\">", e->out);
    if (step != NULL)
        fprintf(e->out, "<NumericPredictor name=\"%s_%zu\" coefficient=\"1\"/>", step, number);
    fputs("</RegressionTable>\n", e->out);
}

static void put_document(const struct export *e)
{
    const struct dp_terms *t = e->terms;
    struct printer p = {.e = e};
    char privacy[EXPORT_PRIVACY];
    bool softmax = t->classes > 0 && dp_metric_has_probability(t->predictor.loss);
    steps_open(&p.steps, t, false);
    fprintf(
        e->out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<PMML xmlns=\"http://www.dmg.org/PMML-4_4\" version=\"4.4\">\n  <Header "
        "description=\"A linear model, %s loss; %s. Cells of numbers are digits with a point: no blanks, no marks, no groups.\"><Application name=\"dpline\"/></Header>\n",
        dp_loss_names[t->predictor.loss], export_privacy(e, privacy));
    put_dictionary(e);
    fprintf(e->out, "  <RegressionModel functionName=\"%s\" normalizationMethod=\"%s\">\n",
            t->classes > 0 ? "classification" : "regression", softmax ? "softmax" : "none");
    put_mining_schema(e);
    put_transformations(&p, t->classes > 0 ? p.steps.predict : p.steps.count);
    for (size_t k = 0; k < t->outputs; k++)
        put_table_of(e, t->classes == 0 ? NULL : t->class[t->outputs == 1 ? 1 : k], t -> classes == 0 ? "value" : "score",
                     k + 1);
    if (t->outputs == 1 && t->classes > 0)
        put_table_of(e, t->class[0], NULL, 0);
    fputs("  </RegressionModel>\n</PMML>\n", e->out);
    steps_close(&p.steps);
}

/* XML 1.0 has no place for control characters, nor for U+FFFE and U+FFFF, and no way to write them otherwise. */
static int check_characters(const struct export *e, const char *text, size_t size, struct dp_err *err)
{
    char shown[DP_TEXT_SHOWN], what[DP_TEXT_SHOWN + 40];
    size_t from = 0;
    for (size_t i = 0; i < size; i++) {
        const unsigned char *p = (const unsigned char *)text + i;
        bool control = p[0] < ' ' && p[0] != '\t' && p[0] != '\n' && p[0] != '\r';
        if (control || (p[0] == 0xef && p[1] == 0xbf && p[2] >= 0xbe)) {
            snprintf(what, sizeof what, "has '%s', with a character",
                     dp_text_show(text + from, strcspn(text + from, "\"<"), shown));
            return export_refuse(e, EXPORT_CHARACTERS, what, err);
        }
        from = p[0] == '"' || p[0] == '>' ? i + 1 : from;
    }
    return DP_OK;
}

int export_pmml(const struct export *e, struct dp_err *err)
{
    struct export in_memory = *e;
    char *text = NULL;
    size_t size = 0;
    in_memory.out = dp_got(open_memstream(&text, &size));
    put_document(&in_memory);
    dp_close_text(in_memory.out);
    int rc = check_characters(e, text, size, err);
    if (rc == DP_OK)
        fwrite(text, 1, size, e->out);
    free(text);
    return rc;
}
