#include "data/census.h"

#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/text.h"
#include "data/input.h"
#include "data/lines.h"
#include "data/text_index.h"
#include "math/bracket.h"

#define MOST_BUCKETS 64 /* of a feature, for texts that are not named */
enum { FIRST_YEAR = 1900, HALF = 50, HALVES = DP_CENSUS_CELLS - DP_CENSUS_HALVES };
#define MOST_CLASSES 20 /* the most classes of a label of numbers: with more values, the label is a number to predict */

/* Public words for missing values, and words that are missing among numbers only. */
static const char *const absent[] = {"?",    "NA",   "na",   "N/A",  "n/a",  "#N/A", "NaN", "nan",
                                     "NULL", "null", "Null", "k.A.", "K.A.", ".",    "-",   NULL};
static const char *const doubtful[] = {"none", "None", "NONE", "unknown", "Unknown", "UNKNOWN", NULL};

/* The text is not empty. Its first byte saves most lengths and comparisons, which took half of the time. */
static bool is_among(const char *const *words, const struct dp_cell *f)
{
    for (; *words != NULL; words++)
        if (**words == *f->text && strlen(*words) == f->length && memcmp(*words, f->text, f->length) == 0)
            return true;
    return false;
}

size_t dp_census_cell(double value, bool comma)
{
    int power = 0, middle = DP_CENSUS_BINS / 2;
    frexp(value, &power); /* 2^(power−1) <= |value| < 2^power */
    int step =
        fabs(value) < ldexp(1, DP_CENSUS_LEAST) ? 0 : (power < DP_CENSUS_MOST ? power : DP_CENSUS_MOST) - DP_CENSUS_LEAST;
    return 1 + (size_t)(middle + (value < 0 ? -step : step)) + (comma ? DP_CENSUS_BINS : 0);
}

static int by_bytes(const void *a, const void *b)
{
    const struct dp_census_text *x = a, *y = b;
    int order = memcmp(x->text, y->text, x->length < y->length ? x->length : y->length);
    return order != 0 ? order : (x->length > y->length) - (x->length < y->length);
}

static int add_text(struct dp_census_column *c, const struct dp_cell *f, bool label, struct dp_err *err)
{
    struct dp_census_text *new;
    if (f->length > DP_CENSUS_TEXT)
        return DP_OK;
    int rc = dp_alloc(&new, 1, sizeof *new, err);
    if (rc != DP_OK)
        return rc;
    new->length = f->length;
    memcpy(new->text, f->text, f->length);
    struct dp_census_text **found = tsearch(new, &c->tree, by_bytes);
    if (found == NULL) {
        free(new);
        return dp_fail(err, DP_E_RUN, "out of memory");
    }
    c->texts += *found == new;
    c->cell[DP_CENSUS_REPEATS] += *found != new && !label;
    if (*found != new)
        free(new);
    (*found)->count++;
    return DP_OK;
}

#define CENTURY 36524 /* days before 1900 or after 2051 */

/* The first day of the years of bin k, for k from 1. */
static double first_day(size_t k)
{
    const int year = k < 8 ? 1890 + 10 * (int)k : 1962 + (int)k;
    return 365 * (year - 1970) + floor((year - 1969) / 4.) + (year <= 1900); /* 1900 had no 29 February */
}

size_t dp_census_year(double days)
{
    size_t k = 0;
    while (k + 1 < DP_CENSUS_YEARS && days >= first_day(k + 1))
        k++;
    return DP_CENSUS_FORMATS + DP_DATE_FORMATS + k;
}

/* If commas separate cells, a comma in a number separates groups of digits. */
static bool is_number(const struct dp_cell *f, char delimiter, bool *comma, double *value)
{
    *comma = false;
    if (dp_number_cell(f->text, f->length, value))
        return true;
    *comma = delimiter != ',' && dp_number_written(f->text, f->length, true, value);
    return *comma || dp_number_written(f->text, f->length, false, value);
}

