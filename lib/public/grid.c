#include <dpline/grid.h>

#include "base/mem.h"
#include "math/grid.h"

#define MOST_LAP ((int64_t)1 << 40)

struct dpline_noise {
    struct dp_key key;
    int64_t lap; /* the last one */
};

double dpline_grid_for(double bound)
{
    return dp_grid_for(bound);
}

void dpline_grid_add(const double *v, size_t count, double bound, int64_t *sum)
{
    dp_grid_add(v, count, bound, dp_grid_for(bound), sum);
}

int dpline_noise_new(struct dpline_noise **noise, struct dpline_error *error)
{
    (void)error;
    *noise = dp_new(1, sizeof **noise);
    dp_key_fresh(&(*noise)->key);
    return DPLINE_OK;
}

int dpline_noise_new_seeded(struct dpline_noise **noise, int64_t seed, struct dpline_error *error)
{
    (void)error;
    *noise = dp_new(1, sizeof **noise);
    dp_key_derive(&(*noise)->key, seed, "dpline_noise", 0);
    return DPLINE_OK;
}

void dpline_noise_free(struct dpline_noise *noise)
{
    free(noise);
}

int dpline_noise_gaussian(struct dpline_noise *noise, int64_t lap, double deviation, double grid, int64_t *sum, size_t count,
                          struct dpline_error *error)
{
    int exponent;
    if (lap < 1 || lap >= MOST_LAP || !(grid > 0) || frexp(grid, &exponent) != 0.5)
        return dpline_fail(error, DPLINE_E_USAGE, "noise needs a lap from 1 on, and a grid that is a power of two");
    if (lap <= noise->lap)
        return dpline_fail(error, DPLINE_E_UNSAFE, "noise of lap %lld cannot be drawn after noise of lap %lld", (long long)lap,
                           (long long)noise->lap);
    noise->lap = lap;
    if (dp_grid_add_gaussian(&noise->key, DP_DRAW_NOISE, (uint64_t)lap, 0, deviation / grid, sum, count) != 0)
        return dpline_fail(error, DPLINE_E_RUN, "noise of deviation %g does not fit the grid %g, or the sum", deviation, grid);
    return DPLINE_OK;
}
