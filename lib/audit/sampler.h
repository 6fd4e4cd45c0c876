/* Checks whether batches match their record, on which the accountant's amplification rests. */
#pragma once

#include "base/err.h"
#include "wire/record.h"

/* A count of successes among independent draws of one probability. */
struct dp_audit_count {
    uint64_t successes, trials;
};

struct dp_audit_sampler {
    struct dp_record record;          /* sampler, rate, rows, epoch_laps */
    uint64_t *now, *before, *opening; /* a bit per row, for this batch, the last batch, and the first batch of the last run */
    uint64_t *epoch;                  /* shuffle: rows seen in this epoch */
    size_t words, size, before_size;
    uint64_t batches, runs;
    /* poisson. Pairs are disjoint, so the counted events are independent. */
    struct dp_audit_count in;    /* rows in batches: rate q */
    struct dp_audit_count twice; /* rows in both of two consecutive batches: q² */
    struct dp_audit_count again; /* rows in lap 1 of a run and in lap 1 of the next run: q² */
    struct dp_audit_count equal; /* consecutive batches of equal size: Σ_k Bin(k; N, q)² */
};

void dp_audit_sampler_open(struct dp_audit_sampler *s, const struct dp_record *record);
void dp_audit_sampler_close(struct dp_audit_sampler *s);

/* Notes the batch of a lap: count row numbers in [0, rows). DP_E_RUN if it contradicts the record at once: a row twice, in one
   batch or one epoch; a fixed batch of another size; a full batch with rows missing. */
int dp_audit_sampler_note(struct dp_audit_sampler *s, int64_t lap, const int64_t *id, size_t count, struct dp_err *err);

/* For poisson: DP_E_RUN and a sentence if honest coins give such a count with a probability of less than 1 − confidence (over
   all counts together). */
int dp_audit_sampler_judge(const struct dp_audit_sampler *s, double confidence, struct dp_err *err);
