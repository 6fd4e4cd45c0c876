/* SQL: one SELECT of predictions from a table, with a subquery for each level of steps. Without MATERIALIZED, SQLite would copy
 * the text of a subquery to each place that uses one of its columns, and compute it again there. */

#include "base/mem.h"
#include "export.h"
#include "steps.h"

struct printer {
    const struct export *e;
    struct steps steps;
};

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

/* --- expressions ------------------------------------------------------------------------------------------------------ */

/* In parentheses if it is negative, and with an exponent, so that no SQL takes it for an exact decimal. */
static void put_number(void *self, double value)
{
    fprintf(((struct printer *)self)->e->out, isnan(value) ? "NULL" : value < 0 ? "(%.16e)" : "%.16e", value);
}

static void put_word(void *self, const char *word)
{
    put_quoted(((struct printer *)self)->e, '\'', "", word);
}

static void put_name(void *self, const struct expr *x)
{
    const struct printer *p = self;
    const struct dp_terms *t = p->e->terms;
    if (x->op == OP_NAME)
        fprintf(p->e->out, "%s_%zu", p->steps.step[x->at].kind, p->steps.step[x->at].number);
    else if (t->table)
        put_quoted(p->e, '"', "", t->plan.schema.column[x->at].name);
    else
        fputs(t->term[x->at].name, p->e->out);
}

/* m: the marks that may be in front of a number. t: the text of a column, with its sign and a decimal point. */
static void put_other(void *self, char letter, const struct expr *x)
{
    static const char comma[] = "REPLACE(REPLACE(REPLACE(REPLACE(signed_%zu, ';', '?'), '.', ';'), ',', '.'), ';', ',')";
    const struct printer *p = self;
    if (letter == 'm')
        fputs("'$', '\u00a3', '\u00a5', '\u20ac'", p->e->out);
    else
        fprintf(p->e->out, p->e->terms->plan.schema.comma ? comma : "signed_%zu", x->at + 1);
}

#define DIGITS "'.', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'"
/* clang-format off */
/* The steps from a text to the shape of a number, as lib/base/number.c goes. */
static const char *const spelling[][2] = {
    /* signs, blanks and apostrophes of ASCII */
    {"bares", ",\n    TRIM(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(text_%i"
    ", '\u2212', '-'), '\u00a0', ' '), '\u202f', ' '), '\u2009', ' '), '\u2019', ''''), '\u2264', '<'), '\u2265', '>')"
    ", 'D+', 'e+'), 'D-', 'e-'), 'd+', 'e+'), 'd-', 'e-'), ' \t') AS bare_%i"},
    {"limits", ",\n    CASE WHEN SUBSTR(bare_%i, 1, 1) IN ('<', '>') THEN LTRIM(SUBSTR(bare_%i, 2), '= \t') ELSE bare_%i END AS limit_%i"},
    {"signs", ",\n    CASE WHEN limit_%i LIKE '(%%)' AND LTRIM(SUBSTR(limit_%i, 2), ' \t') LIKE '-%%' THEN TRIM(SUBSTR(limit_%i, 2, LENGTH(limit_%i) - 2), ' \t')\n"
    "      WHEN limit_%i LIKE '(%%)' THEN '-' || TRIM(SUBSTR(limit_%i, 2, LENGTH(limit_%i) - 2), ' \t')\n"
    "      WHEN limit_%i LIKE '%%-' AND limit_%i NOT LIKE '-%%' THEN '-' || RTRIM(SUBSTR(limit_%i, 1, LENGTH(limit_%i) - 1), ' \t')\n"
    "      ELSE limit_%i END AS signed_%i"},
    /* without its mark and the blanks next to it; a comma between groups */
    {"plains", ",\n    REPLACE(REPLACE(CASE WHEN SUBSTR(%t, 1, 1) IN (%m) AND SUBSTR(LTRIM(SUBSTR(%t, 2), ' \t'), 1, 1) IN (" DIGITS
    ") THEN LTRIM(SUBSTR(%t, 2), ' \t')\n      WHEN SUBSTR(%t, 1, 1) = '-' AND SUBSTR(%t, 2, 1) IN (%m) AND "
    "SUBSTR(LTRIM(SUBSTR(%t, 3), ' \t'), 1, 1) IN (" DIGITS ") THEN '-' || LTRIM(SUBSTR(%t, 3), ' \t')\n"
    "      WHEN SUBSTR(%t, LENGTH(%t), 1) IN (%m, '%%') THEN RTRIM(SUBSTR(%t, 1, LENGTH(%t) - 1), ' \t')\n"
    "      ELSE %t END, ' ', ','), '''', ',') AS plain_%i"},
    /* each digit as 9, + as - and E as e */
    {"shapes", ",\n    REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(plain_%i"
    ", '0', '9'), '1', '9'), '2', '9'), '3', '9'), '4', '9'), '5', '9'), '6', '9'), '7', '9'), '8', '9'), '+', '-'), 'E', 'e')"
    " AS shape_%i"}};
