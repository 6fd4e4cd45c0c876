/* Knots that are paid for: what one row moves, and knots against tests/vectors/knots.tsv (made by make-knots.py). */
#include "unit.h"

#include "base/json.h"
#include "data/knots.h"

static void read_schema(struct dp_schema *s, const char *columns)
{
    char text[2000];
    json_t *root;
    snprintf(text, sizeof text, "{\"columns\": [%s, {\"name\": \"y\", \"type\": \"label\", \"classes\": [\"0\", \"1\"]}]}",
             columns);
    assert_int_equal(dp_json_parse(&root, text, strlen(text), "t", NULL), DP_OK);
    assert_int_equal(dp_schema_read(s, root, "t", NULL), DP_OK);
    json_decref(root);
}

static const char many[] = "{\"name\": \"a\", \"type\": \"numeric\", \"bounds\": [0, 10]},"
                           "{\"name\": \"b\", \"type\": \"numeric\", \"bounds\": [-1000, 5000], \"fill\": 0},"
                           "{\"name\": \"c\", \"type\": \"categorical\", \"categories\": [\"x\", \"z\"]},"
                           "{\"name\": \"d\", \"type\": \"numeric\", \"bounds\": [0, 1], \"basis\": \"hats\"},"
                           "{\"name\": \"e\", \"type\": \"numeric\", \"bounds\": [2, 3]}";

/* Rows with numbers within the bounds and beyond, zeros that are left out, missing numbers and null records. */
TEST(one_row_moves_the_counts_by_at_most_the_sensitivity)
{
    struct dp_schema s;
    struct dp_knots k = {0};
    double most = 0;
    read_schema(&s, many);
    dp_knots_open(&k, &s);
    assert_int_equal(k.columns, 3);
    for (int row = 0; row < 500; row++) {
        uint32_t column[5];
        double value[5], moved = 0;
        int given = 3; /* counts of the three columns: zeros count, missing numbers do not */
        struct dp_parsed r = {.null = row % 50 == 7, .column = column, .value = value};
        for (uint32_t i = 0; i < 5; i++) {
            if ((row >> i) % 3 == 0)
                continue;
            column[r.count] = i;
            value[r.count++] = i == 2 ? 1 : row % 11 == 3 ? (double)NAN : (double)(row * 7919 % 9000) - 2000;
            given -= isnan(value[r.count - 1]) && i != 3;
        }
        memset(k.count, 0, k.columns * k.cells * sizeof *k.count);
        dp_knots_add(&k, &r);
        for (size_t i = 0; i < k.columns * k.cells; i++)
            moved += (double)(k.count[i] * k.count[i]);
        assert_true(moved == (r.null ? 0 : given));
        most = fmax(most, sqrt(moved));
    }
    assert_true(most <= dp_knots_sensitivity(3, 0) && most == sqrt(3));
    assert_true(dp_knots_sensitivity(3, 1) >= sqrt(3) && dp_knots_sensitivity(3, 1) < 1.7320508076);
    assert_true(dp_knots_sensitivity(7, 4) >= 4 * sqrt(7) && dp_knots_sensitivity(7, 4) < 10.583005245);
    dp_knots_close(&k);
    dp_schema_free(&s);
}

TEST(the_budget_says_how_many_cells)
{
    assert_int_equal(dp_knots_choose(799, 100), 0);
    assert_int_equal(dp_knots_choose(800, 100), 16);
    assert_int_equal(dp_knots_choose(1599, 100), 16);
    assert_int_equal(dp_knots_choose(1600, 100), 32);
    assert_int_equal(dp_knots_choose(3200, 100), 64);
    assert_int_equal(dp_knots_choose(1e9, 1), 256);
}

/* Merged cells have the numbers between the edges of the wider cells. */
TEST(cells_are_added_up)
{
    struct dp_schema s;
    struct dp_knots k = {0};
    int64_t expected[32] = {0};
    read_schema(&s, "{\"name\": \"a\", \"type\": \"numeric\", \"bounds\": [0, 4000]}");
    dp_knots_open(&k, &s);
    for (int i = 0; i < 3000; i++) {
        uint32_t column = 0;
        double value = 4000. * i / 2999 * i / 2999;
        struct dp_parsed r = {.column = &column, .value = &value, .count = 1};
        dp_knots_add(&k, &r);
        for (size_t cell = 0; cell < 32; cell++)
            expected[cell] += (value >= dp_basis_spread(0, 4000, cell, 32) && value < dp_basis_spread(0, 4000, cell + 1, 32)) ||
                              (cell == 31 && value == 4000);
    }
    dp_knots_merge(&k, 64);
    dp_knots_merge(&k, 32);
    for (size_t cell = 0; cell < 32; cell++)
        assert_int_equal(k.count[cell], expected[cell]);
    dp_knots_close(&k);
    dp_schema_free(&s);
}

