#include "data/propose.h"

#include <ctype.h>
#include <strings.h>

#include "base/mem.h"
#include "base/number.h"

#define MOST_BUCKETS 64 /* of a feature, for texts that are not named */
#define MOST_CLASSES 20 /* the most classes of a label of numbers: with more values, the label is a number to predict */
#define WHOLE 8         /* public whole numbers, from 0 on, that may be categories of a column of texts */
#define CENTURY 36524   /* days before 1900 or after 2051 */
static const char out[] = "so the options say";
#define FEW_ROWS 20 /* with fewer rows, each row may well have a text of its own */

/* --- what a schema says of a column */

struct found {
    const char *why;                 /* why it is left out, or NULL */
    char date[DP_DATE_FORMATS * 24]; /* the formats of dates, or empty */
    const char *note;                /* about a feature, or NULL */
    char lost[120];                  /* such a note */
    double variance;                 /* of the noised number of numbers */
    const char *unit;                /* of numbers, or NULL */
    bool comma;                      /* in this column only */
    bool sentinel[DP_CENSUS_SENTINEL_COUNT];
    bool numeric, missing, others;
    bool absent; /* named texts of numbers are missing ones */
    bool line;   /* a number without a curve */
    bool spread; /* its bounds follow its spread */
    bool small;  /* they begin at 0, for numbers of many magnitudes */
    double low, high;
    double fill;                   /* of missing numbers; NAN: the schema need not say */
    struct dp_census_text **named; /* texts, which is freed */
    size_t count;
    unsigned whole; /* bit k: the number k, below WHOLE, is a category, too */
    json_t *words;  /* for missing values in this column, or NULL */
    int buckets;
};

/* In the order of the alphabet; texts that differ only in case are neighbours. */
static int by_letters(const void *a, const void *b)
{
    const char *x = (*(struct dp_census_text *const *)a)->text, *y = (*(struct dp_census_text *const *)b)->text;
    int folded = strcasecmp(x, y);
    return folded != 0 ? folded : strcmp(x, y);
}

/* A class or category in its normal form: a number, or a word. */
struct spelled {
    const char *text, *word; /* word: NULL of a number */
    double number;
    size_t at; /* in the order of the alphabet */
};

/* Y is yes, N is no, T is true, F is false. */
static struct spelled spelled(const char *text, size_t at)
{
    static const char *const words[] = {"yes", "no", "true", "false"};
    struct spelled s = {.text = text, .word = text, .at = at};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strlen(text) == 1 && tolower((unsigned char)*text) == *words[k])
            s.word = words[k];
    if (dp_number_real(text, &s.number))
        s.word = NULL;
    return s;
}

/* 0: they differ only in case, or are the same number, or one is short for the other. */
static int by_form(const struct spelled *x, const struct spelled *y)
{
    if (x->word == NULL && y->word == NULL)
        return (x->number > y->number) - (x->number < y->number);
    return x->word == NULL ? -1 : y->word == NULL ? 1 : strcasecmp(x->word, y->word);
}

static int by_form_and_letters(const void *a, const void *b)
{
    const struct spelled *x = a, *y = b;
    return by_form(x, y) ?: (x->at > y->at) - (x->at < y->at);
}

/* Classes or categories: texts that are one of them are a list. Sorts the texts. */
static json_t *folded(struct dp_census_text **text, size_t count)
{
    json_t *list = json_array(), **from = dp_new(count + 1, sizeof *from); /* the list whose first text is this one */
    struct spelled *form = dp_new(count + 1, sizeof *form);
    if (count > 0)
        qsort(text, count, sizeof(struct dp_census_text *), by_letters);
    for (size_t i = 0; i < count; i++)
        form[i] = spelled(text[i]->text, i);
    qsort(form, count, sizeof *form, by_form_and_letters);
    for (size_t i = 0, k; i < count; i = k) {
        json_t *same = from[form[i].at] = json_array();
        for (k = i; k < count && by_form(&form[i], &form[k]) == 0; k++)
            json_array_append_new(same, json_string(form[k].text));
    }
    for (size_t i = 0; i < count; i++)
        if (from[i] != NULL) {
            json_array_append(list, json_array_size(from[i]) == 1 ? json_array_get(from[i], 0) : from[i]);
            json_decref(from[i]);
        }
    free(form);
    free(from);
    return list;
}

/* A number, or a date if the format has this day. */
static json_t *bound_json(double value, const char *format)
{
    char text[DP_DATE_TEXT] = "";
    double read = NAN;
    if (format[0] != '\0')
        dp_date_print(format, value, text);
    return format[0] != '\0' && dp_date_read(format, DP_DATE_DAYS, text, strlen(text), &read) && read == value
               ? json_string(text)
               : json_real(value);
}

/* Adds the last day of the year 9999, which means "no end", as the format writes it. */
static void add_never(json_t *words, const char *format)
{
    static const char *const parts[] = {"", ".000", ".997"};
    const size_t end = strcspn(format, "|");
    const bool seconds = end > 2 && memcmp(format + end - 2, "%S", 2) == 0;
    char text[DP_DATE_TEXT];
    double read, before = 0;
    for (int k = 0; k < 2; k++) {
        dp_date_print(format, DP_DATE_NEVER + 364 + (k > 0 ? 86399. / 86400 : 0), text);
        if (!dp_date_read(format, DP_DATE_DAYS, text, strlen(text), &read) || read < DP_DATE_NEVER || read == before)
            continue;
        before = read;
        for (int i = 0; i < (seconds ? 3 : 1); i++)
            json_array_append_new(words, json_sprintf("%s%s", text, parts[i]));
    }
}

static void put_numeric(json_t *o, const struct found *f)
{
    if (f->date[0] != '\0')
        json_object_set_new(o, "date", json_string(f->date));
    if (f->unit != NULL)
        json_object_set_new(o, "unit", json_string(f->unit));
    if (f->comma)
        json_object_set_new(o, "decimal", json_string(","));
    if (f->low < f->high)
        json_object_set_new(o, "bounds", json_pack("[o, o]", bound_json(f->low, f->date), bound_json(f->high, f->date)));
    else
        json_object_set_new(o, "scale", json_string("none"));
    if (f->line)
        json_object_set_new(o, "basis", json_string("line"));
    json_t *words = f->words != NULL ? json_copy(f->words) : json_array();
    for (size_t k = 0; f->absent && k < f->count; k++)
        json_array_append_new(words, json_string(f->named[k]->text));
    for (const char *format = f->date; *format != '\0'; format += strcspn(format, "|"), format += *format == '|')
        add_never(words, format);
    for (size_t k = 0; k < DP_CENSUS_SENTINEL_COUNT; k++)
        for (int digits = 0; f->sentinel[k] && digits < 3; digits++)
            json_array_append_new(words, json_sprintf("%.*f", digits, dp_census_sentinels[k]));
    if (json_array_size(words) > 0)
        json_object_set(o, "missing", words);
    json_decref(words);
    if (!isnan(f->fill))
        json_object_set_new(o, "fill", bound_json(f->fill, f->date));
}

static void put_categories(json_t *o, const struct found *f)
{
    json_t *categories = json_array(), *texts = folded(f->named, f->count);
    for (int k = 0; k < WHOLE; k++)
        if (f->whole >> k & 1)
            json_array_append_new(
                categories, json_pack("[o, o, o]", json_sprintf("%d", k), json_sprintf("%d.0", k), json_sprintf("%d%%", k)));
    json_array_extend(categories, texts);
    json_decref(texts);
    json_object_set_new(o, "categories", categories);
    if (f->buckets > 0)
        json_object_set_new(o, "buckets", json_integer(f->buckets));
    if (f->others)
        json_object_set_new(o, "unknown", json_string("zero"));
}

static void put_feature(json_t *o, const struct found *f)
{
    json_object_set_new(o, "type", json_string(f->why != NULL ? "ignore" : f->numeric ? "numeric" : "categorical"));
    if (f->why != NULL) {
        json_object_set_new(o, "note", json_string(f->why));
        return;
    }
    if (f->numeric)
        put_numeric(o, f);
    else
        put_categories(o, f);
    if (f->note != NULL)
        json_object_set_new(o, "note", json_string(f->note));
    if (f->missing)
        json_object_set_new(o, "indicator", json_true());
}

