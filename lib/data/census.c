#include "data/census.h"

#include <ctype.h>
#include <pthread.h>
#include <strings.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/text.h"
#include "data/input.h"
#include "data/lines.h"
#include "data/persons.h"
#include "data/turns.h"
#include "math/bracket.h"

#define SPELLINGS 64 /* at least as many as all words for missing values among all cells have */

const char *const dp_census_absent[] = {"?", "NA", "N/A", "#N/A", "NaN", "null", "k.A.", ".", "-", NULL};
const char *const dp_census_written[] = {"NaT",    "<NA>",  "\\N",    "(null)", "(NULL)", "#DIV/0!", "#VALUE!", "#REF!",
                                         "#NAME?", "#NUM!", "#NULL!", "#NV",    "#WERT!", "#ZAHL!",  "--",      NULL};
const char *const dp_census_doubtful[] = {"none", "unknown", NULL};

bool dp_census_is_absent(const char *text, size_t length)
{
    if (dp_text_is_among(dp_census_absent, text, length))
        return true;
    for (const char *const *word = dp_census_written; *word != NULL; word++)
        if (**word == *text && strlen(*word) == length && memcmp(*word, text, length) == 0)
            return true;
    return false;
}

bool dp_census_is_doubtful(const char *text, size_t length)
{
    return dp_text_is_among(dp_census_doubtful, text, length) || dp_number_is_infinite(text, length);
}

/* The name ends with one of the words, or is one of them. */
static const char *ends_with(const char *name, const char *const *word, bool whole)
{
    const size_t length = strlen(name);
    for (; *word != NULL; word++) {
        const size_t n = strlen(*word);
        if ((whole ? length == n : length > n) && strcmp(name + length - n, *word) == 0)
            return name + length - n;
    }
    return NULL;
}

/* The word id is by itself, or the letters of the name are a word for a person or a person's number, or such a word before
 * "id" or "no". Words of `only` do not count before them. A word of `perhaps` by itself may mean something else. */
enum dp_census_name dp_census_is_identifier(const char *name)
{
    static const char *const alone[] = {"mrn",  "ssn",    "nhs",     "iban",     "phone", "account",
                                        "case", "policy", "subject", "passport", "uuid",  NULL},
                             *const only[] = {"no",     "nr",     "pid",      "uid",         "guid",       "ref", "who",
                                              "member", "client", "customer", "participant", "respondent", NULL},
                             *const perhaps[] = {"record",  "user",     "mobile",   "tel",      "card", "person",
                                                 "patient", "employee", "national", "medicare", NULL},
                             *const ends[] = {"id", "no", "nr", "num", "number", "nummer", NULL},
                             *const before[] = {"patient",  "person", "customer",    "client",     "member",   "employee",
                                                "student",  "user",   "subj",        "hospital",   "national", "insurance",
                                                "claim",    "card",   "security",    "mobile",     "tel",      "kunden",
                                                "medicare", "record", "participant", "respondent", "ref",      NULL};
    const size_t length = strlen(name);
    char letters[80];
    size_t n = 0;
    if (length >= 2 && strcasecmp(name + length - 2, "id") == 0 &&
        (length == 2 || !isalnum((unsigned char)name[length - 3]) ||
         (isupper((unsigned char)name[length - 2]) && islower((unsigned char)name[length - 3]))))
        return DP_CENSUS_IDENTIFIER;
    for (size_t i = 0; i < length && n + 1 < sizeof letters; i++)
        if (isalpha((unsigned char)name[i]))
            letters[n++] = (char)tolower((unsigned char)name[i]);
    letters[n] = '\0';
    if (ends_with(letters, alone, true) != NULL || ends_with(letters, only, true) != NULL)
        return DP_CENSUS_IDENTIFIER;
    const char *end = ends_with(letters, ends, false);
    if (end == NULL)
        return ends_with(letters, perhaps, true) != NULL ? DP_CENSUS_PERHAPS : DP_CENSUS_OTHER_NAME;
    letters[end - letters] = '\0';
    return ends_with(letters, alone, true) != NULL || ends_with(letters, alone, false) != NULL ||
                   ends_with(letters, before, true) != NULL || ends_with(letters, before, false) != NULL
               ? DP_CENSUS_IDENTIFIER
               : DP_CENSUS_OTHER_NAME;
}

size_t dp_census_cell(double value, bool comma)
{
    int power = 0, middle = DP_CENSUS_BINS / 2;
    frexp(value, &power); /* 2^(power−1) <= |value| < 2^power */
    int step =
        fabs(value) < ldexp(1, DP_CENSUS_LEAST) ? 0 : (power < DP_CENSUS_MOST ? power : DP_CENSUS_MOST) - DP_CENSUS_LEAST;
    return 1 + (size_t)(middle + (value < 0 ? -step : step)) + (comma ? DP_CENSUS_BINS : 0);
}

size_t dp_census_part(size_t k, size_t i, bool second)
{
    return (second ? DP_CENSUS_SECOND_PART : DP_CENSUS_FIRST_PART) + k % DP_CENSUS_TURNS * DP_CENSUS_PARTS + i;
}

static int by_bytes(const void *a, const void *b)
{
    const struct dp_census_text *x = *(struct dp_census_text *const *)a, *y = *(struct dp_census_text *const *)b;
    return strcmp(x->text, y->text);
}

/* The text among those that the column has, perhaps as a new one. */
static void see_text(struct dp_census_column *c, const struct dp_cell *f, struct dp_census_text **text)
{
    const long known = dp_text_index_find(&c->index, f->text, f->length, -1);
    if (known >= 0) {
        *text = c->seen[known];
        return;
    }
    dp_extend(&c->seen, &c->seen_capacity, c->seen_count + 1, sizeof *c->seen);
    *text = dp_new(1, sizeof **text + f->length + 1);
    (*text)->length = f->length;
    memcpy((*text)->text, f->text, f->length);
    c->seen[c->seen_count] = *text;
    dp_text_index_add(&c->index, (*text)->text, f->length, (long)c->seen_count++);
}

