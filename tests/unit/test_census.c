/* The counts that a schema is paid for: what one row moves, thresholds, and what is made of noised counts. */
#include "unit.h"

#include <time.h>
#include <unistd.h>

#include "data/date.h"
#include "data/propose.h"

/* Options about the label. */
static struct dp_import_source source;

/* The table of a test, which grows row by row, and the last schema that was proposed for one. */
static struct {
    char text[400000];
    size_t length;
} table;
static json_t *schema;

static __attribute__((format(printf, 1, 2))) void add(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    table.length += (size_t)vsnprintf(table.text + table.length, sizeof table.text - table.length, format, args);
    va_end(args);
    assert_true(table.length < sizeof table.text);
}

static void begin(const char *head)
{
    table.length = 0;
    add("%s", head);
}

/* An entry of a column of the schema, or the column, or NULL. */
static json_t *of(size_t column, const char *key)
{
    json_t *o = json_array_get(json_object_get(schema, "columns"), column);
    return key != NULL ? json_object_get(o, key) : o;
}

/* The column as compact JSON, until the next call. */
static const char *said(size_t column, size_t flags)
{
    static char *text;
    free(text);
    text = json_dumps(of(column, NULL), JSON_COMPACT | flags);
    return text;
}

/* Expects an entry to be that text, or JSON where it is not text; NULL: not there. */
static void says(size_t column, const char *key, const char *expected)
{
    const json_t *value = of(column, key);
    char *json = value != NULL ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15)) : NULL;
    const char *is = json_is_string(value) ? json_string_value(value) : json;
    if ((is == NULL) != (expected == NULL) || (is != NULL && strcmp(is, expected) != 0))
        fail_msg("%zu: %s, not %s", column, is, expected);
    free(json);
}

static void read_for(struct dp_census *census, enum dp_census_use use, const char *text)
{
    char path[] = "census-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    struct dp_import import = {.source = source};
    import.source.input = path;
    *census = (struct dp_census){0};
    assert_int_equal(dp_census_read(census, &import, use, NULL), DP_OK);
    unlink(path);
}

static void read_text(struct dp_census *census, const char *text)
{
    read_for(census, DP_CENSUS_PAID, text);
}

/* A census for a payment has counts only, and nothing is proposed from it but with noise. */
TEST(a_census_that_is_paid_for_has_no_exact_facts)
{
    static const char rows[] = "x,y\n1.5,a\n2.5,b\n";
    const struct dp_import import = {.source.input = "t.csv"};
    struct dp_census census;
    read_text(&census, rows);
    for (size_t i = 0; i < 2; i++)
        assert_null(census.column[i].exact);
    assert_int_equal(census.column[0].seen_count, 0);
    assert_int_equal(dp_propose_exact(&census, &import, &schema, &err), DP_E_UNSAFE);
    assert_null(schema);
    dp_census_free(&census);
    read_for(&census, DP_CENSUS_UNPAID, rows);
    assert_null(census.column[0].cell);
    assert_null(census.column[1].cell);
    assert_int_equal(dp_propose_exact(&census, &import, &schema, &err), DP_OK);
    dp_census_free(&census);
}

/* The cell of a value, by logarithms. */
TEST(numbers_have_the_cell_of_their_power_of_two)
{
    const int middle = 1 + (DP_CENSUS_MOST - DP_CENSUS_LEAST + 1);
    assert_int_equal(dp_census_cell(0, false), middle);
    for (int i = -400; i <= 400; i++) {
        double value = pow(2, i / 7. + 0.01);
        int step = (int)floor(log2(value)) + 1 - DP_CENSUS_LEAST;
        step = value < ldexp(1, DP_CENSUS_LEAST)         ? 0
               : step < DP_CENSUS_MOST - DP_CENSUS_LEAST ? step
                                                         : DP_CENSUS_MOST - DP_CENSUS_LEAST;
        assert_int_equal(dp_census_cell(value, false), middle + step);
        assert_int_equal(dp_census_cell(-value, false), middle - step);
        assert_int_equal(dp_census_cell(value, true), middle + step + DP_CENSUS_BINS);
    }
    assert_true(dp_census_cell(-1e300, false) >= 1 && dp_census_cell(1e300, true) < DP_CENSUS_CELLS);
}

/* A null record is in no cell: a table with and without a row. Texts are matched by name, because the lists differ. */
static double distance(const struct dp_census *a, const struct dp_census *b)
{
    double sum = 0;
    for (size_t i = 0; i < a->columns; i++) {
        const struct dp_census_column *x = &a->column[i], *y = &b->column[i];
        const double weight = i == a->label ? dp_census_weight(a, 1 << 20) : 1;
        for (size_t k = 0; k < DP_CENSUS_CELLS; k++) {
            const double of_cell = k == 0                                    ? 1
                                   : k < DP_CENSUS_FIRST_PART                ? 0.97
                                   : k < DP_CENSUS_SECOND_PART               ? 0.243
                                   : k < DP_CENSUS_FORMATS                   ? 0.25
                                   : k < DP_CENSUS_FORMATS + DP_DATE_FORMATS ? 0.6
                                   : k < DP_CENSUS_REPEATS                   ? 0.8
                                   : k < DP_CENSUS_UNITS                     ? 0.25
                                   : k < DP_CENSUS_SENTINELS                 ? 0.6
                                                                             : 1;
            const int64_t more = x->measured != NULL && k < DP_CENSUS_FORMATS ? x->measured[k] : 0;
            sum += pow(of_cell * ((double)(x->cell[k] - y->cell[k]) + 0.8 * (double)more), 2);
        }
        for (size_t k = 0; k < x->texts; k++) {
            int64_t other = 0;
            for (size_t l = 0; l < y->texts; l++)
                if (x->text[k]->length == y->text[l]->length &&
                    memcmp(x->text[k]->text, y->text[l]->text, x->text[k]->length) == 0)
                    other = y->text[l]->count;
            sum += pow(weight * (double)(x->text[k]->count - other), 2);
        }
    }
    return sqrt(sum);
}

static double most_moved(void)
{
    static const char *const cell[] = {"7",          "1950",  "12345", "a",    "b",    "",     "NA", "0",
                                       "2020-05-01", "12:30", "1,5",   "none", "7 kg", "-999", "007"};
    enum { CELLS = sizeof cell / sizeof *cell };
    static const char rows[] = "a;none;b;7\nb;a;none;1950\nnone;b;a;0\n1;c;;-3.5\n";
    struct dp_census with, without;
    double most = 0;
    unsigned seed = 3;
    char head[50 * sizeof rows] = "w;x;y;z\n", text[sizeof head + 100]; /* as many rows of a text as a count needs */
    for (int i = 0; i < DP_CENSUS_FLOOR; i++)
        strcat(head, rows);
    read_text(&without, head);
    for (int i = 0; i < 1500; i++) {
        snprintf(text, sizeof text, "%.*s%s;%s;%s;%s\n", (int)strlen(head), head, cell[rand_r(&seed) % CELLS],
                 cell[rand_r(&seed) % CELLS], cell[rand_r(&seed) % CELLS], cell[rand_r(&seed) % CELLS]);
        read_text(&with, text);
        double moved = distance(&with, &without);
        assert_true(moved <= dp_census_sensitivity(&without));
        most = fmax(most, moved);
        dp_census_free(&with);
    }
    dp_census_free(&without);
    return most;
}

