/* The score of a model on the rows that the choice uses, as a whole number with noise: the model with the highest score is
 * chosen. Each row is worth between 0 and 1. A person adds the score of their row or, with several rows, the mean of the
 * scores, rounded toward zero to a multiple of 2^-20. So one person moves the exact sum by at most 1, both if the person is
 * missing and if another person takes the place. */
#pragma once

#include "base/err.h"
#include "data/dataset.h"
#include "math/rng.h"
#include "wire/frame.h"

enum dp_score_metric {
    DP_SCORE_ACCURACY,      /* 1 for a row whose class is predicted, else 0 */
    DP_SCORE_SQUARED_ERROR, /* 1 − min(1, (prediction − label)²/clip), in the label's units; 0 if that is not a number */
};
#define DP_SCORE_METRICS "accuracy|squared-error"

#define DP_SCORE_ONE (1 << 20)          /* the number that represents 1 */
#define DP_SCORE_MOST_MULTIPLIER 0x1p28 /* of the noise */

struct dp_score {
    struct dp_dataset *data; /* owned */
    const char *path;        /* for messages; the caller's */
    enum dp_score_metric metric;
    double clip, multiplier; /* multiplier: standard deviation of the noise, in units of 1 */
};

/* Opens the rows. The caller sets everything but the data set, and closes it, after a failure, too. DP_E_USAGE: the metric is
 * not for such labels. */
int dp_score_open(struct dp_score *score, struct dp_err *err);
void dp_score_close(struct dp_score *score);

/* *sum: the score summed over all persons, in units of 1/DP_SCORE_ONE; 0 for a model that is not finite. DP_E_RUN: the model is
 * not for such rows. */
int dp_score_exact(const struct dp_score *score, const struct dp_frame *model, int64_t *sum, struct dp_err *err);

/* The same with the noise of trial number `trial`, from 1. */
int dp_score_noised(const struct dp_score *score, const struct dp_frame *model, const struct dp_key *key, int64_t trial,
                    int64_t *sum, struct dp_err *err);
