/* The cost of a list of charges: epsilon, delta, and the noise that a budget needs. Epsilon is in nats. */
#ifndef DPLINE_ACCOUNT_H
#define DPLINE_ACCOUNT_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the rows of a lap were chosen. */
enum dpline_sampling {
    DPLINE_SAMPLING_NONE = 0,        /* every row, each lap */
    DPLINE_SAMPLING_POISSON = 1,     /* a coin for each row; one person's row is there or contributes nothing */
    DPLINE_SAMPLING_SUBSTITUTED = 2, /* a fixed number of rows; one person's row is exchanged for another's */
    DPLINE_SAMPLING_SHUFFLED = 3,    /* parts of one permutation per epoch */
    DPLINE_SAMPLING_VISIBLE = 4,     /* coins, and the release shows who took part */
    DPLINE_SAMPLING_COINS = 5        /* a coin for each row; one person's row is exchanged for another's */
};

/* A query on the rows, and its noise. */
enum dpline_kind {
    DPLINE_GAUSSIAN = 1,         /* multiplier: standard deviation of the noise / L2 sensitivity */
    DPLINE_LAPLACE = 2,          /* multiplier: scale of the noise / sensitivity, of one number */
    DPLINE_PURE = 3,             /* epsilon: anything that is epsilon-DP by itself */
    DPLINE_SPARSE_LAPLACE = 4,   /* a sparse vector: epsilon of the threshold, query_epsilon of each query, most queries */
    DPLINE_SPARSE_GAUSSIAN = 5,  /* a sparse vector: rho, split 1:2 between threshold and queries; most queries */
    DPLINE_DISCRETE_LAPLACE = 6, /* as Laplace, with noise on a grid */
    DPLINE_GAMMA = 7 /* multiplier: scale of the noise / L2 sensitivity, of a vector; density ∝ exp(−‖z‖ / scale) */
};

/* Members that a kind does not have, and all of `unused`, are 0. */
struct dpline_query {
    enum dpline_kind kind;
    double multiplier, epsilon, query_epsilon, rho;
    int64_t most;
    double unused[4];
};

#define DPLINE_MOST_QUERIES 4

/* A number of equal laps: in each, rows were chosen, and 1 to 4 queries ran on that batch. */
struct dpline_charge {
    int64_t laps; /* 0 to 10^12 */
    enum dpline_sampling sampling;
    double rate;        /* q in (0, 1], the part of the rows in a lap; 1 without sampling */
    int64_t epoch_laps; /* shuffled: laps per epoch; else 0 */
    size_t queries;
    struct dpline_query query[DPLINE_MOST_QUERIES];
    double unused[4];
};

/* Bounds on a number. You may claim upper, which is infinite if there is no bound. */
struct dpline_bounds {
    double lower, upper;
};

/* A list of charges. */
struct dpline_account;

DPLINE_PUBLIC int dpline_account_new(struct dpline_account **account, struct dpline_error *error);
DPLINE_PUBLIC void dpline_account_free(struct dpline_account *account); /* NULL is fine */

/* Adds a charge. DPLINE_E_USAGE: it is invalid. */
DPLINE_PUBLIC int dpline_account_add(struct dpline_account *account, const struct dpline_charge *charge,
                                     struct dpline_error *error);

/* The smallest epsilon that can be shown at delta, 0 < delta < 1, by the best of the accountants that are sound; and the delta
   at epsilon ≥ 0, rounded up to six digits. 0 for no charges. DPLINE_E_RUN: no accountant covers the charges. */
DPLINE_PUBLIC int dpline_account_epsilon(const struct dpline_account *account, double delta, struct dpline_bounds *epsilon,
                                         struct dpline_error *error);
DPLINE_PUBLIC int dpline_account_delta(const struct dpline_account *account, double epsilon, struct dpline_bounds *delta,
                                       struct dpline_error *error);

/* The smallest factor, to nine digits and rounded up, by which the multipliers of all queries that have one must be stretched
   so that the charges cost at most epsilon at delta. If all multipliers are 1, the factor is the multiplier to use.
   DPLINE_E_RUN if no factor is enough. */
DPLINE_PUBLIC int dpline_account_stretch(const struct dpline_account *account, double epsilon, double delta, double *factor,
                                         struct dpline_error *error);

/* The largest number of laps of this charge that cost at most epsilon at delta; 0 if one lap costs more. charge->laps is not
   read. */
DPLINE_PUBLIC int dpline_laps_within(const struct dpline_charge *charge, double epsilon, double delta, int64_t *laps,
                                     struct dpline_error *error);

#ifdef __cplusplus
}
#endif

#endif
