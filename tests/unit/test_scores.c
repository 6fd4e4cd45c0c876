/* Scores of candidates: the largest change by a row, and their values if nothing is clipped. */
#include "random.h"
#include "unit.h"

#include "math/grid.h"
#include "math/scores.h"

enum { CANDIDATES = 7 };

static double range(const int64_t *score)
{
    int64_t most = score[0], least = score[0];
    for (int i = 1; i < CANDIDATES; i++) {
        most = score[i] > most ? score[i] : most;
        least = score[i] < least ? score[i] : least;
    }
    return (double)(most - least);
}

/* For any losses, bound and unit: the distance of two candidates changes by at most the bound, and can change by that much. */
TEST(a_row_moves_candidates_apart_by_the_bound_at_most)
{
    const double bounds[] = {1, 0.1, 3, 0.7, 1e-3, 1e6}, units[] = {1, 0.3, 1e-9, 1e9};
    const double odd[] = {0, -0.0, 1e308, -1e308, INFINITY, -INFINITY, NAN, 5e-324, 1, -1};
    gsl_rng *rng = random_numbers();
    for (int round = 0; round < 40000; round++) {
        double bound = bounds[round % 6], unit = units[round % 4], grid = dp_grid_for(bound), loss[CANDIDATES];
        int64_t score[CANDIDATES] = {0};
        for (int i = 0; i < CANDIDATES; i++) {
            loss[i] = 4 * bound * unit * (gsl_rng_uniform(rng) - 0.5);
            if (round % 3 == 0 && gsl_rng_uniform_int(rng, 3) == 0)
                loss[i] = odd[gsl_rng_uniform_int(rng, 10)];
        }
        dp_scores_add(loss, CANDIDATES, unit, bound, 1 / grid, score);
        assert_true(range(score) <= bound / grid);
    }
    for (int i = 0; i < 6; i++) {
        double grid = dp_grid_for(bounds[i]), loss[CANDIDATES] = {10 * bounds[i], -10 * bounds[i]};
        int64_t score[CANDIDATES] = {0};
        dp_scores_add(loss, CANDIDATES, 1, bounds[i], 1 / grid, score);
        assert_true(range(score) > bounds[i] / grid - 2);
    }
}

TEST(scores_are_sums_of_losses_where_nothing_is_clipped)
{
    const double grid = dp_grid_for(4), loss[2][CANDIDATES] = {{1, 2, 1.5, 0.5, 1, 2.5, 0}, {0.25, 0, 0.5, 1, 0.125, 0, 0.125}};
    int64_t score[CANDIDATES] = {0};
    double mean = (8.5 + 2) / CANDIDATES;
    for (int row = 0; row < 2; row++)
        dp_scores_add(loss[row], CANDIDATES, 0.75, 4, 1 / grid, score);
    for (int i = 0; i < CANDIDATES; i++)
        assert_near((double)score[i] * grid, (loss[0][i] + loss[1][i] - mean) / 0.75, 2 * grid);
}

TEST(what_all_candidates_share_counts_for_nothing)
{
    const double near[3] = {1000.25, 1000, 999.75}, far[3] = {0, 0, INFINITY}, none[3] = {1, NAN, 2};
    int64_t score[3] = {0}, before[3];
    dp_scores_add(near, 3, 1, 1, 0x1p20, score);
    assert_true(score[0] == 1 << 18 && score[1] == 0 && score[2] == -(1 << 18));
    memcpy(before, score, sizeof score);
    dp_scores_add(none, 3, 1, 1, 0x1p20, score);
    assert_memory_equal(before, score, sizeof score);
    dp_scores_add(far, 3, 1, 1, 0x1p20, score); /* no mean: the finite ones are infinitely far below it */
    assert_true(score[0] == before[0] - (1 << 19) && score[1] == before[1] - (1 << 19) && score[2] == before[2]);
}

TEST(the_spread_is_that_of_the_furthest)
{
    const double candidates[] = {0, 0, 6, 0, 0, 9}, same[] = {1, 2, 1, 2};
    double mean[2];
    assert_near(dp_scores_spread(candidates, 3, 2, mean), sqrt(4 + 36), 1e-14);
    assert_true(mean[0] == 2 && mean[1] == 3);
    assert_true(dp_scores_spread(same, 2, 2, mean) == 0);
}

TESTS(NULL, NULL)
