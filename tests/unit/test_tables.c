/* Cells of columns, and the layout of lists of tables: against numbers that follow from the schema by hand. */
#include "unit.h"

#include "tables/estimate.h"

static const char schema[] =
    "{\"header\": true, \"row_norm\": \"unit\", \"bias\": true, \"quantised\": false, \"columns\": ["
    "{\"name\": \"ward\", \"type\": \"categorical\", \"categories\": [\"a\", \"b\", \"c\"], \"unknown\": \"zero\"},"
    "{\"name\": \"age\", \"type\": \"numeric\", \"bounds\": [0, 100], \"basis\": \"bins\", \"knots\": [20, 50.5], \"indicator\": true},"
    "{\"name\": \"notes\", \"type\": \"text\", \"columns\": 64},"
    "{\"name\": \"days\", \"type\": \"numeric\", \"bounds\": [1, 31]},"
    "{\"name\": \"since\", \"type\": \"numeric\", \"date\": \"%Y-%m-%d|%d.%m.%Y\", \"bounds\": [\"2000-01-01\", \"2020-01-01\"],"
    " \"basis\": \"bins\", \"knots\": [14790]},"
    "{\"name\": \"sex\", \"type\": \"categorical\", \"categories\": [\"f\", \"m\"], \"indicator\": true},"
    "{\"name\": \"died\", \"type\": \"label\", \"classes\": [\"no\", \"yes\"]}]}";

static struct dp_cells cells;

static int open_cells(void **state)
{
    (void)state;
    struct dp_err err = {0};
    assert_ok(dp_cells_open(&cells, schema, "t", &err));
    return 0;
}

static int close_cells(void **state)
{
    (void)state;
    dp_cells_close(&cells);
    cells = (struct dp_cells){0};
    return 0;
}

TEST(columns_have_cells)
{
    static const struct {
        const char *name;
        size_t cells, listed, other, missing, first;
    } expected[] = {{"ward", 4, 3, 3, SIZE_MAX, 0},          {"age", 4, 3, SIZE_MAX, 3, 3},
                    {"notes", 0, 0, SIZE_MAX, SIZE_MAX, 8},  {"days", 0, 0, SIZE_MAX, SIZE_MAX, 72},
                    {"since", 2, 2, SIZE_MAX, SIZE_MAX, 73}, {"sex", 3, 2, SIZE_MAX, 2, 76},
                    {"died", 2, 2, SIZE_MAX, SIZE_MAX, 79}};
    assert_int_equal(cells.columns, 7);
    for (size_t i = 0; i < 7; i++) {
        const struct dp_cell_column *c = &cells.column[i];
        assert_int_equal(dp_cells_find(&cells, expected[i].name), i);
        assert_int_equal(c->cells, expected[i].cells);
        assert_int_equal(c->listed, expected[i].listed);
        assert_true(c->other == expected[i].other && c->missing == expected[i].missing);
        assert_int_equal(c->first, expected[i].first);
        assert_int_equal(dp_cells_check(&cells, i, &err), c->cells > 0 ? DP_OK : DP_E_USAGE);
    }
    assert_int_equal(dp_cells_find(&cells, "Ward"), -1);
}

TEST(words)
{
    static const struct {
        size_t column, cell;
        const char *word;
    } expected[] = {{0, 1, "b"},         {0, 3, "other"},   {1, 0, "0..20"},
                    {1, 2, "50.5..100"}, {1, 3, "missing"}, {4, 1, "2010-06-30..2020-01-01"},
                    {5, 2, "missing"},   {6, 1, "yes"}};
    char word[DP_CELLS_WORD];
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_string_equal(dp_cells_word(&cells, expected[i].column, expected[i].cell, word), expected[i].word);
}

static void refused(const char *list, const char *sums, const char *message)
{
    struct dp_tables t = {0};
    struct dp_err err = {0};
    assert_int_equal(dp_tables_parse(&t, list, sums, &cells, &err), DP_E_USAGE);
    assert_string_equal(err.message, message);
    dp_tables_free(&t);
}

TEST(lists_that_are_refused)
{
    refused("notes", NULL, "column 'notes' is free text, so it has no cells to count: \"type\": \"ignore\" leaves it out");
    refused(
        "ward;days,sex", NULL,
        "column 'days' is a number without bins, so it has no cells to count: dp-import --basis bins, or \"basis\": \"bins\" in "
        "its schema, gives it cells");
    refused("ward;", NULL, "there is no column ''");
    refused("ward,sex,ward", NULL, "a table has column 'ward' twice");
    refused("ward", "days,age,days", "a table has the sum of 'days' twice");
    refused("ward", "sex", "column 'sex' is not a number with bounds, so its sum is not bounded");
    assert_int_equal(dp_cells_open(&(struct dp_cells){0}, NULL, "x.dp", &err), DP_E_RUN);
}