TEST(a_row_moves_the_counts_by_no_more_than_the_sensitivity)
{
    const double number = 0.97 * 0.97 + 0.243 * 0.243 + 1. / 16; /* the label is a number, too, and its weight √(5 / 3) */
    assert_near(most_moved(), sqrt(3 + 3. / 16 + number + 5. / 3), 1e-6);
    source.classes = "7,a";
    assert_near(most_moved(), sqrt(4 + 3. / 16), 1e-6);
    source = (struct dp_import_source){.label_name = "y=a"};
    assert_near(most_moved(), sqrt(4 + 3. / 16), 1e-6);
    source = (struct dp_import_source){.real_label = true};
    assert_near(most_moved(), sqrt(3 + 3. / 16 + number), 1e-6);
    source = (struct dp_import_source){.without = "w"};
    assert_near(most_moved(), sqrt(2 + 2. / 16 + number + 4. / 3), 1e-6);
    source = (struct dp_import_source){.columns = "x,z"};
    assert_near(most_moved(), sqrt(1 + 1. / 16 + number + 1), 1e-6);
    source = (struct dp_import_source){0};
}

/* The counts that one more row adds. */
TEST(a_date_weighs_as_much_as_a_number)
{
    static const char *const cells[] = {
        "5" /* is a new whole number, too */, "5.5", "", "2020-05-01", "1/2/99", "23:59", "01.02.1850", "7.5 kg", "-70000.5"};
    for (int64_t unit = 1; unit <= 1 << 20; unit = unit * 3 + 1)
        for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
            char text[200];
            struct dp_census census;
            double sum = 0;
            snprintf(text, sizeof text, "x;y\n%s;\n", cells[i]);
            read_text(&census, text);
            int64_t *counts = calloc(census.counts, sizeof *counts);
            assert_non_null(counts);
            dp_census_counts(&census, unit, counts);
            for (size_t k = 0; k < DP_CENSUS_CELLS + census.column[0].texts; k++)
                sum += (double)(counts[k] * counts[k]);
            assert_true(sum <= (i < 2 || i > 6 ? 1.0625 : 1) * (double)(unit * unit));
            assert_true(unit < 100 || sum > 0.97 * (double)(unit * unit));
            free(counts);
            dp_census_free(&census);
        }
}

/* Every day from 1890 to 2060, by the calendar of the C library. */
TEST(dates_have_the_cell_of_their_year)
{
    for (int day = -29200; day < 33000; day++) {
        time_t seconds = (time_t)day * 86400;
        struct tm t;
        assert_non_null(gmtime_r(&seconds, &t));
        int year = t.tm_year + 1900, cell = year < 1900   ? 0
                                            : year < 1970 ? 1 + (year - 1900) / 10
                                            : year < 2052 ? year - 1962
                                                          : 90;
        assert_int_equal(dp_census_year(day + 0.5), DP_CENSUS_FORMATS + DP_DATE_FORMATS + cell);
    }
}

/* Computed by Python: 20 - scale * NormalDist().inv_cdf(delta / columns). */
TEST(thresholds_are_the_quantiles)
{
    static const struct {
        size_t columns;
        double scale, delta, expected;
    } known[] = {
        {1, 1, 1e-6, 24.7534243088229},
        {1, 10, 1e-6, 67.53424308822899},
        {15, 151.468656, 5e-7, 837.9202367188269},
        {15, 400, 5e-8, 2339.645132790213},
        {15, 174.64454833013514, 5e-7, 963.0684478499414}, /* of dp-privacy(7), as is the sensitivity */
        {100, 3, 1e-9, 40.11806946648541},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double got = dp_census_threshold(known[i].columns, known[i].scale, known[i].delta);
        assert_true(got >= known[i].expected && got < known[i].expected * (1 + 1e-7));
    }
    assert_near(dp_census_sensitivity(&(struct dp_census){.columns = 15}), 4.6120313673405715, 1e-14);
}

/* A text of 19 rows is in no count, whatever the noise; a text of 20 rows is. */
TEST(a_text_of_few_rows_is_not_counted)
{
    char text[2000] = "job,y\n";
    struct dp_census census;
    for (int i = 0; i < 39; i++)
        strcat(text, i % 2 == 0 ? "cook,5\n" : "king,6\n");
    read_text(&census, text);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(census.column[i].texts, 1);
        assert_int_equal(census.column[i].text[0]->count, DP_CENSUS_FLOOR);
        assert_string_equal(census.column[i].text[0]->text, i == 0 ? "cook" : "5");
    }
    assert_int_equal(census.counts, 2 * (DP_CENSUS_CELLS + 1));
    dp_census_free(&census);
}

