/* The plan of a run's kinds of laps: its meaning, and refusals. */
#include "unit.h"

#include "wire/laps.h"

/* The kinds of the first laps, a letter each. */
static void means(const char *text, const char *kinds)
{
    struct dp_laps laps = {0};
    int64_t turns[DP_LAPS_MOST_KINDS] = {0};
    assert_int_equal(dp_laps_parse(&laps, text, NULL), DP_OK);
    assert_int_equal(laps.laps, strlen(kinds));
    for (int64_t lap = 1; lap <= laps.laps; lap++) {
        int kind = dp_laps_kind(&laps, lap);
        assert_int_equal(laps.name[kind][0], kinds[lap - 1]);
        turns[kind]++;
    }
    for (int k = 0; k < laps.kinds; k++) {
        assert_true(turns[k] == laps.turns[k] && turns[k] > 0);
        assert_int_equal(dp_laps_find(&laps, laps.name[k]), k);
    }
    for (size_t i = 1; i < laps.pieces; i++)
        assert_true(laps.piece[i].kind != laps.piece[i - 1].kind);
    dp_laps_free(&laps);
}

TEST(plans)
{
    means("moments 1, gradient 5", "mggggg");
    means("gradient", "g");
    means("  a3 2 ,b-b\t,\na3", "aaba");
    means("(gradient, search) 3", "gsgsgs");
    means("( gradient 2 , search )2, gradient", "ggsggsg");
    means("a, (a, b) 2, b", "aababb");
    means("(a, b, a) 3", "abaabaaba");
    means("((a, b) 2, c) 2", "ababcababc");
    means("(a 2) 3, (b)", "aaaaaab");
    means("(a, a) 3", "aaaaaa");
    means("a2", "a");
}

TEST(long_plans_are_short)
{
    struct dp_laps laps = {0};
    assert_int_equal(dp_laps_parse(&laps, "moments, (gradient 1000000) 1000000", &err), DP_OK);
    assert_true(laps.laps == 1000000000001 && laps.pieces == 2 && laps.turns[1] == 1000000000000);
    assert_int_equal(dp_laps_kind(&laps, 1), 0);
    assert_int_equal(dp_laps_kind(&laps, 1000000000001), 1);
    assert_int_equal(dp_laps_find(&laps, "search"), -1);
    dp_laps_free(&laps);
    assert_int_equal(dp_laps_plain(&laps, 1099511627775, &err), DP_OK);
    assert_true(laps.kinds == 1 && laps.pieces == 1 && laps.name[0][0] == '\0' && dp_laps_kind(&laps, 7) == 0);
    dp_laps_free(&laps);
}

TEST(refused)
{
    static const char *const bad[][2] = {
        {"", "the plan ends where a kind of lap is expected"},
        {"a,", "the plan ends where a kind of lap is expected"},
        {"(a", "the plan ends where ',' or ')' is expected"},
        {"a)", "character 2 of the plan: expected ',', got ')'"},
        {"a b", "character 3 of the plan: expected ',', got 'b'"},
        {"()", "character 2 of the plan: expected a kind of lap, got ')'"},
        {"7", "character 1 of the plan: expected a kind of lap, got '7'"},
        {"Moments 1", "character 1 of the plan: expected a kind of lap, got 'M'"},
        {"a 1, -b", "character 6 of the plan: expected a kind of lap, got '-'"},
        {"a_b", "character 2 of the plan: expected ',', got '_'"},
        {"a 0", "character 3 of the plan: expected a count from 1 to 1099511627775"},
        {"a -1", "character 3 of the plan: expected ',', got '-'"},
        {"a 1099511627776", "character 3 of the plan: expected a count from 1 to 1099511627775"},
        {"a 99999999999999999999999999", "character 3 of the plan: expected a count from 1 to 1099511627775"},
        {"a 1099511627775, b", "the plan has more than 1099511627775 laps"},
        {"(a 1099511627775) 2", "the plan has more than 1099511627775 laps"},
        {"a 1, a 1099511627775", "the plan has more than 1099511627775 laps"},
        {"(a, b) 500001", "the plan changes the kind of its laps more than 1000000 times"},
        {"(a, b, a) 1099511627775", "the plan changes the kind of its laps more than 1000000 times"},
        {"((((((((a))))))))", NULL},
        {"(((((((((a)))))))))", "the plan has more than 8 parentheses in each other"},
        {"a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q", "a plan has at most 16 kinds of laps"},
        {"abcdefghijklmnopqrstuvwxyz-1234", NULL},
        {"a, abcdefghijklmnopqrstuvwxyz-12345", "character 4 of the plan: a kind of lap has at most 31 characters"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct dp_laps laps = {0};
        err = (struct dp_err){0};
        assert_int_equal(dp_laps_parse(&laps, bad[i][0], &err), bad[i][1] != NULL ? DP_E_USAGE : DP_OK);
        if (bad[i][1] != NULL)
            assert_string_equal(err.message, bad[i][1]);
        dp_laps_free(&laps);
    }
}

TESTS(NULL, NULL)
