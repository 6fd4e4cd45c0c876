/* dp-audit canaries: a lower bound on what one training run reveals, from canaries that each are in its rows by a coin. */
#pragma once

#include "audit/parts.h"
#include "base/err.h"

struct dp_canaries {
    const char *data;     /* the data set to which canaries are added */
    const char *pipeline; /* the whole pipeline, with the gate and dp-step */
    const char *scratch;  /* directory for the data set with canaries */
    int64_t laps, canaries;
    int64_t seed; /* < 0: fresh keys and coins from the kernel */
    double confidence;
    const struct dp_audit_watch *watch;
    /* out */
    double claimed, delta; /* the claim of the gate after the last lap */
    uint64_t guesses, correct;
    double mu, epsilon; /* the run is not μ-Gaussian, and not (ε, delta), for anything smaller */
};

/* Adds canaries to a copy of the data set: row k has a column of its own, in which it has a one, and the last class. So
   canaries do not hide each other, and no other row hides them. A canary whose coin says "out" is a row of zeros, and is taken
   out of every batch if not every row is in every batch. One run with the gate follows. The adversary knows everything but the
   coins, and sees every sum: the score of a canary is the logarithm of the likelihood ratio of its entries in the sums of all
   laps, if its part reached the bound and its batches were coins of the recorded rate. He guesses "in" for the tenth of
   canaries with the largest scores and "out" for the tenth with the smallest. audit/bound.h has the bounds.
   DP_E_USAGE: the model is not linear, rows belong to persons, or batches are visible. */
int dp_canaries_run(struct dp_canaries *audit, struct dp_err *err);