/* Each number of the vector has one place. */
TEST(layout)
{
    struct dp_tables t = {0}, again = {0};
    assert_int_equal(dp_tables_parse(&t, "ward,sex;died", "days,age", &cells, &err), DP_OK);
    assert_int_equal(t.count, 2);
    assert_int_equal(t.table[0].size, 12);
    assert_int_equal(dp_table_sum(&t.table[0], 0), 12);
    assert_int_equal(dp_table_sum(&t.table[0], 1), 24);
    assert_int_equal(dp_table_present(&t.table[0], 1), 36);
    assert_int_equal(t.table[1].offset, 48);
    assert_int_equal(t.table[1].size, 2);
    assert_int_equal(t.numbers, 48 + 8);
    char *text = dp_tables_text(&t);
    assert_string_equal(text, "[{\"columns\":[\"ward\",\"sex\"],\"cells\":[4,3],\"sums\":[\"days\",\"age\"],\"may_be_missing\":"
                              "[false,true]},{\"columns\":[\"died\"],\"cells\":[2],\"sums\":[\"days\",\"age\"],"
                              "\"may_be_missing\":[false,true]}]");
    assert_int_equal(dp_tables_read(&again, text, &err), DP_OK);
    assert_int_equal(dp_tables_check(&again, &cells, &err), DP_OK);
    char *same = dp_tables_text(&again);
    assert_string_equal(same, text);
    assert_int_equal(again.numbers, t.numbers);
    again.table[1].cells[0] = 2;
    again.table[1].scale = 2.5;
    again.table[1].laplace = true;
    free(same);
    same = dp_tables_text(&again);
    dp_tables_free(&again);
    assert_int_equal(dp_tables_read(&again, same, &err), DP_OK);
    assert_true(again.table[1].laplace && again.table[1].scale == 2.5 && again.table[0].scale == 0);
    again.table[1].cells[0] = 3;
    assert_int_equal(dp_tables_check(&again, &cells, &err), DP_E_RUN);
    assert_string_equal(err.message, "the list of tables was made for another schema: table 2 has other cells");
    free(text);
    free(same);
    dp_tables_free(&t);
    dp_tables_free(&again);
}

TEST(pairs_are_all_tables_of_two)
{
    struct dp_tables t = {0};
    assert_int_equal(dp_tables_parse(&t, "pairs", NULL, &cells, &err), DP_OK);
    assert_int_equal(t.count, 10); /* of five columns with cells */
    assert_int_equal(t.numbers, 4 * 4 + 4 * 2 + 4 * 2 + 4 * 3 + 4 * 3 + 2 * 3 + 4 * 2 + 4 * 2 + 2 * 2 + 3 * 2);
    assert_near(dp_tables_norm2(&t), sqrt(10), 1e-15);
    assert_true(dp_tables_norm2(&t) * dp_tables_norm2(&t) >= 10);
    assert_near(dp_tables_norm1(&t), 10, 0);
    dp_tables_free(&t);
}

/* The mean square of the error of a mean, by its formula. */
static double error(double w, double sums, double present, bool laplace)
{
    const double norm = laplace ? pow(1 + present + w * sums / 2, 2) : 1 + present + w * w * sums / 4;
    return norm * (1 / (w * w) + 1.0 / 12);
}

/* 1 + w²S/4 + P and 1 + wS/2 + P for each table; the weight by a search over all multiples of 1/16. */
TEST(norms)
{
    static const char *const sums[] = {"days", "age", "days,age"};
    for (size_t i = 0; i < 3; i++)
        for (int laplace = 0; laplace < 2; laplace++) {
            struct dp_tables t = {0}, again = {0};
            assert_int_equal(dp_tables_parse(&t, "ward,sex;died", sums[i], &cells, &err), DP_OK);
            const double count = i == 2 ? 2 : 1, present = i > 0;
            assert_near(dp_tables_norm2(&t), sqrt(2 * (1 + count / 4 + present)), 1e-15);
            assert_near(dp_tables_norm1(&t), 2 * (1 + count / 2 + present), 0);
            dp_tables_weigh(&t, laplace);
            const double w = t.table[0].weight;
            double best = 1;
            for (double v = 1; v < 8; v += 1.0 / 16)
                best = error(v, count, present, laplace) < error(best, count, present, laplace) ? v : best;
            assert_near(w, best, 1.0 / 16);
            assert_near(w * 16, floor(w * 16), 0);
            assert_near(dp_tables_norm2(&t), sqrt(2 * (1 + w * w * count / 4 + present)), 1e-14);
            assert_near(dp_tables_norm1(&t), 2 * (1 + w * count / 2 + present), 0);
            char *text = dp_tables_text(&t);
            assert_int_equal(dp_tables_read(&again, text, &err), DP_OK);
            assert_near(again.table[1].weight, w, 0);
            free(text);
            dp_tables_free(&t);
            dp_tables_free(&again);
        }
}

