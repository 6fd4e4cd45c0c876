/* SQL: one SELECT of predictions from a table, with a subquery for each level of steps. Without MATERIALIZED, SQLite would copy
 * the text of a subquery to each place that uses one of its columns, and compute it again there. */

#include "base/mem.h"
#include "export.h"
#include "steps.h"

struct printer {
    const struct export *e;
    struct steps steps;
};

static const struct syntax sql;

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

/* The text of a column without its unit. The longest spellings come first: one may end with another. */
static void put_without_unit(const struct export *e, size_t number, const char *units)
{
    static const char *const form =
        "\n      WHEN SUBSTR(%t, 1 + LENGTH(%t) - LENGTH(%w)) = %w THEN SUBSTR(%t, 1, LENGTH(%t) - LENGTH(%w))"
        "\n      WHEN SUBSTR(%t, 1, LENGTH(%w)) = %w THEN SUBSTR(%t, 1 + LENGTH(%w))";
    if (units != NULL)
        fputs("CASE", e->out);
    for (size_t length = units != NULL ? strlen(units) : 0; length > 0; length--)
        for (const char *unit = units, *end; *unit != '\0'; unit = end + (*end == '|')) {
            end = unit + strcspn(unit, "|");
            if ((size_t)(end - unit) != length)
                continue;
            char *word = dp_got(strndup(unit, length));
            for (const char *p = form; *p != '\0'; p++)
                if (p[0] != '%')
                    fputc(*p, e->out);
                else if (*++p == 't')
                    fprintf(e->out, "text_%zu", number);
                else
                    put_quoted(e, '\'', "", word);
            free(word);
        }
    fprintf(e->out, units != NULL ? " ELSE text_%zu END" : "text_%zu", number);
}

/* clang-format off */
#define DIGITS "'.', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'"
#define NINES(text) "REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(" text \
    ", '0', '9'), '1', '9'), '2', '9'), '3', '9'), '4', '9'), '5', '9'), '6', '9'), '7', '9'), '8', '9')"
/* Signs are swapped if points are between groups of three digits, or there is a comma behind them; else only a decimal point
 * explains the text. */
static const char comma[] = "CASE WHEN marked_%i LIKE '%%.%%' AND (marked_%i LIKE '%%,%%.%%' OR (marked_%i NOT LIKE '%%,%%' AND ("
    "\n      REPLACE(REPLACE(REPLACE(REPLACE(" NINES("marked_%i") ", '.99.', '.'), '.99.', '.'), '.99.', '.'), '.999', '') LIKE '%%.%%' OR marked_%i LIKE '%%e%%' OR marked_%i LIKE '%%E%%'"
    "\n      OR " NINES("marked_%i") " LIKE '%%.9999%%' OR " NINES("marked_%i") " LIKE '%%9999.%%'"
    "\n      OR marked_%i LIKE '.%%' OR marked_%i LIKE '-.%%' OR marked_%i LIKE '+.%%'"
    "\n      OR marked_%i LIKE '0.%%' OR marked_%i LIKE '-0.%%' OR marked_%i LIKE '+0.%%'))) THEN marked_%i"
    "\n      ELSE REPLACE(REPLACE(REPLACE(REPLACE(marked_%i, ';', '?'), '.', ';'), ',', '.'), ';', ',') END";
/* clang-format on */

/* u: the text of a column without its unit. m: the marks that may be in front of a number. t: the text with a decimal point.
 * d: a date. */
static void put_other(void *self, char letter, const struct expr *x)
{
    static const char *const part[] = {[DP_DATE_DAYS] = "day_%i",
                                       [DP_DATE_MONTH] = "day_%i - day_%i + m_%i", /* NULL if there is no such day */
                                       [DP_DATE_WEEKDAY] = "FLOOR(day_%i) + 4 - 7 * FLOOR((FLOOR(day_%i) + 3) / 7)"};
    const struct printer *p = self;
    const struct dp_column *column = &p->e->terms->plan.schema.column[x->at];
    if (letter == 'd')
        expr_print_as(&sql, self, part[column->part], x, p->e->out);
    else if (letter == 'u')
        put_without_unit(p->e, x->at + 1, column->unit);
    else if (letter == 'm')
        fputs("'$', '\u00a3', '\u00a5', '\u20ac', '\u20b9'", p->e->out);
    else
        expr_print_as(&sql, self, column->comma ? comma : "marked_%i", x, p->e->out);
}

