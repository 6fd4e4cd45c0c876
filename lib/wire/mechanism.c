#include "wire/mechanism.h"

const char *const dp_sampler_names[5] = {"none", "poisson", "fixed", "shuffle", "full"};
const char *const dp_adjacency_names[3] = {"none", "null-record", "replace-one"};
const char *const dp_release_names[4] = {"none", "sum", "sum-of-secret-state", "sum-and-state"};
const char *const dp_noise_names[4] = {"none", "gaussian", "laplace", "gamma"};