TEST(no_list)
{
    static const char *const texts[] = {"[]",
                                        "{}",
                                        "[{}]",
                                        "[{\"columns\":[\"a\"],\"cells\":[]}]",
                                        "[{\"columns\":[\"a\"],\"cells\":[0]}]",
                                        "[{\"columns\":[\"a\",\"b\"],\"cells\":[2]}]",
                                        "[{\"columns\":[3],\"cells\":[2]}]",
                                        "[{\"columns\":[\"a\"],\"cells\":[2],\"sums\":[\"b\"]}]",
                                        "[",
                                        "[{\"columns\":[\"a\",\"b\",\"c\"],\"cells\":[60000000,60000000,60000000]}]"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct dp_tables t = {0};
        assert_true(dp_tables_read(&t, texts[i], &err) < 0);
        dp_tables_free(&t);
    }
}

/* Laplace noise wins to 6 counts for epsilon 1 and delta 1e-5, where Gaussian noise has the multiplier 3.73063164. */
TEST(choice)
{
    struct dp_tables t = {0};
    const size_t ward = 0;
    for (int k = 1; k <= 9; k++) {
        assert_int_equal(dp_tables_add(&t, &cells, &ward, 1, &err), DP_OK);
        assert_true(dp_estimate_laplace(&t, 1, 3.73063164) == (k <= 6));
    }
    dp_tables_free(&t);
}

/* Fieller's formula in closed form, for Gaussian noise; and the law of the sum of two Laplace variables by simulation. */
TEST(means)
{
    struct dp_table t = {.scale = 4, .weight = 1};
    struct dp_estimate_mean mean;
    const double q2 = 1.9599639845400545 * 1.9599639845400545 * 16, c = 90, s = -20;
    assert_true(dp_estimate_mean(&t, s, c, &mean));
    const double a = c * c - q2, b = s * c, root = sqrt(b * b - a * (s * s - q2));
    assert_near(mean.mean, s / c, 1e-15);
    assert_near(mean.low, (b - root) / a, 1e-12);
    assert_near(mean.high, (b + root) / a, 1e-12);
    assert_false(dp_estimate_mean(&t, 0, 7.8, &mean)); /* 1.96 × 4 = 7.84 */
    assert_false(dp_estimate_mean(&t, 0, -50, &mean));
    assert_false(dp_estimate_mean(&t, 80, 90, &mean)); /* no mean of at most 1/2 gives that */
    assert_true(dp_estimate_mean(&t, 44, 90, &mean) && mean.high == 0.5);
    t.weight = 2; /* the noise of the sum is half as large */
    assert_true(dp_estimate_mean(&t, 0, 90, &mean));
    assert_near(mean.high, 1.9599639845400545 * 2 / sqrt(c * c - q2), 1e-12);
    t.laplace = true;
    assert_near(dp_estimate_width(&t), 4 * log(20), 1e-9);
}

/* Intervals of Laplace noise hold 19 times in 20, with any weight of the sums, over 5,000 points that fill the square evenly.
 * For weight 2 and r = 1/2 both scales are the same. */
LONG_TEST(intervals)
{
    struct dp_table t = {.scale = 3, .laplace = true};
    struct dp_estimate_mean mean;
    for (t.weight = 1; t.weight <= 4; t.weight *= 2)
        for (double r = -0.5; r <= 0.5; r += 0.5) {
            int held = 0;
            for (int i = 0; i < 5000; i++) {
                const double u[] = {(i + 0.5) / 5000, fmod(i * 0.6180339887498949, 1)};
                double noise[2];
                for (int k = 0; k < 2; k++)
                    noise[k] = u[k] < 0.5 ? 3 * log(2 * u[k]) : -3 * log(2 * (1 - u[k]));
                if (dp_estimate_mean(&t, 400 * r + noise[0] / t.weight, 400 + noise[1], &mean))
                    held += mean.low <= r && r <= mean.high;
            }
            assert_near(held / 5e3, 0.95, 0.002);
        }
}

/* Two tables that share a column: its margins become their mean, with weights 1 / variance, and totals agree. */
TEST(tables_agree)
{
    struct dp_tables t = {0};
    double value[8 + 2];
    assert_int_equal(dp_tables_parse(&t, "died,ward;died", NULL, &cells, &err), DP_OK);
    t.table[0].scale = t.table[1].scale = 1;
    for (int i = 0; i < 10; i++)
        value[i] = i < 8 ? 10 : i == 8 ? 60 : 40;
    dp_estimate_agree(&t, value);
    /* margins 40, 40 of variance 4 against 60, 40 of variance 1 */
    assert_near(value[0] + value[1] + value[2] + value[3], (40 + 4 * 60) / 5.0, 1e-12);
    assert_near(value[8], (40 + 4 * 60) / 5.0, 1e-12);
    assert_near(value[9], 40, 1e-12);
    assert_near(value[0], value[3], 1e-12);
    dp_tables_free(&t);
}

TESTS(open_cells, close_cells)