static int add_cell(struct dp_census_column *c, const struct dp_cell *f, char delimiter, bool label, struct dp_err *err)
{
    double value;
    bool comma;
    if (f->length == 0 || is_among(absent, f)) {
        c->cell[0]++;
        return DP_OK;
    }
    if (is_number(f, delimiter, &comma, &value)) {
        c->cell[dp_census_cell(value, comma)]++;
        if (value >= FIRST_YEAR && value < FIRST_YEAR + HALVES * HALF)
            c->cell[DP_CENSUS_HALVES + (size_t)((value - FIRST_YEAR) / HALF)]++;
        return label ? add_text(c, f, label, err) : DP_OK;
    }
    size_t format = label ? DP_DATE_FORMATS : dp_date_find(f->text, f->length, &value);
    if (format == DP_DATE_FORMATS)
        return add_text(c, f, label, err);
    c->cell[DP_CENSUS_FORMATS + format]++;
    c->cell[dp_census_year(value)]++;
    return DP_OK;
}

/* Whether the line has the name of the label, and this name is a word. Then the line is a header, even if some of its names are
 * numbers or empty. */
static bool names_label(const struct dp_lines *l, char delimiter, const char *label)
{
    double value;
    bool comma;
    for (size_t i = 0; label != NULL && i < l->fields; i++)
        if (l->field[i].length == strlen(label) && memcmp(l->field[i].text, label, l->field[i].length) == 0)
            return l->field[i].length > 0 && !is_number(&l->field[i], delimiter, &comma, &value);
    return false;
}

static const char *name_of(const void *census, size_t i, size_t *length)
{
    const char *name = ((const struct dp_census *)census)->column[i].name;
    *length = strlen(name);
    return name;
}

static int read_names(struct dp_census *census, const struct dp_lines *l, const char *label, struct dp_err *err)
{
    const bool header = names_label(l, census->delimiter, label);
    double value;
    bool comma;
    int rc = dp_alloc(&census->column, l->fields, sizeof *census->column, err);
    for (size_t i = 0; rc == DP_OK && i < l->fields; i++) {
        const struct dp_cell *f = &l->field[i];
        char shown[DP_TEXT_SHOWN];
        if (dp_text_valid(f->text, f->length) < f->length ||
            (!header && (f->length == 0 || is_number(f, census->delimiter, &comma, &value))) ||
            dp_date_find(f->text, f->length, &value) != DP_DATE_FORMATS)
            return dp_fail(
                err, DP_E_RUN,
                "%s: line %zu, column %zu: a schema that is paid for takes names from the first line, and '%s' is not a "
                "name",
                l->name, l->number, i + 1, dp_text_show(f->text, f->length, shown));
        census->columns = i + 1;
        census->column[i].name = strndup(f->text, f->length);
        if (census->column[i].name == NULL)
            rc = dp_fail(err, DP_E_RUN, "out of memory");
    }
    size_t twice = l->fields;
    char name[DP_TEXT_SHOWN];
    rc = rc ?: dp_text_index_twice(name_of, census, l->fields, &twice, err);
    if (rc == DP_OK && twice < l->fields)
        return dp_fail(err, DP_E_RUN, "%s: line %zu, column %zu: the header has '%s' twice", l->name, l->number, twice + 1,
                       dp_text_show(l->field[twice].text, l->field[twice].length, name));
    return rc == DP_OK && census->columns < 2
               ? dp_fail(err, DP_E_RUN, "%s: fewer than two columns (is the delimiter right?)", l->name)
               : rc;
}

static int find_label(struct dp_census *census, const struct dp_import *import, struct dp_err *err)
{
    char names[DP_TEXT_LISTED];
    census->label = census->columns - 1;
    for (size_t i = 0; import->label_name != NULL && i <= census->columns; i++) {
        if (i == census->columns)
            return dp_fail(err, DP_E_USAGE, "--label: %s has no column '%s', only %s", import->input, import->label_name,
                           dp_text_list(name_of, census, census->columns, names));
        if (strcmp(census->column[i].name, import->label_name) == 0) {
            census->label = i;
            break;
        }
    }
    return DP_OK;
}

static int add_row(struct dp_census *census, const struct dp_lines *l, struct dp_err *err)
{
    int rc = DP_OK;
    if (l->fields != census->columns)
        return dp_fail(err, DP_E_RUN, "%s: line %zu: %zu field%s, the first line has %zu", l->name, l->number, l->fields,
                       l->fields == 1 ? "" : "s", census->columns);
    census->rows++;
    for (size_t i = 0; rc == DP_OK && i < census->columns; i++) {
        const struct dp_cell *f = &l->field[i];
        rc = dp_text_valid(f->text, f->length) < f->length
                 ? dp_fail(err, DP_E_RUN, "%s: line %zu, column %zu is not UTF-8 (iconv -f LATIN1 -t UTF-8 converts a file)",
                           l->name, l->number, i + 1)
                 : add_cell(&census->column[i], f, census->delimiter, i == census->label, err);
    }
    return rc;
}

