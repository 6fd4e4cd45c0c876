/* Many texts in a table, and texts that are not in it. */
#include "unit.h"

#include "data/text_index.h"

TEST(each_text_has_its_meaning)
{
    static char texts[2000][16];
    struct dp_text_index index = {0};
    for (long i = 0; i < 1000; i++) {
        int length = snprintf(texts[i], sizeof texts[i], "text %ld", 7 * i);
        dp_text_index_add(&index, texts[i], (size_t)length, i);
        dp_text_index_add(&index, texts[i], (size_t)length, -5);
    }
    assert_int_equal(index.count, 1000);
    for (long i = 0; i < 1000; i++) {
        assert_int_equal(dp_text_index_find(&index, texts[i], strlen(texts[i]), -1), i);
        int length = snprintf(texts[1999], sizeof texts[1999], "text %ld", 7 * i + 1);
        assert_int_equal(dp_text_index_find(&index, texts[1999], (size_t)length, -1), -1);
    }
    assert_int_equal(dp_text_index_find(&index, "text 77", 6, -1), 1); /* "text 7" */
    assert_int_equal(dp_text_index_find(&index, "", 0, -1), -1);
    dp_text_index_free(&index);
}

TESTS(NULL, NULL)