static void count_known(struct dp_census_column *c, struct dp_census_text *text, bool label)
{
    c->cell[DP_CENSUS_REPEATS] += text->count > 0 && !label;
    text->count++;
}

static void count_text(struct dp_census_column *c, const struct dp_cell *f, bool label, bool plain)
{
    struct dp_census_text *text;
    if (f->length > DP_CENSUS_TEXT)
        return;
    see_text(c, f, &text);
    text->plain = plain;
    count_known(c, text, label);
}

double dp_census_first_day(size_t k)
{
    const int year = k < 8 ? 1890 + 10 * (int)k : 1962 + (int)k;
    return 365 * (year - 1970) + floor((year - 1969) / 4.) + (year <= 1900); /* 1900 had no 29 February */
}

size_t dp_census_year(double days)
{
    size_t k =
        days < dp_census_first_day(8) ? 0 : (size_t)fmin(days / 366 + 8, DP_CENSUS_YEARS - 1); /* that year or an earlier one */
    while (k + 1 < DP_CENSUS_YEARS && days >= dp_census_first_day(k + 1))
        k++;
    return DP_CENSUS_FORMATS + DP_DATE_FORMATS + k;
}

/* clang-format off */
const char *const dp_census_units[DP_CENSUS_UNIT_COUNT] = {
    "kg|KG|Kg|kgs", "g|gr", "mg|MG", "ug|µg|μg|mcg", "ng", "lb|lbs|LB|LBS", "oz", "t", "cm|CM", "mm", "m", "km|KM", "in|inch|inches",
    "ft|feet", "mi|mile|miles", "m2|m²|sqm", "sqft|ft2|ft²", "m3|m³", "l|L", "ml|mL|ML", "dl|dL", "°C|C|℃", "°F|F", "mmHg|mmhg", "bpm",
    "h|hr|hrs|hour|hours", "min|mins|minute|minutes", "s|sec|secs|second|seconds", "ms", "d|day|days", "wk|week|weeks",
    "mo|month|months", "y|yr|yrs|year|years", "EUR|Euro|euro", "USD", "GBP", "CHF|Fr.", "kWh|kwh", "W|kW", "kcal",
    "mg/dl|mg/dL", "g/dl|g/dL", "mmol/l|mmol/L", "km/h"};
/* clang-format on */

const double dp_census_sentinels[DP_CENSUS_SENTINEL_COUNT] = {-1,  -9,   -99,   -999,   -9999,   -99999,  99,
                                                              999, 9999, 99999, 999999, 9999999, 99999999};

/* A date of the year 9999 means "no end". */
static bool is_never(const char *text, size_t length)
{
    double days;
    return length >= 8 && memmem(text, length, "9999", 4) != NULL && dp_date_find(text, length, &days) < DP_DATE_FORMATS &&
           days >= DP_DATE_NEVER;
}

/* Eight digits that are a date from 1900 to 2099. */
static bool is_compact(const struct dp_cell *f, double *days)
{
    return f->length == 8 && (memcmp(f->text, "19", 2) == 0 || memcmp(f->text, "20", 2) == 0) &&
           dp_date_read(dp_date_formats[DP_DATE_COMPACT], DP_DATE_DAYS, f->text, f->length, days);
}

bool dp_census_is_code(const char *text, size_t length)
{
    size_t digits = 0;
    while (digits < length && isdigit((unsigned char)text[digits]))
        digits++;
    return digits == length && length > 1 && (text[0] == '0' || length > 15);
}

static bool is_absent(const struct dp_cell *f)
{
    return f->length == 0 || dp_census_is_absent(f->text, f->length);
}

/* If commas separate cells, a comma in a number separates groups of digits, if it can. */
static bool is_number(const struct dp_cell *f, char delimiter, bool *comma, double *value)
{
    *comma = false;
    if (f->length > 0 && isalpha((unsigned char)f->text[0])) /* most texts */
        return false;
    if (dp_number_cell(f->text, f->length, value))
        return true;
    const bool commas = delimiter != ',', good = dp_number_written(f->text, f->length, commas, value);
    *comma = commas == good;
    return good || dp_number_written(f->text, f->length, !commas, value);
}

/* Whether the number is a new whole one, which is counted. */
static bool count_whole(struct dp_census_column *c, const struct dp_cell *f, double value)
{
    const size_t known = c->seen_count;
    struct dp_census_text *text;
    if (value != floor(value))
        return false;
    see_text(c, f, &text);
    c->cell[DP_CENSUS_WHOLE] += c->seen_count > known;
    return c->seen_count > known;
}

/* All spellings of the units, in their order. A text that neither begins nor ends with a byte of these tables has no unit. */
static struct spelling {
    const char *text;
    size_t length, unit;
} spelling[4 * DP_CENSUS_UNIT_COUNT];
static size_t spellings;
static bool begins[256], ends[256];

static void list_spellings(void)
{
    for (size_t k = 0; k < DP_CENSUS_UNIT_COUNT; k++)
        for (const char *at = dp_census_units[k]; *at != '\0'; at += strspn(at, "|")) {
            const size_t length = strcspn(at, "|");
            spelling[spellings++] = (struct spelling){at, length, k};
            begins[(unsigned char)*at] = ends[(unsigned char)at[length - 1]] = true;
            at += length;
        }
}

/* The unit of a number that has one, or DP_CENSUS_UNIT_COUNT. A unit of one letter needs a blank: 12B is a code. */
static size_t unit_of(const struct dp_cell *f, char delimiter, bool *comma, double *value)
{
    const char last = f->length > 1 ? f->text[f->length - 1] : '\0', first = f->length > 1 ? f->text[0] : '\0';
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (isdigit((unsigned char)last) == isdigit((unsigned char)first) && last != '2' && last != '3')
        return DP_CENSUS_UNIT_COUNT;
    pthread_once(&once, list_spellings);
    if (!begins[(unsigned char)first] && !ends[(unsigned char)last])
        return DP_CENSUS_UNIT_COUNT;
    for (const struct spelling *s = spelling; s < spelling + spellings; s++) {
        const size_t n = s->length, rest = f->length - n;
        const bool behind = f->length > n && last == s->text[n - 1] && memcmp(f->text + rest, s->text, n) == 0,
                   before = f->length > n && first == s->text[0] && memcmp(f->text, s->text, n) == 0;
        if ((!behind && !before) || (n == 1 && f->text[behind ? rest - 1 : n] != ' '))
            continue;
        if (is_number(&(struct dp_cell){f->text + (behind ? 0 : n), rest}, delimiter, comma, value))
            return s->unit;
    }
    return DP_CENSUS_UNIT_COUNT;
}

