/* A few lines against the installed library: clip one example's update and add exact noise to the sum.
 *
 *   cc solve.c $(pkg-config --cflags --libs dpline) -o solve && ./solve */
#include <stdio.h>

#include "math/grid.h"
#include "math/loss.h"

int main(void)
{
    const float x[] = {0.6f, 0.0f, -0.8f};
    const struct dp_row row = {x, NULL, 3};
    const double clip = 0.1, grid = dp_grid_for(clip), multiplier = 2;

    double zeta = dp_dual_update(DP_LOSS_HINGE, 1, +1, 0, 0.3, 2 * dp_row_norm2(row), 1);
    float clipped;
    int64_t sum[3] = {0};
    dp_grid_clip(&zeta, 1, clip, dp_row_norm2(row), row.count, &clipped);
    dp_row_add_grid(clipped, 1 / grid, row, sum);
    printf("update %.4f, clipped to %.4f\n", zeta, (double)clipped);

    struct dp_key key;
    dp_key_fresh(&key);
    if (dp_grid_add_gaussian(&key, DP_DRAW_NOISE, 1, 0, multiplier * clip / grid, sum, 3) != 0)
        return 1;
    printf("noised sum:");
    for (int j = 0; j < 3; j++)
        printf(" %.4f", grid * (double)sum[j]);
    putchar('\n');
    return 0;
}
