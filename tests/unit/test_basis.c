/* Features of numbers against tests/vectors/bases.tsv (made by make-bases.py). */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "data/basis.h"

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
        assert_int_equal(dp_basis_put(&both[i], column), 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_are_those_of_the_formulas),
        cmocka_unit_test(the_largest_norm_is_reached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
