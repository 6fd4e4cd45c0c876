/* SQL: one SELECT of predictions from a table. Cells may be text or numbers. In SQL a sum of many terms is nested, so terms are
 * grouped. Without MATERIALIZED, SQLite would copy the text of a subquery to each place that uses one of its columns, and
 * compute it again there. */

#include "export.h"

enum { GROUP = 50, DIGITS = 17 };

/* "name" or 'text'. */
static void put_quoted(const struct export *e, char quote, const char *prefix, const char *text)
{
    fputc(quote, e->out);
    fputs(prefix, e->out);
    for (; *text != '\0'; text++) {
        if (*text == quote)
            fputc(quote, e->out);
        fputc(*text, e->out);
    }
    fputc(quote, e->out);
}

/* Writes a number: in parentheses if it is negative, and with an exponent, so that no SQL takes it for an exact decimal. */
static void put_number(const struct export *e, double value)
{
    fprintf(e->out, value < 0 ? "(%.*e)" : "%.*e", DIGITS - 1, value);
}

static void put_list(const struct export *e, const struct dp_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++) {
        fputs(", ", e->out);
        put_quoted(e, '\'', "", texts->text[i]);
    }
}

/* " WHEN the cell is missing THEN". */
static void put_missing(const struct export *e, size_t i)
{
    const struct dp_schema *s = &e->terms->plan.schema;
    fprintf(e->out, " WHEN cell_%zu IN (''", i + 1);
    put_list(e, &s->missing);
    put_list(e, &s->column[i].missing);
    fputs(") THEN ", e->out);
}

/* The value of a cell: a number or a category. */
struct cell {
    double number;
    long category;
};

/* Σ_j weight_j f_j over the terms of a column, or Σ_j f_j² if weight is NULL. */
static double sum_of(const struct dp_terms *t, size_t i, const double *weight, struct cell cell)
{
    size_t j, end;
    double sum = 0;
    for (dp_terms_of_column(t, i, &j, &end); j < end; j++) {
        double f = dp_term_value(t, j, cell.number, cell.category);
        sum += weight != NULL ? weight[j] * f : f * f;
    }
    return sum;
}

/* The place of the number within interval i of the basis, 0 … 1. */
static void put_place(const struct export *e, size_t column, const struct dp_basis *basis, size_t i)
{
    fprintf(e->out, "((number_%zu - ", column + 1);
    put_number(e, basis->edge[i]);
    fputs(") / ", e->out);
    put_number(e, basis->edge[i + 1] - basis->edge[i]);
    fputc(')', e->out);
}

/* Σ_k weight_k f_k of the basis in its interval i, or Σ_k f_k² if weight is NULL. */
static void put_interval(const struct export *e, size_t column, const struct dp_basis *basis, const double *weight, size_t i)
{
    if (basis->kind == DP_BASIS_BINS) {
        put_number(e, weight != NULL ? weight[i] : 1);
        return;
    }
    if (basis->kind == DP_BASIS_HATS && weight != NULL) {
        put_number(e, weight[i]);
        fputs(" + ", e->out);
        put_number(e, weight[i + 1] - weight[i]);
        fputs(" * ", e->out);
        put_place(e, column, basis, i);
        return;
    }
    for (size_t k = 0; k < dp_basis_count(basis); k++) {
        if (basis->kind == DP_BASIS_HATS && k > 1)
            return;
        fputs(k > 0 ? " + " : "", e->out);
        for (int twice = 0; twice < (weight == NULL ? 2 : 1); twice++) {
            fputs(twice ? " * " : "", e->out);
            if (basis->kind == DP_BASIS_HATS)
                fputs(k == 0 ? "(1 - " : "(", e->out);
            else
                fprintf(e->out, "COS(%.17g * (%zu + ", 3.14159265358979323846 * (double)(k + 1) / (double)basis->intervals, i);
            put_place(e, column, basis, i);
            fputs(basis->kind == DP_BASIS_HATS ? ")" : "))", e->out);
        }
        if (basis->kind == DP_BASIS_COSINES) {
            fputs(" * ", e->out);
            put_number(e, weight != NULL ? weight[k] / (double)(k + 1) : 1 / (double)((k + 1) * (k + 1)));
        }
    }
}

