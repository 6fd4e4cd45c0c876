/* Oddities of tables: lines that are not rows, a header that is one field short, and the sentences about them. */
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/lines.h"

enum { SHAPED = 20 }; /* this many lines, at most, decide whether the header is one field short */

static void note(struct dp_lines *l, enum dp_lines_oddity which)
{
    l->notes.line[which] = l->notes.count[which]++ > 0 ? l->notes.line[which] : l->number;
}

static bool is_unit(const struct dp_cell *f)
{
    static const char *const units[] = {
        "years", "year", "yrs", "months", "days",   "day",    "hours",   "min",   "sec",    "ms",      "date", "kg",    "mg",
        "µg",    "lb",   "lbs", "cm",     "mm",     "km",     "kg/m2",   "kg/m²", "inch",   "mmHg",    "bpm",  "°C",    "°F",
        "EUR",   "USD",  "GBP", "CHF",    "mg/l",   "g/l",    "mg/dl",   "g/dl",  "mmol/l", "µmol/l",  "U/l",  "IU/l",  "%",
        "€",     "$",    "£",   "text",   "string", "number", "integer", "int",   "float",  "numeric", "unit", "units", NULL};
    const bool bracketed = f->length > 2 && ((f->text[0] == '(' && f->text[f->length - 1] == ')') ||
                                             (f->text[0] == '[' && f->text[f->length - 1] == ']'));
    return bracketed || dp_text_is_among(units, f->text, f->length);
}

/* At least two cells have something, and all of them are units: half of them, or one, may be the words of a row. */
static bool has_units(const struct dp_lines *l)
{
    size_t cells = 0, units = 0;
    for (size_t i = 0; i < l->fields; i++) {
        cells += l->field[i].length > 0;
        units += l->field[i].length > 0 && is_unit(&l->field[i]);
    }
    return units > 1 && units == cells;
}

/* A line of strokes below the header, as of a table that a terminal or a page shows. */
static bool is_ruler(const struct dp_lines *l, char delimiter)
{
    const char strokes[] = {'-', '=', '+', '|', ':', ' ', delimiter, '\0'};
    return memchr(l->line, '\0', l->length) == NULL && strspn(l->line, strokes) >= l->length &&
           (memmem(l->line, l->length, "---", 3) != NULL || memmem(l->line, l->length, "===", 3) != NULL);
}

static const char *const totals[] = {
    "total", "totals", "total:", "grand total", "sum", "sum:", "summe", "insgesamt", "gesamt", "somme", "totaal", NULL};

/* The first cell that has something is a word for a total, and another one is empty. */
static bool has_total(const struct dp_lines *l)
{
    size_t first = 0, empty = 0;
    while (first < l->fields && l->field[first].length == 0)
        first++;
    for (size_t i = 0; i < l->fields; i++)
        empty += l->field[i].length == 0;
    return first < l->fields && empty > 0 && dp_text_is_among(totals, l->field[first].text, l->field[first].length);
}

/* Whether the line begins with such a word: most lines are not split for this question. */
static bool may_have_total(const struct dp_lines *l, char delimiter)
{
    const char before[] = {delimiter, '"', ' ', '\0'}, *begin = l->line + strspn(l->line, before);
    for (const char *const *word = totals; *word != NULL && strchr("tTsSgGiI", *begin) != NULL; word++)
        if (strncasecmp(begin, *word, strlen(*word)) == 0)
            return true;
    return false;
}

/* Whether the text is a row, else it is noted. */
static int is_row(struct dp_lines *l, char delimiter, bool *row, struct dp_err *err)
{
    static const char mark[] = "\xef\xbb\xbf"; /* before the header of a file that was appended to another one */
    const size_t from = l->length >= 3 && memcmp(l->line, mark, 3) == 0 ? 3 : 0;
    int rc = DP_OK;
    *row = l->length - from != l->head.length || memcmp(l->line + from, l->head.text, l->head.length) != 0;
    if (!*row)
        note(l, DP_LINES_HEADER_AGAIN);
    if (*row && l->head.below && is_ruler(l, delimiter)) {
        note(l, DP_LINES_RULER);
        *row = false;
        return DP_OK; /* units may be below it */
    }
    if (*row && l->head.below) {
        dp_lines_split(l, delimiter);
        *row = !has_units(l);
        if (!*row)
            note(l, DP_LINES_UNITS);
    }
    l->head.below = false;
    if (*row && may_have_total(l, delimiter)) {
        dp_lines_split(l, delimiter);
        const size_t number = l->number;
        bool end = false;
        if (has_total(l))
            rc = dp_lines_at_end(l, &end, err);
        l->number = end ? number : l->number;
        if (end)
            note(l, DP_LINES_TOTAL);
        *row = !end;
    }
    return rc;
}

