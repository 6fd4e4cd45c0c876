/* Features of numbers against tests/vectors/bases.tsv (made by make-bases.py). */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "data/basis.h"
#include "data/products.h"

/* The basis of a column, and the basis of the column that a model carries. */
static void read_both(const char *text, struct dp_basis both[2])
{
    struct dp_err err;
    json_t *column;
    assert_int_equal(dp_json_parse(&column, text, strlen(text), "t", &err), DP_OK);
    const json_t *bounds = json_object_get(column, "bounds");
    double low = json_number_value(json_array_get(bounds, 0)), high = json_number_value(json_array_get(bounds, 1));
    for (int i = 0; i < 2; i++) {
        both[i] = (struct dp_basis){0};
        assert_int_equal(dp_basis_read(&both[i], column, low, high, "t", "x", &err), DP_OK);
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

static void features_are_those_of_the_formulas(void **state)
{
    (void)state;
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

/* A bound is where the features are longest. */
static void the_largest_norm_is_reached(void **state)
{
    (void)state;
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

/* Three numbers on [0, 1] and a category: the products of three pairs, from their formula, and the mean square that their weight
 * is made for. */
static void products_are_those_of_the_formula(void **state)
{
    (void)state;
    static const char text[] =
        "{\"columns\": [{\"name\": \"a\", \"type\": \"numeric\", \"bounds\": [0, 1], \"basis\": \"cosines\"},"
        "{\"name\": \"c\", \"type\": \"categorical\", \"categories\": [\"u\", \"v\"]},"
        "{\"name\": \"b\", \"type\": \"numeric\", \"bounds\": [0, 1], \"basis\": \"cosines\"},"
        "{\"name\": \"l\", \"type\": \"numeric\", \"bounds\": [0, 1], \"basis\": \"hats\"},"
        "{\"name\": \"d\", \"type\": \"numeric\", \"bounds\": [0, 1], \"basis\": \"cosines\"},"
        "{\"name\": \"y\", \"type\": \"label\", \"classes\": [\"0\", \"1\"]}]}";
    static const size_t first[] = {0, 9, 11, 20, 30, 39};
    enum { GRID = 20 };
    struct dp_products p = {0};
    struct dp_schema s;
    struct dp_err err;
    json_t *root;
    double x[39] = {0}, to[12], mean = 0, weight = sqrt(0.1 * (1 + 3.3 + 1) / (25.0 / 64 * 3));
    assert_int_equal(dp_json_parse(&root, text, sizeof text - 1, "t", &err), DP_OK);
    assert_int_equal(dp_schema_read(&s, root, "t", &err), DP_OK);
    assert_int_equal(dp_products_plan(&p, &s, first, &err), DP_OK);
    assert_int_equal(p.count, 12);
    assert_near(p.weight, weight, 1e-15);
    for (int t = 0; t < GRID * GRID * GRID; t++) {
        const double u[3] = {(t % GRID + 0.5) / GRID, (t / GRID % GRID + 0.5) / GRID, (t / GRID / GRID + 0.5) / GRID};
        const size_t column[3] = {0, 2, 4};
        for (int i = 0; i < 3; i++)
            dp_basis_features(&s.column[column[i]].basis, u[i], x + first[column[i]] + 1);
        dp_products_features(&p, x, to);
        const double *at = to;
        for (int a = 0; a < 3; a++)
            for (int b = a + 1; b < 3; b++)
                for (int i = 1; i <= 2; i++)
                    for (int k = 1; k <= 2; k++, at++) {
                        assert_near(*at,
                                    weight * cos(3.14159265358979323846 * i * u[a]) / i *
                                        cos(3.14159265358979323846 * k * u[b]) / k,
                                    1e-12);
                        mean += *at * *at / (GRID * GRID * GRID);
                    }
    }
    assert_near(mean, 0.1 * (1 + 3.3 + 1), 1e-6);
    for (int i = 0; i < 3; i++)
        dp_basis_features(&s.column[i == 0 ? 0 : 2 * i].basis, i % 2, x + first[i == 0 ? 0 : 2 * i] + 1);
    dp_products_features(&p, x, to);
    double norm2 = 0;
    for (int i = 0; i < 12; i++)
        norm2 += to[i] * to[i];
    assert_near(norm2, dp_products_norm2(&p), 1e-9);
    dp_products_free(&p);
    dp_schema_free(&s);
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_are_those_of_the_formulas),
        cmocka_unit_test(the_largest_norm_is_reached),
        cmocka_unit_test(products_are_those_of_the_formula),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