/* The functions of the basis: a CASE for its intervals. */
static void put_basis(const struct export *e, size_t column, const double *weight)
{
    const struct dp_basis *basis = &e->terms->plan.schema.column[column].basis;
    if (dp_basis_count(basis) == 0)
        return;
    fputs(" + CASE", e->out);
    for (size_t i = 0; i < basis->intervals; i++) {
        if (i + 1 < basis->intervals) {
            fprintf(e->out, " WHEN number_%zu < ", column + 1);
            put_number(e, basis->edge[i + 1]);
            fputs(" THEN ", e->out);
        } else {
            fputs(i > 0 ? " ELSE " : " WHEN 1 = 1 THEN ", e->out);
        }
        put_interval(e, column, basis, weight, i);
    }
    fputs(" END", e->out);
}

static void put_numeric(const struct export *e, size_t i, const double *weight)
{
    const struct dp_terms *t = e->terms;
    size_t j, end;
    dp_terms_of_column(t, i, &j, &end);
    const struct dp_term *term = &t->term[j];
    fprintf(e->out, " WHEN number_%zu IS NOT NULL THEN ", i + 1);
    for (int k = 0; k < (weight == NULL ? 2 : 1); k++) {
        if (k == 0)
            put_number(e, weight == NULL ? term->factor * term->factor : weight[j] * term->factor);
        fprintf(e->out, " * (number_%zu - ", i + 1);
        put_number(e, term->shift);
        fputc(')', e->out);
    }
    put_basis(e, i, weight != NULL ? weight + j + 1 : NULL);
}

/* The part of a missing cell in a sum; NULL if the row is refused then. */
static void put_filled(const struct export *e, size_t i, const double *weight)
{
    const struct dp_column *c = &e->terms->plan.schema.column[i];
    if (c->fill == DP_FILL_REFUSE)
        fputs(c->unknown_zero ? "0" : "NULL", e->out);
    else
        put_number(e, sum_of(e->terms, i, weight, (struct cell){(double)NAN, DP_CATEGORY_MISSING}));
}

/* The part of a column in a sum; NULL if its cell cannot be read. */
static void put_column(const struct export *e, size_t i, const double *weight)
{
    const struct dp_terms *t = e->terms;
    const struct dp_column *c = &t->plan.schema.column[i];
    fputs("CASE", e->out);
    put_missing(e, i);
    put_filled(e, i, weight);
    if (c->type == DP_COLUMN_NUMERIC)
        put_numeric(e, i, weight);
    size_t names = c->categories.count;
    for (size_t k = 0; c->type == DP_COLUMN_CATEGORICAL && k < names + c->synonyms.count; k++) {
        fprintf(e->out, " WHEN cell_%zu = ", i + 1);
        put_quoted(e, '\'', "", k < names ? c->categories.text[k] : c->synonyms.text[k - names]);
        fputs(" THEN ", e->out);
        put_number(e, sum_of(t, i, weight, (struct cell){0, (long)(k < names ? k : c->meant[k - names])}));
    }
    if (c->type == DP_COLUMN_CATEGORICAL && c->unknown_zero)
        fputs(" ELSE 0", e->out);
    else if (t->plan.bad_missing) {
        fputs(" ELSE ", e->out);
        put_filled(e, i, weight);
    }
    fputs(" END", e->out);
}

static void put_plus(const struct export *e, size_t *terms)
{
    if (*terms > 0)
        fputs(*terms % GROUP == 0 ? ")\n    + (" : "\n    + ", e->out);
    ++*terms;
}

/* The sum over all columns. weight: count entries, or NULL for the squares. */
static void put_sum(const struct export *e, const double *weight)
{
    const struct dp_terms *t = e->terms;
    size_t terms = 0;
    double bias = 0;
    fputs("(", e->out);
    for (size_t i = 0; i < t->plan.schema.columns; i++) {
        if (!dp_terms_reads(t, i))
            continue;
        put_plus(e, &terms);
        put_column(e, i, weight);
    }
    for (size_t j = 0; j < t->count; j++) {
        if (t->term[j].kind == DP_TERM_BIAS)
            bias = weight != NULL ? weight[j] : 1;
        if (t->term[j].kind != DP_TERM_FEATURE)
            continue;
        put_plus(e, &terms);
        put_number(e, weight[j]);
        fprintf(e->out, " * %s", t->term[j].name);
    }
    put_plus(e, &terms);
    put_number(e, bias);
    fputc(')', e->out);
}

/* The cell without these characters. */
static void put_without(const struct export *e, size_t i, const char *characters)
{
    for (size_t k = 0; characters[k] != '\0'; k++)
        fputs("REPLACE(", e->out);
    fprintf(e->out, "cell_%zu", i + 1);
    for (; *characters != '\0'; characters++)
        fprintf(e->out, ", '%c', '')", *characters);
}