static size_t sentinel_of(double value)
{
    size_t k = 0;
    while (k < DP_CENSUS_SENTINEL_COUNT && value != dp_census_sentinels[k])
        k++;
    return k;
}

/* Its power of two and its part; the part of that, too, unless the number is new. */
static void count_size(int64_t *cell, double value, bool comma, bool new)
{
    int power;
    const size_t k = dp_census_cell(value, false) - 1;
    const double part = DP_CENSUS_PARTS * (2 * frexp(fabs(value), &power) - 1), whole = floor(part);
    cell[dp_census_cell(value, comma)]++;
    if (k == DP_CENSUS_BINS / 2 || power > DP_CENSUS_MOST)
        return;
    cell[dp_census_part(k, (size_t)whole, false)]++;
    if (!new)
        cell[dp_census_part(k, (size_t)(DP_CENSUS_PARTS * (part - whole)), true)]++;
}

/* A number of a feature. first: the row is one of the first. */
static void count_number(struct dp_census_column *c, const struct dp_cell *f, bool comma, double value, bool first)
{
    const size_t sentinel = sentinel_of(value);
    const bool new = first &&count_whole(c, f, value);
    if (sentinel < DP_CENSUS_SENTINEL_COUNT)
        c->cell[DP_CENSUS_SENTINELS + sentinel]++;
    else
        count_size(c->cell, value, comma, new);
}

static void count_date(struct dp_census_column *c, size_t format, double days)
{
    c->cell[DP_CENSUS_FORMATS + format]++;
    c->cell[dp_census_year(days)]++;
}

/* A text of a feature, with its unit if it is a number with one. */
static void count_other(struct dp_census_column *c, const struct dp_cell *f, char delimiter)
{
    double value;
    bool comma;
    const size_t format = dp_date_find(f->text, f->length, &value);
    if (format < DP_DATE_FORMATS) {
        count_date(c, format, value);
        return;
    }
    const size_t unit = unit_of(f, delimiter, &comma, &value);
    if (unit == DP_CENSUS_UNIT_COUNT) {
        count_text(c, f, false, true);
        return;
    }
    if (c->measured == NULL)
        c->measured = dp_new(DP_CENSUS_FORMATS, sizeof *c->measured);
    c->cell[DP_CENSUS_UNITS + unit]++;
    count_size(c->measured, value, comma, false);
}

/* A cell of a label whose classes are known. */
static void count_class(const struct dp_census *census, struct dp_census_column *c, const struct dp_cell *f)
{
    const long class = dp_text_index_find(&c->index, f->text, f->length, census->others && !is_absent(f) ? 0 : -1);
    ++*(class < 0 ? &c->cell[0] : &c->seen[class]->count);
}

/* A cell of a label: its texts are counted, too, unless it is known to be a number. */
static void count_label(const struct dp_census *census, struct dp_census_column *c, const struct dp_cell *f)
{
    double value;
    bool comma;
    const bool named = census->said == DP_CENSUS_GUESS, number = is_number(f, census->delimiter, &comma, &value);
    if (number)
        count_size(c->cell, value, comma, false);
    if (named)
        count_text(c, f, true, false);
    else if (!number)
        c->cell[0]++;
}

/* first: the row is one of the first. */
static void count_cell(const struct dp_census *census, size_t column, const struct dp_cell *f, bool first)
{
    struct dp_census_column *c = &census->column[column];
    const bool label = column == census->label;
    double value;
    bool comma;
    if (label && census->said == DP_CENSUS_CLASSES) {
        count_class(census, c, f);
        return;
    }
    const long known = label ? -1 : dp_text_index_find(&c->index, f->text, f->length, -1);
    if (known >= 0 && c->seen[known]->plain)
        count_known(c, c->seen[known], label);
    else if (is_absent(f) || (!label && is_never(f->text, f->length)))
        c->cell[0]++;
    else if (label)
        count_label(census, c, f);
    else if (is_compact(f, &value))
        count_date(c, DP_DATE_COMPACT, value);
    else if (!dp_census_is_code(f->text, f->length) && is_number(f, census->delimiter, &comma, &value))
        count_number(c, f, comma, value, first);
    else
        count_other(c, f, census->delimiter);
}

bool dp_census_is_number(int notation, const char *text, size_t length, double *value)
{
    if (notation >= DP_CENSUS_DATES)
        return dp_date_read(dp_date_formats[notation - DP_CENSUS_DATES], DP_DATE_DAYS, text, length, value);
    return dp_number_written(text, length, notation == DP_CENSUS_COMMA, value);
}

static void look_in(struct dp_census_range *range, bool good, double value)
{
    range->all = good;
    range->low = good ? fmin(range->low, value) : range->low;
    range->high = good ? fmax(range->high, value) : range->high;
}

