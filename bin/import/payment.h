/* One lap of counts of a table, with Gaussian noise, paid for at a gate before anything of it is looked at. */
#pragma once

#include <jansson.h>

#include "data/import.h"
#include "identity.h"

struct payment_options {
    const char *option;     /* its name, for messages */
    double epsilon, delta;  /* delta NAN: a tenth of the default of dp-fit */
    double of;              /* NAN, or the budget of the schema and a run together */
    double most;            /* epsilon of a schema whose table is too small for less */
    const char *ledger;     /* NULL: the ledger of the population, else the next */
    const char *new_ledger; /* the path of the first ledger, if the population has no ledger */
    bool no_ledger, allow_weak, quiet;
    int64_t seed; /* of the noise; DP_OPT_ABSENT_INT: a fresh key */
};

/* The mechanism, which is public. */
struct payment {
    double epsilon, delta; /* its cost */
    double named;          /* the part of delta that pays for texts of one person only */
    int64_t units;         /* rows, or persons with at most rows_per_person rows each (0: one row is a person) */
    size_t rows_per_person;
    size_t along; /* cells of a column, whose noise is correlated for cumulative sums (priv/bands.h); 0: independent */
    double multiplier, bound, grid; /* bound: L2 bound on the counts */
    double sensitivity, scale;      /* scale: deviation of the noise on each count, or on the first one of each column */
};

/* part: of delta, for names. */
struct payment payment_choose(const struct payment_options *options, size_t units, size_t rows_per_person, double bound,
                              double part);

/* Correlates the noise along the cells of each column: the counts are columns × cells. */
void payment_correlate(struct payment *payment, size_t cells);

/* Adds noise to n counts, in units of the grid, and pays. prior: what was paid for the schema before, or NULL. *paid, which the
 * caller frees, is the sum of both payments ("paid" of dp-dataset(5)), or NULL if the noise follows from a seed and pays for
 * nothing. DP_E_BUDGET: the budget does not cover it; then the counts are void. */
int payment_make(const struct payment *payment, const struct payment_options *options, const struct identity *identity,
                 const json_t *prior, int64_t *counts, size_t n, json_t **paid, struct dp_err *err);
