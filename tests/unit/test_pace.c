/* Adaptation of a run to its released values; angles. */
#include "unit.h"

#include "math/angle.h"
#include "math/pace.h"

#define PI 3.14159265358979323846

TEST(angles)
{
    static const double x[3] = {1, 0, 0}, y[3] = {0, 2, 0}, back[3] = {-3, 0, 0}, both[3] = {1, 1, 0};
    assert_near(dp_angle(x, y, 3), PI / 2, 1e-15);
    assert_near(dp_angle(x, back, 3), PI, 1e-15);
    assert_near(dp_angle(x, both, 3), PI / 4, 1e-15);
    assert_true(dp_angle(both, both, 3) == 0);
    assert_near(dp_angle(both, (const double[3]){7, 7, 0}, 3), 0, 1e-15);
    assert_near(dp_angle((const double[2]){3, 4}, (const double[2]){4, 3}, 2), acos(0.96), 1e-14);
}

/* vectors for which the cosine is 1 in double precision, and vectors whose squares overflow */
TEST(angles_that_are_hard)
{
    for (double t = 1; t > 1e-300; t /= 10) {
        double angle = dp_angle((const double[2]){1, 0}, (const double[2]){1, t}, 2);
        assert_near(angle, atan(t), 1e-15); /* an arc cosine is off by 1e-8 */
        assert_near(dp_angle((const double[2]){t, 0}, (const double[2]){0, 1 / t}, 2), PI / 2, 1e-15);
    }
    assert_near(dp_angle((const double[2]){1e-308, 1e-308}, (const double[2]){1e308, 0}, 2), PI / 4, 1e-15);
}

TEST(nothing_has_no_direction)
{
    static const double x[2] = {1, 0}, zero[2] = {0, 0}, broken[2] = {1, NAN}, far[2] = {INFINITY, 0};
    assert_near(dp_angle(x, zero, 2), PI / 2, 1e-15);
    assert_near(dp_angle(zero, x, 2), PI / 2, 1e-15);
    assert_near(dp_angle(zero, zero, 2), PI / 2, 1e-15);
    assert_near(dp_angle(x, broken, 2), PI / 2, 1e-15);
    assert_near(dp_angle(far, x, 2), PI / 2, 1e-15);
}

static double rho(double z)
{
    return 1 / (2 * z * z);
}

TEST(rho_grows)
{
    assert_near(rho(dp_pace_multiplier(4, 1.3, 0.1)), 1.3 * rho(4), 1e-15);
    assert_true(dp_pace_multiplier(4, 1, 0.1) == 4);
    assert_true(dp_pace_multiplier(4, 1.3, 3.9) == 3.9);
}

TEST(angles_say_which_budget_is_too_small)
{
    assert_int_equal(dp_pace_compare(1.21, 1, 1.2, 0.5), DP_PACE_NOISY);
    assert_int_equal(dp_pace_compare(1.19, 1, 1.2, 0.5), DP_PACE_BETWEEN);
    assert_int_equal(dp_pace_compare(0.51, 1, 1.2, 0.5), DP_PACE_BETWEEN);
    assert_int_equal(dp_pace_compare(0.49, 1, 1.2, 0.5), DP_PACE_ALIKE);
    assert_int_equal(dp_pace_compare(PI / 2, 1.5, 1.1, 0.5), DP_PACE_BETWEEN);
    assert_int_equal(dp_pace_compare(1.58, 1.5, 1.1, 0.5), DP_PACE_NOISY); /* a negative product */
    assert_int_equal(dp_pace_compare(0.1, 1.5, 0, 0), DP_PACE_NOISY);
}

TEST(an_increment_makes_up_for_what_is_missing)
{
    double held = 1 / (4. * 4.);
    for (int i = 0; i < 20; i++) {
        double z = dp_pace_multiplier(1 / sqrt(held), 1.3, 1e-9), add = dp_pace_increment(z, held);
        assert_near(rho(add), 0.3 * held / 2, 1e-12);
        held += 1 / (add * add);
        assert_near(held, 1 / (z * z), 1e-12);
    }
    assert_true(dp_pace_increment(4, 0) == 4);
    /* nothing is missing, or only rounding */
    assert_true(dp_pace_increment(4, 1 / 16.) == 4);
    assert_true(dp_pace_increment(4, 1 / 15.) == 4);
    assert_true(dp_pace_increment(4, (1 - 1e-12) / 16) == 4);
}

TEST(a_search_begins_above_the_largest_step_of_late)
{
    struct dp_pace_window w = {.every = 3, .widen = 1.5, .first = 10};
    static const double step[] = {2, 4, 0, /* none */ 0, 0, 0, /* now smaller */ 0, 1, 0.5, 8};
    static const double first[] = {10, 10, 6, 6, 6, 6, 6, 6, 1.5, 1.5};
    for (int i = 0; i < 10; i++) {
        dp_pace_searched(&w, step[i]);
        assert_near(w.first, first[i], 1e-15);
    }
    struct dp_pace_window each = {.every = 1, .widen = 1, .first = 10};
    dp_pace_searched(&each, 3);
    assert_true(each.first == 3);
    struct dp_pace_window narrow = {.every = 1, .widen = 2, .narrow = true, .first = 10};
    dp_pace_searched(&narrow, 8);
    assert_true(narrow.first == 10);
    dp_pace_searched(&narrow, 2);
    assert_true(narrow.first == 4);
    dp_pace_searched(&narrow, 4);
    assert_true(narrow.first == 4);
}

TESTS(NULL, NULL)