TEST(names_say_whose_row_it_is)
{
    static const char *const yes[] =
        {"id",           "ID",      "patient_id", "patientID",  "PassengerId", "enc_id", "national_id", "mrn",
         "MRN",          "ssn",     "nhs",        "nhs_number", "iban",        "phone",  "account_no",  "accountnumber",
         "case",         "case_no", "caseid",     "policy_no",  "subject",     "subjid", "passport",    "hospital_no",
         "kundennummer", "CardNo",  "uuid",       "ref",        "nr",          "No",     "who",         "participant",
         "respondent",   "member",  "pid",        "uid",        "GUID",        "client", "Customer",    "participant_nr",
         "ref_no"},
                             *const no[] = {"paid",       "valid",  "covid",         "humid",        "solid",    "postcode",
                                            "plz",        "zip",    "zipcode",       "none",         "number",   "piano",
                                            "age",        "cases",  "phones_called", "account_age",  "student",  "",
                                            "x",          "casino", "customers",     "membership",   "referred", "who_score",
                                            "client_age", "fluid",  "rapid",         "subject_area", "national", "i"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        assert_int_equal(dp_census_is_identifier(yes[i]), DP_CENSUS_IDENTIFIER);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        assert_int_equal(dp_census_is_identifier(no[i]),
                         strcmp(no[i], "national") == 0 ? DP_CENSUS_PERHAPS : DP_CENSUS_OTHER_NAME);
    static const char *const perhaps[] = {"mobile", "Tel", "card", "USER", "record"};
    for (size_t i = 0; i < sizeof perhaps / sizeof *perhaps; i++)
        assert_int_equal(dp_census_is_identifier(perhaps[i]), DP_CENSUS_PERHAPS);
}

static int64_t *counts_of(const struct dp_census *census)
{
    int64_t *sum = calloc(census->counts, sizeof *sum);
    assert_non_null(sum);
    dp_census_counts(census, 1000, sum);
    return sum;
}

/* Counts without noise: what is below a threshold is not in the schema. */
/* Classes that the user names are public: they are counted whether a row has them or not, and no other text is. */
TEST(named_classes_are_the_only_texts_of_the_label)
{
    struct dp_census a, b;
    source = (struct dp_import_source){.classes = "no,yes"};
    read_text(&a, "x,y\n1.5,no\n2.5,NO\n3.5,\n4.5,secret\n");
    read_text(&b, "x,y\n1,other\n2,none\n3,na\n4,yes\n");
    const int64_t counted[2][3] = {{2, 2, 0}, {3, 0, 1}};
    for (int i = 0; i < 2; i++) {
        const struct dp_census_column *c = (i == 0 ? a : b).column + 1;
        assert_int_equal(c->texts, 2);
        assert_int_equal(c->cell[0], counted[i][0]);
        assert_int_equal(c->text[0]->count, counted[i][1]);
        assert_int_equal(c->text[1]->count, counted[i][2]);
        assert_string_equal(c->text[1]->text, "yes");
    }
    assert_int_equal(a.counts, b.counts);
    int64_t *sum = counts_of(&a);
    sum[0] = 0;
    json_decref(schema);
    assert_int_equal(dp_propose_noised(&a, sum, 1000, 0.1, 1, &schema, &err), DP_OK);
    assert_string_equal(said(1, 0),
                        "{\"name\":\"y\",\"type\":\"label\",\"classes\":[[\"no\",\"No\",\"NO\"],[\"yes\",\"Yes\",\"YES\"]],"
                        "\"unknown\":\"zero\",\"note\":\"about 0 rows, give or take 0, have the class 'yes'; about 2 rows, "
                        "give or take 0, have no label, or one that --classes does not name: they teach nothing, are not "
                        "measured, and it is never predicted (--classes names it)\",\"doubtful\":\"yes\"}");
    free(sum);
    dp_census_free(&a);
    dp_census_free(&b);
    source = (struct dp_import_source){.label_name = "y=x=b"};
    read_text(&a, "y,y=x,y=z\nb,b,1\nb,,1\na,a,1\n");
    assert_int_equal(a.label, 1);
    assert_string_equal(a.label_name, "y=x");
    assert_int_equal(a.column[1].cell[0], 1);
    assert_int_equal(a.column[1].text[0]->count, 1);
    assert_string_equal(a.column[1].text[0]->text, "not b");
    dp_census_free(&a);
    source = (struct dp_import_source){0};
}

TEST(the_schema_has_what_stands_out)
{
    struct dp_census census;
    begin("age,job,patient_id,ill\n");
    for (int i = 0; i < 1000; i++)
        add("%s,%s,%d,%s\n",
            i == 7        ? "1e9"
            : i % 10 == 0 ? ""
            : i % 2 != 0  ? "20"
                          : "70",
            i == 9       ? "king"
            : i % 3 == 0 ? "cook"
                         : "smith",
            i,
            i % 2 != 0 ? "yes"
            : i == 10  ? "maybe"
                       : "no");
    read_text(&census, table.text);
    int64_t *sum = counts_of(&census);
    assert_int_equal(sum[DP_CENSUS_CELLS + DP_CENSUS_REPEATS], 250 * (1000 - 3)); /* of three jobs */
    json_decref(schema);
    assert_int_equal(dp_propose_noised(&census, sum, 1000, 5, 30, &schema, &err), DP_OK);
    char *columns = json_dumps(json_object_get(schema, "columns"), JSON_COMPACT);
    assert_string_equal(
        columns, "[{\"name\":\"age\",\"type\":\"numeric\",\"bounds\":[16.0,128.0],\"missing\":[\"none\",\"None\",\"NONE\","
                 "\"unknown\",\"Unknown\",\"UNKNOWN\"],\"indicator\":true},{\"name\":\"job\",\"type\":\"categorical\","
                 "\"categories\":[\"cook\",\"smith\"],\"unknown\":\"zero\"},{\"name\":\"patient_id\",\"type\":\"ignore\","
                 "\"note\":\"its name looks like an identifier\"},{\"name\":\"ill\",\"type\":\"label\",\"classes\":[\"no\","
                 "\"yes\"],\"unknown\":\"zero\"}]");
    free(columns);
    json_decref(schema);
    assert_int_equal(dp_propose_noised(&census, sum, 1000, 5, 700, &schema, &err), DP_E_UNSAFE);
    assert_null(schema);
    free(sum);
    dp_census_free(&census);
}

/* Proposes a schema for the table from counts without noise, and a threshold of 100. scale: of the noise that the schema takes
 * them to have. */
static void propose(double scale)
{
    struct dp_census census;
    read_text(&census, table.text);
    int64_t *sum = counts_of(&census);
    json_decref(schema);
    assert_int_equal(dp_propose_noised(&census, sum, 1000, scale, 100, &schema, NULL), DP_OK);
    free(sum);
    dp_census_free(&census);
}

/* A column has 550 counts. In some of a thousand schemas, noise lets one of them stand out. It must not make numbers of texts:
 * the model would have no meaning for most cells. */
TEST(noise_makes_no_numbers_of_texts)
{
    enum { ROWS = 2000, SCALE = 50 };
    static const struct {
        double deviations, sentinel; /* of the count of the bin of 999, and of the number 999 */
        int rows;
        const char *type;
    } known[] = {{4.2, 0, ROWS, "ignore"},
                 {5.3, 0, ROWS, "ignore"},
                 {1.8, 4.2, ROWS, "ignore"},
                 {6, 0, ROWS, "numeric"},
                 {5.3, 0, 400, "numeric"}};
    const size_t bin = dp_census_cell(999, false);
    size_t sentinel = 0;
    while (dp_census_sentinels[sentinel] != 999)
        sentinel++;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct dp_census census;
        begin("note,age,y\n");
        for (int row = 0; row < known[i].rows; row++)
            add("came on day %d,%d,c%d\n", row, row % 90, row % 2);
        read_text(&census, table.text);
        int64_t *sum = counts_of(&census);
        sum[bin] = (int64_t)(1000 * SCALE * known[i].deviations);
        sum[DP_CENSUS_SENTINELS + sentinel] = (int64_t)(1000 * SCALE * known[i].sentinel);
        json_decref(schema);
        assert_int_equal(dp_propose_noised(&census, sum, 1000, SCALE, 100, &schema, &err), DP_OK);
        says(0, "type", known[i].type);
        free(sum);
        dp_census_free(&census);
    }
}

