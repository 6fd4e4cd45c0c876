/* dp-audit failures: whether one row shows in anything but the values that are charged: in an exit status, a message, the number
 * of frames, or a field that nobody pays for. */
#pragma once

#include "audit/parts.h"
#include "base/err.h"

struct dp_failures {
    const char *data;     /* the data set to vary */
    const char *pipeline; /* "dp-sample --data {} … | … | dp-account … | dp-step …" */
    const char *scratch;  /* directory for the varied data set */
    int64_t rows, laps, seed;
    const struct dp_audit_watch *watch;
    /* out */
    int64_t runs;  /* that were compared with the run without the row */
    int64_t ended; /* lap at which the runs of the last row ended, or 0: after all laps */
    bool differs;  /* *err says how */
};

/* For each of `rows` rows (persons) chosen by the seed, runs the pipeline up to its gate with the row absent, and then with each
 * replacement of audit/provoke.h. Both have the same keys, and in each lap the model that the run without the row has released.
 * Absent and present are as in audit/sensitivity.h, but no lap leaves the row out on both sides. In a batch of fixed size it
 * takes the place of another row. With another sampler the row is where the sampler puts it, which must be in some batch.
 *
 * Compared: the lap at which the run ends, its status, the sentence of the stage that ended it, the bytes on standard error, and
 * every field of each frame behind the gate (hello, laps and end) that is not charged.
 *
 * Returns DP_OK if everything was compared and is the same; DP_E_RUN, with differs set, and a sentence if it is not; or another
 * error. */
int dp_failures_run(struct dp_failures *audit, struct dp_err *err);
