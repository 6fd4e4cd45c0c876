/* The text of a run that was chosen by lib/fit. */
#pragma once

#include "fit/fit.h"

/* Options that the rules do not choose. Texts may be NULL. */
struct fit_options {
    const char *data, *epsilon, *delta, *adjacency; /* as they were typed */
    const char *arrivals;                           /* the port where rows arrive, for a stream */
    const char *class_weights, *ledger, *registry, *exec, *model, *seed;
    bool no_ledger, no_registry, partial, allow_weak, with_schema, quiet;
    int64_t threads;
};

/* Writes the command that runs the pipeline: dp-loop and its words. */
void fit_print(FILE *to, const struct dp_fit *fit, const struct fit_options *o);