/* clang-format off */
/* The steps from a text to the shape of a number, as lib/base/number.c goes. */
static const char *const spelling[][2] = {
    /* signs, blanks and apostrophes of ASCII */
    {"bares", ",\n    TRIM(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(%u"
    ", '\u2212', '-'), '\u00a0', ' '), '\u202f', ' '), '\u2009', ' '), '\u2019', ''''), '\u2264', '<'), '\u2265', '>')"
    ", 'D+', 'e+'), 'D-', 'e-'), 'd+', 'e+'), 'd-', 'e-'), ' \t') AS bare_%i"},
    {"limits", ",\n    CASE WHEN SUBSTR(bare_%i, 1, 1) IN ('<', '>') THEN LTRIM(SUBSTR(bare_%i, 2), '= \t')\n"
    "      WHEN SUBSTR(bare_%i, 1, 1) = '''' THEN LTRIM(SUBSTR(bare_%i, 2), ' \t')\n"
    "      WHEN bare_%i LIKE '=\"%%\"' THEN TRIM(SUBSTR(bare_%i, 3, LENGTH(bare_%i) - 3), ' \t') ELSE bare_%i END AS limit_%i"},
    {"flags", ",\n    CASE WHEN limit_%i LIKE '%%₹%%' AND SUBSTR(limit_%i, LENGTH(limit_%i) - 1, 2) IN (' L', 'LL', 'CR', 'Cr') THEN limit_%i\n"
              "      WHEN SUBSTR(limit_%i, LENGTH(limit_%i), 1) = '*' THEN RTRIM(SUBSTR(limit_%i, 1, LENGTH(limit_%i) - 1), ' \t')\n"
    "      WHEN SUBSTR(limit_%i, LENGTH(limit_%i) - 2, 3) IN (' HH', ' LL') THEN RTRIM(SUBSTR(limit_%i, 1, LENGTH(limit_%i) - 3), ' \t')\n"
    "      WHEN SUBSTR(limit_%i, LENGTH(limit_%i) - 1, 2) IN (' H', ' L', 'CR', 'Cr') THEN RTRIM(SUBSTR(limit_%i, 1, LENGTH(limit_%i) - 2), ' \t')\n"
    "      WHEN SUBSTR(limit_%i, LENGTH(limit_%i) - 1, 2) IN ('DR', 'Dr') THEN CASE WHEN limit_%i LIKE '-%%' THEN '' ELSE '-' END\n"
    "        || RTRIM(SUBSTR(limit_%i, 1, LENGTH(limit_%i) - 2), ' \t')\n"
    "      ELSE limit_%i END AS flag_%i"},
    {"signs", ",\n    CASE WHEN flag_%i LIKE '(%%)' AND LTRIM(SUBSTR(flag_%i, 2), ' \t') LIKE '-%%' THEN TRIM(SUBSTR(flag_%i, 2, LENGTH(flag_%i) - 2), ' \t')\n"
    "      WHEN flag_%i LIKE '(%%)' THEN '-' || TRIM(SUBSTR(flag_%i, 2, LENGTH(flag_%i) - 2), ' \t')\n"
    "      WHEN flag_%i LIKE '%%-' AND flag_%i NOT LIKE '-%%' THEN '-' || RTRIM(SUBSTR(flag_%i, 1, LENGTH(flag_%i) - 1), ' \t')\n"
    "      ELSE flag_%i END AS signed_%i"},
    /* without its mark and the blanks next to it */
    {"marks", ",\n    CASE WHEN SUBSTR(signed_%i, 1, 1) IN (%m) AND SUBSTR(LTRIM(SUBSTR(signed_%i, 2), ' \t'), 1, 1) IN (" DIGITS
    ") THEN LTRIM(SUBSTR(signed_%i, 2), ' \t')\n      WHEN SUBSTR(signed_%i, 1, 1) = '-' AND SUBSTR(signed_%i, 2, 1) IN (%m) AND "
    "SUBSTR(LTRIM(SUBSTR(signed_%i, 3), ' \t'), 1, 1) IN (" DIGITS ") THEN '-' || LTRIM(SUBSTR(signed_%i, 3), ' \t')\n"
    "      WHEN SUBSTR(signed_%i, 1, 1) IN (%m) AND LTRIM(SUBSTR(signed_%i, 2), ' \t') LIKE '-%%' THEN LTRIM(SUBSTR(signed_%i, 2), ' \t')\n"
    "      WHEN SUBSTR(signed_%i, LENGTH(signed_%i), 1) IN (%m, '%%') THEN RTRIM(SUBSTR(signed_%i, 1, LENGTH(signed_%i) - 1), ' \t')\n"
    "      ELSE signed_%i END AS marked_%i"},
    /* with a decimal point, and a comma between groups */
    {"plains", ",\n    REPLACE(REPLACE(%t, ' ', ','), '''', ',') AS plain_%i"},
    /* each digit as 9, + as - and E as e */
    {"shapes", ",\n    REPLACE(REPLACE(" NINES("plain_%i") ", '+', '-'), 'E', 'e') AS shape_%i"}};