/* The same for classes, where a third of the rows have no label. */
TEST(noise_makes_no_numbers_of_classes)
{
    struct dp_census census;
    begin("age,y\n");
    for (int row = 0; row < 2000; row++)
        add("%d,%s\n", row % 90, row % 3 == 0 ? "" : row % 3 == 1 ? "yes" : "no");
    read_text(&census, table.text);
    int64_t *sum = counts_of(&census);
    sum[DP_CENSUS_CELLS + 40] = (int64_t)(1000 * 50 * 5.3);
    json_decref(schema);
    assert_int_equal(dp_propose_noised(&census, sum, 1000, 50, 100, &schema, &err), DP_OK);
    says(1, "classes", "[\"no\",\"yes\"]");
    free(sum);
    dp_census_free(&census);
}

/* Numbers of rows are left out by their counts. Numbers that are as different and further apart may be salaries, so they are
 * kept, and said. */
TEST(different_whole_numbers_are_identifiers)
{
    begin("count,wide,some,measured,seconds,year,card,user,y\n");
    for (int row = 0; row < 3000; row++)
        add("%d,%d,%d,%.2f,%d,%d,%d,%d,c%d\n", 1 + row, 40000000 + 7 * row, 1 + row % 2000, 3000 + row / 8., 1500000000 + row,
            1900 + row % 100, 40000000 + 7 * row, row % 2000, row % 2);
    propose(100);
    says(0, "note", "its numbers are different whole numbers, hardly more than there are rows, as in identifiers");
    says(1, "note",
         "nearly all its numbers are different: if it is an identifier, --without leaves it out; its bounds follow "
         "its spread, which is small against its numbers");
    says(6, "note", "its name may be the name of an identifier, and nearly all its numbers are different");
    for (size_t i = 1; i < 8; i += 1 + (i == 5))
        says(i, "type", "numeric");
}

/* Parts and the parts of parts, by fmod of the magnitude. A new whole number has a part only. */
TEST(numbers_have_the_cells_of_their_parts)
{
    static const double known[] = {2, 1.5, 15, 2024, 65535, 0.3, 1e6 + 0.125, 1.7e9, 1e-5, 3e14};
    for (size_t i = 0; i < 2 * sizeof known / sizeof *known; i++) {
        const double size = known[i / 2], power = pow(2, floor(log2(size))), part = power / 64;
        char text[100];
        snprintf(text, sizeof text, "x,y\n%.17g,a\n", i % 2 ? -size : size);
        struct dp_census census;
        read_text(&census, text);
        int64_t expected[DP_CENSUS_FORMATS - DP_CENSUS_FIRST_PART] = {0};
        const size_t turn = (dp_census_cell(i % 2 ? -size : size, false) - 1) % 4 * 64;
        expected[turn + (size_t)((size - power) / part)] = 1;
        expected[256 + turn + (size_t)(fmod(size - power, part) / part * 64)] = size != floor(size);
        assert_memory_equal(census.column[0].cell + DP_CENSUS_FIRST_PART, expected, sizeof expected);
        dp_census_free(&census);
    }
}

/* Numbers that are large against their spread: bounds hold all but a few of them, and are at most 8 times as
 * wide where there is little noise, or, around 2^20, parts of that. Each number is
 * offset + width × u, for u evenly in [0, 1). */
TEST(bounds_follow_a_small_spread)
{
    static const struct {
        double offset, width;
        bool small;
    } known[] = {{1e6, 300, true},     {-5000, 7, true},  {44900, 500, true}, {1.7e9, 3e7, true},
                 {1.7e12, 3e10, true}, {2019, 5, true},   {36, 5.5, true},    {1048560, 30, true},
                 {1010, 20, true},     {128, 128, false}, {1, 60, false},     {-20, 50, false}};
    enum { COLUMNS = sizeof known / sizeof *known, ROWS = 3000 };
    begin("");
    for (int i = 0; i < COLUMNS; i++)
        add("x%d,", i);
    add("y\n");
    for (int row = 0; row < ROWS; row++) {
        for (int i = 0; i < COLUMNS; i++)
            add("%.2f,", known[i].offset + known[i].width * ((row * 7 + i) % ROWS) / ROWS);
        add("c%d\n", row % 2);
    }
    for (int noise = 5; noise <= 50; noise *= 10) {
        propose(noise);
        for (size_t i = 0; i < COLUMNS; i++) {
            const json_t *bounds = of(i, "bounds");
            const double low = json_real_value(json_array_get(bounds, 0)), high = json_real_value(json_array_get(bounds, 1)),
                         end = known[i].offset + known[i].width, tail = (known[i].small ? 0.03 : 0.06) * known[i].width;
            assert_true(low <= known[i].offset + tail && end - tail <= high);
            assert_true(of(i, "note") == NULL || known[i].small);
            assert_true(!known[i].small || noise > 5 ||
                        high - low <= fmax(8 * known[i].width, known[i].offset == 1048560 ? 60000 : 0));
        }
    }
}

/* 3,000 rows and noise of 80 on each count. Fewer than 8 of 100 schemas find a small spread that is not there, and two
 * are expected; more than 70 find one that is there. The noise has a seed. */
TEST(noise_is_no_small_spread)
{
    enum { ROWS = 3000 };
    size_t found[2] = {0};
    begin("wide,small,y\n");
    for (int row = 0; row < ROWS; row++)
        add("%.2f,%.1f,c%d\n", 128 + 128. * row / ROWS, 1e6 + 300. * row / ROWS, row % 2);
    struct dp_census census;
    read_text(&census, table.text);
    int64_t *sum = counts_of(&census), *noised = calloc(census.counts, sizeof *noised);
    assert_non_null(noised);
    srand48(5);
    for (int run = 0; run < 100; run++) {
        for (size_t k = 0; k < census.counts; k++)
            noised[k] = sum[k] + llrint(80000 * sqrt(-2 * log(1 - drand48())) * cos(2 * M_PI * drand48()));
        json_decref(schema);
        assert_int_equal(dp_propose_noised(&census, noised, 1000, 80, 400, &schema, &err), DP_OK);
        for (size_t i = 0; i < 2; i++) {
            const char *note = json_string_value(of(i, "note"));
            found[i] += note != NULL && strstr(note, "its spread") != NULL;
        }
    }
    assert_int_equal(found[0], 0);
    assert_true(found[1] > 70);
    free(noised);
    free(sum);
    dp_census_free(&census);
}