/* classes: NULL for a number. unknown: the class of all other texts, or "zero": rows with other texts are null rows; or NULL. */
static void put_label(json_t *o, json_t *classes, const char *unknown, bool count, const struct found *f)
{
    json_object_set_new(o, "type", json_string("label"));
    if (classes != NULL)
        json_object_set(o, "classes", classes);
    else if (f->low < f->high)
        json_object_set_new(o, "bounds", json_pack("[f, f]", f->low, f->high));
    if (classes == NULL && count)
        json_object_set_new(o, "scale", json_string("count"));
    if (unknown != NULL)
        json_object_set_new(o, "unknown", json_string(unknown));
}

/* Adds a sentence to the column's note. */
static void add_note(json_t *o, json_t *sentence)
{
    const char *before = json_string_value(json_object_get(o, "note"));
    json_t *both = before != NULL ? json_sprintf("%s; %s", before, json_string_value(sentence)) : json_incref(sentence);
    json_object_set_new(o, "note", both);
    json_decref(sentence);
}

/* The classes that the user has named, each with its spellings. */
static json_t *known_classes(const struct dp_schema *s)
{
    json_t *list = json_array();
    for (size_t k = 0; k < s->classes; k++) {
        json_t *texts = dp_texts_json(&s->class[k]);
        json_array_append(list, s->class[k].count > 1 ? texts : json_array_get(texts, 0));
        json_decref(texts);
    }
    return list;
}

/* --- whose row it is */

/* Whether a column may say whose row it is, and nobody has said so. exact: the rows are known, and one of its texts repeats. */
static bool is_question(const struct dp_census *census, const struct dp_census_column *c, bool exact)
{
    size_t texts = 0;
    for (size_t k = 0; exact && k < c->seen_count; k++)
        texts += !dp_census_is_absent(c->seen[k]->text, c->seen[k]->length);
    return c->identifier && !c->out && c != &census->column[census->label] && (!exact || texts < c->exact->cells);
}

int dp_propose_ask(const struct dp_census *census, const struct dp_import *import, bool exact, struct dp_err *err)
{
    for (size_t i = 0; import->source.person == NULL && !import->source.row_is_person && i < census->columns; i++) {
        const struct dp_census_column *c = &census->column[i];
        const char *name = DP_SHOWN(c->name);
        if (is_question(census, c, exact))
            return dp_fail(err, DP_E_UNSAFE,
                           "column '%s' %s. If a person may have several rows, --person '%s' protects all of them; "
                           "--row-is-person if each row is another person; nothing was charged",
                           name, exact ? "looks like an identifier, and repeats" : "looks like an identifier", name);
    }
    return DP_OK;
}

static bool put_person(const struct dp_census *census, size_t i, json_t *o)
{
    if ((long)i != census->person)
        return false;
    json_object_set_new(o, "type", json_string("person"));
    json_object_set_new(o, "rows_per_person", json_integer((json_int_t)census->most));
    return true;
}

/* --- the schema, from noised counts */

#define FAR 7.0  /* times as large as all others */
#define SAID 3.0 /* deviations from which on a count is said */
#define EDGE 2.0 /* a neighbour counts from this many standard deviations on, which noise exceeds once in 44 */

struct made {
    const struct dp_census *census;
    const int64_t *noised;                 /* of the column */
    double unit, scale, threshold, weight; /* scale: of the noise of a count; weight: of the texts of the column */
    double deviations, significant;        /* a count above this many scales, or rows, exceeds the noise */
    double sure;                           /* deviations, for numbers where most cells are others */
    double mirrored;                       /* the same, in scales, for the bins of one sign, and for each sentinel */
    bool comma;
    json_t *words; /* that are missing among numbers */
};

