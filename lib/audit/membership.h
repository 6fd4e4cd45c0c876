/* dp-audit epsilon: a membership test over many runs, and the lower bound on epsilon that its successes prove. */
#pragma once

#include "audit/parts.h"
#include "base/err.h"

struct dp_membership {
    const char *data;     /* the data set to vary */
    const char *pipeline; /* the whole pipeline, with the gate and dp-step */
    const char *scratch;  /* directory for the varied data sets */
    int64_t laps, runs;   /* runs with the canary, and as many without */
    int64_t seed;         /* < 0: fresh keys from the kernel */
    int64_t row;          /* from 1: the row that the canary replaces; 0: the last row. If persons have several rows, a
                             person, each of whose rows is the canary */
    bool own_row;         /* the canary is that row unchanged; otherwise it is a row with one entry of 1 */
    bool keep_others;     /* the other rows are from the data set, not zeros */
    double confidence;
    const struct dp_audit_watch *watch;
    /* out */
    double claimed, delta; /* claims of the gate after the last lap */
    double lower;          /* epsilon is at least this */
    uint64_t hits, alarms, tested;
    bool visible; /* the record counts the rows' state as released: batches are visible */
};

/* Measures a lower bound on epsilon. With the canary: the row in its place. Without: the row is not in the batch; or it is a
 * row of zeros if every row is in every batch, if the batch is visible, or if dp-gather is the first stage, so that no batch is
 * visible (then step 2 is left out). Three steps; if the pipeline is sound, each errs with probability at most 1 − confidence:
 *  1. the noise of 16 runs on rows of zeros: no two laps may have the same noise;
 *  2. the batches against their record (audit/sampler.h);
 *  3. membership. A tenth of the runs learns size and direction of the canary's part in a lap's sum and the noise in it.
 *     Each further run has one number, the logarithm of the likelihood ratio of all its released sums (given the canary's
 *     laps, if they are visible). Up to half of the runs choose the threshold, the other half counts. audit/bound.h has the
 *     bounds. The adversary sees every released sum, and knows all other rows. The first run includes the gate, which states
 *     the claim. In the other runs the noised sum counts as released, because the gate passes it unchanged.
 *
 * Returns 0 if everything was measured (the caller compares lower and claimed), DP_E_RUN with a sentence if step 1 or 2 finds a
 * defect, or another error. */
int dp_membership_run(struct dp_membership *audit, struct dp_err *err);
