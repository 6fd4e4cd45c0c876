/* Words of texts against tests/vectors/words.tsv (made by make-words.py), and their features. */
#include "unit.h"

#include <sodium.h>

#include "data/words.h"

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

TEST(words_have_the_columns_of_their_hash)
{
    char line[20000];
    int lines = 0;
    FILE *file = fopen("tests/vectors/words.tsv", "r");
    assert_non_null(file);
    for (; fgets(line, sizeof line, file) != NULL; lines++) {
        struct dp_parsed r = {0};
        char *count = strchr(line, '\t'), *at, *tab;
        *count++ = '\0';
        if ((tab = strstr(line, "\\t")) != NULL)
            memcpy(tab, "\t ", 2);
        dp_words_add(line, strlen(line), strtoul(count, &at, 10), 3, &r);
        if (r.count > 0)
            qsort(r.value, r.count, sizeof *r.value, by_value);
        for (uint32_t i = 0; i < r.count; i++) {
            assert_int_equal(r.column[i], 3);
            assert_true(r.value[i] == strtod(at, &at));
        }
        assert_string_equal(at + strspn(at, "\t"), "\n");
        dp_parsed_free(&r);
    }
    fclose(file);
    assert_int_equal(lines, 60);
}

TEST(a_word_counts_more_than_a_pair)
{
    double x[4] = {0};
    dp_words_feature(-2, x);
    dp_words_feature(3, x);
    dp_words_feature(-3, x);
    dp_words_feature(-4, x);
    dp_words_feature(4, x);
    assert_true(x[0] == 0 && x[1] == 0.25 && x[2] == 1 && x[3] == 1);
}

int main(void)
{
    return sodium_init() < 0 ? 1 : all_tests(NULL, NULL);
}