static void list_text(const void *node, VISIT visit, void *column)
{
    struct dp_census_column *c = column;
    if (visit == postorder || visit == leaf)
        c->text[c->listed++] = *(struct dp_census_text *const *)node;
}

static int list_texts(struct dp_census *census, struct dp_err *err)
{
    int rc = DP_OK;
    census->counts = 0;
    for (size_t i = 0; rc == DP_OK && i < census->columns; i++) {
        struct dp_census_column *c = &census->column[i];
        rc = dp_alloc(&c->text, c->texts + 1, sizeof *c->text, err);
        if (rc == DP_OK)
            twalk_r(c->tree, list_text, c);
        census->counts += DP_CENSUS_CELLS + c->texts;
    }
    return rc;
}

int dp_census_read(struct dp_census *census, struct dp_import *import, struct dp_err *err)
{
    struct dp_lines lines;
    int rc = dp_lines_open_table(&lines, import->input, import->sql, err);
    if (rc != DP_OK)
        return rc;
    for (size_t skip = import->skip_lines; skip > 0 && (rc = dp_lines_next(&lines, err)) == 1; skip--)
        ;
    bool known = import->schema.delimiter != 0 || import->format == DP_IMPORT_TSV;
    census->delimiter = known ? dp_import_delimiter(import) : dp_import_find_delimiter(&lines);
    while (rc >= 0 && (rc = dp_lines_record(&lines, census->delimiter, err)) == 1) {
        if (lines.fields == 1 && lines.field[0].length == 0)
            continue;
        if (census->column == NULL) {
            rc = read_names(census, &lines, import->label_name, err);
            rc = rc ?: find_label(census, import, err);
        } else {
            rc = add_row(census, &lines, err);
        }
    }
    if (rc == DP_OK && census->rows == 0)
        rc = dp_fail(err, DP_E_RUN, "%s: no rows", lines.name);
    rc = rc ?: list_texts(census, err);
    dp_input_digest(lines.input, import->table);
    import->encoding = dp_lines_converted(&lines);
    dp_lines_close(&lines);
    return rc;
}

void dp_census_free(struct dp_census *census)
{
    for (size_t i = 0; i < census->columns; i++) {
        tdestroy(census->column[i].tree, free);
        free(census->column[i].text);
        free(census->column[i].name);
    }
    free(census->column);
    *census = (struct dp_census){0};
}

double dp_census_weight(size_t columns, int64_t unit)
{
    return floor((double)unit * sqrt((double)(columns + 1) / 3)) / (double)unit;
}

double dp_census_sensitivity(size_t columns)
{
    return nextafter(sqrt(1.0625 * (double)columns + (double)(columns + 1) / 3), INFINITY);
}

/* How much a cell counts. */
static double weight_of(size_t k)
{
    return k < DP_CENSUS_FORMATS ? 1 : k < DP_CENSUS_FORMATS + DP_DATE_FORMATS ? 0.6 : k < DP_CENSUS_REPEATS ? 0.8 : 0.25;
}

void dp_census_counts(const struct dp_census *census, int64_t unit, int64_t *sum)
{
    for (size_t i = 0; i < census->columns; i++) {
        const struct dp_census_column *c = &census->column[i];
        const double weight = i == census->label ? dp_census_weight(census->columns, unit) : 1;
        const int64_t of_text = llrint((double)unit * weight);
        for (size_t k = 0; k < DP_CENSUS_CELLS; k++)
            *sum++ = (int64_t)floor(weight_of(k) * (double)unit) * c->cell[k];
        for (size_t k = 0; k < c->texts; k++)
            *sum++ = of_text * c->text[k]->count;
    }
}

static double tail(double x, void *p)
{
    return log(0.5 * erfc(x * sqrt(0.5)) / *(double *)p);
}

/* Φ⁻¹(1 − p), rounded up; p < 1/2. */
static double quantile(double p)
{
    return dp_bracket_smallest(tail, &p, 38) * (1 + 1e-9);
}

double dp_census_threshold(size_t columns, double scale, double delta)
{
    return fmax((1 + scale * quantile(delta / (double)columns)) * (1 + 1e-12), DP_CENSUS_FLOOR);
}