static void look_at_number(struct dp_census_exact *x, const struct dp_cell *f)
{
    double value = NAN;
    bool comma;
    const bool code = dp_census_is_code(f->text, f->length);
    const size_t unit = !code && (x->range[DP_CENSUS_POINT].all || x->range[DP_CENSUS_COMMA].all)
                            ? unit_of(f, ',', &comma, &value)
                            : DP_CENSUS_UNIT_COUNT;
    const bool measured = unit < DP_CENSUS_UNIT_COUNT, other = measured && x->unit > 0 && (size_t)x->unit != unit + 1;
    size_t sentinel = DP_CENSUS_SENTINEL_COUNT;
    x->unit = measured ? (long)unit + 1 : x->unit;
    for (int k = 0; k < DP_CENSUS_NOTATIONS; k++)
        if (x->range[k].all) {
            const bool good = k >= DP_CENSUS_DATES
                                  ? dp_census_is_number(k, f->text, f->length, &value)
                                  : !code && !other &&
                                        dp_number_of(f->text, f->length, measured ? dp_census_units[unit] : NULL,
                                                     k == DP_CENSUS_COMMA, &value);
            sentinel = good && !measured && k < DP_CENSUS_DATES ? sentinel_of(value) : sentinel;
            look_in(&x->range[k], good, sentinel < DP_CENSUS_SENTINEL_COUNT && k < DP_CENSUS_DATES ? NAN : value);
        }
    if (sentinel < DP_CENSUS_SENTINEL_COUNT)
        x->sentinel[sentinel]++;
    if (x->dates.all) {
        const size_t format = dp_date_find(f->text, f->length, &value);
        look_in(&x->dates, format < DP_DATE_FORMATS, value);
        x->format[format < DP_DATE_FORMATS ? format : 0] |= x->dates.all;
    }
    if (!x->counts)
        return;
    x->counts = dp_number_cell(f->text, f->length, &value) && (x->cells == 0 ? value == floor(value) : value == x->last + 1);
    x->first = x->cells == 0 ? value : x->first;
    x->last = value;
}

/* Adds a cell to the exact facts. */
static void look(struct dp_census_column *c, const struct dp_cell *f)
{
    struct dp_census_exact *x = c->exact;
    struct dp_census_text *text;
    const bool absent = is_absent(f),
               doubtful = !absent && (dp_census_is_doubtful(f->text, f->length) || is_never(f->text, f->length));
    if (!absent && !doubtful)
        look_at_number(x, f);
    x->missing += absent;
    x->doubtful += doubtful;
    x->cells += !absent;
    if (f->length == 0 || !(absent || doubtful || c->identifier || c->seen_count < DP_CENSUS_DIFFERENT + SPELLINGS))
        return;
    see_text(c, f, &text);
    text->count++;
}

/* The field of the line that is the text, or NULL. */
static const struct dp_cell *field_with(const struct dp_lines *l, const char *text, size_t length)
{
    for (size_t i = 0; i < l->fields; i++)
        if (l->field[i].length == length && memcmp(l->field[i].text, text, length) == 0)
            return &l->field[i];
    return NULL;
}

/* The length of the column's name in "COLUMN" or "COLUMN=CLASS": both may have the sign. The longest one counts. */
static size_t length_of_name(const struct dp_lines *l, const char *label)
{
    for (size_t at = strlen(label); at > 0; at--)
        if ((label[at] == '=' || label[at] == '\0') && field_with(l, label, at) != NULL)
            return at;
    return strcspn(label, "=");
}

/* Adds the text to class k, if no class has it. */
static void add_spelling(struct dp_schema *s, size_t k, const char *text)
{
    if (dp_schema_class_with(s, text) < 0)
        dp_texts_add(&s->class[k], text, strlen(text));
}

/* Adds each class in lower case, with a capital, and in capitals; a whole number, as 1.0, too. */
static void add_spellings(struct dp_schema *s, size_t from)
{
    int64_t whole;
    for (size_t k = from; k < s->classes; k++) {
        char *text = dp_got(strdup(s->class[k].text[0])), *point = dp_format("%s.0", text);
        for (int capitals = 0; capitals < 3; capitals++) {
            for (size_t i = 0; text[i] != '\0'; i++)
                text[i] = (char)(capitals > (i > 0) ? toupper((unsigned char)text[i]) : tolower((unsigned char)text[i]));
            add_spelling(s, k, text);
        }
        if (dp_number_int(text, &whole))
            add_spelling(s, k, point);
        free(text);
        free(point);
    }
}

/* Reads what the user says of the label. Whether a name has a sign of equality in it, the first line says. */
static int read_label(struct dp_census *census, const struct dp_import_source *source, const struct dp_lines *l,
                      struct dp_err *err)
{
    const char *label = source->label_name;
    const size_t length = label != NULL ? length_of_name(l, label) : 0;
    int rc = DP_OK;
    if (label != NULL)
        census->label_name = dp_got(strndup(label, length));
    census->others = label != NULL && label[length] == '=';
    if (census->others + (source->classes != NULL) + source->real_label > 1)
        return dp_fail(err, DP_E_USAGE, "--label COLUMN=CLASS, --classes and --number exclude each other");
    census->count = source->count;
    census->said = source->real_label                          ? DP_CENSUS_NUMBER
                   : census->others || source->classes != NULL ? DP_CENSUS_CLASSES
                                                               : DP_CENSUS_GUESS;
    if (census->others) {
        char *both = dp_format("not %s,%s", label + length + 1, label + length + 1);
        rc = strchr(label + length, ',') == NULL && label[length + 1] != '\0'
                 ? dp_schema_classes(&census->known, both, err)
                 : dp_fail(err, DP_E_USAGE, "--label: a class after '=' is one text without a comma");
        free(both);
    } else if (source->classes != NULL) {
        rc = dp_schema_classes(&census->known, source->classes, err);
    }
    add_spellings(&census->known, census->others);
    return rc;
}

/* Whether the line has the name of the label, and this name is a word. Then the line is a header, even if some of its names are
 * numbers or empty. */
static bool names_label(const struct dp_lines *l, char delimiter, const char *label)
{
    const struct dp_cell *f = label != NULL ? field_with(l, label, strlen(label)) : NULL;
    double value;
    bool comma;
    return f != NULL && f->length > 0 && !is_number(f, delimiter, &comma, &value);
}

const char *dp_census_name(const void *census, size_t i, size_t *length)
{
    const char *name = ((const struct dp_census *)census)->column[i].name;
    *length = strlen(name);
    return name;
}

static int not_utf8(const struct dp_lines *l, size_t i, struct dp_err *err)
{
    char shown[DP_TEXT_SHOWN];
    return dp_fail(err, DP_E_RUN,
                   "%s: line %zu, column %zu: '%s' is not UTF-8 (iconv -f LATIN1 -t UTF-8 converts a file in Latin-1)", l->name,
                   l->number, i + 1, dp_text_show(l->field[i].text, l->field[i].length, shown));
}