/* The counts have one row of each of 300 persons: not always the first, and not always the longest ones. */
TEST(a_person_has_one_row_in_the_counts)
{
    char path[] = "census-XXXXXX";
    begin("visit,mrn,y\n");
    for (int row = 0; row < 900; row++) /* one to three rows each, mixed */
        if (row / 300 < 1 + row % 300 % 11)
            add("v%d,p%d,%s\n", row / 300, row % 300, row % 2 ? "yes" : "no");
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, table.text, table.length) == (ssize_t)table.length);
    close(fd);
    struct dp_import import = {.source.format = DP_IMPORT_CSV, .source.input = path, .source.person = "mrn"};
    struct dp_census census = {0};
    assert_int_equal(dp_census_read(&census, &import, DP_CENSUS_PAID, &err), DP_OK);
    assert_int_equal(census.rows, 300);
    assert_int_equal(census.column[1].texts, 0);
    int64_t visits = 0, labels = 0, cells = 0;
    for (size_t k = 0; k < census.column[0].texts; k++)
        visits += census.column[0].text[k]->count;
    assert_int_equal(visits, 300);
    assert_int_equal(census.column[0].texts, 3); /* v2 is drawn 82 times, give or take 7 */
    for (size_t k = 0; k < census.column[2].texts; k++)
        labels += census.column[2].text[k]->count;
    assert_int_equal(labels, 300);
    for (size_t k = 0; k < DP_CENSUS_CELLS; k++)
        cells += census.column[1].cell[k];
    assert_int_equal(cells, 0);
    dp_census_free(&census);
    unlink(path);
}