enum { SPELLINGS = sizeof spelling / sizeof *spelling };
/* The number, if the shape is one, with an exponent of at most two digits: no SQL has to cast what it cannot. */
#define NO(pattern) " AND shape_%i NOT LIKE '" pattern "'"
#define SIGNED(n) "'" n "', '-" n "', '" n "e9', '-" n "e9', '" n "e-9', '-" n "e-9'"
static const char number[] = "CASE WHEN LENGTH(text_%i) < 64" NO("%%e%%999%%")
    "\n    AND (shape_%i NOT LIKE '%%,%%' OR (REPLACE(shape_%i, ',999', '') NOT LIKE '%%,%%'"
    NO("%%,9999%%") NO("%%9999,%%") NO(",%%") NO("-,%%") NO("%%.%%,%%") NO("%%e%%,%%")
    "\n    AND plain_%i NOT LIKE '0,%%' AND plain_%i NOT LIKE '-0,%%' AND plain_%i NOT LIKE '+0,%%'"
    " AND (shape_%i LIKE '%%.%%' OR shape_%i NOT LIKE '%%e%%')))"
    "\n    AND REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(shape_%i, ',', '')"
    ", '99', '9'), '99', '9'), '99', '9'), '99', '9'), '99', '9'), '99', '9')"
    " IN (" SIGNED("9") ", " SIGNED("9.") ", " SIGNED("9.9") ", " SIGNED(".9") ")"
    "\n    THEN CAST(REPLACE(plain_%i, ',', '') AS DOUBLE PRECISION) END";
/* clang-format on */

static const struct syntax sql = {
    .form = {[OP_NUMBER] = "%v",
             [OP_NONE] = "NULL",
             [OP_NAME] = "%s",
             [OP_INPUT] = "%s",
             [OP_TRIM] = "TRIM(COALESCE(CAST(%a AS TEXT), ''), ' \t')",
             [OP_READ] = number,
             [OP_IN] = "%a IN (%(%w, %)'')",
             [OP_ABSENT] = "%a IS NULL",
             [OP_LESS] = "%a < %b",
             [OP_ADD] = "(%a\n    + %b)",
             [OP_SUBTRACT] = "(%a - %b)",
             [OP_MULTIPLY] = "%a * %b",
             [OP_DIVIDE] = "(%a / %b)",
             [OP_SQRT] = "SQRT(%a)",
             [OP_COS] = "COS(%a)",
             [OP_EXP] = "EXP(%a)",
             [OP_IF] = "CASE WHEN %a THEN %b ELSE %c END",
             [OP_MATCH] = "CASE %a%( WHEN %w THEN %v%) ELSE %b END",
             [OP_STEPS] = "CASE%[ WHEN %a < %K THEN %v%] WHEN %a >= %k THEN %v END",
             [OP_LINES] =
                 "CASE%[ WHEN %a < %K THEN %v + %V * (%a - %k) / %W%] WHEN %a >= %k THEN %v + %V * (%a - %k) / %W END"},
    .number = put_number,
    .word = put_word,
    .name = put_name,
    .other = put_other};

/* The texts of numbers, as people write them, on the way to a number. */
static void put_texts(struct printer *p)
{
    const struct dp_schema *s = &p->e->terms->plan.schema;
    const char *from = "level_0";
    for (int k = 0; k < SPELLINGS; from = spelling[k++][0]) {
        fprintf(p->e->out, ", %s AS MATERIALIZED (SELECT %s.*", spelling[k][0], from);
        for (size_t i = 0; i < s->columns; i++)
            if (s->column[i].type == DP_COLUMN_NUMERIC && s->column[i].date == NULL)
                expr_print_as(&sql, p, spelling[k][1], &(struct expr){.op = OP_READ, .at = i}, p->e->out);
        fprintf(p->e->out, "\n  FROM %s)", from);
    }
}

