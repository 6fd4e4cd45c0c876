/* Random numbers that are the same in each run of a test. */
#pragma once

#include <gsl/gsl_rng.h>
#include <math.h>

/* The one generator, from its beginning again. */
static inline gsl_rng *random_numbers(void)
{
    static gsl_rng *rng;
    if (rng == NULL)
        rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, 0);
    return rng;
}

/* A number between low and high whose logarithm is uniform */
static inline double random_between(gsl_rng *rng, double low, double high)
{
    return exp(log(low) + log(high / low) * gsl_rng_uniform(rng));
}