/* The label in the schema. The threshold of a class is 20 + 80 / 2. */
TEST(a_label_is_classes_or_a_number)
{
    static const struct {
        int one, two, three; /* rows with the labels 1, 2 and 3, of 1000; the others have 4 to 53, ten each */
        const char *label, *expected;
    } known[] = {
        {600, 400, 0, "%d", "\"classes\":[\"1\",\"2\"],\"unknown\":\"zero\"}"},
        {500, 250, 40, "%d", "\"bounds\":[1.0,32.0],\"unknown\":\"zero\"}"},
        {600, 300, 100, "%d", "\"classes\":[\"1\",\"2\",\"3\"],\"unknown\":\"zero\"}"},
        {600, 300, 60, "c%d",
         "\"classes\":[\"c1\",\"c2\",\"c3\"],\"unknown\":\"zero\",\"note\":\"about 40 rows, give or take 14, have no label, or a "
         "class that is too rare to be named: they teach nothing, are not measured, and it is never predicted (--classes names "
         "it)\"}"},
        {600, 300, 80, "c%d", "\"classes\":[\"c1\",\"c2\",\"c3\"],\"unknown\":\"zero\"}"},
        {600, 300, 0, "c%d",
         "\"classes\":[\"c1\",\"c2\"],\"unknown\":\"zero\",\"note\":\"about 100 rows, give or take 11, have no label, or a class "
         "that is too rare to be named: they teach nothing, are not measured, and it is never predicted (--classes names it)\"}"},
        {960, 40, 0, "%d",
         "\"classes\":[\"1\",\"not 1\"],\"unknown\":\"not 1\",\"note\":\"only '1' is frequent enough to be named: all other texts "
         "are one class, of about 40 rows, give or take 18 (--classes names classes without payment)\"}"},
        {960, 40, 0, "c%d",
         "\"classes\":[\"c1\",\"not c1\"],\"unknown\":\"not c1\",\"note\":\"only 'c1' is frequent enough to be named: all other "
         "texts are one class, of about 40 rows, give or take 18 (--classes names classes without payment)\"}"},
        {1000, 0, 0, "c%d",
         "\"classes\":[\"c1\",\"not c1\"],\"unknown\":\"not c1\",\"note\":\"only 'c1' is frequent enough to be named: all other "
         "texts are one class, of about 0 rows, give or take 18: perhaps no row has one, and there is nothing to learn (--classes "
         "names classes without payment)\"}"},
        {90, 70, 0, "%d", "\"bounds\":[1.0,64.0],\"unknown\":\"zero\"}"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        begin("a,b,c,d,e,f,g,h,i,j,y\n");
        for (int row = 0; row < 1000; row++) {
            int left = row - known[i].one - known[i].two - known[i].three;
            int label = row < known[i].one ? 1 : row < known[i].one + known[i].two ? 2 : left < 0 ? 3 : 4 + left / 10 % 50;
            add("%d,,,,,,,,,,", 1 + row % 2);
            add(known[i].label, label);
            add("\n");
        }
        propose(8);
        assert_string_equal(strstr(said(10, 0), "label\",") + 7, known[i].expected);
    }
}

/* Texts may lie between two spellings of one. */
TEST(spellings_of_one_need_not_be_neighbours)
{
    static const char *const texts[][9] = {{"Y", "yeah", "yes", "N", "nay", "No", "y", "other", "n"},
                                           {"1", "10", "1.0", "01", "05", "5", "t", "truer", "True"},
                                           {"b", "a", "B", "A", "f", "fair", "f1", "false", "0"}};
    static const char *const known[] = {"[[\"N\",\"n\",\"No\"],\"nay\",\"other\",[\"Y\",\"y\",\"yes\"],\"yeah\"]",
                                        "[[\"01\",\"1\",\"1.0\"],[\"05\",\"5\"],\"10\",[\"t\",\"True\"],\"truer\"]",
                                        "[\"0\",[\"A\",\"a\"],[\"B\",\"b\"],[\"f\",\"false\"],\"f1\",\"fair\"]"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        begin("x,y\n");
        for (int row = 0; row < 1800; row++)
            add("%d,%s\n", 1 + row % 2, texts[i][row % 9]);
        propose(8);
        says(1, "classes", known[i]);
    }
}

/* Noise of 8 on each count; of a bin, of missing cells and of their sum, 2 √(1 / .97² + 1) · 8 = 23 are given or taken. Whether
 * the others are numbers, 171 bins less the one within the bounds say, if more than 3 √170 · 8 / .97 = 323 are: with noise of 2,
 * 81. */
TEST(labels_beyond_the_bounds_are_counted)
{
    static const struct {
        int beyond, texts; /* of 1,000 rows, some in each power of two from ±1024 to ±2^63, and others with texts */
        double noise;
        bool number; /* the user says so */
        const char *note;
    } known[] = {
        {120, 0, 8, true, "about 120 rows, give or take 23, have a label beyond the bounds: it counts as the bound"},
        {100, 20, 8, false,
         "about 120 rows, give or take 23, have a label beyond the bounds, which counts as the bound, or no label that "
         "is a number"},
        {120, 0, 2, false, "about 120 rows, give or take 54, have a label beyond the bounds: it counts as the bound"},
        {0, 120, 2, false,
         "about 120 rows, give or take 6, have no label that is a number: they teach nothing and are not measured"},
        {120, 180, 2, false,
         "about 120 rows, give or take 54, have a label beyond the bounds: it counts as the bound; about 180 rows, give "
         "or take 54, have no label that is a number: they teach nothing and are not measured"},
        {30, 0, 8, true, NULL},
        {15, 15, 8, false, NULL}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        begin("sex,y\n");
        for (int row = 0; row < 1000; row++) {
            const char *sex = row % 2 ? "f" : "m";
            if (row >= known[i].beyond && row < known[i].beyond + known[i].texts)
                add("%s,t%d\n", sex, row);
            else
                add("%s,%.9g\n", sex, row < known[i].beyond ? ldexp(row % 2 ? -1 : 1, 10 + row % 54) : 130 + 100 * row / 1000.);
        }
        source.real_label = known[i].number;
        propose(known[i].noise);
        source.real_label = false;
        says(1, "note", known[i].note);
    }
}

/* With noise of 4: 40 rows of other texts make no number of classes; 40 rows of larger numbers do. */
TEST(texts_make_no_count_of_classes)
{
    for (int larger = 0; larger < 2; larger++) {
        begin("sex,y\n");
        for (int row = 0; row < 1500; row++)
            add(row < 40 && !larger ? "%s,t%d\n" : "%s,%d\n", row % 2 ? "f" : "m", row < 40 ? 3 + row % 4 : row % 3);
        propose(4);
        assert_int_equal(json_array_size(of(1, "classes")), larger ? 0 : 3);
        assert_int_equal(json_array_size(of(1, "bounds")), larger ? 2 : 0);
    }
}

/* Noise of 16 on each count, so that about 70 rows stand out by themselves. */
TEST(neighbours_stand_out_together)
{
    begin("spread,zeros,few,y\n");
    for (int row = 0; row < 2000; row++) {
        /* 60 rows in each of [1, 2), …, [8, 16), 40 in [16, 32), 20 in [64, 128) */
        double spread = row < 240 ? 1 << row / 60 : row < 280 ? 16 : 64;
        row < 300 ? add("%g,", spread) : add(",");
        add("%s,", row < 40 ? "1e-6" : "0");
        row < 90 ? add("%d,", 1 + row / 45) : add(",");
        add("c%d\n", row % 2);
    }
    propose(16);
    says(0, "bounds", "[1.0,32.0]");
    says(1, "bounds", "[0.0,1e-6]"); /* without its neighbour */
    says(2, "type", "ignore");
}

/* Noise of 16 on each count: 0, -1 and 999 are told from numbers that are too few for bounds, and 1 from zeros that are too few.
 * If the others are enough for bounds, -1 and 999 are categories of their own, but not where the numbers are signs. */
TEST(one_frequent_number_stands_apart)
{
    static const struct {
        int frequent, others, from,
            numbers; /* so many of 1,000 rows have one of these numbers, from here on, others the first */
        const char *expected;
    } known[] = {{0, 60, 1, 1, "\"basis\":\"line\",\"bounds\":[0.0,1e-6]"},
                 {0, 30, 1, 1, NULL}, /* as the noise */
                 {0, 0, 1, 1, NULL},
                 {0, 940, 1, 1, "\"bounds\":[0.0,1.00048828]"},
                 {0, 960, 1, 1, "\"bounds\":[1.0,1.00048828]"},       /* 40 zeros may be noise */
                 {0, 950, 200, 1, "\"bounds\":[199.96875,200.0625]"}, /* far from 0, which may stand for a missing value */
                 {0, 300, 1, 1, "\"bounds\":[0.0,2.0]"},
                 {-1, 60, 1, 60, "\"basis\":\"line\",\"bounds\":[-1.0,-0.999999]"},
                 {-1, 30, 1, 30, NULL},
                 {-1, 400, 1, 100, "\"bounds\":[16.0,128.0],\"indicator\":true"},
                 {-1, 400, 1, 1, "\"bounds\":[-2.0,2.0]"}, /* a sign */
                 {999, 60, 1, 60, "\"basis\":\"line\",\"bounds\":[998.999999,999.0]"},
                 {999, 400, 200, 200, "\"bounds\":[128.0,512.0],\"indicator\":true"},
                 {-999, 951, 20, 60, "\"indicator\":true,\"missing\":"}, /* 49 are three deviations */
                 {-999, 953, 20, 60, "\"UNKNOWN\"],\"name\":\"x\",\"type\""},
                 {999, 951, 200, 200, "\"note\":\"about 49 cells, give or take 32, are 999: it counts as the bound\""},
                 {999, 953, 200, 200, "\"name\":\"x\",\"type\""}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        begin("x,sex,y\n");
        for (int row = 0; row < 1000; row++)
            add("%d,%s,c%d\n", row < known[i].others ? known[i].from + row % known[i].numbers : known[i].frequent,
                row % 3 ? "f" : "m", row % 2);
        propose(16);
        says(0, "type", known[i].expected == NULL ? "ignore" : "numeric");
        if (known[i].expected != NULL && strstr(said(0, JSON_SORT_KEYS | JSON_REAL_PRECISION(9)), known[i].expected) == NULL)
            fail_msg("%zu: %s, not %s", i, said(0, JSON_SORT_KEYS | JSON_REAL_PRECISION(9)), known[i].expected);
    }
}

/* Noise of 16 on each count, 16.5 in a bin. One of 3 · 900 cells exceeds it from 4.8 deviations on, 79 rows; of 16 · 3 sets
 * of bins with the other sign, one from 3.7 on, 61 rows. Numbers of many magnitudes are in bins of 17 rows. */
TEST(other_signs_and_small_numbers_are_within_the_bounds)
{
    static const struct {
        int others;
        bool small;
        const char *expected;
    } known[] = {{70, false, "\"bounds\":[-2048.0,2048.0]"},
                 {108, false, "\"bounds\":[-4096.0,2048.0]"}, /* 36 in each of three bins are 3.8 deviations of one sum */
                 {50, false, "\"bounds\":[1024.0,2048.0]"},
                 {300, true, "\"bounds\":[0.0,256.0]"},
                 {50, true, "\"bounds\":[32.0,256.0]"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        begin("x,sex,y\n");
        for (int row = 0; row < 1000; row++) {
            const bool other = row < known[i].others;
            const double x = known[i].small ? (other ? pow(2, -row % 18) : 32.5 + row % 200)
                                            : (!other                   ? 1024.5 + row % 1000
                                               : known[i].others == 108 ? -600.5 * (1 << row % 3)
                                                                        : -1500.5);
            add("%.9g,%s,c%d\n", x, row % 3 ? "f" : "m", row % 2);
        }
        propose(16);
        assert_non_null(strstr(said(0, 0), known[i].expected));
        says(0, "note", NULL);
    }
}

/* Noise of 16 on each count: of two bins and missing cells, 3 √(2 / .97² + 1) · 16 = 85; of a year, 3 √(1 / .64 + 1) · 16
 * = 77. */
TEST(what_cannot_be_read_is_said)
{
    begin("many,few,day,code,y\n");
    for (int row = 0; row < 1200; row++) {
        add(row < 300 ? "w%d.5," : "%d.5,", 40 + row % 80);
        if (row >= 80 && row < 400)
            add(",");
        else
            add(row < 80 ? "w%d.5," : "%d.5,", 40 + row % 80);
        add(row < 100 ? "day %d,%s,c%d\n" : "2020-01-%02d,%s,c%d\n", 1 + row % 31, row % 14 ? "E11" : "1E3", row % 2);
    }
    propose(16);
    says(0, "note", "about 300 cells, give or take 57, cannot be read as numbers, or are beyond the bounds");
    says(1, "note", NULL);
    says(2, "note", "about 100 cells, give or take 51, cannot be read as dates, or are beyond the bounds");
    says(3, "note", "about 86 cells, give or take 46, are numbers, and no category: it is taken for texts");
}

/* Where texts are more frequent, or all numbers are the same, small whole numbers are categories. Where numbers are frequent, a
 * text is a missing one. Noise of 16 on each count. */
TEST(numbers_and_texts)
{
    static const struct {
        const char *cells[5]; /* that are as frequent */
        const char *words;    /* categories; or, of a number, missing values */
    } known[] = {
        {{"0", "1-3", "4-6", "7-9", "10-19"}, "[[\"0\",\"0.0\",\"0%\"],\"1-3\",\"10-19\",\"4-6\",\"7-9\"]"},
        {{"1", "2", "more", "none", "some"},
         "[[\"1\",\"1.0\",\"1%\"],[\"2\",\"2.0\",\"2%\"],[\"3\",\"3.0\",\"3%\"],\"more\",\"none\",\"some\"]"},
        {{"0%", "0%", "0%", "1 - 10%", "11 - 50%"}, "[[\"0\",\"0.0\",\"0%\"],\"1 - 10%\",\"11 - 50%\"]"},
        {{"250", "V45", "V46", "V47", "10"}, "[\"V45\",\"V46\",\"V47\"]"},
        {{"2015", "2016", "2017", "2018", "open"}, "[\"none\",\"None\",\"NONE\",\"unknown\",\"Unknown\",\"UNKNOWN\",\"open\"]"},
        {{"1", "2", "3", "4", "5+"}, "[\"none\",\"None\",\"NONE\",\"unknown\",\"Unknown\",\"UNKNOWN\",\"5+\"]"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        begin("x,y\n");
        for (int row = 0; row < 2000; row++)
            add("%s,c%d\n", known[i].cells[row % 5], row % 2);
        propose(16);
        const bool number = of(0, "categories") == NULL;
        says(0, number ? "missing" : "categories", known[i].words);
        says(0, "indicator", number ? "true" : NULL);
        says(0, "type", number ? "numeric" : "categorical");
        if (i == 0)
            says(0, "note", "about 400 cells, give or take 46, are numbers: only whole ones below 8 have categories");
    }
}

/* Units, a decimal comma within quotes, codes, and numbers that stand for missing ones. */
TEST(numbers_are_as_people_write_them)
{
    begin("weight,price,zip,age,far,near,rare,plain,card,y\n");
    for (int row = 0; row < 1500; row++) {
        add(row % 10 ? "%d kg," : "%d,", 40 + row % 80);
        add("\"1.%03d,%02d\",", row % 700, row % 100);
        row % 2 ? add("01067,") : add("1%04d,", row % 7);
        row % 5 ? add("%d,", 18 + row % 70) : add("999,");
        row % 5 ? add("%d,", 1 + row % 7) : add("-99999,");
        row % 5 ? add("%d,", 500 + row % 499) : add("999,");
        add("%d,", row % 12 ? 600 + row % 390 : 999);
        add("%d.5,4000123412%06d,c%d\n", row % 100, row, row % 2);
    }
    propose(16);
    static const char *const known[] = {
        "\"unit\":\"kg|KG|Kg|kgs\",\"bounds\":[32.0,128.0]",
        "\"decimal\":\",\",\"bounds\":[512.0,2048.0]",
        "\"type\":\"categorical\",\"categories\":[\"01067\"],\"buckets\":16",
        "\"bounds\":[16.0,128.0],\"missing\":[\"none\",\"None\",\"NONE\",\"unknown\",\"Unknown\",\"UNKNOWN\",\"999\",\"999.0\",\"999.00\"],\"indicator\":true",
        "\"bounds\":[1.0,8.0],\"missing\":[\"none\",\"None\",\"NONE\",\"unknown\",\"Unknown\",\"UNKNOWN\",\"-99999\",\"-99999.0\",\"-99999.00\"],\"indicator\":true",
        "\"bounds\":[512.0,1024.0],\"missing\":[\"none\",\"None\",\"NONE\",\"unknown\",\"Unknown\",\"UNKNOWN\",\"999\",\"999.0\",\"999.00\"],\"indicator\":true",
        "\"bounds\":[512.0,1024.0],\"missing\":[\"none\",\"None\",\"NONE\",\"unknown\",\"Unknown\",\"UNKNOWN\"],\"fill\":768.0",
        "\"bounds\":[4.0,128.0]",
        "\"type\":\"ignore\""};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(said(i, 0), known[i]) == NULL)
            fail_msg("%s, not %s", said(i, 0), known[i]);
}

/* Noise of 16 on each count: years stand out together, and so do years next to them. */
TEST(dates_have_a_format_and_bounds)
{
    begin("us,iso,german,time,old,few,y\n");
    for (int row = 0; row < 1200; row++) {
        const int year = 1990 + row % 30, month = 1 + row % 12, day = 1 + row % 28;
        /* three of four American days may be months */
        add("%d/%d/%02d,", month, row % 4 == 0 ? 13 + row % 15 : month, year % 100);
        add("%d-%02d-%02dT00:00:00Z,", 2019 + row % 2, month, day);
        add("%02d.%02d.%d,%d:%02d,", day, month, year, row % 24, row % 60);
        add("%02d-%02d-18%02d,", day, month, 60 + row % 40);
        add("%s,c%d\n", row < 40 ? "01.01.2001" : "", row % 2);
    }
    propose(16);
    static const struct {
        const char *format, *bounds;
    } known[] = {{"%m/%d/%y|%d/%m/%y", "[\"01/01/90\",\"01/01/20\"]"},
                 {"%Y-%m-%dT%H:%M:%S%z", "[\"2019-01-01T00:00:00+0000\",\"2021-01-01T00:00:00+0000\"]"},
                 {"%d.%m.%Y", "[\"01.01.1990\",\"01.01.2020\"]"},
                 {"%H:%M", "[\"00:00\",1.0]"},
                 {"%d-%m-%Y", "[\"01-01-1800\",\"01-01-1900\"]"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        says(i, "date", known[i].format);
        says(i, "bounds", known[i].bounds);
    }
    says(5, "type", "ignore");
}

/* 30 rows in each of 30 years, and noise of 20 on each: less than EDGE, and than what eight years need. Numbers are years if
 * seven of ten are. */
TEST(years_stand_out_in_wide_groups)
{
    begin("day,born,mixed,y\n");
    for (int row = 0; row < 900; row++)
        add("%d-01-31,%d,%d,c%d\n", 1990 + row % 30, 1955 + row % 40, row % 10 < 6 ? 1980 : 3000, row % 2);
    propose(16);
    says(0, "date", "%Y-%m-%d");
    int low = atoi(json_string_value(json_array_get(of(0, "bounds"), 0))),
        high = atoi(json_string_value(json_array_get(of(0, "bounds"), 1)));
    assert_true(1974 <= low && low <= 1992 && 2018 <= high && high <= 2036); /* a year at an end may be lost */
    says(1, "bounds", "[1904.0,2048.0]");
    says(2, "bounds", "[1024.0,4096.0]");
}

/* Cells of the last day of the year 9999 are missing. */
TEST(a_column_may_have_several_formats)
{
    begin("mixed,us,compact,serial,ms,y\n");
    for (int row = 0; row < 1200; row++) {
        const int month = 1 + row % 12, day = 1 + row % 28;
        add(row % 2 ? "2020-%02d-%02d," : "%2$02d/%1$02d/2020,", month, day);
        add("%d/%d/2020,", month, 1 + row % 31);
        row % 10 ? add("2020%02d%02d,", month, day) : add("99991231,");
        row % 3 ? add("2020-%02d-%02d,", month, day) : add("%d,", 43831 + row % 300);
        add("2020-%02d-%02d 10:20:30.%03d,c%d\n", month, day, row % 1000, row % 2);
    }
    propose(16);
    static const char *const known[] = {"%d/%m/%Y|%Y-%m-%d", "%m/%d/%Y", "%Y%m%d", "%Y-%m-%d|serial", "%Y-%m-%d %H:%M:%S"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        says(i, "date", known[i]);
    const json_t *words = of(2, "missing");
    assert_string_equal(json_string_value(json_array_get(words, json_array_size(words) - 1)), "99991231");
    says(2, "indicator", "true");
    says(2, "bounds", "[\"20200101\",\"20210101\"]");
}

TEST(dates_are_read_in_one_of_their_formats)
{
    static const struct {
        const char *format, *text;
        double days; /* NAN: no date */
    } known[] = {{"%Y-%m-%d|%d/%m/%Y", "2020-01-01", 18262},
                 {"%Y-%m-%d|%d/%m/%Y", "02/01/2020", 18263},
                 {"%Y-%m-%d|%d/%m/%Y", "02.01.2020", NAN},
                 {"%Y-%m-%d|serial", "43831", 18262},
                 {"%Y-%m-%d|serial", "43831.5", 18262.5},
                 {"%Y-%m-%d|serial", "0", NAN},
                 {"%Y-%m-%d|serial", "2958466", NAN},
                 {"%Y%m%d", "20200101", 18262},
                 {"%Y%m%d", "2020101", NAN},
                 {"%Y%m%d", "20200230", NAN},
                 {"%Y-%m-%d %H:%M:%S", "2020-01-01 12:00:00.000", 18262.5},
                 {"%Y-%m-%d %H:%M:%S", "2020-01-01 00:00:01,5", 18262 + 1.5 / 86400},
                 {"%Y-%m-%d %H:%M:%S", "2020-01-01 00:00:01.", NAN},
                 {"%Y-%m-%d %H:%M", "2020-01-01 00:01.5", NAN},
                 {"%Y-%m-%dT%H:%M:%S%z", "2020-01-01T00:00:00.250Z", 18262 + .25 / 86400},
                 {"%d.%m.%Y %H:%M:%S", "02.01.2020 00:00:00.5", 18263 + .5 / 86400},
                 {"%m/%d/%Y %I:%M %p", "1/2/2020 12:00 AM", 18263},
                 {"%m/%d/%Y %I:%M %p", "1/2/2020 3:00 pm", 18263 + 15. / 24}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double days = NAN;
        const bool is = dp_date_read(known[i].format, DP_DATE_DAYS, known[i].text, strlen(known[i].text), &days);
        if (is ? !(fabs(days - known[i].days) < 1e-9) : !isnan(known[i].days))
            fail_msg("'%s' is %.17g", known[i].text, is ? days : (double)NAN);
    }
    double month;
    assert_true(dp_date_read("%Y-%m-%d|serial", DP_DATE_MONTH, "43900.25", 8, &month) && month == 3);
    assert_true(dp_date_format("%Y-%m-%d|%H:%M|serial"));
    assert_false(dp_date_format("%Y-%m-%d|"));
    assert_false(dp_date_format("%Y-%m-%d|day"));
    assert_false(dp_date_format("serial"));
}

/* Every day from 1000 to 2400, against a calendar that is counted; and the days that it does not have. */
TEST(days_are_those_of_a_calendar)
{
    long day = -354285; /* 1 January 1000; 1970 has to be day 0 */
    for (int year = 1000; year <= 2400; year++)
        for (int month = 0; month <= 13; month++)
            for (int of = 0; of <= 32; of++) {
                const int leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0,
                          most[] = {0, 31, 28 + leap, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 0};
                const bool there = of >= 1 && of <= most[month];
                char text[40];
                double days = NAN;
                snprintf(text, sizeof text, "%04d-%02d-%02d", year, month, of);
                if (dp_date_read("%Y-%m-%d", DP_DATE_DAYS, text, 10, &days) != there || (there && days != (double)day))
                    fail_msg("%s is %.17g", text, days);
                if (year == 1970 && month == 1 && of == 1)
                    assert_true(days == 0);
                day += there;
            }
}

/* A time east of Greenwich is earlier there. */
TEST(times_of_zones_are_one_time)
{
    static const struct {
        const char *text;
        double hours;
    } times[] = {{"2020-01-01T00:00:00+0000", 0},   {"2020-01-01T00:00:00Z", 0},       {"2020-01-01T00:00:00+0200", -2},
                 {"2020-01-01T00:00:00+02:00", -2}, {"2020-01-01T00:00:00-0530", 5.5}, {"2020-01-01T00:00:00-05:30", 5.5},
                 {"2019-12-31T23:00:00-01:00", 0},  {"2020-01-01T05:45:00+05:45", 0}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        double days;
        assert_true(dp_date_read("%Y-%m-%dT%H:%M:%S%z", DP_DATE_DAYS, times[i].text, strlen(times[i].text), &days));
        assert_true(fabs(days - 18262 - times[i].hours / 24) < 1e-9);
    }
}

TESTS(NULL, NULL)
