/* PMML 4.4: a RegressionModel over derived fields f1, f2, …, one for each feature (model/terms.h). */

#include "base/mem.h"
#include "base/text.h"
#include "export.h"

static void put_text(const struct export *e, const char *text)
{
    for (; *text != '\0'; text++)
        switch (*text) {
        case '&':
            fputs("&amp;", e->out);
            break;
        case '<':
            fputs("&lt;", e->out);
            break;
        case '"':
            fputs("&quot;", e->out);
            break;
        case '\t':
        case '\n':
        case '\r':
            fprintf(e->out, "&#%d;", *text);
            break;
        default:
            fputc(*text, e->out);
        }
}

/* before text after */
static void put_named(const struct export *e, const char *before, const char *text, const char *after)
{
    fputs(before, e->out);
    put_text(e, text);
    fputs(after, e->out);
}

static void put_constant(const struct export *e, double value)
{
    fputs("<Constant dataType=\"double\">", e->out);
    export_number(e, value);
    fputs("</Constant>", e->out);
}

static void put_values(const struct export *e, const struct dp_texts *values, const char *after)
{
    for (size_t k = 0; k < values->count; k++)
        put_named(e, "      <Value value=\"", values->text[k], after);
}

static void put_data_field(const struct export *e, size_t i)
{
    const struct dp_schema *s = &e->terms->plan.schema;
    const struct dp_column *c = &s->column[i];
    bool numeric = c->type == DP_COLUMN_NUMERIC;
    put_named(e, "    <DataField name=\"", c->name,
              numeric ? "\" optype=\"continuous\" dataType=\"double\">\n" : "\" optype=\"categorical\" dataType=\"string\">\n");
    if (!numeric && !c->unknown_zero) {
        put_values(e, &c->categories, "\"/>\n");
        put_values(e, &c->synonyms, "\"/>\n");
    }
    fputs("      <Value value=\"\" property=\"missing\"/>\n", e->out);
    put_values(e, &s->missing, "\" property=\"missing\"/>\n");
    put_values(e, &c->missing, "\" property=\"missing\"/>\n");
    fputs("    </DataField>\n", e->out);
}

static void put_dictionary(const struct export *e)
{
    const struct dp_terms *t = e->terms;
    fputs("  <DataDictionary>\n", e->out);
    for (size_t i = 0; t->table && i < t->plan.schema.columns; i++)
        if (dp_terms_reads(t, i))
            put_data_field(e, i);
    for (size_t j = 0; !t->table && j < t->count; j++)
        fprintf(e->out, "    <DataField name=\"x%zu\" optype=\"continuous\" dataType=\"double\"/>\n", j + 1);
    if (t->classes == 0)
        fputs("    <DataField name=\"prediction\" optype=\"continuous\" dataType=\"double\"/>\n", e->out);
    else
        fputs("    <DataField name=\"prediction\" optype=\"categorical\" dataType=\"string\">\n", e->out);
    for (size_t k = 0; k < t->classes; k++)
        put_named(e, "      <Value value=\"", t->class[k], "\"/>\n");
    fputs(t->classes > 0 ? "    </DataField>\n  </DataDictionary>\n" : "  </DataDictionary>\n", e->out);
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
        fputs(c->unknown_zero ? "asIs\"" : t->plan.bad_missing ? "asMissing\"" : "returnInvalid\"", e->out);
        fputs(c->fill == DP_FILL_REFUSE && !c->unknown_zero ? " missingValueTreatment=\"returnInvalid\"/>\n" : "/>\n", e->out);
    }
    for (size_t j = 0; !t->table && j < t->count; j++)
        fprintf(e->out, "      <MiningField name=\"x%zu\"/>\n", j + 1);
    fputs("      <MiningField name=\"prediction\" usageType=\"target\"/>\n    </MiningSchema>\n", e->out);
}

static void begin_field(const struct export *e, const char *kind, size_t number)
{
    fprintf(e->out, "      <DerivedField name=\"%s%zu\" optype=\"continuous\" dataType=\"double\">", kind, number);
}

static void end_field(const struct export *e)
{
    fputs("</DerivedField>\n", e->out);
}

/* If the cell of column i is missing, then the constant, else what follows. */
static void put_if_missing(const struct export *e, const char *column, double value)
{
    put_named(e, "<Apply function=\"if\"><Apply function=\"isMissing\"><FieldRef field=\"", column, "\"/></Apply>");
    put_constant(e, value);
}

