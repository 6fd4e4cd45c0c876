/* The crossing of a falling function: f is <= 0 at the result, and not a little below it. */
#include "unit.h"

#include "math/bracket.h"

static double line(double x, void *context)
{
    return *(double *)context - x;
}

static double steep(double x, void *context)
{
    return *(double *)context / x - x * x * x;
}

static double step(double x, void *context)
{
    return x < *(double *)context ? 1e6 : -1e-6;
}

TEST(the_upper_end_is_returned)
{
    double (*const falling[])(double, void *) = {line, steep, step};
    for (int i = 0; i < 3; i++)
        for (double at = 0.3; at < 1.9; at += 0.0917) {
            double x = dp_bracket_falling(falling[i], &at, 0.1, 2, 1e-9);
            assert_true(falling[i](x, &at) <= 0);
            assert_true(falling[i](x - 2e-9, &at) > 0);
        }
}

TEST(the_smallest_is_found_wherever_it_is)
{
    double (*const falling[])(double, void *) = {line, step};
    for (int i = 0; i < 2; i++)
        for (double at = 1e-200; at < 1e8; at *= 7.3e5) {
            double x = dp_bracket_smallest(falling[i], &at, 1e9);
            assert_true(x >= at && x <= at * (1 + 1e-9));
        }
    double none = 0, far = 1e12;
    assert_true(dp_bracket_smallest(line, &none, 1e9) == 0);
    assert_true(isinf(dp_bracket_smallest(line, &far, 1e9)));
}

TESTS(NULL, NULL)
