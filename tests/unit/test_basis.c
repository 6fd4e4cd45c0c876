/* Features of numbers against tests/vectors/bases.tsv (made by make-bases.py). */
#include "unit.h"

#include "base/json.h"
#include "data/basis.h"
#include "data/products.h"

/* The basis of a column, and the basis of the column that a model carries. */
static void read_both(const char *text, struct dp_basis both[2])
{
    json_t *column;
    assert_int_equal(dp_json_parse(&column, text, strlen(text), "t", NULL), DP_OK);
    const json_t *bounds = json_object_get(column, "bounds");
    double low = json_number_value(json_array_get(bounds, 0)), high = json_number_value(json_array_get(bounds, 1));
    for (int i = 0; i < 2; i++) {
        both[i] = (struct dp_basis){0};
        assert_int_equal(dp_basis_read(&both[i], column, low, high, NULL), DP_OK);
        dp_basis_put(&both[i], column);
    }
    json_decref(column);
}

static void check(const struct dp_basis *b, double value, char *expected)
{
    double x[DP_BASIS_MOST], norm2 = 0;
    size_t count = 0;
    dp_basis_features(b, value, x);
    for (char *at = strtok(expected, "\t\n"); at != NULL; at = strtok(NULL, "\t\n"), count++) {
        assert_true(count < dp_basis_count(b));
        assert_near(x[count], strtod(at, NULL), 1e-12);
        assert_true(x[count] >= -1 - 1e-15 && x[count] <= 1 + 1e-15);
        norm2 += x[count] * x[count];
    }
    assert_int_equal(count, dp_basis_count(b));
    assert_near(norm2, dp_basis_norm2_of(b, value), 1e-12);
    assert_true(norm2 <= dp_basis_norm2(b) + 1e-12);
}

TEST(features_are_those_of_the_formulas)
{
    char line[2000], copy[2000];
    FILE *file = fopen("tests/vectors/bases.tsv", "r");
    assert_non_null(file);
    int lines = 0;
    for (; fgets(line, sizeof line, file) != NULL; lines++) {
        struct dp_basis both[2];
        char *value = strchr(line, '\t');
        *value++ = '\0';
        char *features = strchr(value, '\t');
        *features++ = '\0';
        read_both(line, both);
        for (int i = 0; i < 2; i++) {
            strcpy(copy, features);
            check(&both[i], strtod(value, NULL), copy);
            dp_basis_free(&both[i]);
        }
    }
    assert_true(lines > 200);
    fclose(file);
}

