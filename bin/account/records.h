/* Mechanism records of runs that have been, as JSON lines. */
#ifndef DP_BIN_ACCOUNT_RECORDS_H
#define DP_BIN_ACCOUNT_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account/event.h"
#include "wire/record.h"

/* One run: laps 1 … k without a gap. */
struct recorded_run {
    size_t line;                       /* where it begins in the input */
    int64_t laps, planned;             /* planned: 0 where the frames do not say */
    struct dp_charges charges;         /* as the gate charges them */
    double epsilon, delta;             /* what the last frame states, as far as it claims to be sound; NAN where it does not */
    double prior_epsilon, prior_delta; /* of the model that the run started from */
    bool seeded, as_published;
    bool ended;          /* an end frame came after it */
    bool spent;          /* which says that its budget was */
    double lower, upper; /* what records_check finds for the stated delta */
};

struct recorded {
    struct dp_charges charges; /* of all runs, or those that the input gives as charges */
    size_t runs, capacity;
    struct recorded_run *run; /* none where the input has charges */
    enum dp_adjacency adjacency;
    char data[128];                    /* the data set's digest, "" where the frames do not name it */
    double prior_epsilon, prior_delta; /* of all runs */
    bool seeded, as_published;
    bool moves;   /* the mechanism of some run changes from lap to lap */
    bool more;    /* records_check: some run states more than its records cost */
    bool stopped; /* records_check: some run has fewer laps than it announced, and more of them would have cost more */
};

/* Reads the file ("-": standard input). A line is a charge as account/event.h has it, or a frame as dp-cat prints it; of these
   only laps count, and they must be whole runs: laps 1, 2, … of one data set under one adjacency, where lap 1 begins another
   run. DP_E_UNSAFE for what cannot be charged as a run, a run without privacy among it; DP_E_RUN for what cannot be read. The
   caller starts *recorded zeroed and frees it. */
int records_read(const char *path, struct recorded *recorded, struct dp_err *err);
void records_free(struct recorded *recorded);

/* Computes what each run has cost at the delta its frames state, between lower and upper. DP_E_UNSAFE: frames state less than
   their records cost at least. */
int records_check(struct recorded *recorded, struct dp_err *err);

/* Whether a run states about what its records cost; true where it states nothing. */
bool recorded_agrees(const struct recorded_run *run);

#endif