enum { SPELLINGS = sizeof spelling / sizeof *spelling };
/* The number, if the shape is one, with an exponent of at most two digits: no SQL has to cast what it cannot. */
#define NO(pattern) " AND shape_%i NOT LIKE '" pattern "'"
#define SIGNED(n) "'" n "', '-" n "', '" n "e9', '-" n "e9', '" n "e-9', '-" n "e-9'"
static const char number[] = "CASE WHEN LENGTH(text_%i) < 64" NO("%%e%%999%%")
    "\n    AND (shape_%i NOT LIKE '%%,%%' OR (REPLACE(REPLACE(REPLACE(REPLACE(shape_%i, ',99,', ','), ',99,', ','), ',99,', ','), ',999', '') NOT LIKE '%%,%%'"
    NO("%%,999,99,%%") NO("%%,99,999,%%")
    NO("%%,9999%%") NO("%%9999,%%") NO(",%%") NO("-,%%") NO("%%.%%,%%") NO("%%e%%,%%")
    "\n    AND plain_%i NOT LIKE '0,%%' AND plain_%i NOT LIKE '-0,%%' AND plain_%i NOT LIKE '+0,%%'"
    " AND (shape_%i LIKE '%%.%%' OR shape_%i NOT LIKE '%%e%%')))"
    "\n    AND REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(shape_%i, ',', '')"
    ", '99', '9'), '99', '9'), '99', '9'), '99', '9'), '99', '9'), '99', '9')"
    " IN (" SIGNED("9") ", " SIGNED("9.") ", " SIGNED("9.9") ", " SIGNED(".9") ")"
    "\n    THEN CAST(REPLACE(plain_%i, ',', '') AS DOUBLE PRECISION) END";
/* A day of the calendar: its month has the day, and the days since 1970, of a year that begins in March. */
#define MULTIPLE(n) "y_%i - " n " * FLOOR(y_%i / " n ") = 0"
#define YEAR "(y_%i - CASE WHEN m_%i < 3 THEN 1 ELSE 0 END)"
static const char day[] = ",\n    CASE WHEN y_%i >= 1000 AND m_%i >= 1 AND m_%i <= 12 AND d_%i >= 1 AND h_%i < 24 AND n_%i < 60 AND s_%i < 62"
    "\n    AND d_%i <= CASE WHEN m_%i IN (4, 6, 9, 11) THEN 30 WHEN m_%i <> 2 THEN 31\n      WHEN " MULTIPLE("4") " AND (NOT "
    MULTIPLE("100") " OR " MULTIPLE("400") ") THEN 29 ELSE 28 END\n    THEN 365 * " YEAR " + FLOOR(" YEAR " / 4) - FLOOR(" YEAR
    " / 100) + FLOOR(" YEAR " / 400)\n      + FLOOR((153 * (m_%i + CASE WHEN m_%i < 3 THEN 9 ELSE -3 END) + 2) / 5) + d_%i - 719469"
    " + (h_%i * 3600 + n_%i * 60 + s_%i) / 86400 END AS day_%i";
