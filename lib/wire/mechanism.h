/* Mechanism records: what a stage really did to private data, in the frame it did it to. dp-sample opens a record,
   the stage that bounds the sum and the one that adds noise fill it in, and the gate charges it. */
#ifndef DP_WIRE_MECHANISM_H
#define DP_WIRE_MECHANISM_H

#include <stdint.h>

#include "base/err.h"

enum dp_sampler {
    DP_SAMPLER_NONE,    /* not recorded yet */
    DP_SAMPLER_POISSON, /* every row by its own coin, anew each lap */
    DP_SAMPLER_FIXED,   /* a fixed number of rows without replacement, anew each lap */
    DP_SAMPLER_SHUFFLE, /* consecutive parts of one permutation per epoch */
    DP_SAMPLER_FULL,    /* every row, each lap */
};

enum dp_adjacency {
    DP_ADJACENCY_NONE,
    DP_ADJACENCY_NULL_RECORD, /* one person's row is present or contributes nothing */
    DP_ADJACENCY_REPLACE_ONE, /* one person's row is exchanged for another's */
};

enum dp_release {
    DP_RELEASE_NONE,
    DP_RELEASE_SUM,           /* only the sum leaves; it depends on the rows of this lap alone */
    DP_RELEASE_SECRET_STATE,  /* only the sum leaves; each row has a secret state of its own (alpha) */
    DP_RELEASE_SUM_AND_STATE, /* the noised per-row state counts as released too, on the batch's rows */
};

enum dp_noise {
    DP_NOISE_NONE,
    DP_NOISE_GAUSSIAN,
    DP_NOISE_LAPLACE, /* discrete, on a single number */
    DP_NOISE_GAMMA,   /* vectors with density ∝ exp(−‖z‖₂ / scale) */
};

struct dp_mechanism {
    enum dp_sampler sampler;
    double rate;        /* probability that a row is in the batch */
    int64_t rows;       /* public number of rows */
    int64_t epoch_laps; /* shuffle: laps per epoch; else 0 */
    enum dp_adjacency adjacency;
    enum dp_release release;
    double bound;       /* C: L2 norm of one person's contribution to the sum; 0 until bounded */
    double sensitivity; /* L2 sensitivity of what is noised, the unit of the multiplier; 0 until bounded */
    enum dp_noise noise;
    double multiplier; /* scale / sensitivity */
    double scale;      /* of the noise, in the units of the sum; Gaussian: its standard deviation */
};

/* Names as they stand on the wire, e.g. "poisson"; index with the enumerators above. */
extern const char *const dp_sampler_names[5];
extern const char *const dp_adjacency_names[3];
extern const char *const dp_release_names[4];
extern const char *const dp_noise_names[4];

#endif
