/* The mass outside the window and the rounding of the FFT are part of the bound. */
#include "unit.h"

#include "priv/mixture.h"
#include "priv/pld_compose.h"

TEST(what_is_left_out_is_added)
{
    const struct dp_pld_part part = {DP_PLD_GAUSSIAN, 1, 2, 0, 4}; /* one Gaussian of μ = 1 */
    double exact = exp(dp_gaussian_log_delta(1, 1));
    for (double top = 1.1; top < 12; top += 0.7) {
        struct dp_pld_window w = {.s = 1, .above = 2, .below = -2, .bottom = -8, .top = top, .split = INFINITY};
        struct dp_pld_composed c;
        double upper, lower;
        dp_pld_compose(&c, &part, 1, false, 9, 1e-3, &w);
        dp_pld_composed_delta(&c, 1, &upper, &lower);
        assert_true(upper >= exact && lower <= exact);
        /* the error is only at the frequency 0, where the transform is 1: four laps and the way back */
        assert_true(c.error >= 5 * 24 * 0x1p-53 * log2((double)c.n) / (double)c.n);
        dp_pld_composed_free(&c);
    }
}

/* The masses leave out runs without a rare lap. If no lap is rare, such runs are most of δ. */
TEST(runs_without_a_rare_lap_count)
{
    const struct dp_pld_part part = {DP_PLD_GAUSSIAN, 1, 2, 0, 4};
    double exact = exp(dp_gaussian_log_delta(1, 1));
    for (double split = 0.4; split < 3; split += 0.4) {
        struct dp_pld_window w = {.s = 1, .above = 2, .below = -2, .bottom = -8, .top = 12, .split = split, .small = 1};
        struct dp_pld_composed c;
        double upper, lower;
        dp_pld_compose(&c, &part, 1, false, 9, 1e-3, &w);
        dp_pld_composed_delta(&c, 1, &upper, &lower);
        assert_true(upper >= exact && lower <= exact);
        dp_pld_composed_free(&c);
    }
}

TESTS(NULL, NULL)