TEST(parts_are_read_back_and_others_refused)
{
    static const char *const bad[] = {"\"parts\": [0, 2, 1, 3], \"shares\": [0.5, 0.2, 0.3]",
                                      "\"parts\": [0, 3], \"shares\": [2]",
                                      "\"parts\": [0, 2], \"shares\": [1]",
                                      "\"parts\": [1, 3], \"shares\": [1]",
                                      "\"parts\": [0, 3]",
                                      "\"shares\": [1]",
                                      "\"parts\": [0, 3], \"shares\": [-1]"};
    struct dp_basis both[2];
    read_both(
        "{\"bounds\": [0, 3], \"basis\": \"bins\", \"knots\": [1], \"parts\": [0, 2, 2, 3], \"shares\": [0.25, 0.5, 0.25]}",
        both);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(both[i].parts, 3);
        assert_true(both[i].place[1] == 2 && both[i].place[2] == 2 && both[i].place[3] == 3 && both[i].share[1] == 0.5);
        dp_basis_free(&both[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct dp_basis b = {0};
        char text[200];
        snprintf(text, sizeof text, "{\"basis\": \"bins\", \"knots\": [1], %s}", bad[i]);
        json_t *column = json_loads(text, 0, NULL);
        assert_fails(dp_basis_read(&b, column, 0, 3, &err), DP_E_RUN,
                     "bins may have \"parts\", numbers that ascend from bound to bound, and a share from 0 "
                     "to 1 for each two of them in \"shares\"");
        dp_basis_free(&b);
        json_decref(column);
    }
}

/* A bound is where the features are longest. */
TEST(the_largest_norm_is_reached)
{
    static const char *const columns[] = {"{\"bounds\": [0, 3], \"basis\": \"hats\"}",
                                          "{\"bounds\": [0, 3], \"basis\": \"bins\"}",
                                          "{\"bounds\": [0, 3], \"basis\": \"cosines\"}"};
    for (size_t i = 0; i < 3; i++) {
        struct dp_basis both[2];
        read_both(columns[i], both);
        assert_near(dp_basis_norm2_of(&both[0], 3), dp_basis_norm2(&both[0]), 1e-12);
        dp_basis_free(&both[0]);
        dp_basis_free(&both[1]);
    }
}

/* Three numbers on [0, 1], a line and two categories, the first of which has no feature for its first level. */
enum { GRID = 12, FACTORS = 41 };
static const size_t first_of[] = {0, 9, 11, 20, 30, 39, 42};
static void read_mixed(struct dp_schema *s)
{
    static const char text[] =
        "{\"columns\": [{\"name\": \"a\", \"type\": \"numeric\", \"bounds\": [0, 1], \"basis\": \"cosines\"},"
        "{\"name\": \"c\", \"type\": \"categorical\", \"categories\": [\"t\", \"u\", \"v\"], \"drop\": \"first\"},"
        "{\"name\": \"b\", \"type\": \"numeric\", \"bounds\": [0, 1], \"basis\": \"cosines\"},"
        "{\"name\": \"l\", \"type\": \"numeric\", \"bounds\": [0, 1], \"basis\": \"hats\"},"
        "{\"name\": \"d\", \"type\": \"numeric\", \"bounds\": [0, 1], \"basis\": \"cosines\"},"
        "{\"name\": \"e\", \"type\": \"categorical\", \"categories\": [\"p\", \"q\", \"r\"]},"
        "{\"name\": \"y\", \"type\": \"label\", \"classes\": [\"0\", \"1\"]}]}";
    json_t *root;
    assert_int_equal(dp_json_parse(&root, text, sizeof text - 1, "t", NULL), DP_OK);
    assert_int_equal(dp_schema_read(s, root, "t", NULL), DP_OK);
    json_decref(root);
}

/* Fills the features of three numbers and two levels. */
static void fill(const struct dp_schema *s, const double u[3], size_t c, size_t e, double x[FACTORS + 1])
{
    memset(x, 0, (FACTORS + 1) * sizeof *x);
    for (size_t i = 0; i < 3; i++)
        dp_basis_features(&s->column[2 * i].basis, u[i], x + first_of[2 * i] + 1);
    if (c > 0)
        x[first_of[1] + c - 1] = 1;
    x[first_of[5] + e] = 1;
}

/* 3 pairs of numbers with 4 products, 3 of a number and c with 4, 3 of a number and e with 6, c and e with 6. */
TEST(products_are_those_of_the_formula)
{
    struct dp_products p = {0};
    struct dp_schema s = {0};
    const double square = 3 * 1.5625 + 6 * 1.25 + 1, others = 1 + 3.3 + 2, w = sqrt(0.3 * others / square);
    double x[FACTORS + 1], to[48], mean = 0, norm2 = 0;
    read_mixed(&s);
    assert_int_equal(dp_products_plan(&p, &s, first_of, 1000, &err), DP_OK);
    assert_int_equal(p.count, 48);
    assert_int_equal(p.pairs, 10);
    assert_int_equal(p.all, 10);
    assert_near(p.weight, 2 * w, 1e-15);
    for (int t = 0; t < GRID * GRID * GRID * 9; t++) {
        const double u[3] = {(t % GRID + 0.5) / GRID, (t / GRID % GRID + 0.5) / GRID, (t / GRID / GRID % GRID + 0.5) / GRID};
        const size_t levels = (size_t)(t / GRID / GRID / GRID);
        fill(&s, u, levels % 3, levels / 3, x);
        dp_products_features(&p, x, to);
        for (size_t k = 0, of[2]; k < p.count; k++) {
            const double weight = dp_products_of(&p, k, of);
            assert_near(to[k], weight * x[of[0]] * x[of[1]], 1e-15);
            assert_near(weight,
                        w * (of[0] < 39 ? of[0] == 9 || of[0] == 10 ? 1 : sqrt(2) : 1) *
                            (of[1] >= 39 || of[1] == 9 || of[1] == 10 ? 1 : sqrt(2)),
                        1e-15);
            mean += to[k] * to[k] / (GRID * GRID * GRID * 9);
        }
    }
    /* a third of the rows has the first level of c, which has no feature */
    assert_near(mean, w * w * (3 * 1.5625 + 3 * 1.25 + (3 * 1.25 + 1) * 2 / 3), 1e-6);
    fill(&s, (const double[]){0, 1, 0}, 2, 1, x);
    dp_products_features(&p, x, to);
    for (int i = 0; i < 48; i++)
        norm2 += to[i] * to[i];
    assert_near(norm2, dp_products_norm2(&p), 1e-9);
    dp_products_free(&p);
    dp_schema_free(&s);
}

/* The pairs with the fewest products come first, whatever is left out, and the weight is of those that are taken. Models of
 * earlier versions have pairs of numbers only, and a smaller weight. */
TEST(a_limit_takes_small_pairs_first)
{
    struct dp_schema s = {0};
    size_t all[48][2], of[2];
    struct dp_products p = {0};
    read_mixed(&s);
    assert_int_equal(dp_products_plan(&p, &s, first_of, 48, &err), DP_OK);
    assert_int_equal(p.count, 48);
    for (size_t k = 0; k < 48; k++)
        dp_products_of(&p, k, all[k]);
    dp_products_free(&p);
    static const size_t most[] = {47, 30, 29, 4, 3}, count[] = {42, 30, 24, 4, 0};
    for (int t = 0; t < 5; t++) {
        assert_int_equal(dp_products_plan(&p, &s, first_of, most[t], &err), DP_OK);
        assert_int_equal(p.count, count[t]);
        assert_int_equal(p.all, 10);
        for (size_t k = 0; k < p.count; k++) {
            dp_products_of(&p, k, of);
            assert_memory_equal(of, all[k], sizeof of);
        }
        dp_products_free(&p);
    }
    assert_int_equal(dp_products_plan(&p, &s, first_of, 4, &err), DP_OK);
    assert_near(p.weight, 2 * sqrt(0.3 * 6.3 / 1.25) / sqrt(2), 1e-12); /* a and c */
    dp_products_free(&p);
    assert_int_equal(dp_products_plan(&p, &s, first_of, 0, &err), DP_OK);
    assert_int_equal(p.count, 12);
    assert_near(p.weight, sqrt(0.1 * 6.3 / (25.0 / 64 * 3)), 1e-12);
    dp_products_free(&p);
    dp_schema_free(&s);
}

/* 61 levels have no products, and 21 have no products with 20. */
TEST(many_levels_have_no_products)
{
    static const size_t levels[] = {60, 61, 20, 21, 20};
    size_t first[6] = {0};
    struct dp_products p = {0};
    struct dp_schema s = {0};
    json_t *columns = json_array();
    for (size_t i = 0; i < 5; i++) {
        json_t *list = json_array();
        for (size_t k = 0; k < levels[i]; k++)
            json_array_append_new(list, json_sprintf("l%zu", k));
        json_array_append_new(
            columns, json_pack("{s:o, s:s, s:o}", "name", json_sprintf("c%zu", i), "type", "categorical", "categories", list));
        first[i + 1] = first[i] + levels[i];
    }
    json_array_append_new(columns, json_pack("{s:s, s:s, s:[s, s]}", "name", "y", "type", "label", "classes", "0", "1"));
    json_t *root = json_pack("{s:o}", "columns", columns);
    assert_int_equal(dp_schema_read(&s, root, "t", &err), DP_OK);
    assert_int_equal(dp_products_plan(&p, &s, first, 8000, &err), DP_OK);
    assert_int_equal(p.count, 400);
    dp_products_free(&p);
    dp_schema_free(&s);
    json_decref(root);
}

TESTS(NULL, NULL)