/* --- the schema, from noised counts */

#define EDGE 2.0 /* a neighbour counts from this many standard deviations on, which noise exceeds once in 44 */

struct made {
    const struct dp_census *census;
    const int64_t *noised;                 /* of the column */
    double unit, scale, threshold, weight; /* scale: of the noise of a count; weight: of the texts of the column */
    double deviations, significant;        /* a count above this many scales, or rows, exceeds the noise */
    bool comma;
};

static double count(const struct made *m, size_t k)
{
    return (double)m->noised[k] / m->unit / (k < DP_CENSUS_CELLS ? weight_of(k) : 1);
}

static double if_significant(double value, double least)
{
    return value >= least ? value : 0;
}

/* The count of numbers in a bin, with either decimal sign if commas are decimal signs. */
static double in_bin(const struct made *m, size_t k)
{
    return count(m, 1 + k) + (m->comma ? count(m, 1 + DP_CENSUS_BINS + k) : 0);
}

/* The interval of a bin, of numbers that are at least low and at most high. */
static void interval(size_t k, double *low, double *high)
{
    int step = (int)k - DP_CENSUS_BINS / 2, power = abs(step) + DP_CENSUS_LEAST;
    *low = step == 0 ? 0 : step > 0 ? ldexp(1, power - 1) : -ldexp(1, power);
    *high = step == 0 ? 0 : step > 0 ? ldexp(1, power) : -ldexp(1, power - 1);
}

/* Neighbouring bins, with the noise on the count of one. */
struct bins {
    double count[DP_CENSUS_BINS], noise;
    size_t bins, zero, widest, widest_next; /* zero: of the number 0; widest: that may stand out together, or next to others */
    bool taken[DP_CENSUS_BINS];
};

static double sum_of(const struct bins *b, size_t k, size_t width)
{
    double sum = 0;
    for (size_t i = k; i < k + width; i++)
        sum += b->count[i];
    return sum;
}

/* Takes `width` neighbouring bins from bin k on if none of them was taken before and their sum exceeds the noise. Bins
 * at the ends that may be only noise are left out. */
static void take_together(struct bins *b, double deviations, size_t k, size_t width)
{
    for (size_t i = k; i < k + width; i++)
        if (b->taken[i])
            return;
    if (!(sum_of(b, k, width) >= deviations * b->noise * sqrt((double)width)))
        return;
    for (; width > 1 && b->count[k] < EDGE * b->noise; width--)
        k++;
    while (width > 1 && b->count[k + width - 1] < EDGE * b->noise)
        width--;
    for (size_t i = k; i < k + width; i++)
        b->taken[i] = true;
}

/* Takes groups of `width` bins before the first one and from the last one on, while such a group is above EDGE standard
 * deviations. */
static void take_next(struct bins *b, size_t width, size_t *first, size_t *last)
{
    const double least = EDGE * b->noise * sqrt((double)width);
    while (*first >= width && sum_of(b, *first - width, width) >= least)
        for (size_t i = 0; i < width; i++)
            b->taken[--*first] = true;
    while (*last + width <= b->bins && sum_of(b, *last, width) >= least)
        for (size_t i = 0; i < width; i++)
            b->taken[(*last)++] = true;
}

/* The sum of the bins that stand out from the noise, by themselves or together with their neighbours, and of the bins next to
 * these that are above EDGE standard deviations; and the first and the last of them. */
static double standing_out(struct bins *b, double deviations, size_t *from, size_t *to)
{
    double sum = 0;
    size_t first = 0, last = b->bins;
    for (size_t width = 1; width <= b->widest; width *= 2)
        for (size_t k = 0; k + width <= b->bins; k++)
            take_together(b, deviations, k, width);
    while (first < last && !b->taken[first])
        first++;
    while (last > first && !b->taken[last - 1])
        last--;
    if (first == last)
        return 0;
    if (first == b->zero && last == first + 1) /* its neighbours may be only noise */
        b->widest_next = 0;
    for (size_t width = b->widest_next; width > 0; width /= 2)
        take_next(b, width, &first, &last);
    for (size_t k = first; k < last; k++)
        sum += b->taken[k] ? b->count[k] : 0;
    *from = first;
    *to = last - 1;
    return sum;
}