/* The cells as text, then the numbers among them, within their bounds. */
static void put_cells(const struct export *e)
{
    const struct dp_terms *t = e->terms;
    const struct dp_schema *s = &t->plan.schema;
    static const char digits[] = "0123456789", signs[] = "0123456789.+-eE";
    const char *separator = "";
    fputs("cells AS (SELECT ", e->out);
    for (size_t k = 0; k < e->keep->count; k++) {
        put_quoted(e, '"', "", e->keep->text[k]);
        fprintf(e->out, " AS kept_%zu, ", k + 1);
    }
    for (size_t i = 0; i < s->columns; i++) {
        if (!dp_terms_reads(t, i))
            continue;
        fprintf(e->out, "%s\n    TRIM(COALESCE(CAST(", separator);
        put_quoted(e, '"', "", s->column[i].name);
        fprintf(e->out, " AS TEXT), '')) AS cell_%zu", i + 1);
        separator = ",";
    }
    fputs("\n  FROM ", e->out);
    put_quoted(e, '"', "", e->table);
    fputs("), numbers AS MATERIALIZED (SELECT cells.*", e->out);
    for (size_t i = 0; i < s->columns; i++) {
        const struct dp_column *c = &s->column[i];
        if (c->type != DP_COLUMN_NUMERIC)
            continue;
        fputs(",\n    CASE", e->out);
        put_missing(e, i);
        fputs("NULL", e->out);
        fputs(" WHEN ", e->out);
        put_without(e, i, digits);
        fprintf(e->out, " = cell_%zu OR ", i + 1);
        put_without(e, i, signs);
        fputs(" <> '' THEN NULL", e->out);
        for (int high = 0; c->bounded && high < 2; high++) {
            fprintf(e->out, " WHEN CAST(cell_%zu AS DOUBLE PRECISION) %c ", i + 1, high ? '>' : '<');
            put_number(e, high ? c->high : c->low);
            fputs(" THEN ", e->out);
            put_number(e, high ? c->high : c->low);
        }
        fprintf(e->out, " ELSE CAST(cell_%zu AS DOUBLE PRECISION) END AS number_%zu", i + 1, i + 1);
    }
    fputs("\n  FROM cells), ", e->out);
}

/* The factor s of a row (model/terms.h), from its squared norm. */
static void put_scale(const struct export *e)
{
    static const char longest[] = "(1 - 1 / 4194304.0)"; /* 1 − 2⁻²² */
    switch (e->terms->norm) {
    case DP_NORM_UNIT:
        fprintf(e->out, "CASE WHEN norm2 > 0 THEN %s / SQRT(norm2) WHEN norm2 = 0 THEN 1.0 END", longest);
        break;
    case DP_NORM_CAP:
        fprintf(e->out, "CASE WHEN SQRT(norm2) > %s THEN %s / SQRT(norm2) WHEN norm2 >= 0 THEN 1.0 END", longest, longest);
        break;
    case DP_NORM_NONE:
        fputs("CASE WHEN norm2 <= 1 THEN 1.0 END", e->out);
        break;
    case DP_NORM_BOUNDS:
        fputs("1.0", e->out);
        break;
    }
}

static void put_kept(const struct export *e, bool named)
{
    for (size_t k = 0; k < e->keep->count; k++) {
        fprintf(e->out, "kept_%zu", k + 1);
        if (named) {
            fputs(" AS ", e->out);
            put_quoted(e, '"', "", e->keep->text[k]);
        }
        fputs(", ", e->out);
    }
}

static void put_scores(const struct export *e)
{
    const struct dp_terms *t = e->terms;
    bool squares = t->table && t->norm != DP_NORM_BOUNDS;
    fputs("sums AS MATERIALIZED (SELECT ", e->out);
    for (size_t k = 0; !t->table && k < e->keep->count; k++) {
        put_quoted(e, '"', "", e->keep->text[k]);
        fprintf(e->out, " AS kept_%zu, ", k + 1);
    }
    if (t->table)
        put_kept(e, false);
    for (size_t k = 0; k < t->outputs; k++) {
        if (k > 0)
            fputs(", ", e->out);
        put_sum(e, t->weight + k * t->count);
        fprintf(e->out, " AS sum_%zu", k + 1);
    }
    if (squares) {
        fputs(", ", e->out);
        put_sum(e, NULL);
        fputs(" AS norm2", e->out);
    }
    fputs("\n  FROM ", e->out);
    if (t->table)
        fputs("numbers", e->out);
    else
        put_quoted(e, '"', "", e->table);
    fputs("), scores AS MATERIALIZED (SELECT ", e->out);
    put_kept(e, false);
    for (size_t k = 0; k < t->outputs; k++) {
        fputs(k > 0 ? ", " : "", e->out);
        put_number(e, t->constant[k]);
        fprintf(e->out, " + sum_%zu * ", k + 1);
        put_scale(e);
        fprintf(e->out, " AS score_%zu", k + 1);
    }
    fputs(" FROM sums)", e->out);
}