static void exact_facts(struct dp_census_column *c)
{
    c->exact = dp_new(1, sizeof *c->exact);
    for (int k = 0; k < DP_CENSUS_NOTATIONS; k++)
        c->exact->range[k] = (struct dp_census_range){true, INFINITY, -INFINITY};
    c->exact->dates = c->exact->range[0];
    c->exact->counts = true;
}

static int read_name(struct dp_census *census, const struct dp_lines *l, size_t i, enum dp_census_use use, struct dp_err *err)
{
    const struct dp_cell *f = &l->field[i];
    char shown[DP_TEXT_SHOWN];
    double value;
    bool comma;
    if (i == DP_CENSUS_COLUMNS) /* they need nine kilobytes each */
        return dp_fail(err, DP_E_RUN, "%s: a schema is proposed for at most %d columns; write this one yourself", l->name,
                       DP_CENSUS_COLUMNS);
    if (dp_text_valid(f->text, f->length) < f->length)
        return not_utf8(l, i, err);
    if (use == DP_CENSUS_PAID && census->header == 0 &&
        ((!census->named && (f->length == 0 || is_number(f, census->delimiter, &comma, &value))) ||
         dp_date_find(f->text, f->length, &value) != DP_DATE_FORMATS))
        return dp_fail(err, DP_E_RUN,
                       "%s: line %zu, column %zu: a schema that is paid for takes names from the first line, and '%s' is not a "
                       "name (--header or --no-header says what this line is; --skip-lines N skips lines above a header)",
                       l->name, l->number, i + 1, dp_text_show(f->text, f->length, shown));
    census->column[i].name = census->header < 0 ? dp_format("column%zu", i + 1) : dp_got(strndup(f->text, f->length));
    const enum dp_census_name kind = dp_census_is_identifier(census->column[i].name);
    census->column[i].identifier = kind == DP_CENSUS_IDENTIFIER;
    census->column[i].perhaps = kind == DP_CENSUS_PERHAPS;
    census->columns = i + 1;
    if (use == DP_CENSUS_PAID)
        census->column[i].cell = dp_new(DP_CENSUS_CELLS, sizeof(int64_t));
    if (use == DP_CENSUS_UNPAID)
        exact_facts(&census->column[i]);
    return DP_OK;
}

static int read_names(struct dp_census *census, const struct dp_lines *l, const struct dp_import_source *source,
                      enum dp_census_use use, struct dp_err *err)
{
    int rc = read_label(census, source, l, err);
    census->header = source->sql != NULL || source->arff ? 1 : source->header;
    census->named = census->header > 0 || (census->header == 0 && names_label(l, census->delimiter, census->label_name));
    census->column = dp_new(l->fields, sizeof *census->column);
    for (size_t i = 0; rc == DP_OK && i < l->fields; i++)
        rc = read_name(census, l, i, use, err);
    return rc == DP_OK && census->columns < 2
               ? dp_fail(err, DP_E_RUN, "%s: fewer than two columns (is the delimiter right?)", l->name)
               : rc;
}

/* The delimiter that the first line has most often outside quotes. A semicolon comes before a comma, which may be in numbers. */
static char find_delimiter(const struct dp_lines *l)
{
    static const char candidate[] = ";,\t| ";
    size_t count[sizeof candidate] = {0}, best = 1;
    bool quoted = false;
    for (size_t i = l->chunk.at; i < l->chunk.end && l->chunk.bytes[i] != '\n'; i++) {
        const char *which = strchr(candidate, l->chunk.bytes[i]);
        quoted ^= l->chunk.bytes[i] == '"';
        if (!quoted && which != NULL && *which != '\0')
            count[which - candidate]++;
    }
    for (size_t k = 0; k < sizeof candidate - 1; k++)
        /* a blank is a delimiter only if the line has no other delimiter */
        if ((count[k] > count[best] && (candidate[k] != ' ' || count[best] == 0)) ||
            (k == 0 && count[0] > 0 && count[0] == count[1]))
            best = k;
    return candidate[best];
}

static bool has_number(const struct dp_lines *l, char delimiter)
{
    double value;
    bool comma, has = false;
    for (size_t i = 0; i < l->fields; i++)
        has |= is_number(&l->field[i], delimiter, &comma, &value);
    return has;
}

/* Says where the header is, if a line further down has the name of the label. rc: the first line was refused with it. */
static int look_below(const struct dp_lines *l, const char *label, int rc, struct dp_err *err)
{
    struct dp_lines next = {.name = l->name, .chunk = l->chunk};
    size_t above = l->number;
    const char *end = NULL;
    bool found = false;
    for (;
         label != NULL && !found && (end = memchr(l->chunk.bytes + next.chunk.at, '\n', l->chunk.end - next.chunk.at)) != NULL;
         next.chunk.at += next.length + 1, above += !found) {
        const char delimiter = find_delimiter(&next);
        next.line = l->chunk.bytes + next.chunk.at;
        next.length = (size_t)(end - next.line);
        dp_lines_split(&next, delimiter);
        found = next.fields > 1 && names_label(&next, delimiter, label) && !has_number(&next, delimiter);
    }
    free(next.buffer);
    free(next.field);
    return !found
               ? rc
               : dp_fail(err, DP_E_RUN, "%s: line %zu has no column '%.60s', but line %zu has: --skip-lines %zu begins there",
                         l->name, l->number, label, above + 1, above);
}

int dp_census_check_names(const struct dp_census *census, struct dp_err *err)
{
    size_t twice = census->columns;
    dp_text_index_twice(dp_census_name, census, census->columns, &twice);
    return twice < census->columns ? dp_fail(err, DP_E_RUN, "%s: column %zu: the header has '%s' twice", census->input,
                                             twice + 1, DP_SHOWN(census->column[twice].name))
                                   : DP_OK;
}

static int find_column(const struct dp_census *census, const char *option, const char *name, size_t *column, struct dp_err *err)
{
    char names[DP_TEXT_LISTED];
    for (*column = 0; *column < census->columns; ++*column)
        if (strcmp(census->column[*column].name, name) == 0)
            return DP_OK;
    return dp_fail(err, DP_E_USAGE, "--%s: %s has no column '%s', only %s", option, census->input, name,
                   dp_text_list(dp_census_name, census, census->columns, names));
}