int dp_lines_text(struct dp_lines *l, char delimiter, struct dp_err *err)
{
    bool row = true;
    int rc;
    do {
        rc = dp_lines_any_text(l, delimiter, err);
        if (rc == 1 && l->head.text != NULL)
            rc = is_row(l, delimiter, &row, err) ?: 1;
    } while (rc == 1 && !row);
    return rc;
}

int dp_lines_record(struct dp_lines *l, char delimiter, struct dp_err *err)
{
    int rc = dp_lines_text(l, delimiter, err);
    if (rc == 1)
        dp_lines_split(l, delimiter);
    return rc;
}

/* Whether all of the next lines in the chunk have one field more than the header; *empty: and the last one is empty. A hint at
 * quotes of another kind says why they may. */
static bool is_short(const struct dp_lines *l, char delimiter, bool *empty)
{
    struct dp_lines next = {.name = l->name};
    size_t lines = 0, at = l->chunk.at;
    bool more = true;
    for (*empty = true; more && lines < SHAPED; lines++) {
        const char *end = memchr(l->chunk.bytes + at, '\n', l->chunk.end - at);
        if (end == NULL)
            break;
        next.line = l->chunk.bytes + at;
        next.length = (size_t)(end - next.line) - (end > next.line && end[-1] == '\r');
        at += (size_t)(end - next.line) + 1;
        dp_lines_split(&next, delimiter);
        more = next.fields == l->fields + 1 && dp_lines_hint(&next)[0] == '\0';
        *empty = *empty && more && next.field[l->fields].length == 0;
    }
    free(next.buffer);
    free(next.field);
    return more && lines > 1;
}

int dp_lines_header(struct dp_lines *l, char delimiter, struct dp_err *err)
{
    bool empty;
    int rc;
    do
        rc = dp_lines_record(l, delimiter, err);
    while (rc == 1 && !dp_lines_has_row(l));
    if (rc != 1)
        return rc;
    l->head.text = dp_new(l->length + 1, 1);
    l->head.length = l->length;
    memcpy(l->head.text, l->line, l->length);
    if (l->fields > 1 && is_short(l, delimiter, &empty)) {
        const size_t at = empty ? l->fields : 0;
        dp_extend(&l->field, &l->field_capacity, l->fields + 1, sizeof *l->field);
        memmove(l->field + at + 1, l->field + at, (l->fields - at) * sizeof *l->field);
        l->field[at] = (struct dp_cell){"", 0};
        l->fields++;
        note(l, empty ? DP_LINES_LAST_EMPTY : DP_LINES_ROW_NAMES);
    }
    l->head.columns = l->fields;
    l->head.below = true;
    return 1;
}

void dp_lines_no_header(struct dp_lines *l)
{
    free(l->head.text);
    l->head.text = NULL;
}

void dp_lines_sentence(const struct dp_lines_notes *n, enum dp_lines_oddity which, char text[DP_LINES_SENTENCE])
{
    static const char *const sentence[DP_LINES_ODDITIES] = {
        [DP_LINES_ROW_NAMES] = "line %zu names one column less than the rows have: the first one, of row names, has no name",
        [DP_LINES_LAST_EMPTY] = "line %zu names one column less than the rows have: the last one, which is empty, has no name",
        [DP_LINES_HEADER_AGAIN] = "line %zu is the header again, so it is skipped (such lines: %zu)",
        [DP_LINES_UNITS] = "line %zu has the units of the columns, so it is skipped",
        [DP_LINES_RULER] = "line %zu is a line of strokes, so it is skipped",
        [DP_LINES_TOTAL] = "line %zu, the last one, is a total, so it is skipped",
        [DP_LINES_QUOTED] =
            ("line %zu: a quote opens here, and the cell takes in %zu lines that look like rows: is a quote missing, "
             "or one too many?")};
    snprintf(text, DP_LINES_SENTENCE, sentence[which], n->line[which], n->count[which]);
}

void dp_lines_tell(const struct dp_lines_notes *n, void (*warn)(const char *command, const char *text), const char *command)
{
    char text[DP_LINES_SENTENCE];
    for (int k = 0; k < DP_LINES_ODDITIES; k++) {
        dp_lines_sentence(n, (enum dp_lines_oddity)k, text);
        if (n->count[k] > 0)
            warn(command, text);
    }
}

const char *dp_lines_hint(const struct dp_lines *l)
{
    if (l->length > 0 && l->line[0] == '#')
        return " (a comment? --comment '#' skips such lines)";
    if (memmem(l->line, l->length, "\\\"", 2) != NULL)
        return " (in quotes, a quote is written as \"\", and not as \\\": sed 's/\\\\\"/\"\"/g' converts it)";
    if (memmem(l->line, l->length, ",'", 2) != NULL || memmem(l->line, l->length, "',", 2) != NULL)
        return " (cells are quoted by \", and not by ': tr \"'\" '\"' converts a table without other quotes)";
    if (l->fields == 1 && memchr(l->line, ' ', l->length) != NULL)
        return " (a note? take it out of the table)";
    return "";
}