/* v: the number of column i, with its fill and within its bounds. */
static void put_number(const struct export *e, size_t i)
{
    const struct dp_column *c = &e->terms->plan.schema.column[i];
    begin_field(e, "v", i + 1);
    if (c->fill == DP_FILL_VALUE)
        put_if_missing(e, c->name, c->bounded ? fmin(fmax(c->fill_value, c->low), c->high) : c->fill_value);
    if (c->bounded)
        fputs("<Apply function=\"max\"><Apply function=\"min\">", e->out);
    put_named(e, "<FieldRef field=\"", c->name, "\"/>");
    if (c->bounded) {
        put_constant(e, c->high);
        fputs("</Apply>", e->out);
        put_constant(e, c->low);
        fputs("</Apply>", e->out);
    }
    fputs(c->fill == DP_FILL_VALUE ? "</Apply>" : "", e->out);
    end_field(e);
}

/* A piecewise linear function of v through (edge_i, value_i), from edge `first` on. */
static void put_lines(const struct export *e, size_t column, const struct dp_basis *basis, size_t first, size_t count,
                      double (*value)(size_t i, size_t k, size_t intervals), size_t k)
{
    fprintf(e->out, "<NormContinuous field=\"v%zu\" outliers=\"asExtremeValues\">", column + 1);
    for (size_t i = first; i < first + count; i++) {
        fputs("<LinearNorm orig=\"", e->out);
        export_number(e, basis->edge[i]);
        fputs("\" norm=\"", e->out);
        export_number(e, value(i, k, basis->intervals));
        fputs("\"/>", e->out);
    }
    fputs("</NormContinuous>", e->out);
}

static double hat(size_t i, size_t k, size_t intervals)
{
    (void)intervals;
    return i == k;
}

static double angle(size_t i, size_t k, size_t intervals)
{
    (void)k;
    return 3.14159265358979323846 * (double)i / (double)intervals;
}

static void put_basis(const struct export *e, const struct dp_term *term)
{
    const struct dp_basis *basis = &e->terms->plan.schema.column[term->column].basis;
    size_t k = term->part, from = k > 0 ? k - 1 : 0, to = k < basis->intervals ? k + 1 : k;
    switch (basis->kind) {
    case DP_BASIS_HATS:
        put_lines(e, term->column, basis, from, to - from + 1, hat, k);
        break;
    case DP_BASIS_BINS:
        fprintf(e->out, "<Discretize field=\"v%zu\" defaultValue=\"0\"><DiscretizeBin binValue=\"1\"><Interval closure=\"%s\"",
                term->column + 1, k + 1 < basis->intervals ? "closedOpen" : "closedClosed");
        fputs(" leftMargin=\"", e->out);
        export_number(e, basis->edge[k]);
        fputs("\" rightMargin=\"", e->out);
        export_number(e, basis->edge[k + 1]);
        fputs("\"/></DiscretizeBin></Discretize>", e->out);
        break;
    default:
        fprintf(e->out, "<Apply function=\"/\"><Apply function=\"cos\"><Apply function=\"*\"><FieldRef field=\"u%zu\"/>",
                term->column + 1);
        put_constant(e, (double)(k + 1));
        fputs("</Apply></Apply>", e->out);
        put_constant(e, (double)(k + 1));
        fputs("</Apply>", e->out);
    }
}

static void put_category(const struct export *e, const struct dp_term *term)
{
    const struct dp_column *c = &e->terms->plan.schema.column[term->column];
    const bool fills = c->fill == DP_FILL_VALUE || c->unknown_zero;
    if (fills)
        put_if_missing(e, c->name, c->fill == DP_FILL_VALUE && (long)c->fill_value == (long)term->part);
    put_named(e, "<Apply function=\"if\"><Apply function=\"isIn\"><FieldRef field=\"", c->name, "\"/>");
    put_named(e, "<Constant dataType=\"string\">", c->categories.text[term->part], "</Constant>");
    for (size_t k = 0; k < c->synonyms.count; k++)
        if (c->meant[k] == term->part)
            put_named(e, "<Constant dataType=\"string\">", c->synonyms.text[k], "</Constant>");
    fputs("</Apply>", e->out);
    put_constant(e, 1);
    put_constant(e, 0);
    fputs(fills ? "</Apply></Apply>" : "</Apply>", e->out);
}