static int find_person(struct dp_census *census, const struct dp_import *import, struct dp_err *err)
{
    size_t column = 0;
    int rc = import->source.person != NULL ? find_column(census, "person", import->source.person, &column, err) : DP_OK;
    census->person = import->source.person != NULL && rc == DP_OK ? (long)column : -1;
    return rc;
}

/* The classes that the user names are the texts of the label, whether a row has them or not. */
static int take_classes(struct dp_census *census, struct dp_err *err)
{
    struct dp_census_column *c = &census->column[census->label];
    if (census->header == 0 && dp_schema_class_with(&census->known, c->name) >= 0)
        return dp_fail(
            err, DP_E_UNSAFE,
            "%s: line 1 has '%s', which is the name of the label and a class of it: --header says that the line names "
            "the columns, --no-header that it is a row; nothing was charged",
            census->input, DP_SHOWN(c->name));
    for (size_t k = 0; k < census->known.classes; k++) {
        const struct dp_texts *class = &census->known.class[k];
        struct dp_census_text *text;
        see_text(c, &(struct dp_cell){class->text[0], strlen(class->text[0])}, &text);
        for (size_t i = 1; i < class->count; i++)
            dp_text_index_add(&c->index, class->text[i], strlen(class->text[i]), (long)k);
    }
    return DP_OK;
}

void dp_census_take_first_line(struct dp_census *census)
{
    for (size_t i = 0; i < census->columns; i++) {
        struct dp_census_column *c = &census->column[i];
        struct dp_census_exact *x = c->exact;
        const bool counts = x->counts;
        double value;
        char *cell = c->name;
        look(c, &(struct dp_cell){cell, strlen(cell)});
        x->counts = counts && dp_number_cell(cell, strlen(cell), &value) && (x->cells == 1 || value == x->first - 1);
        free(cell);
        c->name = dp_format("column%zu", i + 1);
    }
}

static int add_person(const struct dp_census *census, const struct dp_lines *l, struct dp_persons *persons, struct dp_err *err)
{
    const struct dp_cell *f = &l->field[census->person];
    char shown[DP_TEXT_SHOWN];
    if (is_absent(f))
        return dp_fail(err, DP_E_RUN, "%s: line %zu, column %ld (%s): the person is missing, got '%s'", l->name, l->number,
                       census->person + 1, DP_SHOWN(census->column[census->person].name),
                       dp_text_show(f->text, f->length, shown));
    dp_persons_add(persons, f->text, f->length, 0);
    return DP_OK;
}

/* Rows that were read and are not counted yet. */
struct lot {
    char *text; /* of all cells, each with a zero byte at its end */
    size_t used, capacity;
    struct place {
        size_t at, length; /* in text */
    } * cell;              /* rows × columns */
    size_t rows, cell_capacity;
    size_t before; /* rows in the counts before these */
};
#define LOT ((size_t)1 << 16) /* bytes of text */
#define AHEAD ((size_t)8)     /* rows: texts that are all different are in memory, not in a cache */

static void add_to_lot(struct lot *lot, const struct dp_lines *l)
{
    dp_extend(&lot->cell, &lot->cell_capacity, (lot->rows + 1) * l->fields, sizeof *lot->cell);
    struct place *cell = lot->cell + lot->rows++ * l->fields;
    for (size_t i = 0; i < l->fields; i++) {
        const struct dp_cell *f = &l->field[i];
        dp_extend(&lot->text, &lot->capacity, lot->used + f->length + 1, 1);
        memcpy(lot->text + lot->used, f->text, f->length);
        lot->text[lot->used + f->length] = '\0';
        cell[i] = (struct place){lot->used, f->length};
        lot->used += f->length + 1;
    }
}

/* A column takes its cells in the order of the table. */
static void count_column(const struct dp_census *census, const struct lot *lot, size_t i, enum dp_census_use use)
{
    for (size_t r = 0; r < lot->rows; r++) {
        const struct place *at = &lot->cell[r * census->columns + i];
        const struct dp_cell f = {lot->text + at->at, at->length};
        if (r + AHEAD < lot->rows) {
            const struct place *next = at + AHEAD * census->columns;
            dp_text_index_prefetch(&census->column[i].index, lot->text + next->at, next->length);
        }
        if (use == DP_CENSUS_PAID && (long)i != census->person && !census->column[i].out)
            count_cell(census, i, &f, lot->before + r < DP_CENSUS_FIRST);
        if (use == DP_CENSUS_UNPAID)
            look(&census->column[i], &f);
    }
}

#define PARTS 16 /* of the columns */

/* A reading of the table, by several threads. */
struct reading {
    struct dp_census *census;
    enum dp_census_use use;
    struct dp_persons *persons; /* get the person of each row, which is not counted yet; or NULL */
    struct dp_lines *lines;     /* guarded by `mutex`, as is the rest */
    pthread_mutex_t mutex;
    struct dp_err *err;
    int rc;                       /* 1: there may be more */
    size_t lots;                  /* that were read */
    struct dp_turns turns[PARTS]; /* for each part of the columns, of lots */
};

struct counter {
    struct reading *reading;
    struct lot lot;
};

static int read_row(struct reading *r, struct lot *lot)
{
    struct dp_census *census = r->census;
    const struct dp_lines *l = r->lines;
    struct dp_err *err = r->err;
    if (l->fields != census->columns)
        return dp_fail(err, DP_E_RUN, "%s: line %zu: %zu field%s, the first line has %zu%s", l->name, l->number, l->fields,
                       l->fields == 1 ? "" : "s", census->columns, dp_lines_hint(l));
    if (r->persons != NULL)
        return add_person(census, l, r->persons, err);
    if (census->one != NULL && census->at == census->drawn)
        return dp_fail(err, DP_E_RUN, "%s: it has grown while it was read", l->name);
    const bool counts = census->one == NULL || census->one[census->at];
    census->at++;
    census->rows += counts;
    for (size_t i = 0; i < census->columns; i++)
        if (dp_text_valid(l->field[i].text, l->field[i].length) < l->field[i].length)
            return not_utf8(l, i, err);
    if (counts || r->use == DP_CENSUS_UNPAID)
        add_to_lot(lot, l);
    return DP_OK;
}