/* The bounds of the years, if most of the numbers are years. */
static void halves_of(const struct made *m, double numbers, double *low, double *high)
{
    double sum = 0;
    int first = HALVES, last = 0;
    for (int k = 0; k < HALVES; k++) {
        const double here = count(m, DP_CENSUS_HALVES + (size_t)k);
        if (here < EDGE * m->scale / weight_of(DP_CENSUS_HALVES))
            continue;
        sum += here;
        first = first < k ? first : k;
        last = k + 1;
    }
    if (last == 0 || sum < 0.7 * numbers)
        return;
    *low = FIRST_YEAR + HALF * first;
    *high = FIRST_YEAR + HALF * last;
}

/* How many numbers the column has, and their bounds. */
static double numbers_of(const struct made *m, double *low, double *high)
{
    struct bins b = {.bins = DP_CENSUS_BINS, .zero = DP_CENSUS_BINS / 2, .widest = 8, .widest_next = 1};
    double unused;
    size_t from, to;
    b.noise = m->scale * (m->comma ? sqrt(2) : 1);
    for (size_t k = 0; k < DP_CENSUS_BINS; k++)
        b.count[k] = in_bin(m, k);
    *low = *high = 0;
    double sum = standing_out(&b, m->deviations, &from, &to);
    if (sum > 0) {
        interval(from, low, &unused);
        interval(to, &unused, high);
    }
    if (*low >= 1024 && *high <= 4096)
        halves_of(m, sum, low, high);
    return sum;
}

/* How many dates the column has, their bounds in days, and their format: the most frequent one. Where the month comes first, a
 * date whose day may be a month was counted as one with the day first. */
static double dates_of(const struct made *m, double *low, double *high, const char **format)
{
    struct bins b = {.bins = DP_CENSUS_YEARS, .zero = SIZE_MAX, .widest = 64, .widest_next = 16};
    size_t from, to, best = 0;
    b.noise = m->scale / weight_of(DP_CENSUS_REPEATS - 1);
    for (size_t k = 0; k < DP_CENSUS_YEARS; k++)
        b.count[k] = count(m, DP_CENSUS_FORMATS + DP_DATE_FORMATS + k);
    double sum = standing_out(&b, m->deviations, &from, &to);
    if (sum == 0)
        return 0;
    *low = first_day(from > 0 ? from : 1) - (from > 0 ? 0 : CENTURY);
    *high = first_day(to + 1 < DP_CENSUS_YEARS ? to + 1 : to) + (to + 1 < DP_CENSUS_YEARS ? 0 : CENTURY);
    for (size_t k = 0; k < DP_DATE_FORMATS; k++)
        best = count(m, DP_CENSUS_FORMATS + k) > count(m, DP_CENSUS_FORMATS + best) ? k : best;
    const size_t other = best + DP_DATE_MONTH_FIRST;
    if (best < DP_DATE_MONTH_FIRST && count(m, DP_CENSUS_FORMATS + other) >= m->significant / weight_of(DP_CENSUS_FORMATS))
        best = other;
    *format = dp_date_formats[best];
    if (dp_date_is_time(*format)) {
        *low = 0;
        *high = 1;
    }
    return sum;
}

/* Adds the texts that are frequent enough to the list, in the order of their bytes; returns the number of their cells. */
static double texts_of(const struct made *m, const struct dp_census_column *c, json_t *list)
{
    double sum = 0;
    for (size_t k = 0; k < c->texts; k++) {
        double here = count(m, DP_CENSUS_CELLS + k) / m->weight;
        if (here < fmax(1 + (m->threshold - 1) / m->weight, DP_CENSUS_FLOOR))
            continue;
        json_array_append_new(list, json_stringn(c->text[k]->text, c->text[k]->length));
        sum += here;
    }
    return sum;
}

static json_t *words_json(const char *const *words)
{
    json_t *list = json_array();
    for (; *words != NULL; words++)
        json_array_append_new(list, json_string(*words));
    return list;
}

static json_t *left_out(json_t *o, const char *why)
{
    json_object_set_new(o, "type", json_string("ignore"));
    json_object_set_new(o, "note", json_string(why));
    return o;
}

