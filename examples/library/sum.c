/* A noised sum without a pipeline: three people's vectors are clipped and added on the grid, the release is paid for in a
 * ledger, and gets its noise.
 *
 *   cc sum.c $(pkg-config --cflags --libs dpline) -o sum && ./sum LEDGER */
#include <dpline/grid.h>
#include <dpline/ledger.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    const double people[3][2] = {{0.6, 0.8}, {3, -4}, {0, 0.5}}, bound = 1, multiplier = 4;
    struct dpline_error error;
    struct dpline_run run = {0};
    struct dpline_charge charge = {0};
    struct dpline_ledger *ledger = NULL;
    struct dpline_noise *noise = NULL;
    int64_t sum[2] = {0, 0};

    if (argc != 2) {
        fprintf(stderr, "usage: sum LEDGER\n");
        return 2;
    }
    for (int i = 0; i < 3; i++)
        dpline_grid_add(people[i], 2, bound, sum);

    run.data = "three people";
    run.rows = 3;
    run.epsilon = 2;
    run.delta = 1e-5;
    charge.laps = 1;
    charge.sampling = DPLINE_SAMPLING_NONE;
    charge.rate = 1;
    charge.queries = 1;
    charge.query[0].kind = DPLINE_GAUSSIAN;
    charge.query[0].multiplier = multiplier;

    int status = dpline_noise_new(&noise, &error);
    if (status == DPLINE_OK)
        status = dpline_ledger_open(&ledger, argv[1], &run, &error);
    if (status == DPLINE_OK)
        status = dpline_ledger_reserve(ledger, &charge, &error); /* before anything is released */
    if (status == DPLINE_OK)
        status = dpline_noise_gaussian(noise, 1, multiplier * bound, dpline_grid_for(bound), sum, 2, &error);
    if (status == DPLINE_OK) {
        printf("noised sum: %.3f %.3f\n", dpline_grid_for(bound) * (double)sum[0], dpline_grid_for(bound) * (double)sum[1]);
        status = dpline_ledger_close(ledger, NULL, &error);
        ledger = NULL;
    }
    if (status != DPLINE_OK)
        fprintf(stderr, "sum: %s\n", error.message);
    dpline_ledger_free(ledger);
    dpline_noise_free(noise);
    return -status;
}
