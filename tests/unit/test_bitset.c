/* A set of numbers that returns them in order, against one bit for each. */
#include "drawn.h"
#include "unit.h"

#include "math/bitset.h"

TEST(numbers_come_out_in_order)
{
    static const uint64_t limits[] = {1, 2, 63, 64, 65, 4095, 4096, 4097, 262144, 262145, 3000000};
    struct dp_stream stream = stream_of(1, "marks");
    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
        struct dp_bitset bitset = {0};
        bool *there = calloc(limits[l], sizeof *there);
        int64_t *out = calloc(limits[l], sizeof *out);
        dp_bitset_open(&bitset, limits[l]);
        for (uint64_t round = 0, count = 0; round < 8; round++, count = round * round * round * 3 % (limits[l] + 1)) {
            size_t distinct = 0, at = 0;
            memset(there, 0, limits[l]);
            for (uint64_t i = 0; i < count; i++) { /* the ends of words too */
                uint64_t number = dp_stream_below(&stream, limits[l]);
                number = i % 3 == 0 ? number / 64 * 64 : i % 3 == 1 && (number | 63) < limits[l] ? number | 63 : number;
                assert_int_equal(dp_bitset_put(&bitset, number), !there[number]);
                distinct += !there[number];
                there[number] = true;
            }
            assert_int_equal(dp_bitset_take(&bitset, out), distinct);
            for (uint64_t number = 0; number < limits[l]; number++)
                if (there[number])
                    assert_int_equal(out[at++], number);
            assert_int_equal(dp_bitset_take(&bitset, out), 0);
        }
        dp_bitset_close(&bitset);
        free(there);
        free(out);
    }
}

TESTS(NULL, NULL)