/* Classes or categories: texts that differ only in case are one of them. */
static json_t *folded_texts(const json_t *texts)
{
    json_t *list = json_array(), *class;
    const char *name;
    size_t i, k;
    for (i = 0; i < json_array_size(texts); i++) {
        const char *text = json_string_value(json_array_get(texts, i));
        json_t *into = NULL;
        json_array_foreach (list, k, class) {
            name = json_string_value(json_array_get(class, 0));
            into = strcasecmp(name, text) == 0 ? class : into;
        }
        if (into == NULL)
            json_array_append_new(list, json_pack("[s]", text));
        else
            json_array_append_new(into, json_string(text));
    }
    return list;
}

/* The categories: a category with a single text is written as this text, any other as a list. */
static json_t *categories_of(const json_t *texts)
{
    json_t *list = folded_texts(texts), *category;
    size_t i;
    json_array_foreach (list, i, category) {
        if (json_array_size(category) == 1)
            json_array_set(list, i, json_array_get(category, 0));
    }
    return list;
}

/* A number, or a date if the format has this day. */
static json_t *bound_json(double value, const char *format)
{
    char text[DP_DATE_TEXT] = "";
    double read = NAN;
    if (format != NULL)
        dp_date_print(format, value, text);
    return format != NULL && dp_date_read(format, DP_DATE_DAYS, text, strlen(text), &read) && read == value ? json_string(text)
                                                                                                            : json_real(value);
}

/* How many buckets the `others` cells get that are neither missing nor numbers nor named, of which `named` are texts. */
static int buckets_of(const struct made *m, double others, double named)
{
    const double repeats = count(m, DP_CENSUS_REPEATS) - named;
    int buckets = 1;
    while (buckets < MOST_BUCKETS && 2 * buckets * m->threshold <= 4 * others)
        buckets *= 2;
    return buckets > 2 && repeats >= 0.5 * others ? buckets : 0;
}

static json_t *feature(const struct made *m, const struct dp_census_column *c, json_t *o)
{
    if (c->name[0] == '\0')
        return left_out(o, "it has no name, as a column that numbers the rows");
    double low, high, first, last, numbers = numbers_of(m, &low, &high);
    const char *format = NULL;
    double dates = dates_of(m, &first, &last, &format);
    json_t *texts = json_array();
    const bool date = dates > numbers;
    format = date ? format : NULL;
    if (date) {
        numbers = dates;
        low = first;
        high = last;
    }
    const double named = texts_of(m, c, texts), missing = if_significant(count(m, 0), m->significant);
    const double others = (double)m->census->rows - missing - numbers - named;
    const int buckets = buckets_of(m, others, named);
    const bool numeric = numbers >= named + (buckets > 0 ? others : 0);
    if (dp_import_is_id(c->name) || (numeric && low == high)) {
        json_decref(texts);
        return left_out(o, dp_import_is_id(c->name) ? "its name looks like an identifier"
                           : numbers > 0            ? "its numbers do not differ by what was paid for"
                                                    : "no value is frequent enough for what was paid");
    }
    json_object_set_new(o, "type", json_string(numeric ? "numeric" : "categorical"));
    if (numeric && format != NULL)
        json_object_set_new(o, "date", json_string(format));
    if (numeric) {
        json_object_set_new(o, "bounds", json_pack("[o, o]", bound_json(low, format), bound_json(high, format)));
        json_object_set_new(o, "missing", words_json(doubtful));
        if (missing == 0)
            json_object_set_new(o, "fill", bound_json(low + 0.5 * (high - low), format));
    } else {
        json_object_set_new(o, "categories", categories_of(texts));
        if (buckets > 0)
            json_object_set_new(o, "buckets", json_integer(buckets));
        json_object_set_new(o, "unknown", json_string("zero"));
    }
    json_decref(texts);
    if (missing > 0)
        json_object_set_new(o, "indicator", json_true());
    return o;
}