static double count(const struct made *m, size_t k)
{
    return (double)m->noised[k] / m->unit / (k < DP_CENSUS_CELLS ? dp_census_cell_weight(k) : 1);
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

static double noise_in_bin(const struct made *m)
{
    return m->scale / dp_census_cell_weight(1) * (m->comma ? sqrt(2) : 1);
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
    double mirrored;                        /* deviations from which bins of the other sign count; 0: there is no sign */
    size_t bins, zero, widest, widest_next; /* zero: of the number 0; widest: that may stand out together, or next to others */
    bool taken[DP_CENSUS_BINS];
};

static double sum_of(const double *count, size_t k, size_t width)
{
    double sum = 0;
    for (size_t i = k; i < k + width; i++)
        sum += count[i];
    return sum;
}

/* Takes `width` neighbouring bins from bin k on if none of them was taken before and their sum exceeds the noise. Bins
 * at the ends that may be only noise are left out. */
static void take_together(struct bins *b, double deviations, size_t k, size_t width)
{
    for (size_t i = k; i < k + width; i++)
        if (b->taken[i])
            return;
    if (!(sum_of(b->count, k, width) >= deviations * b->noise * sqrt((double)width)))
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
    while (*first >= width && sum_of(b->count, *first - width, width) >= least)
        for (size_t i = 0; i < width; i++)
            b->taken[--*first] = true;
    while (*last + width <= b->bins && sum_of(b->count, *last, width) >= least)
        for (size_t i = 0; i < width; i++)
            b->taken[(*last)++] = true;
}

/* If all bins that were taken have one sign, takes bins of nearly the same magnitudes with the other sign, where an amount of
 * either sign has its other half: few numbers lie between the two. */
static void take_mirrored(struct bins *b, size_t *first, size_t *last)
{
    if (b->mirrored == 0 || (*first <= b->zero && *last > b->zero))
        return;
    const size_t middle = 2 * b->zero + 1, from = *last < middle ? middle - *last - 1 : 0,
                 to = *first > 0 ? middle - *first + 1 : middle;
    take_together(b, SAID, from, to - from); /* one sum, that the other sign has chosen */
    for (size_t width = 1; width <= b->widest; width *= 2)
        for (size_t k = from; k + width <= to; k++)
            take_together(b, b->mirrored, k, width);
    for (size_t k = from; k < to; k++)
        if (b->taken[k]) {
            *first = k < *first ? k : *first;
            *last = k >= *last ? k + 1 : *last;
        }
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
    take_mirrored(b, &first, &last);
    for (size_t width = b->widest_next; width > 0; width /= 2)
        take_next(b, width, &first, &last);
    for (size_t k = first; k < last; k++)
        sum += b->taken[k] ? b->count[k] : 0;
    *from = first;
    *to = last - 1;
    return sum;
}

/* How many numbers the bins have, and their bounds. */
static double bounds_of(struct bins b, double deviations, double *low, double *high, double *variance)
{
    double unused;
    size_t from, to;
    const double sum = standing_out(&b, deviations, &from, &to);
    *low = *high = 0;
    if (sum > 0) {
        interval(from, low, &unused);
        interval(to, &unused, high);
        *variance = (double)(to - from + 1) * b.noise * b.noise;
    }
    return sum;
}

/* --- bounds of numbers whose spread is small against their size */

#define SURE 1e-5
#define STEADY 5.0 /* so many deviations of the sum of parts that all numbers may be in */
#define SMALL 0.5  /* a spread, against the numbers */
#define CLEAR 20.0 /* from so many deviations of a part on, one more part at each side is enough */
#define BESIDE(p, width) ((p)->numbers >= CLEAR * (p)->noise ? 1 : (double)(width))
enum { PARTS = DP_CENSUS_PARTS, ROUND = 3 * PARTS };

/* Counts of neighbouring parts. noise: of one. */
struct parts {
    double count[ROUND], numbers, noise;
};

/* The fewest neighbouring parts that most numbers have, or all but the noise, and the first one; 0 if more than half would be
 * needed. If all parts were as frequent, so many would have them with a probability of SURE. */
static size_t fewest_parts(const struct parts *p, size_t starts, size_t *first)
{
    for (size_t width = 1; width <= PARTS / 2 && p->numbers >= STEADY * p->noise * sqrt((double)width); width++) {
        const double noise = p->noise * sqrt((double)width), share = p->numbers * (double)width / PARTS,
                     least = fmax(fmax(p->numbers - 2 * noise, 0.75 * p->numbers),
                                  share + dp_census_quantile(SURE * (double)width / PARTS) * noise);
        double most = -INFINITY;
        for (size_t i = 0; i < starts && i + width <= ROUND; i++) {
            const double sum = sum_of(p->count, i, width);
            *first = sum > most ? i : *first;
            most = fmax(most, sum);
        }
        if (most >= least)
            return width;
    }
    return 0;
}

/* The parts of three bins, from bin k on towards larger magnitudes; or three times the parts of the parts of bin k. */
static struct parts parts_of(const struct made *m, size_t k, int towards, bool second, double numbers)
{
    struct parts p = {.numbers = numbers};
    for (size_t i = 0; i < ROUND; i++)
        p.count[i] = count(m, dp_census_part(second ? k : k + (size_t)towards * (i / PARTS), i % PARTS, second));
    p.noise = m->scale / dp_census_cell_weight(dp_census_part(k, 0, second));
    return p;
}

/* Where in bin k, in parts of parts, the numbers are: in one of the `width` parts from `first` on, or between two of them. The
 * parts of parts are the same in each part. */
static bool second_parts(const struct made *m, size_t k, const struct parts *p, size_t first, double *from, double *to)
{
    const double new = if_significant(count(m, DP_CENSUS_WHOLE), m->significant / dp_census_cell_weight(DP_CENSUS_WHOLE));
    const struct parts fine = parts_of(m, k, 1, true, p->numbers - new);
    size_t start = 0, best = 0;
    const size_t width = fine.numbers > 0 ? fewest_parts(&fine, PARTS, &start) : 0, cells = start + width > PARTS ? 2 : 1;
    for (size_t i = 1; i + cells <= PARTS; i++)
        best = sum_of(p->count, first + i, cells) > sum_of(p->count, first + best, cells) ? i : best;
    if (width == 0 || sum_of(p->count, first + best, cells) < p->numbers - 2 * p->noise * sqrt((double)cells))
        return false;
    const double at = (double)(PARTS * best + start), more = BESIDE(&fine, width);
    *from = (at - more) / PARTS;
    *to = (at + (double)width + more) / PARTS;
    return true;
}

/* The magnitude where part `at` of the bins from k on begins. */
static double edge(size_t k, int towards, double at)
{
    double low, high;
    const double bins = floor(at / PARTS);
    interval(k + (size_t)(towards * (int)bins), &low, &high);
    return fmin(fabs(low), fabs(high)) * (1 + at / PARTS - bins);
}

/* Bounds that follow the spread, if that is small: by the parts of the bin with most numbers and of its two neighbours. */
static void spread_of(const struct made *m, const struct bins *b, double numbers, struct found *f)
{
    const int towards = f->low > 0 ? 1 : -1;
    size_t k = 0, first = 0;
    double from, to;
    for (size_t i = 0; i < b->bins; i++)
        k = b->count[i] > b->count[k] ? i : k;
    const size_t away = k > b->zero ? k - b->zero : b->zero - k;
    if (!(f->low > 0 || f->high < 0) || away < 2 || away + 1 > b->zero || (k > b->zero) != (towards > 0))
        return;
    const size_t low = k - (size_t)towards;
    const struct parts p = parts_of(m, low, towards, false, numbers);
    const size_t width = fewest_parts(&p, ROUND, &first), bin = first / PARTS;
    if (width == 0)
        return;
    from = (double)first - BESIDE(&p, width);
    to = (double)(first + width) + BESIDE(&p, width);
    if (width <= 2 && (first + width - 1) / PARTS == bin &&
        second_parts(m, low + (size_t)towards * bin, &p, bin * PARTS, &from, &to)) {
        from += (double)(bin * PARTS);
        to += (double)(bin * PARTS);
    }
    from = edge(low, towards, fmax(from, 0));
    to = edge(low, towards, fmin(to, ROUND - 1));
    f->spread = to - from < SMALL * from;
    f->low = !f->spread ? f->low : towards > 0 ? fmax(f->low, from) : fmax(f->low, -to);
    f->high = !f->spread ? f->high : towards > 0 ? fmin(f->high, to) : fmin(f->high, -from);
}

/* Whether a number that may stand for a missing one, of `rows` rows, does: it is far from all others, or the only negative one;
 * or it is at the end of the bounds and, of all rows, a twentieth have it, and of the `near` numbers of its power of two, a
 * quarter as many. */
static bool is_apart(const struct found *f, double value, double rows, double all, double near)
{
    double low, high;
    interval(dp_census_cell(value, false) - 1, &low, &high);
    if (value < 0 && f->low >= 0)
        return f->high > 2; /* -1, 0 and 1 are numbers */
    return f->low < f->high && (fabs(value) >= FAR * fmax(fabs(f->low), fabs(f->high)) ||
                                ((value < 0 ? low <= f->low : high >= f->high) && rows >= 0.05 * all && rows >= 0.25 * near));
}

/* How many numbers the column has, and their bounds. missing may be NULL: then each number is one. If such a
 * number is the only frequent one, it is both bounds. A number that is apart is missing as soon as its count would be said: if
 * the count is only noise, no cell is read otherwise. */
static double numbers_of(const struct made *m, struct found *f, double *missing)
{
    struct bins b = {.bins = DP_CENSUS_BINS, .zero = DP_CENSUS_BINS / 2, .widest = 8, .widest_next = 1};
    b.noise = noise_in_bin(m);
    b.mirrored = m->mirrored;
    for (size_t k = 0; k < DP_CENSUS_BINS; k++)
        b.count[k] = in_bin(m, k);
    double sum = bounds_of(b, m->deviations, &f->low, &f->high, &f->variance), only = 0;
    const bool others = sum > 0;
    size_t frequent = 0;
    for (size_t k = 0; missing != NULL && k < DP_CENSUS_SENTINEL_COUNT; k++) {
        const double value = dp_census_sentinels[k], here = count(m, DP_CENSUS_SENTINELS + k);
        const size_t bin = dp_census_cell(value, false) - 1;
        if (here < SAID * m->scale)
            continue;
        f->sentinel[k] = others && is_apart(f, value, here, (double)m->census->rows, in_bin(m, bin));
        if (!f->sentinel[k] && here < m->mirrored * m->scale)
            continue;
        *missing += f->sentinel[k] ? here : 0;
        b.count[bin] += f->sentinel[k] ? 0 : here;
        frequent++;
        only = value;
    }
    if (missing != NULL)
        sum = bounds_of(b, m->deviations, &f->low, &f->high, &f->variance);
    spread_of(m, &b, sum, f);
    if (!others && frequent == 1)
        f->low = f->high = only;
    return sum;
}

/* The unit of most numbers that have one, or NULL. Its numbers counted less. */
static const char *unit_of(const struct made *m, double *numbers)
{
    size_t best = 0;
    for (size_t k = 0; k < DP_CENSUS_UNIT_COUNT; k++)
        best = count(m, DP_CENSUS_UNITS + k) > count(m, DP_CENSUS_UNITS + best) ? k : best;
    const double here = count(m, DP_CENSUS_UNITS + best);
    if (here < m->significant / dp_census_cell_weight(DP_CENSUS_UNITS))
        return NULL;
    *numbers += (1 - DP_CENSUS_BESIDE) * here;
    return dp_census_units[best];
}

/* How many numbers are from 16384 to 65536, as days that spreadsheets count: 1944 to 2079. */
static double serials_of(const struct made *m)
{
    const size_t k = dp_census_cell(16384, false) - 1;
    return if_significant(in_bin(m, k) + in_bin(m, k + 1), sqrt(2) * m->significant / dp_census_cell_weight(1));
}

/* Where the month comes first, a date whose day may be a month was counted as one with the day first: 12 of 30.4 may. */
#define AMBIGUOUS 0.65 /* so many for each that was not */

/* Whether dates of this format are frequent, and no other one explains them. */
static bool has_format(const struct made *m, size_t k, double least)
{
    const double other = k < DP_DATE_MONTH_FIRST ? count(m, DP_CENSUS_FORMATS + k + DP_DATE_MONTH_FIRST) : 0;
    return count(m, DP_CENSUS_FORMATS + k) >= least + (other >= least ? AMBIGUOUS * other : 0);
}

/* How many dates the column has, their bounds in days, and their formats: the most frequent one first. */
static double dates_of(const struct made *m, double *low, double *high, char *formats, double *variance)
{
    struct bins b = {.bins = DP_CENSUS_YEARS, .zero = SIZE_MAX, .widest = 64, .widest_next = 16};
    size_t from, to, best = 0;
    b.noise = m->scale / dp_census_cell_weight(DP_CENSUS_REPEATS - 1);
    for (size_t k = 0; k < DP_CENSUS_YEARS; k++)
        b.count[k] = count(m, DP_CENSUS_FORMATS + DP_DATE_FORMATS + k);
    double sum = standing_out(&b, m->deviations, &from, &to);
    formats[0] = '\0';
    if (sum == 0)
        return 0;
    *variance = (double)(to - from + 1) * b.noise * b.noise;
    *low = dp_census_first_day(from > 0 ? from : 1) - (from > 0 ? 0 : CENTURY);
    *high = dp_census_first_day(to + 1 < DP_CENSUS_YEARS ? to + 1 : to) + (to + 1 < DP_CENSUS_YEARS ? 0 : CENTURY);
    for (size_t k = 0; k < DP_DATE_FORMATS; k++)
        best = count(m, DP_CENSUS_FORMATS + k) > count(m, DP_CENSUS_FORMATS + best) ? k : best;
    const double least = m->significant / dp_census_cell_weight(DP_CENSUS_FORMATS);
    if (best < DP_DATE_MONTH_FIRST && has_format(m, best + DP_DATE_MONTH_FIRST, least))
        best += DP_DATE_MONTH_FIRST;
    strcpy(formats, dp_date_formats[best]);
    const bool time = dp_date_is_time(formats);
    for (size_t k = DP_DATE_FORMATS; k-- > 0;)
        if (k != best && has_format(m, k, least) && dp_date_is_time(dp_date_formats[k]) == time)
            strcat(strcat(formats, "|"), dp_date_formats[k]);
    if (time) {
        *low = 0;
        *high = 1;
    }
    return sum;
}

/* Names the texts that are frequent enough; returns the number of their cells. */
static double name_texts(const struct made *m, const struct dp_census_column *c, struct found *f)
{
    double sum = 0;
    for (size_t k = 0; k < c->texts; k++) {
        double here = count(m, DP_CENSUS_CELLS + k) / m->weight;
        if (here < DP_CENSUS_FLOOR + (m->threshold - DP_CENSUS_FLOOR) / m->weight)
            continue;
        f->named[f->count++] = c->text[k];
        sum += here;
    }
    return sum;
}

/* Whether the name is among the named texts of its own column: then the first line is a row. */
static bool has_name(const struct found *f, const char *name)
{
    for (size_t k = 0; k < f->count; k++)
        if (strcmp(f->named[k]->text, name) == 0)
            return true;
    return false;
}

/* How many buckets the `others` cells get that are neither missing nor numbers nor named, of which `named` are texts. */
static int buckets_of(const struct made *m, double others, bool codes, double named)
{
    const double repeats = count(m, DP_CENSUS_REPEATS) - named;
    int buckets = 1;
    while (buckets < MOST_BUCKETS && 2 * buckets * m->threshold <= 4 * others)
        buckets *= 2;
    return buckets > 2 && (codes || repeats >= 0.5 * others) ? buckets : 0;
}

/* Whether nearly all numbers are different whole numbers, but no seconds since 1970, which are dates. Salaries are such numbers,
 * too, but not where there are at most twice as many numbers as rows: of those, by chance, more would be the same. */
static bool are_different(const struct made *m, double numbers, const struct found *f, bool *in_a_row)
{
    const double rows = (double)m->census->rows, looked = fmin(1, DP_CENSUS_FIRST / rows) * numbers;
    const bool seconds = f->low >= 0x1p26 && f->high <= 0x1p31;
    *in_a_row = f->high - f->low <= 2 * rows;
    return f->numeric && f->date[0] == '\0' && numbers > 0 && !seconds && count(m, DP_CENSUS_WHOLE) >= 0.8 * looked;
}

/* How many numbers there are from 0 to the bin of `low`. */
static double below(const struct made *m, double low)
{
    const size_t zero = DP_CENSUS_BINS / 2, end = dp_census_cell(low, false) - 1;
    double sum = 0;
    for (size_t k = zero; k < end; k++)
        sum += in_bin(m, k);
    return sum;
}

/* Bounds of numbers of which many are 0, or another one, or small. others: the number of cells in no bin or text that exceeds
 * the noise. If only one number exceeds it, 0 or one that may stand for a missing one, bounds for other numbers cannot be paid
 * for, but the schema can tell larger ones from it, or smaller ones from 99. If numbers from 1 on exceed it, there may still be
 * zeros, as in an indicator with few zeros. And there may be numbers of many smaller magnitudes, each too rare, of which bounds
 * that begin at 0 lose nothing. */
static void bound_frequent(const struct made *m, double numbers, double others, struct found *f)
{
    const double noise = noise_in_bin(m);
    if (!f->numeric || f->date[0] != '\0' || numbers == 0 || others < EDGE * noise)
        return;
    if (f->low == f->high) {
        const bool larger = f->low <= 0;
        snprintf(f->lost, sizeof f->lost, "%.0f against all %s numbers, which are too rare for bounds of their own", f->low,
                 larger ? "larger" : "smaller");
        f->low -= larger ? 0 : DP_NOT_THE_SAME;
        f->high += larger ? DP_NOT_THE_SAME : 0;
        f->line = true;
        f->note = f->lost;
    } else if (f->low > 0 && f->low <= 1 && in_bin(m, DP_CENSUS_BINS / 2) >= 3 * noise) {
        f->low = 0;
        f->spread = false;
    } else if (f->low > 0 && f->low <= 0.25 * f->high && others >= 3 * sqrt(f->variance + m->scale * m->scale) &&
               below(m, f->low) >= 0.5 * others) {
        f->low = 0;
        f->small = true;
    }
}

/* Commas are decimal signs if a tenth of the numbers of some column have one. */
static bool has_commas(const struct made *m)
{
    const double least = m->significant / dp_census_cell_weight(1);
    double points = 0, commas = 0;
    for (size_t k = 0; k < DP_CENSUS_BINS; k++) {
        points += if_significant(count(m, 1 + k), least);
        commas += if_significant(count(m, 1 + DP_CENSUS_BINS + k), least);
    }
    return commas > 0 && commas >= 0.1 * points;
}

/* Finds dates, a unit, and a decimal comma in this column only. Returns how many numbers the column has. */
static double noised_numbers(const struct made *m, struct found *f, double *missing)
{
    struct made own = *m;
    double first = 0, last = 0, variance = 0;
    f->comma = m->census->delimiter == ',' && has_commas(m);
    own.comma = m->comma || f->comma;
    double numbers = numbers_of(&own, f, missing);
    const double dates = dates_of(m, &first, &last, f->date, &variance), serials = serials_of(m);
    if (dates > 0 && dates > numbers - serials) {
        f->low = first;
        f->high = last;
        f->variance = variance;
        f->comma = false;
        f->spread = false;
        memset(f->sentinel, 0, sizeof f->sentinel);
        if (serials > 0)
            strcat(f->date, "|" DP_DATE_SERIAL);
        return dates + serials;
    }
    f->date[0] = '\0';
    f->unit = unit_of(m, &numbers);
    return numbers;
}

/* Whether a text with a name is a code. Then the numbers of the column are codes, too. */
static bool has_codes(const struct found *f)
{
    for (size_t k = 0; k < f->count; k++)
        if (dp_census_is_code(f->named[k]->text, f->named[k]->length))
            return true;
    return false;
}

/* Whether all numbers of a column are one that can have a category. */
static bool is_one_number(const struct found *f)
{
    return f->date[0] == '\0' && f->low >= 0 && f->high <= WHOLE && f->high - f->low <= f->low / PARTS;
}

/* Names the whole numbers below WHOLE of a column of texts, for each bin above the noise; returns the number of its cells. */
static double name_whole(const struct made *m, struct found *f)
{
    double sum = 0, low, high;
    for (int first = 0; first < WHOLE && f->unit == NULL && f->date[0] == '\0'; first += first > 0 ? first : 1) {
        const size_t k = dp_census_cell(first, false) - 1;
        const double here = in_bin(m, k);
        if (here < SAID * noise_in_bin(m))
            continue;
        interval(k, &low, &high);
        for (int number = first; number == first || number < high; number++)
            f->whole |= 1u << number;
        sum += here;
    }
    return sum;
}

/* Says how many cells have a number that may stand for a missing one and is beyond the bounds, if they are above the noise. */
static void tell_cut(const struct made *m, struct found *f)
{
    for (size_t k = 0; f->note == NULL && f->numeric && f->date[0] == '\0' && !f->line && k < DP_CENSUS_SENTINEL_COUNT; k++) {
        const double value = dp_census_sentinels[k], here = count(m, DP_CENSUS_SENTINELS + k);
        if (here < SAID * m->scale || f->sentinel[k] || (value >= f->low && value <= f->high))
            continue;
        snprintf(f->lost, sizeof f->lost, "about %.0f cells, give or take %.0f, are %.0f: it counts as the bound", here,
                 2 * m->scale, value);
        f->note = f->lost;
    }
}

/* Says how many cells no number or date explains, or, of texts, are numbers, if they are above the noise. */
static void tell_lost(const struct made *m, double cells, struct found *f)
{
    const double noise = sqrt(f->variance + m->scale * m->scale); /* also of the count of missing cells */
    tell_cut(m, f);
    if (f->line || f->small || f->why != NULL || cells < SAID * noise)
        return;
    if (f->numeric)
        snprintf(f->lost, sizeof f->lost, "about %.0f cells, give or take %.0f, cannot be read as %s, or are beyond the bounds",
                 cells, 2 * noise, f->date[0] != '\0' ? "dates" : "numbers");
    else if (f->whole != 0)
        snprintf(f->lost, sizeof f->lost,
                 "about %.0f cells, give or take %.0f, are numbers: only whole ones below %d have categories", cells, 2 * noise,
                 WHOLE);
    else
        snprintf(f->lost, sizeof f->lost, "about %.0f cells, give or take %.0f, are %s, and no category: it is taken for texts",
                 cells, 2 * noise, f->date[0] != '\0' ? "dates" : "numbers");
    f->note = f->lost;
}

/* Says what becomes of `others` cells with a text that is too rare to be named, if they are above the noise. */
static void tell_unnamed(const struct made *m, double others, struct found *f)
{
    const double noise = sqrt(f->variance + (double)(f->count + 1) * m->scale * m->scale);
    if (f->numeric || f->why != NULL || f->note != NULL || others < SAID * noise || (f->buckets > 0 && f->count > 0))
        return;
    if (f->buckets > 0)
        snprintf(f->lost, sizeof f->lost,
                 "no text of it is frequent enough to be named; is it a number in a notation that is "
                 "not read?");
    else
        snprintf(f->lost, sizeof f->lost,
                 "about %.0f cells, give or take %.0f, have a text that is too rare to be named: they have "
                 "no category",
                 others, 2 * noise);
    f->note = f->lost;
}

/* Whether the column is left out, or what is doubtful of it. */
static void decide(const struct made *m, const struct dp_census_column *c, double numbers, struct found *f)
{
    bool in_a_row;
    const bool different = are_different(m, numbers, f, &in_a_row);
    if (c->name[0] == '\0')
        f->why = "it has no name, as a column that numbers the rows";
    else if (c->identifier && (f->numeric || f->count == 0))
        f->why = "its name looks like an identifier";
    else if (different && in_a_row)
        f->why = "its numbers are different whole numbers, hardly more than there are rows, as in identifiers";
    else if (f->numeric && f->low == f->high)
        f->why =
            numbers > 0
                ? "its numbers do not differ by what was paid for"
                : "no number, date or text of it is frequent enough: these are names, free texts, or numbers in a notation "
                  "that is not read";
    else if (different && c->perhaps)
        f->why = "its name may be the name of an identifier, and nearly all its numbers are different";
    else if (different)
        f->note = "nearly all its numbers are different: if it is an identifier, --without leaves it out";
    else if (strstr(f->date, "%m/%d/") != NULL && strstr(f->date, "%d/%m/") != NULL)
        f->note = "if a date can have either, its month is taken to be first: a guess, which \"date\" in the schema decides";
}

/* For numbers where most cells are others. */
static struct made surer(const struct made *m)
{
    struct made sure = *m;
    sure.deviations = m->sure;
    sure.significant = m->scale * m->sure;
    sure.mirrored = m->sure;
    return sure;
}

static void noised_feature(const struct made *m, const struct dp_census_column *c, struct found *f)
{
    const double absent = if_significant(count(m, 0), m->significant);
    const double named = name_texts(m, c, f), rows = (double)m->census->rows - named;
    const bool codes = has_codes(f);
    const struct found texts = *f;
    double missing = absent, numbers = noised_numbers(m, f, &missing);
    if (!codes && 2 * numbers < rows - missing) { /* with hundreds of counts, one may be noise */
        const struct made sure = surer(m);
        *f = texts;
        missing = absent;
        numbers = noised_numbers(&sure, f, &missing);
    }
    const double others = rows - missing - (codes ? 0 : numbers);
    f->buckets = buckets_of(m, others, codes, named);
    f->numeric = !codes && numbers >= named + (f->buckets > 0 ? others : 0) && !(f->count > 0 && is_one_number(f));
    const double whole = f->numeric || numbers == 0 ? 0 : name_whole(m, f);
    bound_frequent(m, numbers, others, f);
    f->absent = f->numeric && f->count > 0;
    f->missing = missing > 0 || f->absent;
    f->fill = f->missing ? NAN : f->low + 0.5 * (f->high - f->low);
    decide(m, c, numbers, f);
    tell_unnamed(m, others - (codes ? whole : 0), f);
    if (f->numeric)
        tell_lost(m, (double)m->census->rows - count(m, 0) - (missing - absent) - numbers - named, f);
    else if (!codes)
        tell_lost(m, numbers, f);
}

/* noise: of the count, or 0 for an exact one. why: "", or which label they do not have, or, after a comma, that these rows may
 * have other labels. */
static void lost_rows(json_t *o, double rows, double noise, const char *why)
{
    const char *end =
        why[0] == ',' ? ", are not measured, and it is never predicted (--classes names it)" : " and are not measured";
    if (rows == 0 || rows < SAID * noise)
        return;
    char *about = noise > 0 ? dp_format("about %.0f rows, give or take %.0f,", rows, 2 * noise) : dp_format("%.0f rows", rows);
    add_note(o, json_sprintf("%s have no label%s: they teach nothing%s", about, why, end));
    free(about);
}

/* Nothing was paid for the names of these classes; their counts show what may be a mistake. Below one sigma the name is a
 * question: a class of 280 of 3,000 rows, 3.2 sigma if epsilon is 1, is asked about in one of 70 runs, and a class without a
 * row passes in one of six. */
static void named_label(const struct made *m, json_t *o)
{
    const struct dp_schema *known = &m->census->known;
    json_t *classes = known_classes(known);
    put_label(o, classes, m->census->others ? known->class[0].text[0] : "zero", false, NULL);
    json_decref(classes);
    for (size_t k = 0; k < known->classes; k++) {
        const double rows = count(m, DP_CENSUS_CELLS + k);
        if (rows < SAID * m->scale)
            add_note(o, json_sprintf("about %.0f rows, give or take %.0f, have the class '%s'", fmax(rows, 0), 2 * m->scale,
                                     known->class[k].text[0]));
        if (rows < m->scale)
            json_object_set_new(o, DP_PROPOSE_DOUBTFUL, json_string(known->class[k].text[0]));
    }
    lost_rows(o, count(m, 0), m->scale, m->census->others ? "" : ", or one that --classes does not name");
}

/* How many numbers are in bins beyond the bounds, with the noise on their sum. */
static double beyond(const struct made *m, const struct found *f, double *noise)
{
    double low, high, sum = 0;
    size_t bins = 0;
    for (size_t k = 0; k < DP_CENSUS_BINS; k++) {
        interval(k, &low, &high);
        if (low == high ? low >= f->low && low <= f->high : low < f->high && high > f->low)
            continue;
        sum += in_bin(m, k);
        bins++;
    }
    *noise = noise_in_bin(m) * sqrt((double)bins);
    return sum;
}

/* Says which labels `left` rows without a number within the bounds have: numbers beyond the bounds, or texts. If a label may
 * have both, the bins beyond the bounds tell; there are many of them, so they cannot tell if the rows are few. */
static void cut_rows(const struct made *m, const struct found *f, json_t *o, double left)
{
    const double of_left = sqrt(f->variance + m->scale * m->scale);
    double noise = of_left, numbers = left;
    if (left < SAID * of_left)
        return;
    if (m->census->said != DP_CENSUS_NUMBER)
        numbers = beyond(m, f, &noise);
    const bool some = numbers >= SAID * noise, texts = left - numbers >= SAID * hypot(of_left, noise);
    if (!some && !texts)
        add_note(o, json_sprintf("about %.0f rows, give or take %.0f, have a label beyond the bounds, which counts as the "
                                 "bound, or no label that is a number",
                                 left, 2 * of_left));
    if (some)
        add_note(o, json_sprintf("about %.0f rows, give or take %.0f, have a label beyond the bounds: it counts as the bound",
                                 numbers, 2 * noise));
    if (texts)
        lost_rows(o, some ? left - numbers : left, some ? hypot(of_left, noise) : of_left, " that is a number");
}

/* Counts are from 0 on. Returns how many numbers are below the bounds that they had. */
static double bound_counts(const struct made *m, struct found *f)
{
    const double small = m->census->count && f->low > 0 ? below(m, f->low) : 0;
    f->low = m->census->count ? 0 : f->low;
    return small;
}

/* How many numbers are larger than the named ones, which are 0, 1 and so on up to `largest`, in the next three bins. */
static double larger(const struct made *m, const struct dp_census_column *c, const struct found *f, double largest)
{
    const double first = exp2(floor(log2(largest + 1)));
    double sum = 0, value;
    for (int k = 0; k < 3; k++)
        sum += in_bin(m, dp_census_cell(ldexp(first, k), false) - 1);
    for (size_t k = 0; k < c->texts; k++)
        for (size_t i = 0; i < f->count; i++)
            if (c->text[k] == f->named[i] && dp_number_real(f->named[i]->text, &value) && value >= first)
                sum -= count(m, DP_CENSUS_CELLS + k) / m->weight;
    return sum;
}

/* Whether the named texts are 0, 1, 2 and so on, and `left` rows have others, above the noise, most of them larger numbers: a
 * count of which only the small values are frequent. If only 0 and 1 are named, numbers beyond 2 have to stand out. */
static bool is_counted(const struct made *m, const struct dp_census_column *c, const struct found *f, double left, double noise)
{
    double value = 0, largest = 0, sum = 0;
    bool all = f->count > 1;
    for (size_t k = 0; k < f->count; k++) {
        all = all && dp_number_real(f->named[k]->text, &value) && value >= 0 && value == floor(value);
        largest = fmax(largest, value);
        sum += value;
    }
    const double count = largest + 1;
    return all && count == (double)f->count && sum == 0.5 * largest * count && (count > 2 || f->high > 2) &&
           left >= SAID * noise && larger(m, c, f, largest) >= 0.5 * left;
}

/* How many numbers the label has. Where more rows have named classes, these numbers must be sure. */
static double label_numbers(const struct made *m, double named, struct found *f)
{
    const struct found texts = *f;
    const struct made sure = surer(m);
    double numbers = numbers_of(m, f, NULL);
    if (numbers < named) {
        *f = texts;
        numbers = numbers_of(&sure, f, NULL);
    }
    return numbers;
}

/* A label whose classes are guessed, or a number. */
static int guessed_label(const struct made *m, const struct dp_census_column *c, struct found *f, json_t *o, struct dp_err *err)
{
    const bool number = m->census->said == DP_CENSUS_NUMBER;
    const double named = number ? 0 : name_texts(m, c, f), rows = (double)m->census->rows, missing = count(m, 0);
    const double numbers = label_numbers(m, named, f);
    const double noise = m->scale / m->weight * sqrt((double)f->count); /* of the sum of what is named */
    const double small = bound_counts(m, f);
    json_t *classes = folded(f->named, f->count);
    const size_t n = json_array_size(classes);
    const bool counted = is_counted(m, c, f, rows - named - missing, hypot(noise, m->scale));
    const bool apart = n >= 2 && !counted && (numbers == 0 || (n <= MOST_CLASSES && named >= (n == 2 ? 0.8 : 0.95) * rows));
    /* of a number, nearly all rows may have one class */
    const bool alone = n == 1 && (f->low == f->high || named >= 0.5 * rows);
    char *others = alone ? dp_format("not %s", f->named[0]->text) : NULL;
    if (alone)
        json_array_append_new(classes, json_string(others));
    put_label(o, apart || alone ? classes : NULL, alone ? others : "zero", m->census->count, f);
    json_decref(classes);
    if (alone) {
        const double left = rows - named - missing, of_left = hypot(noise, m->scale);
        add_note(
            o, json_sprintf("only '%s' is frequent enough to be named: all other texts are one class, of about %.0f rows, give "
                            "or take %.0f%s (--classes names classes without payment)",
                            f->named[0]->text, fmax(left, 0), 2 * of_left,
                            left < 1.5 * of_left ? ": perhaps no row has one, and there is nothing to learn" : ""));
    }
    lost_rows(o, apart ? rows - named : missing, apart ? noise : m->scale,
              apart ? ", or a class that is too rare to be named" : "");
    if (!apart && !alone)
        cut_rows(m, f, o, rows - missing - numbers - small);
    free(others);
    if (apart || alone || f->low < f->high)
        return DP_OK;
    return dp_fail(err, DP_E_UNSAFE, "no %s of the label is frequent enough for what was paid",
                   number ? "number" : "class or number (a date is neither)");
}

/* Whether the first line is a row, since names are among the texts of their own columns: one name, or, if the user has given the
 * name of the label, this one and another one. Adds to the columns of such names that they are taken for names. */
static bool is_row(const struct dp_census *census, json_t *columns, const bool *same)
{
    bool others = false, label = same[census->label];
    for (size_t i = 0; i < census->columns; i++)
        others |= same[i] && i != census->label;
    const bool row = census->named ? label && others : label || others;
    for (size_t i = 0; !row && i < census->columns; i++)
        if (same[i] && census->header == 0)
            add_note(json_array_get(columns, i), json_string("its name is one of its texts, too: the first line is taken for "
                                                             "names, a guess, and --no-header makes it a row"));
    return census->header < 0 || (row && census->header == 0);
}

/* The column and its counts. *features: it is a feature. *same: its name is one of its texts. */
static int noised_column(const struct made *m, size_t i, json_t *o, bool *features, bool *same, struct dp_err *err)
{
    const struct dp_census_column *c = &m->census->column[i];
    struct found f = {.fill = NAN, .words = m->words, .others = true};
    f.named = dp_new(c->texts + 1, sizeof *f.named);
    int rc = DP_OK;
    if (i == m->census->label) {
        if (m->census->said == DP_CENSUS_CLASSES)
            named_label(m, o);
        else
            rc = guessed_label(m, c, &f, o, err);
    } else if (!put_person(m->census, i, o)) {
        if (c->out)
            f.why = out;
        else
            noised_feature(m, c, &f);
        put_feature(o, &f);
        if (f.why == NULL && f.spread && f.numeric)
            add_note(o, json_string("its bounds follow its spread, which is small against its numbers"));
        *features |= f.why == NULL;
    }
    *same = (json_object_get(o, "categories") != NULL || json_object_get(o, "classes") != NULL) && has_name(&f, c->name);
    free(f.named);
    return rc;
}

/* Takes the cells of the first line back, which are one person's. */
static void number_columns(json_t *columns)
{
    size_t i;
    json_t *o;
    json_array_foreach (columns, i, o)
        json_object_set_new(o, "name", json_sprintf("column%zu", i + 1));
}

/* The words in lower case, with a capital, and in capitals; or in every case: the words of a schema are exact. */
static json_t *spellings(const char *const *words, bool every)
{
    json_t *list = json_array();
    for (; *words != NULL; words++) {
        const size_t length = strlen(*words);
        for (unsigned capitals = 0; capitals < 1u << length; capitals++) {
            char text[8] = "";
            bool good = every || capitals <= 1 || capitals == (1u << length) - 1;
            for (size_t i = 0; i < length; i++) {
                text[i] = (char)(capitals >> i & 1 ? toupper((*words)[i]) : tolower((*words)[i]));
                good = good && (!(capitals >> i & 1) || isalpha((unsigned char)text[i]));
            }
            if (good)
                json_array_append_new(list, json_string(text));
        }
    }
    return list;
}

/* missing, columns: are taken over. */
static void put_table(json_t *schema, const struct dp_census *census, bool header, bool comma, json_t *missing, json_t *columns)
{
    json_object_set_new(schema, "delimiter", json_stringn(&census->delimiter, 1));
    json_object_set_new(schema, "header", json_boolean(header));
    json_object_set_new(schema, "missing", missing);
    if (comma)
        json_object_set_new(schema, "decimal", json_string(","));
    json_object_set_new(schema, "columns", columns);
}

int dp_propose_noised(const struct dp_census *census, const int64_t *noised, int64_t unit, double scale, double threshold,
                      json_t **schema, struct dp_err *err)
{
    struct made m = {
        .census = census, .noised = noised, .unit = (double)unit, .scale = scale, .threshold = threshold, .weight = 1};
    json_t *list = json_array();
    bool features = false, *same = dp_new(census->columns + 1, sizeof *same);
    int rc = DP_OK;
    const double tests = (double)(census->columns * (DP_CENSUS_CELLS - DP_CENSUS_FORMATS +
                                                     DP_CENSUS_FIRST_PART)); /* two sets of neighbours for a cell */
    m.deviations = dp_census_quantile(0.005 / tests);
    m.sure = dp_census_quantile(SURE / tests);
    m.significant = scale * m.deviations;
    m.mirrored = dp_census_quantile(0.005 / (double)(16 * census->columns)); /* eight bins, and neighbours among them */
    for (size_t i = 0; i < census->columns; m.noised += DP_CENSUS_CELLS + census->column[i++].texts)
        m.comma = (census->delimiter != ',' && has_commas(&m)) || m.comma;
    m.noised = noised;
    m.words = spellings(dp_census_doubtful, false);
    for (size_t i = 0; rc == DP_OK && i < census->columns; m.noised += DP_CENSUS_CELLS + census->column[i++].texts) {
        json_t *o = json_pack("{s:s}", "name", census->column[i].name);
        m.weight = i == census->label ? dp_census_weight(census, unit) : 1;
        rc = noised_column(&m, i, o, &features, &same[i], err);
        json_array_append_new(list, o);
    }
    json_decref(m.words);
    if (rc == DP_OK && !features)
        rc = dp_fail(err, DP_E_UNSAFE, "no feature has values that are frequent enough for what was paid");
    const bool row = is_row(census, list, same);
    if (row)
        number_columns(list);
    free(same);
    *schema = rc == DP_OK ? json_object() : NULL;
    json_t *missing = spellings(dp_census_absent, true);
    for (const char *const *word = dp_census_written; *word != NULL; word++)
        json_array_append_new(missing, json_string(*word));
    put_table(*schema, census, !row, m.comma, missing, list);
    return rc;
}

/* --- the schema, from exact facts */

/* The notation of a column: a date, or the notation of the table. Eight digits are dates if each of them is one of two
 * centuries. */
static int notation_of(const struct dp_census_exact *x, int notation)
{
    const struct dp_census_range *compact = &x->range[DP_CENSUS_DATES + DP_DATE_COMPACT];
    if (compact->all && compact->low >= dp_census_first_day(1) && compact->high < dp_census_first_day(DP_CENSUS_YEARS - 1))
        return DP_CENSUS_DATES + DP_DATE_COMPACT;
    for (int k = DP_CENSUS_DATES; k < DP_CENSUS_NOTATIONS && !x->range[notation].all; k++)
        if (x->range[k].all)
            return k;
    return notation;
}

/* Whether the first line has the names of the columns: no name is a number, and in some column the name differs from the cells
 * below it. The column of row numbers that R and pandas write has an empty name. */
static bool has_header(const struct dp_census *census)
{
    bool different = false, repeated = false, named = false;
    double value;
    for (size_t i = 0; i < census->columns; i++) {
        const struct dp_census_column *c = &census->column[i];
        const size_t length = strlen(c->name);
        const int notation = notation_of(c->exact, DP_CENSUS_POINT);
        named |= length > 0;
        if (dp_census_is_number(DP_CENSUS_POINT, c->name, length, &value) ||
            dp_census_is_number(DP_CENSUS_COMMA, c->name, length, &value) ||
            (notation >= DP_CENSUS_DATES && dp_census_is_number(notation, c->name, length, &value)))
            return false;
        different |= c->exact->cells > 0 && (c->exact->range[notation].all || c->exact->range[DP_CENSUS_COMMA].all);
        repeated |= dp_text_index_find(&c->index, c->name, length, -1) >= 0;
    }
    return named && (different || (!repeated && census->rows > 1));
}

/* Whether all numbers of a column can be read with a decimal comma, and not all of them with a point. */
static bool needs_commas(const struct dp_census *census)
{
    for (size_t i = 0; i < census->columns && census->delimiter != ','; i++) {
        const struct dp_census_exact *x = census->column[i].exact;
        if (x->cells > x->doubtful && x->range[DP_CENSUS_COMMA].all && !x->range[DP_CENSUS_POINT].all)
            return true;
    }
    return false;
}

/* Adds the column's words for missing values to the list, each once. */
static void add_words(json_t *list, const struct dp_census_column *c, bool doubtful)
{
    for (size_t k = 0; k < c->seen_count; k++) {
        const struct dp_census_text *text = c->seen[k];
        size_t i = 0;
        if (doubtful ? !dp_census_is_doubtful(text->text, text->length) : !dp_census_is_absent(text->text, text->length))
            continue;
        while (i < json_array_size(list) && strcmp(json_string_value(json_array_get(list, i)), text->text) != 0)
            i++;
        if (i == json_array_size(list))
            json_array_append_new(list, json_string(text->text));
    }
}

/* The reason why a column does not become a feature, or NULL. */
static const char *left_out(const struct dp_census_column *c, const struct found *f)
{
    const struct dp_census_exact *x = c->exact;
    const bool full = f->count == DP_CENSUS_DIFFERENT;
    if (c->out)
        return out;
    if (x->cells == 0)
        return "no row has a value";
    if (!f->numeric && full)
        return "it is not numeric and has 1000 different texts or more (\"type\": \"text\" takes its words)";
    if (!f->numeric && x->cells >= FEW_ROWS && 2 * f->count > x->cells)
        return "more than half of its texts are different, as in names, identifiers and free text";
    if ((c->identifier && (f->numeric || full || f->count == x->cells) && x->cells > 1) ||
        (c->perhaps && (full || f->count == x->cells) && x->cells >= FEW_ROWS))
        return "its name and its values look like an identifier";
    if (f->numeric && f->date[0] != '\0' && f->low == f->high)
        return "all its dates are the same";
    if (f->numeric && x->counts && x->cells >= FEW_ROWS)
        return "it counts the rows";
    return NULL;
}

/* The classes that the user has named; and how many rows have each, and none. */
static void exact_classes(const struct dp_census *census, const struct dp_census_column *c, json_t *o)
{
    const struct dp_schema *known = &census->known;
    json_t *classes = known_classes(known);
    size_t lost = c->exact->missing;
    put_label(o, classes, census->others ? known->class[0].text[0] : "zero", false, NULL);
    json_decref(classes);
    for (size_t k = census->others; k < known->classes; k++) {
        bool there = false;
        for (size_t i = 0; i < c->seen_count; i++)
            there |= dp_texts_find(&known->class[k], c -> seen[i] -> text, c -> seen[i] -> length) >= 0;
        if (!there)
            add_note(o, json_sprintf("no row has the class '%s'", known->class[k].text[0]));
    }
    for (size_t i = 0; i < c->seen_count && !census->others; i++) {
        bool named = dp_census_is_absent(c->seen[i]->text, c->seen[i]->length);
        for (size_t k = 0; k < known->classes; k++)
            named |= dp_texts_find(&known->class[k], c -> seen[i] -> text, c -> seen[i] -> length) >= 0;
        lost += named ? 0 : (size_t)c->seen[i]->count;
    }
    lost_rows(o, (double)lost, 0, census->others ? "" : ", or one that --classes does not name");
}

static int exact_label(const struct dp_census *census, struct found *f, json_t *o, struct dp_err *err)
{
    const struct dp_census_column *c = &census->column[census->label];
    const bool classes = census->said == DP_CENSUS_GUESS && (!f->numeric || f->count <= MOST_CLASSES);
    json_t *list = folded(f->named, f->count);
    int rc = DP_OK;
    if (census->said == DP_CENSUS_CLASSES)
        exact_classes(census, c, o);
    else if (census->said == DP_CENSUS_NUMBER && !f->numeric)
        rc = dp_fail(err, DP_E_RUN, "--number: the label '%s' of %s has cells that cannot be read as numbers", c->name,
                     census->input);
    else if (classes && json_array_size(list) < 2)
        rc = dp_fail(err, DP_E_RUN, "%s: the label '%s' has only one class, so there is nothing to learn", census->input,
                     c->name);
    else if (classes && f->count == DP_CENSUS_DIFFERENT)
        rc = dp_fail(err, DP_E_RUN,
                     "%s: the label '%s' has %d different texts or more: --label %s=CLASS takes one of them against all others",
                     census->input, c->name, DP_CENSUS_DIFFERENT, c->name);
    else if (census->count && f->low < 0)
        rc = dp_fail(err, DP_E_RUN, "--count: the label '%s' of %s has numbers below 0", c->name, census->input);
    else {
        f->low = census->count ? 0 : f->low;
        put_label(o, classes ? list : NULL, c->exact->missing > 0 ? "zero" : NULL, census->count, f);
        lost_rows(o, (double)c->exact->missing, 0, "");
    }
    json_decref(list);
    return rc;
}

/* Makes it a column of dates if each of its cells has some format. Months come first where they must. */
static void take_formats(const struct dp_census_exact *x, struct found *f)
{
    f->numeric = x->dates.all;
    f->low = x->dates.low;
    f->high = x->dates.high;
    for (size_t k = DP_DATE_FORMATS; f->numeric && k-- > 0;)
        if (x->format[k])
            strcat(strcat(f->date, f->date[0] != '\0' ? "|" : ""), dp_date_formats[k]);
}

/* Numbers that may stand for a missing one: as in noised counts, but FLOOR rows have a negative one among others. */
static void exact_sentinels(const struct dp_census_exact *x, bool label, struct found *f)
{
    const struct found others = *f;
    for (size_t k = 0; k < DP_CENSUS_SENTINEL_COUNT; k++) {
        const double value = dp_census_sentinels[k], here = (double)x->sentinel[k];
        const bool apart = !label && here > 0 && others.low < others.high && is_apart(&others, value, 0, INFINITY, 0);
        f->sentinel[k] = apart && (value > 0 || others.low < 0 || fabs(value) >= FAR * others.high || here >= DP_CENSUS_FLOOR);
        if (here > 0 && !f->sentinel[k]) {
            f->low = fmin(f->low, value);
            f->high = fmax(f->high, value);
        }
    }
}

/* Describes the numbers of a column. A label has no dates and no units. */
static void exact_numbers(const struct dp_census *census, bool label, const struct dp_census_exact *x, int notation,
                          struct found *f)
{
    f->comma = !label && census->delimiter == ',' && x->range[DP_CENSUS_COMMA].all && !x->range[notation].all;
    notation = label ? notation : notation_of(x, f->comma ? DP_CENSUS_COMMA : notation);
    f->numeric = x->range[notation].all && x->cells > x->doubtful && !(label && x->unit > 0);
    f->low = x->range[notation].low;
    f->high = x->range[notation].high;
    if (notation < DP_CENSUS_DATES)
        exact_sentinels(x, label, f);
    if (f->numeric && notation >= DP_CENSUS_DATES)
        strcpy(f->date, dp_date_formats[notation - DP_CENSUS_DATES]);
    else if (f->numeric && x->unit > 0)
        f->unit = dp_census_units[x->unit - 1];
    else if (!f->numeric && !label && x->cells > x->doubtful)
        take_formats(x, f);
}

static int exact_column(const struct dp_census *census, size_t i, int notation, json_t *o, struct dp_err *err)
{
    const struct dp_census_column *c = &census->column[i];
    const struct dp_census_exact *x = c->exact;
    struct found f = {.fill = NAN};
    f.named = dp_new(c->seen_count + 1, sizeof *f.named);
    int rc = DP_OK;
    for (size_t k = 0; k < c->seen_count && f.count < DP_CENSUS_DIFFERENT; k++)
        if (!dp_census_is_absent(c->seen[k]->text, c->seen[k]->length))
            f.named[f.count++] = c->seen[k];
    exact_numbers(census, i == census->label, x, notation, &f);
    if (i == census->label) {
        rc = exact_label(census, &f, o, err);
    } else if (!put_person(census, i, o)) {
        f.missing = x->missing > 0 || (f.numeric && x->doubtful > 0);
        for (size_t k = 0; f.numeric && k < DP_CENSUS_SENTINEL_COUNT; k++)
            f.missing |= f.sentinel[k];
        f.fill = f.low == f.high && f.missing ? f.low : NAN;
        f.words = x->doubtful > 0 ? json_array() : NULL;
        add_words(f.words, c, true);
        f.why = left_out(c, &f);
        put_feature(o, &f);
        json_decref(f.words);
    }
    free(f.named);
    return rc;
}

int dp_propose_exact(struct dp_census *census, const struct dp_import *import, json_t **schema, struct dp_err *err)
{
    *schema = NULL;
    if (census->column[0].exact == NULL)
        return dp_fail(err, DP_E_UNSAFE, "a census for a schema that is paid for has nothing else");
    const bool header = census->named || (census->header == 0 && has_header(census));
    int rc = header ? dp_census_check_names(census, err) : DP_OK;
    if (!header && census->header == 0)
        dp_census_take_first_line(census);
    rc = rc ?: dp_census_choose(census, import, err);
    if (header)
        rc = rc ?: dp_propose_ask(census, import, true, err);
    if (rc != DP_OK)
        return rc;
    const bool comma = needs_commas(census);
    const int notation = comma ? DP_CENSUS_COMMA : DP_CENSUS_POINT;
    json_t *list = json_array(), *missing = json_array(),
           *label = json_pack("{s:s}", "name", census->column[census->label].name);
    /* the label first, because the others, in a very wide table, take a gigabyte */
    rc = exact_column(census, census->label, notation, label, err);
    for (size_t i = 0; rc == DP_OK && i < census->columns; i++) {
        json_t *o = i == census->label ? json_incref(label) : json_pack("{s:s}", "name", census->column[i].name);
        rc = i == census->label ? DP_OK : exact_column(census, i, notation, o, err);
        add_words(missing, &census->column[i], false);
        json_array_append_new(list, o);
    }
    json_decref(label);
    *schema = rc == DP_OK
                  ? json_pack("{s:s, s:[s]}", "note",
                              "Inferred from the data: bounds and categories come from private rows. Read it, put public "
                              "values in, then drop inferred-schema below.",
                              "private_preprocessing", "inferred-schema")
                  : NULL;
    put_table(*schema, census, header, comma, missing, list);
    return rc;
}
