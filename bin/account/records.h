/* Mechanism records of finished runs, as JSON lines. */
#pragma once

#include "account/event.h"
#include "wire/record.h"

/* One run: laps 1 … k without a gap. */
struct recorded_run {
    size_t line;                       /* its first line in the input */
    int64_t laps, planned;             /* planned: 0 if the frames do not say */
    struct dp_charges charges;         /* as the gate charges them */
    double epsilon, delta;             /* the sound epsilon that the last frame states; NAN: none */
    double prior_epsilon, prior_delta; /* cost of the initial model */
    bool seeded;
    bool ended;          /* an end frame came after it */
    bool spent;          /* the end frame says that the budget was spent */
    double lower, upper; /* bounds from records_check at the stated delta */
};

struct recorded {
    struct dp_charges charges; /* charges of all runs, or the charges in the input */
    size_t runs, capacity;
    struct recorded_run *run; /* no runs if the input has charges */
    enum dp_adjacency adjacency;
    char data[128];                    /* the data set's digest, "" where the frames do not name it */
    double prior_epsilon, prior_delta; /* of all runs */
    bool seeded;
    bool moves;   /* the mechanism of some run changes from lap to lap */
    bool more;    /* records_check: some run states more than its records cost */
    bool stopped; /* records_check: some run has fewer laps than it announced, and the announced laps would have cost more */
};

/* Reads the file ("-": standard input). A line is a charge (account/event.h), or a frame as dp-cat prints it. Only lap frames
 * count, and they must be whole runs: laps 1, 2, … of one data set under one adjacency; lap 1 begins another run. DP_E_UNSAFE:
 * the laps cannot be charged as runs, for instance a run without privacy. DP_E_RUN: the input cannot be read. The caller starts
 * *recorded zeroed and frees it. */
int records_read(const char *path, struct recorded *recorded, struct dp_err *err);
void records_free(struct recorded *recorded);

/* Computes the cost of each run at the delta that its frames state, between lower and upper. DP_E_UNSAFE: frames state less
 * than the lower bound of their records. */
int records_check(struct recorded *recorded, struct dp_err *err);

/* Whether a run states about the cost of its records; true if it states nothing. */
bool recorded_agrees(const struct recorded_run *run);