static void put_term(const struct export *e, size_t j)
{
    const struct dp_term *term = &e->terms->term[j];
    const char *column = term->kind <= DP_TERM_MISSING ? e->terms->plan.schema.column[term->column].name : "";
    begin_field(e, "f", j + 1);
    switch (term->kind) {
    case DP_TERM_NUMBER:
        fprintf(e->out, "<Apply function=\"*\"><Apply function=\"-\"><FieldRef field=\"v%zu\"/>", term->column + 1);
        put_constant(e, term->shift);
        fputs("</Apply>", e->out);
        put_constant(e, term->factor);
        fputs("</Apply>", e->out);
        break;
    case DP_TERM_BASIS:
        put_basis(e, term);
        break;
    case DP_TERM_CATEGORY:
        put_category(e, term);
        break;
    case DP_TERM_MISSING:
        put_if_missing(e, column, 1);
        put_constant(e, 0);
        fputs("</Apply>", e->out);
        break;
    case DP_TERM_BIAS:
        put_constant(e, 1);
        break;
    case DP_TERM_FEATURE:
        fprintf(e->out, "<FieldRef field=\"x%zu\"/>", j + 1);
        break;
    case DP_TERM_PRODUCT: /* dp-export has refused the model */
        break;
    }
    end_field(e);
}

/* The features divided by their norm: g1, g2, … */
static void put_norm(const struct export *e)
{
    static const double longest = 1 - 0x1p-22;
    fputs("      <DerivedField name=\"norm\" optype=\"continuous\" dataType=\"double\"><Apply function=\"sqrt\"><Apply "
          "function=\"sum\">",
          e->out);
    for (size_t j = 1; j <= e->terms->count; j++)
        fprintf(e->out, "<Apply function=\"*\"><FieldRef field=\"f%zu\"/><FieldRef field=\"f%zu\"/></Apply>", j, j);
    fputs(
        "</Apply></Apply></DerivedField>\n      <DerivedField name=\"factor\" optype=\"continuous\" dataType=\"double\"><Apply "
        "function=\"if\"><Apply function=\"greaterThan\"><FieldRef field=\"norm\"/>",
        e->out);
    put_constant(e, e->terms->norm == DP_NORM_CAP ? longest : 0);
    fputs("</Apply><Apply function=\"/\">", e->out);
    put_constant(e, longest);
    fputs("<FieldRef field=\"norm\"/></Apply>", e->out);
    put_constant(e, 1);
    fputs("</Apply></DerivedField>\n", e->out);
    for (size_t j = 1; j <= e->terms->count; j++) {
        begin_field(e, "g", j);
        fprintf(e->out, "<Apply function=\"*\"><FieldRef field=\"factor\"/><FieldRef field=\"f%zu\"/></Apply>", j);
        end_field(e);
    }
}

static void put_transformations(const struct export *e)
{
    const struct dp_terms *t = e->terms;
    fputs("    <LocalTransformations>\n", e->out);
    for (size_t i = 0; t->table && i < t->plan.schema.columns; i++) {
        const struct dp_basis *basis = &t->plan.schema.column[i].basis;
        if (t->plan.schema.column[i].type != DP_COLUMN_NUMERIC)
            continue;
        put_number(e, i);
        if (basis->kind != DP_BASIS_COSINES)
            continue;
        begin_field(e, "u", i + 1);
        put_lines(e, i, basis, 0, basis->intervals + 1, angle, 0);
        end_field(e);
    }
    for (size_t j = 0; j < t->count; j++)
        put_term(e, j);
    if (t->norm != DP_NORM_BOUNDS)
        put_norm(e);
    fputs("    </LocalTransformations>\n", e->out);
}

/* The score of output k, or of the other class for 0. The score of a regression is in the units of the label, except for
 * e^score. */
static void put_table(const struct export *e, size_t k, const char *category, bool zero)
{
    const struct dp_terms *t = e->terms;
    bool units = t->classes == 0 && t->predictor.loss != DP_LOSS_POISSON;
    double scale = units ? t->predictor.label.scale : 1, offset = units ? t->predictor.label.offset : 0;
    if (category != NULL)
        put_named(e, "    <RegressionTable targetCategory=\"", category, "\" intercept=\"");
    else
        fputs("    <RegressionTable intercept=\"", e->out);
    export_number(e, zero ? 0 : scale * t->constant[k] + offset);
    fputs("\">\n", e->out);
    for (size_t j = 0; !zero && j < t->count; j++) {
        fprintf(e->out, "      <NumericPredictor name=\"%c%zu\" coefficient=\"", t->norm == DP_NORM_BOUNDS ? 'f' : 'g', j + 1);
        export_number(e, scale * t->weight[k * t->count + j]);
        fputs("\"/>\n", e->out);
    }
    fputs("    </RegressionTable>\n", e->out);
}