/* clang-format on */

static const struct syntax sql = {
    .form = {[OP_NUMBER] = "%v",
             [OP_NONE] = "NULL",
             [OP_NAME] = "%s",
             [OP_INPUT] = "%s",
             [OP_TRIM] = "TRIM(COALESCE(CAST(%a AS TEXT), ''), ' \t')",
             [OP_READ] = number,
             [OP_DATE] = "%d",
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

/* Writes where the part `wanted` is, for each shape of texts of a format: a day, month or hour may have one digit if no digit
 * is next to it, and seconds a fraction. at, length: of the part, if it was there. */
static void put_part(FILE *out, size_t column, const char *format, char wanted, char shape[EXPORT_SHAPE + 8], size_t n,
                     size_t at, size_t length)
{
    for (; *format != '\0' && *format != '|' && *format != '%'; format++)
        shape[n++] = *format;
    if (*format != '%') {
        fprintf(out, "\n      WHEN '%.*s' THEN ", (int)n, shape);
        if (length > 0)
            fprintf(out, "CAST(SUBSTR(text_%zu, %zu, %zu) AS DOUBLE PRECISION)", column, at, length);
        else
            fputs(strchr("md", wanted) != NULL ? "1.0" : "0.0", out);
        return;
    }
    const char part = format[1], next = format[2];
    const bool last = next == '\0' || next == '|';
    const bool joined = next == '%' || (n > 0 && shape[n - 1] == '9'); /* to the digits of another part */
    const size_t full = part == 'Y' ? 4 : 2;
    const size_t least = strchr("dmH", part) != NULL && !joined ? 1 : full;
    const size_t most = part == 'S' && last ? full + 8 : full;
    for (size_t digits = least; digits <= most; digits++) {
        if (digits == full + 1) /* a point without digits */
            continue;
        memset(shape + n, '9', digits);
        if (digits > full)
            shape[n + full] = '.';
        put_part(out, column, format + 2, wanted, shape, n + digits, part == wanted ? n + 1 : at,
                 part == wanted ? digits : length);
    }
}

/* The year, month, day, hour, minute and second of a date. */
static void put_parts(const struct printer *p, size_t i)
{
    static const char part[] = "YmdHMS", name[] = "ymdhns";
    char shape[EXPORT_SHAPE + 8];
    for (size_t k = 0; k < sizeof part - 1; k++) {
        fprintf(p->e->out, ",\n    CASE shape_%zu", i + 1);
        for (const char *format = p->e->terms->plan.schema.column[i].date; *format != '\0';
             format += strcspn(format, "|"), format += *format == '|')
            put_part(p->e->out, i + 1, format, part[k], shape, 0, 0, 0);
        fprintf(p->e->out, " END AS %c_%zu", name[k], i + 1);
    }
}

/* A step of a date: its shape, its parts, its day. */
static void put_date(struct printer *p, int step, size_t i)
{
    const struct expr x = {.op = OP_DATE, .at = i};
    if (step == 0)
        expr_print_as(&sql, p, ",\n    " NINES("text_%i") " AS shape_%i", &x, p->e->out);
    else if (step == 1)
        put_parts(p, i);
    else if (step == 2)
        expr_print_as(&sql, p, day, &x, p->e->out);
}

/* The texts of numbers, as people write them, on the way to a number, and texts of dates. */
static void put_texts(struct printer *p)
{
    const struct dp_schema *s = &p->e->terms->plan.schema;
    const char *from = "level_0";
    for (int k = 0; k < SPELLINGS; from = spelling[k++][0]) {
        fprintf(p->e->out, ", %s AS MATERIALIZED (SELECT %s.*", spelling[k][0], from);
        for (size_t i = 0; i < s->columns; i++)
            if (s->column[i].date != NULL && dp_terms_reads(p->e->terms, i))
                put_date(p, k, i);
            else if (s->column[i].type == DP_COLUMN_NUMERIC && s->column[i].date == NULL)
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