/* Reads the next rows. Returns the number of their lot. */
static size_t read_lot(struct reading *r, struct lot *lot)
{
    lot->rows = lot->used = 0;
    lot->before = r->census->rows;
    if (r->lots == 0 && r->census->header < 0) /* the first line is a row */
        r->rc = read_row(r, lot) ?: 1;
    while (r->rc == 1 && lot->used < LOT && (r->rc = dp_lines_record(r->lines, r->census->delimiter, r->err)) == 1)
        r->rc = dp_lines_has_row(r->lines) ? read_row(r, lot) ?: 1 : 1;
    return r->lots++;
}

/* Each column takes the lots in their order, and a lot goes through the columns while others follow it. */
static void count(void *counter)
{
    struct counter *c = counter;
    struct reading *r = c->reading;
    const size_t columns = r->census->columns;
    for (bool more = true; more;) {
        pthread_mutex_lock(&r->mutex);
        const size_t number = read_lot(r, &c->lot);
        more = r->rc == 1;
        pthread_mutex_unlock(&r->mutex);
        for (size_t p = 0; p < PARTS; p++) {
            dp_turns_wait(&r->turns[p], number);
            for (size_t i = columns * p / PARTS; i < columns * (p + 1) / PARTS; i++)
                count_column(r->census, &c->lot, i, r->use);
            dp_turns_pass(&r->turns[p]);
        }
    }
}

static int read_rows(struct reading *r, size_t threads)
{
    struct counter *counter = dp_new(threads, sizeof *counter);
    pthread_mutex_init(&r->mutex, NULL);
    for (size_t p = 0; p < PARTS; p++)
        dp_turns_open(&r->turns[p]);
    for (size_t i = 0; i < threads; i++)
        counter[i].reading = r;
    dp_turns_run(count, counter, sizeof *counter, threads);
    for (size_t i = 0; i < threads; i++) {
        free(counter[i].lot.text);
        free(counter[i].lot.cell);
    }
    for (size_t p = 0; p < PARTS; p++)
        dp_turns_close(&r->turns[p]);
    pthread_mutex_destroy(&r->mutex);
    free(counter);
    return r->rc;
}

/* Texts that are counted, of enough rows, in the order of their bytes; the classes of the label that are known, in their own
 * order. */
static void list_texts(struct dp_census *census)
{
    census->counts = 0;
    for (size_t i = 0; i < census->columns; i++) {
        struct dp_census_column *c = &census->column[i];
        const bool known = i == census->label && census->said == DP_CENSUS_CLASSES;
        if (c->cell == NULL)
            continue;
        c->text = dp_new(c->seen_count + 1, sizeof *c->text);
        for (size_t k = 0; k < c->seen_count; k++)
            if (c->seen[k]->count >= DP_CENSUS_FLOOR || known)
                c->text[c->texts++] = c->seen[k];
        if (!known)
            qsort(c->text, c->texts, sizeof *c->text, by_bytes);
        census->counts += DP_CENSUS_CELLS + c->texts;
    }
}

/* Marks the columns whose names are in the list, as out or not. */
static int mark_columns(struct dp_census *census, const char *option, const char *list, bool out, struct dp_err *err)
{
    int rc = DP_OK;
    for (const char *at = list; rc == DP_OK && at != NULL; at = *at == ',' ? at + 1 : NULL) {
        char *name = dp_got(strndup(at, strcspn(at, ",")));
        size_t column = 0;
        rc = find_column(census, option, name, &column, err);
        if (rc == DP_OK)
            census->column[column].out = out;
        at += strlen(name);
        free(name);
    }
    return rc;
}

static int find_label(struct dp_census *census, struct dp_err *err)
{
    census->label = census->columns - 1;
    while (census->label > 0 && census->column[census->label].out)
        census->label--;
    int rc = census->label_name != NULL ? find_column(census, "label", census->label_name, &census->label, err) : DP_OK;
    return rc == DP_OK && (long)census->label == census->person
               ? dp_fail(err, DP_E_USAGE, "--person: '%s' is the label", census->column[census->label].name)
               : rc;
}

int dp_census_choose(struct dp_census *census, const struct dp_import *import, struct dp_err *err)
{
    const struct dp_import_source *source = &import->source;
    size_t features = 0;
    int rc = mark_columns(census, "without", source->without, true, err) ?: find_label(census, err);
    if (source->columns != NULL)
        for (size_t i = 0; i < census->columns; i++)
            census->column[i].out = true;
    rc = rc ?: mark_columns(census, "columns", source->columns, false, err);
    rc = rc ?: mark_columns(census, "without", source->without, true, err);
    for (size_t i = 0; i < census->columns; i++) {
        const bool feature = i != census->label && (long)i != census->person;
        census->column[i].out &= feature;
        census->out += census->column[i].out;
        features += feature && !census->column[i].out;
    }
    return rc == DP_OK && features == 0 && census->out > 0
               ? dp_fail(err, DP_E_USAGE, "%s: the options leave no feature", census->input)
               : rc;
}

/* The first line, of names or of columns that are numbered. */
static int read_first(struct dp_census *census, struct dp_lines *l, const struct dp_import *import, enum dp_census_use use,
                      struct dp_err *err)
{
    int rc = read_names(census, l, &import->source, use, err);
    rc = rc ?: find_person(census, import, err);
    if (use == DP_CENSUS_PAID)
        rc = rc ?: dp_census_check_names(census, err) ?: dp_census_choose(census, import, err);
    if (use == DP_CENSUS_PAID)
        rc = rc ?: take_classes(census, err);
    if (census->header == 0 && !census->named && (rc != DP_OK || use == DP_CENSUS_UNPAID))
        rc = look_below(l, census->label_name, rc, err);
    if (!census->named) /* it may be a row, and decides about no other */
        dp_lines_no_header(l);
    return rc;
}