static int label(const struct made *m, const struct dp_census_column *c, json_t *o, struct dp_err *err)
{
    double low, high, numbers = numbers_of(m, &low, &high);
    json_t *texts = json_array();
    double named = texts_of(m, c, texts);
    json_t *folded = folded_texts(texts);
    size_t classes = json_array_size(folded);
    double rows = (double)m->census->rows;
    json_object_set_new(o, "type", json_string("label"));
    if (classes >= 2 && (numbers == 0 || (classes <= MOST_CLASSES && named >= (classes == 2 ? 0.8 : 0.95) * rows))) {
        const double others = rows - named;
        json_object_set(o, "classes", folded);
        if (others >= 0.5 * m->threshold)
            json_object_set_new(
                o, "note",
                json_sprintf("about %.0f rows have no label, or a class that is too rare to be named: they teach "
                             "nothing, and it is never predicted",
                             others));
        json_object_set_new(o, "unknown", json_string("zero"));
    } else if (low < high && (classes != 1 || named < 0.5 * rows)) { /* else nearly all rows have one class */
        json_object_set_new(o, "bounds", json_pack("[f, f]", low, high));
    }
    json_decref(texts);
    json_decref(folded);
    return json_object_size(o) >= 3 ? DP_OK
                                    : dp_fail(err, DP_E_BUDGET,
                                              "fewer than two classes of the label are frequent enough for what was paid, and "
                                              "its numbers have no bounds; a schema of your own needs no payment");
}

/* Whether the texts, or lists of texts, have this one. */
static bool has_text(const json_t *texts, const char *text)
{
    size_t i;
    json_t *one;
    json_array_foreach (texts, i, one)
        if (json_is_array(one) ? has_text(one, text) : strcmp(json_string_value(one), text) == 0)
            return true;
    return false;
}

/* Whether a name is among the named texts of its own column: then the first line is a row. */
static bool is_row(const json_t *columns)
{
    size_t i;
    json_t *o;
    json_array_foreach (columns, i, o) {
        const char *name = json_string_value(json_object_get(o, "name"));
        if (has_text(json_object_get(o, "categories"), name) || has_text(json_object_get(o, "classes"), name))
            return true;
    }
    return false;
}

/* Takes the cells of the first line back, which are one person's. */
static void number_columns(json_t *columns)
{
    size_t i;
    json_t *o;
    json_array_foreach (columns, i, o)
        json_object_set_new(o, "name", json_sprintf("column%zu", i + 1));
}

/* Commas are decimal signs if a tenth of the numbers of some column have one. */
static bool has_commas(struct made *m, const int64_t *noised)
{
    double points = 0, commas = 0;
    m->noised = noised;
    for (size_t k = 0; k < DP_CENSUS_BINS; k++) {
        points += if_significant(count(m, 1 + k), m->significant);
        commas += if_significant(count(m, 1 + DP_CENSUS_BINS + k), m->significant);
    }
    return m->census->delimiter != ',' && commas > 0 && commas >= 0.1 * points;
}

int dp_census_schema(const struct dp_census *census, const int64_t *noised, int64_t unit, double scale, double threshold,
                     json_t **schema, struct dp_err *err)
{
    struct made m = {.census = census, .unit = (double)unit, .scale = scale, .threshold = threshold};
    const char delimiter[2] = {census->delimiter, '\0'};
    const int64_t *at = noised;
    json_t *list = json_array();
    bool features = false, comma = false;
    int rc = DP_OK;
    m.deviations = quantile(0.005 / (double)(census->columns * DP_CENSUS_CELLS)); /* two sets of neighbours for a cell */
    m.significant = scale * m.deviations;
    for (size_t i = 0; i < census->columns; at += DP_CENSUS_CELLS + census->column[i++].texts)
        comma = has_commas(&m, at) || comma;
    m.comma = comma;
    m.noised = noised;
    for (size_t i = 0; rc == DP_OK && i < census->columns; m.noised += DP_CENSUS_CELLS + census->column[i++].texts) {
        const struct dp_census_column *c = &census->column[i];
        json_t *o = json_pack("{s:s}", "name", c->name);
        m.weight = i == census->label ? dp_census_weight(census->columns, unit) : 1;
        if (i == census->label)
            rc = label(&m, c, o, err);
        else
            features |= json_object_get(feature(&m, c, o), "note") == NULL;
        json_array_append_new(list, o);
    }
    if (rc == DP_OK && !features)
        rc = dp_fail(err, DP_E_BUDGET, "no column has frequent values for this payment; a schema of your own needs no payment");
    const bool row = is_row(list);
    if (row)
        number_columns(list);
    *schema = rc == DP_OK ? json_pack("{s:s, s:b, s:o, s:O}", "delimiter", delimiter, "header", !row, "missing",
                                      words_json(absent), "columns", list)
                          : NULL;
    json_decref(list);
    if (*schema != NULL && m.comma)
        json_object_set_new(*schema, "decimal", json_string(","));
    return rc == DP_OK && *schema == NULL ? dp_fail(err, DP_E_RUN, "out of memory") : rc;
}
