/* An adversary that uses choices (dp-linesearch --same-batch): counts how often each choice was made with and without the
 * canary, separately for both values of a sign that the adversary sees. */
#pragma once

#include "base/err.h"
#include "wire/frame.h"

struct dp_audit_choices {
    size_t steps;   /* number of possible choices; 0: no choice has been seen */
    uint64_t *made; /* [with][sign][steps] */
    uint64_t laps[2][2];
};

/* Whether the frame has a choice; sets *choice. DP_E_RUN: not a choice, or not among as many steps as the first choice. Starts
 * zeroed; free made at the end. */
int dp_audit_choices_read(struct dp_audit_choices *choices, const struct dp_frame *frame, bool *has, size_t *choice,
                          struct dp_err *err);

void dp_audit_choices_learn(struct dp_audit_choices *choices, bool with, bool sign, size_t choice);

/* ln of the likelihood ratio of the choice, with the canary against without. */
double dp_audit_choices_score(const struct dp_audit_choices *choices, bool sign, size_t choice);