static void put_value(const struct export *e)
{
    const struct dp_terms *t = e->terms;
    put_number(e, t->predictor.label.scale);
    fputs(t->predictor.loss == DP_LOSS_POISSON ? " * EXP(score_1) + " : " * score_1 + ", e->out);
    put_number(e, t->predictor.label.offset);
}

/* WHEN the value is beyond the bound THEN it is the bound. */
static void put_bound(const struct export *e, const char *beyond, double bound)
{
    fputs(" WHEN ", e->out);
    put_value(e);
    fputs(beyond, e->out);
    put_number(e, bound);
    fputs(" THEN ", e->out);
    put_number(e, bound);
}

/* A number within its bounds, or the class with the largest score; a tie goes to the lower class. */
static void put_prediction(const struct export *e)
{
    const struct dp_terms *t = e->terms;
    if (t->classes == 0 && !(t->predictor.label.low < t->predictor.label.high)) {
        put_value(e);
        return;
    }
    if (t->classes == 0) {
        fputs("CASE", e->out);
        put_bound(e, " < ", t->predictor.label.low);
        put_bound(e, " > ", t->predictor.label.high);
        fputs(" ELSE ", e->out);
        put_value(e);
        fputs(" END", e->out);
        return;
    }
    fputs("CASE", e->out);
    for (size_t k = 0; k < t->classes; k++) {
        fputs(" WHEN ", e->out);
        if (t->outputs == 1)
            fputs(k == 0 ? "score_1 <= 0" : "score_1 > 0", e->out);
        for (size_t i = 0; t->outputs > 1 && i < t->outputs; i++)
            if (i != k)
                fprintf(e->out, "%sscore_%zu %s score_%zu", i == (k == 0) ? "" : " AND ", k + 1, i < k ? ">" : ">=", i + 1);
        fputs(" THEN ", e->out);
        put_quoted(e, '\'', "", t->class[k]);
    }
    fputs(" END", e->out);
}

/* Probabilities are proportional to it. EXP of a large number is an error in some SQL. */
static void put_part(const struct export *e, size_t k)
{
    if (e->terms->predictor.loss == DP_LOSS_SOFTMAX)
        fprintf(e->out, "EXP(CASE WHEN score_%zu > 700 THEN 700 WHEN score_%zu < -700 THEN -700 ELSE score_%zu END)", k, k, k);
    else
        fprintf(e->out, "1 / (1 + EXP(CASE WHEN score_%zu < -700 THEN 700 WHEN score_%zu > 700 THEN -700 ELSE -score_%zu END))",
                k, k, k);
}

static void put_probabilities(const struct export *e)
{
    const struct dp_terms *t = e->terms;
    for (size_t k = 0; k < t->classes; k++) {
        fputs(",\n  ", e->out);
        if (t->outputs == 1) {
            fputs(k == 0 ? "1 - " : "", e->out);
            put_part(e, 1);
        } else {
            put_part(e, k + 1);
            fputs(" / (", e->out);
            for (size_t i = 0; i < t->outputs; i++) {
                fputs(i > 0 ? " + " : "", e->out);
                put_part(e, i + 1);
            }
            fputs(")", e->out);
        }
        fputs(" AS ", e->out);
        put_quoted(e, '"', "probability_", t->class[k]);
    }
}

int export_sql(const struct export *e, struct dp_err *err)
{
    const struct dp_terms *t = e->terms;
    char privacy[EXPORT_PRIVACY];
    (void)err;
    fprintf(e->out,
            "-- Predictions of a linear model by dpline, %s loss; %s.\n-- NULL: a cell of the row cannot be read.\nWITH ",
            dp_loss_names[t->predictor.loss], export_privacy(e, privacy));
    if (t->table)
        put_cells(e);
    put_scores(e);
    fputs("\nSELECT ", e->out);
    put_kept(e, true);
    put_prediction(e);
    fputs(" AS prediction", e->out);
    for (size_t k = 0; k < t->outputs; k++) {
        fprintf(e->out, ",\n  score_%zu AS ", k + 1);
        if (t->classes == 0)
            fputs("\"score\"", e->out);
        else
            put_quoted(e, '"', "score_", export_output(e, k));
    }
    if (t->classes > 0 && dp_metric_has_probability(t->predictor.loss))
        put_probabilities(e);
    fputs("\nFROM scores;\n", e->out);
    return DP_OK;
}