/* --- the query -------------------------------------------------------------------------------------------------------- */

static void put_kept(const struct export *e, const char *separator, bool from, bool to)
{
    for (size_t k = 0; k < e->keep->count; k++) {
        if (from)
            put_quoted(e, '"', "", e->keep->text[k]);
        if (from)
            fputs(" AS ", e->out);
        fprintf(e->out, "kept_%zu", k + 1);
        if (to) {
            fputs(" AS ", e->out);
            put_quoted(e, '"', "", e->keep->text[k]);
        }
        fputs(separator, e->out);
    }
}

static void put_level(struct printer *p, size_t level)
{
    const struct steps *s = &p->steps;
    FILE *out = p->e->out;
    const char *separator = "";
    fprintf(out, "%slevel_%zu AS MATERIALIZED (SELECT ", level > 0 ? ", " : "", level);
    put_kept(p->e, ", ", level == 0, false);
    for (size_t i = 0; i < s->count; i++) {
        if (s->step[i].level > level || s->step[i].last < level)
            continue;
        fputs(separator, out);
        separator = ", ";
        if (s->step[i].level == level) {
            fputs("\n    ", out);
            expr_print(&sql, p, s->step[i].value, out);
            fputs(" AS ", out);
        }
        fprintf(out, "%s_%zu", s->step[i].kind, s->step[i].number);
    }
    fputs("\n  FROM ", out);
    if (level == 0)
        put_quoted(p->e, '"', "", p->e->table);
    else if (level == 1 && p->e->terms->table)
        fputs(spelling[SPELLINGS - 1][0], out);
    else
        fprintf(out, "level_%zu", level - 1);
    fputc(')', out);
    if (level == 0 && p->e->terms->table)
        put_texts(p);
}

/* The class with the largest score; a tie goes to the lower class. */
static void put_class(const struct printer *p)
{
    const struct dp_terms *t = p->e->terms;
    FILE *out = p->e->out;
    fputs("CASE", out);
    for (size_t k = 0; k < t->classes; k++) {
        fputs(" WHEN ", out);
        if (t->outputs == 1)
            fputs(k == 0 ? "score_1 <= 0" : "score_1 > 0", out);
        else
            fprintf(out, "score_%zu >= top_%zu", k + 1, t->outputs - 1);
        fputs(" THEN ", out);
        put_quoted(p->e, '\'', "", t->class[k]);
    }
    fputs(" END", out);
}

int export_sql(const struct export *e, struct dp_err *err)
{
    const struct dp_terms *t = e->terms;
    struct printer p = {.e = e};
    char privacy[EXPORT_PRIVACY];
    size_t levels = 0;
    (void)err;
    steps_open(&p.steps, t, true);
    for (size_t i = 0; i < p.steps.count; i++)
        levels = p.steps.step[i].level >= levels ? p.steps.step[i].level + 1 : levels;
    fprintf(e->out,
            "-- Predictions of a linear model by dpline, %s loss; %s.\n-- NULL: a cell of the row cannot be read.\nWITH ",
            dp_loss_names[t->predictor.loss], export_privacy(e, privacy));
    for (size_t level = 0; level < levels; level++)
        put_level(&p, level);
    fputs("\nSELECT ", e->out);
    put_kept(e, ", ", false, true);
    if (t->classes > 0)
        put_class(&p);
    else
        fputs("value_1", e->out);
    fputs(" AS prediction", e->out);
    for (size_t k = 0; k < t->outputs; k++) {
        fprintf(e->out, ",\n  score_%zu AS ", k + 1);
        put_quoted(e, '"', t->classes == 0 ? "" : "score_", export_output(e, k));
    }
    for (size_t k = 0; t->classes > 0 && dp_metric_has_probability(t->predictor.loss) && k < t->classes; k++) {
        fprintf(e->out, ",\n  probability_%zu AS ", k + 1);
        put_quoted(e, '"', "probability_", t->class[k]);
    }
    fprintf(e->out, "\nFROM level_%zu;\n", levels - 1);
    steps_close(&p.steps);
    return DP_OK;
}