/* min and max hold before the value is rescaled. */
static void put_target(const struct export *e)
{
    const struct dp_affine *label = &e->terms->predictor.label;
    bool power = e->terms->predictor.loss == DP_LOSS_POISSON;
    double scale = power ? label->scale : 1, offset = power ? label->offset : 0;
    fputs("    <Targets><Target field=\"prediction\"", e->out);
    if (label->low < label->high) {
        fputs(" min=\"", e->out);
        export_number(e, (label->low - offset) / scale);
        fputs("\" max=\"", e->out);
        export_number(e, (label->high - offset) / scale);
        fputs("\"", e->out);
    }
    fputs(" rescaleFactor=\"", e->out);
    export_number(e, scale);
    fputs("\" rescaleConstant=\"", e->out);
    export_number(e, offset);
    fputs("\"/></Targets>\n", e->out);
}

static const char *normalization(const struct dp_terms *t)
{
    if (t->classes == 0)
        return t->predictor.loss == DP_LOSS_POISSON ? "exp" : "none";
    return dp_metric_has_probability(t->predictor.loss) ? "softmax" : "none";
}

static int check(const struct export *e, struct dp_err *err)
{
    const struct dp_terms *t = e->terms;
    if (t->norm == DP_NORM_NONE)
        return dp_fail(err, DP_E_RUN,
                       "%s refuses rows of a norm above 1, for which pmml has no place: json, sql and c have one", e->name);
    if (t->outputs > 1 && t->predictor.loss == DP_LOSS_LOGISTIC)
        return dp_fail(
            err, DP_E_RUN,
            "%s has a logistic score for each of %zu classes, for which pmml has no place: json, sql, c, liblinear and onnx have one",
            e->name, t->classes);
    return DP_OK;
}

static void put_document(const struct export *e)
{
    const struct dp_terms *t = e->terms;
    char privacy[EXPORT_PRIVACY];
    fprintf(
        e->out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<PMML xmlns=\"http://www.dmg.org/PMML-4_4\" version=\"4.4\">\n  <Header "
        "description=\"A linear model, %s loss; %s.\"><Application name=\"dpline\"/></Header>\n",
        dp_loss_names[t->predictor.loss], export_privacy(e, privacy));
    put_dictionary(e);
    fprintf(e->out, "  <RegressionModel functionName=\"%s\" normalizationMethod=\"%s\">\n",
            t->classes > 0 ? "classification" : "regression", normalization(t));
    put_mining_schema(e);
    if (t->classes == 0)
        put_target(e);
    put_transformations(e);
    for (size_t k = 0; k < t->outputs; k++)
        put_table(e, k, t->classes == 0 ? NULL : t->class[t->outputs == 1 ? 1 : k], false);
    if (t->outputs == 1 && t->classes > 0)
        put_table(e, 0, t->class[0], true);
    fputs("  </RegressionModel>\n</PMML>\n", e->out);
}

/* XML 1.0 has no place for control characters, nor for U+FFFE and U+FFFF, and no way to write them otherwise. */
static int check_characters(const struct export *e, const char *text, size_t size, struct dp_err *err)
{
    char shown[DP_TEXT_SHOWN];
    size_t from = 0;
    for (size_t i = 0; i < size; i++) {
        const unsigned char *p = (const unsigned char *)text + i;
        bool control = p[0] < ' ' && p[0] != '\t' && p[0] != '\n' && p[0] != '\r';
        if (control || (p[0] == 0xef && p[1] == 0xbf && p[2] >= 0xbe))
            return dp_fail(err, DP_E_RUN,
                           "%s has '%s', with a character for which pmml has no place: json, csv, sql, c and onnx have one",
                           e->name, dp_text_show(text + from, strcspn(text + from, "\"<"), shown));
        from = p[0] == '"' || p[0] == '>' ? i + 1 : from;
    }
    return DP_OK;
}

int export_pmml(const struct export *e, struct dp_err *err)
{
    struct export in_memory = *e;
    char *text = NULL;
    size_t size = 0;
    int rc = check(e, err);
    if (rc != DP_OK)
        return rc;
    in_memory.out = dp_got(open_memstream(&text, &size));
    put_document(&in_memory);
    dp_close_text(in_memory.out);
    rc = check_characters(e, text, size, err);
    if (rc == DP_OK)
        fwrite(text, 1, size, e->out);
    free(text);
    return rc;
}