/* 16 cells of one number each: 5,000 rows have 5, and each number from 9 on has 500. The parts have these rows. */
TEST(parts_have_the_rows_of_their_numbers)
{
    static const double place[] = {0, 5, 5, 6, 9, 10, 11, 12, 13, 14, 15, 16},
                        share[] = {0, 5. / 8.5, 0, 0, .5 / 8.5, .5 / 8.5, .5 / 8.5, .5 / 8.5, .5 / 8.5, .5 / 8.5, .5 / 8.5};
    struct dp_schema s;
    struct dp_knots k = {0};
    read_schema(&s, "{\"name\": \"a\", \"type\": \"numeric\", \"bounds\": [0, 16]}");
    dp_knots_open(&k, &s);
    dp_knots_merge(&k, 16);
    for (size_t i = 0; i < 16; i++)
        k.count[i] = i == 5 ? 5000 : i >= 9 ? 500 : 0;
    dp_knots_place(&k, DP_BASIS_BINS, 1, 8500, 1, &s); /* draws 2 rows towards even ones */
    const struct dp_basis *b = &s.column[0].basis;
    assert_int_equal(b->parts, sizeof share / sizeof *share);
    for (size_t i = 0; i <= b->parts; i++)
        assert_near(b->place[i], place[i], 0);
    for (size_t i = 0; i < b->parts; i++)
        assert_near(b->share[i], share[i], 3e-4);
    dp_knots_close(&k);
    dp_schema_free(&s);
}

/* Six digits of these numbers say nothing: the bounds have them in common. The schema of the knots can be read. */
TEST(long_numbers_have_knots_and_parts_within_the_bounds)
{
    struct dp_schema s;
    struct dp_knots k = {0};
    struct dp_basis again = {0};
    read_schema(&s, "{\"name\": \"a\", \"type\": \"numeric\", \"bounds\": [1600000000, 1600003600]}");
    dp_knots_open(&k, &s);
    for (size_t i = 0; i < DP_KNOTS_CELLS; i++)
        k.count[i] = 100 + (i == DP_KNOTS_CELLS - 2 ? 5000 : 0);
    dp_knots_place(&k, DP_BASIS_BINS, 1, 30600, 1, &s);
    const struct dp_basis *b = &s.column[0].basis;
    json_t *column = json_object();
    dp_basis_put(b, column);
    assert_int_equal(b->intervals, 17);
    assert_true(b->parts > 0 && b->place[b->parts] == 1600003600);
    assert_int_equal(dp_basis_read(&again, column, 1600000000, 1600003600, &err), DP_OK);
    json_decref(column);
    dp_basis_free(&again);
    dp_knots_close(&k);
    dp_schema_free(&s);
}

static void check_line(char *line)
{
    const double unit = 1024;
    char column[200], *bounds = strtok(line, "\t"), *kind = strtok(NULL, "\t"), *noise = strtok(NULL, "\t"),
                      *counts = strtok(NULL, "\t"), *edges = strtok(NULL, "\t");
    struct dp_schema s;
    struct dp_knots k = {0};
    json_t *expected = json_loads(edges, JSON_DECODE_ANY, NULL);
    snprintf(column, sizeof column, "{\"name\": \"a\", \"type\": \"numeric\", \"bounds\": %s}", bounds);
    read_schema(&s, column);
    dp_knots_open(&k, &s);
    dp_knots_merge(&k, 16);
    for (size_t i = 0; i < 16; i++)
        k.count[i] = (int64_t)unit * strtol(counts, &counts, 10);
    dp_knots_place(&k, dp_basis_of(kind), unit, 2000, 4 * strtod(noise, NULL), &s); /* of a count of 16 */
    const struct dp_basis *b = &s.column[0].basis;
    if (json_is_null(expected)) {
        assert_int_equal(b->kind, DP_BASIS_NONE);
    } else {
        assert_int_equal(b->kind, dp_basis_of(kind));
        assert_int_equal(b->intervals + 1, json_array_size(expected));
        for (size_t i = 0; i <= b->intervals; i++)
            assert_near(b->edge[i], json_number_value(json_array_get(expected, i)), 1e-9 * (1 + fabs(b->edge[i])));
    }
    json_decref(expected);
    dp_knots_close(&k);
    dp_schema_free(&s);
}

TEST(knots_are_those_of_the_formulas)
{
    char line[1000];
    int lines = 0;
    FILE *file = fopen("tests/vectors/knots.tsv", "r");
    assert_non_null(file);
    for (; fgets(line, sizeof line, file) != NULL; lines++)
        check_line(line);
    fclose(file);
    assert_int_equal(lines, 36);
}

TESTS(NULL, NULL)
