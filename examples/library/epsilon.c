/* The cost of a list of charges: 10 epochs of sampled gradients, then one histogram.
 *
 *   cc epsilon.c $(pkg-config --cflags --libs dpline) -o epsilon && ./epsilon */
#include <dpline/account.h>
#include <stdio.h>

int main(void)
{
    const double delta = 1e-5;
    struct dpline_error error;
    struct dpline_account *account = NULL;
    struct dpline_bounds epsilon;
    struct dpline_charge gradients = {0}, histogram = {0};

    gradients.laps = 1000;
    gradients.sampling = DPLINE_SAMPLING_POISSON;
    gradients.rate = 0.01;
    gradients.queries = 1;
    gradients.query[0].kind = DPLINE_GAUSSIAN;
    gradients.query[0].multiplier = 1.1;

    histogram.laps = 1;
    histogram.sampling = DPLINE_SAMPLING_NONE;
    histogram.rate = 1;
    histogram.queries = 1;
    histogram.query[0].kind = DPLINE_PURE;
    histogram.query[0].epsilon = 0.1;

    int status = dpline_account_new(&account, &error);
    if (status == DPLINE_OK)
        status = dpline_account_add(account, &gradients, &error);
    if (status == DPLINE_OK)
        status = dpline_account_add(account, &histogram, &error);
    if (status == DPLINE_OK)
        status = dpline_account_epsilon(account, delta, &epsilon, &error);
    if (status == DPLINE_OK)
        printf("epsilon %.4f at delta %g (and not below %.4f), dpline %s\n", epsilon.upper, delta, epsilon.lower,
               dpline_version());
    else
        fprintf(stderr, "epsilon: %s\n", error.message);
    dpline_account_free(account);
    return -status;
}