static int read_table(struct dp_census *census, struct dp_import *import, enum dp_census_use use, struct dp_persons *persons,
                      struct dp_err *err)
{
    struct dp_lines lines;
    int rc = dp_lines_open_table(&lines, import->source.input, import->source.sql, err);
    if (rc != DP_OK)
        return rc;
    census->input = lines.name;
    lines.comment = import->source.comment;
    while ((lines.number < import->source.skip_lines ||
            (lines.comment != 0 && lines.chunk.at < lines.chunk.end && lines.chunk.bytes[lines.chunk.at] == lines.comment)) &&
           (rc = dp_lines_next(&lines, err)) == 1)
        ;
    bool known = import->plan.schema.delimiter != 0 || import->source.format == DP_IMPORT_TSV;
    census->delimiter = known ? dp_import_delimiter(import) : lines.separator != 0 ? lines.separator : find_delimiter(&lines);
    if (rc >= 0)
        rc = import->source.arff ? dp_arff_names(&lines, err) : dp_lines_header(&lines, census->delimiter, err);
    if (rc == 1)
        rc = read_first(census, &lines, import, use, err);
    struct reading r = {.census = census, .use = use, .persons = persons, .lines = &lines, .err = err, .rc = 1};
    if (rc >= 0)
        rc = read_rows(&r, import->threads > 1 ? (size_t)import->threads : 1);
    if (rc == DP_OK && (persons != NULL ? persons->rows : census->rows) == 0)
        rc = dp_fail(err, DP_E_RUN, "%s: no rows", lines.name);
    dp_input_digest(lines.input, import->result.table);
    import->result.encoding = dp_lines_converted(&lines);
    import->result.notes = lines.notes;
    dp_lines_close(&lines);
    return rc;
}

/* Draws the row of each person. */
static int draw_rows(struct dp_census *census, struct dp_import *import, bool **one, size_t *drawn, struct dp_err *err)
{
    struct dp_persons persons = {0};
    if (strcmp(import->source.input, "-") == 0)
        return dp_fail(err, DP_E_USAGE, "--person: the table is read twice, so it must be a file");
    dp_persons_open(&persons);
    int rc = read_table(census, import, 0, &persons, err);
    *drawn = persons.rows;
    *one = dp_new(*drawn + 1, sizeof **one);
    dp_persons_arrange(&persons, 1);
    for (size_t i = 0; i < persons.rows; i++)
        (*one)[persons.row[i].number] = true;
    dp_persons_close(&persons);
    dp_census_free(census);
    return rc;
}

int dp_census_read(struct dp_census *census, struct dp_import *import, enum dp_census_use use, struct dp_err *err)
{
    bool *one = NULL;
    size_t drawn = 0;
    int rc = import->source.person != NULL ? draw_rows(census, import, &one, &drawn, err) : DP_OK;
    census->one = one;
    census->drawn = drawn;
    census->most = import->writer.rows_per_person;
    rc = rc ?: read_table(census, import, use, NULL, err);
    if (rc == DP_OK)
        list_texts(census);
    return rc;
}

void dp_census_free(struct dp_census *census)
{
    for (size_t i = 0; i < census->columns; i++) {
        struct dp_census_column *c = &census->column[i];
        for (size_t k = 0; k < c->seen_count; k++)
            free(c->seen[k]);
        free(c->seen);
        dp_text_index_free(&c->index);
        free(c->text);
        free(c->exact);
        free(c->cell);
        free(c->measured);
        free(c->name);
    }
    free(census->column);
    free(census->one);
    free(census->label_name);
    dp_schema_free(&census->known);
    *census = (struct dp_census){0};
}

double dp_census_weight(const struct dp_census *census, int64_t unit)
{
    const double columns = (double)(census->columns - census->out);
    return census->said != DP_CENSUS_GUESS ? 1 : floor((double)unit * sqrt((columns + 1) / 3)) / (double)unit;
}

double dp_census_sensitivity(const struct dp_census *census)
{
    const double columns = (double)(census->columns - census->out),
                 of_label[] = {[DP_CENSUS_GUESS] = (columns + 1) / 3, [DP_CENSUS_CLASSES] = -0.0625, [DP_CENSUS_NUMBER] = 0};
    return nextafter(sqrt(1.0625 * columns + of_label[census->said]), INFINITY);
}

double dp_census_cell_weight(size_t k)
{
    if (k == 0 || k >= DP_CENSUS_SENTINELS)
        return 1;
    if (k < DP_CENSUS_FORMATS)
        return k < DP_CENSUS_FIRST_PART ? 0.97 : k < DP_CENSUS_SECOND_PART ? 0.243 : 0.25;
    if (k < DP_CENSUS_FORMATS + DP_DATE_FORMATS || k >= DP_CENSUS_UNITS)
        return 0.6;
    return k < DP_CENSUS_REPEATS ? DP_CENSUS_BESIDE : 0.25;
}

void dp_census_counts(const struct dp_census *census, int64_t unit, int64_t *sum)
{
    for (size_t i = 0; i < census->columns; i++) {
        const struct dp_census_column *c = &census->column[i];
        const double weight = i == census->label ? dp_census_weight(census, unit) : 1;
        const int64_t of_text = llrint((double)unit * weight);
        for (size_t k = 0; k < DP_CENSUS_CELLS; k++) {
            *sum = (int64_t)floor(dp_census_cell_weight(k) * (double)unit) * c->cell[k];
            if (c->measured != NULL && k < DP_CENSUS_FORMATS)
                *sum += (int64_t)floor(DP_CENSUS_BESIDE * dp_census_cell_weight(k) * (double)unit) * c->measured[k];
            sum++;
        }
        for (size_t k = 0; k < c->texts; k++)
            *sum++ = of_text * c->text[k]->count;
    }
}

static double tail(double x, void *p)
{
    return log(0.5 * erfc(x * sqrt(0.5)) / *(double *)p);
}

double dp_census_quantile(double p)
{
    return dp_bracket_smallest(tail, &p, 38) * (1 + 1e-9);
}

double dp_census_threshold(size_t columns, double scale, double delta)
{
    return (DP_CENSUS_FLOOR + scale * dp_census_quantile(delta / (double)columns)) * (1 + 1e-12);
}
